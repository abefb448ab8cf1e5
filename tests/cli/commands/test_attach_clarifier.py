"""`gt attach` in clarification: a person talks to an agent in the task's workspace, and what it notes is kept."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import threading

import pytest

from gitticks.flocks import is_lock_held
from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from tests.cli.support import Ran, command
from tests.support.runs import RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

ASKS = "echo '<promise>INPUT_NEEDED: Which tone?</promise>'"
TALKS = """[ $GITTICKS_ROLE = clarifier ] || { echo '<promise>INPUT_NEEDED: Which tone?</promise>'; exit; }
grep -q 'Which tone?' "$GITTICKS_MAILBOX/prompt.md" && printf 'formal or friendly? '
read answer
"$GT" note "It leans to $answer."
"""
ASKED = (Status.CLARIFICATION, Awaiting.INPUT)


def on_terminal(project: RunProject, *words: str, wanted: str, typed: str) -> Ran:
    """Runs a command on a terminal, and types once something has appeared."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(*words), cwd=project.path, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], LONGEST_SECONDS)[0]:
            try:
                shown += os.read(ours, 65536)
            except OSError:
                break
            if typed and wanted.encode() in shown:
                os.write(ours, typed.encode())
                typed = ""
        code = process.wait(LONGEST_SECONDS)
    os.close(ours)
    return Ran(code, shown.decode(), "")


@pytest.fixture
def asking(project: RunProject) -> RunProject:
    """Returns a project in which `k7f2` asks which tone."""
    project.settings("review: none\n")
    project.agent(TALKS)
    project.make("k7f2")
    assert project.run().code == 3
    assert project.stands() == ASKED
    return project


def test_a_person_talks_to_the_clarifier_and_its_notes_are_kept(asking: RunProject) -> None:
    ran = on_terminal(asking, "attach", "k7", wanted="friendly? ", typed="formal\n")
    assert ran.code == 0, ran.out
    assert 'hint: `gt respond k7f2 "…"` answers it' in ran.out
    assert asking.notes("k7f2") == ["It leans to formal."]
    assert asking.stands() == ASKED
    ended = asking.last(EventType.SESSION_ENDED)
    assert (ended.data["role"], ended.data["ending"], ended.data["iteration"]) == (
        "clarifier",
        "clean",
        False,
    )


def test_the_answer_goes_on_as_ever_afterwards(asking: RunProject) -> None:
    on_terminal(asking, "attach", "k7f2", wanted="friendly? ", typed="formal\n")
    asking.agent('grep -q \'It leans to formal\' "$GITTICKS_MAILBOX/TASK.md" && touch "$PWD/../../../seen"')
    asking.ok("respond", "k7f2", "Formal.")
    asking.run("--max-iterations", "1")
    assert (asking.path.parent / "seen").exists()


def test_without_a_terminal_it_names_the_commands(asking: RunProject) -> None:
    ran = asking.gt("attach", "k7f2")
    assert ran.code == 1
    assert "it is in clarification and awaits input" in ran.err
    assert '`gt respond k7f2 "…"` answers it; on a terminal, `gt attach k7f2` starts an agent' in ran.err


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("script", "the agent `script` has no interactive command that takes a prompt"),
        ("amp", "the agent `amp` has no interactive command that takes a prompt"),
        ("claude", "the agent `claude` is not on PATH"),
        ("nobody", "there is no agent `nobody`"),
    ],
)
def test_agents_that_nobody_can_talk_to_change_nothing(asking: RunProject, agent: str, words: str) -> None:
    before = asking.events("k7f2")
    ran = on_terminal(asking, "attach", "k7f2", "--agent", agent, wanted="", typed="")
    assert (ran.code != 0, words in ran.out, "Traceback" in ran.out) == (True, True, False), ran.out
    assert "hint: " in ran.out
    assert asking.events("k7f2") == before


@pytest.mark.parametrize(("how", "was_held"), [("", False), ("", True), ("trap '' TERM; ", False)])
def test_a_talk_is_seen_by_others_and_ends_with_gt_stop(asking: RunProject, how: str, was_held: bool) -> None:
    up, tree = asking.path.parent / "up", asking.path / ".git/gitticks/sessions/k7f2.tree"
    asking.agent(f'[ $GITTICKS_ROLE = clarifier ] || exit; {how}touch "{up}"; sleep 600')
    if was_held:
        asking.ok("stop", "k7f2")
    seen: list[object] = []

    def stop() -> None:
        until(up.exists, "the agent")
        seen.append(is_lock_held(tree))
        seen.append(subprocess.run(command("stop", "k7f2"), cwd=asking.path, check=False).returncode)

    thread = threading.Thread(target=stop)
    thread.start()
    ran = on_terminal(asking, "attach", "k7f2", wanted="", typed="")
    thread.join()
    assert seen == [True, 0], ran.out
    until(lambda: not is_lock_held(tree), "the end of the agent")
    assert asking.last(EventType.SESSION_ENDED).data["ending"] == "stopped"
    assert asking.stands() == ASKED
