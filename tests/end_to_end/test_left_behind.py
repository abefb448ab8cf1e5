"""What an agent leaves in the repository's own folder: named, and nothing of it runs before a person has agreed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.board.notes import NOTES_PATTERNS, keep_notes
from gitticks.git.config import OWN_EXCLUSIONS, exclude_patterns
from gitticks.git.repository import discover
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import Awaiting, Status
from gitticks.store.left_behind import begin_watch, end_watch, left_behind
from tests.runner.merges import head
from tests.support.repositories import git
from tests.support.runs import DONE, NO_PERSON, NO_REVIEW, PASS, TO_REVIEW, RunProject, project

pytestmark = pytest.mark.without_sandbox("in a sandbox none of this reaches the repository (tests/sandbox)")
__all__ = ["project"]

HOOKS = "$(git rev-parse --git-common-dir)/hooks"


HOOK = (
    f"mkdir -p {HOOKS}; printf '#!/bin/sh\\ntouch \"$FIRED\"\\n' > {HOOKS}/pre-merge-commit\n"
    f"chmod +x {HOOKS}/pre-merge-commit\n"
)
"""Plants a hook that a merge would run as the person."""


@pytest.fixture(autouse=True)
def fired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gives the file that every trap makes when it fires."""
    monkeypatch.setenv("FIRED", str(tmp_path / "fired"))
    return tmp_path / "fired"


def waits(project: RunProject) -> bool:
    return project.task("k7f2").is_merging


def warnings(project: RunProject, task_id: str = "k7f2") -> list[str]:
    return [str(one.reason) for one in project.events(task_id) if one.type is EventType.WARNED]


PLANTED = [
    (HOOK, ".git/hooks/pre-merge-commit", "rm -f .git/hooks/pre-merge-commit"),
    ("git config commit.gpgsign true\n", "commit.gpgsign", "git config --unset commit.gpgsign"),
    ("git config core.hooksPath .evil\n", "core.hookspath", "git config --unset core.hooksPath"),
    ("git config gitticks.notify 'touch $FIRED'\n", "gitticks.notify", "git config --unset gitticks.notify"),
    (
        "echo '* filter=evil' > $(git rev-parse --git-common-dir)/info/attributes\n",
        ".git/info/attributes",
        "rm .git/info/attributes",
    ),
    (
        "git config --file $(git rev-parse --git-common-dir)/config.worktree core.fsmonitor ./evil\n",
        "config.worktree core.fsmonitor",
        "rm .git/config.worktree",
    ),
]


@pytest.mark.parametrize(("plant", "name", "undo"), PLANTED, ids=[name for _, name, _ in PLANTED])
def test_what_a_session_leaves_is_named_and_holds_merges_back_until_it_is_put_back(
    project: RunProject, fired: Path, plant: str, name: str, undo: str
) -> None:
    project.settings(NO_PERSON)
    project.agent(f"{DONE}{plant}")
    project.make()
    before = head(project)
    ran = project.run()
    said = f"`{name}` was added during the session of k7f2"
    assert said in ran.err
    assert warnings(project) == [said]
    assert head(project) == before
    assert waits(project)
    for words in (["status"], ["inbox"], ["review", "k7f2"]):
        assert said in project.gt(*words).err
    refused = project.run()
    assert refused.code != 0
    assert said in refused.err
    assert "hint: `gt trust` shows what is waiting, and asks" in refused.err
    assert f"warning {said}" in " ".join(project.gt("doctor").out.split())
    merged = project.gt("merge", "k7f2")
    assert merged.code != 0
    assert head(project) == before
    assert not fired.exists()
    _shell(project, undo)
    assert project.run().code == 0
    assert project.task("k7f2").status is Status.DONE
    assert project.gt("status").err.count("during") == 0


def _shell(project: RunProject, words: str) -> None:
    git("-c", f"alias.undo=!{words}", "undo", at=project.path)


def test_what_a_person_agrees_to_counts_and_is_not_asked_again(project: RunProject, fired: Path) -> None:
    project.settings(NO_PERSON)
    project.agent(f"{DONE}{HOOK}")
    project.make()
    project.run()
    shown = project.gt("trust")
    assert shown.code == 3
    assert "repository .git/hooks/pre-merge-commit\n" in shown.out
    assert "    #!/bin/sh\n" in shown.out
    assert waits(project)
    assert project.gt("trust", "--yes").code == 0
    assert project.run().code == 0
    assert project.task("k7f2").status is Status.DONE
    assert fired.exists()
    project.agent(f"{DONE}{HOOK}")
    project.make("m4n8")
    assert project.run().code == 0
    assert warnings(project, "m4n8") == []


def test_what_changed_again_after_it_was_shown_is_asked_about_again(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(f"{DONE}git config core.pager less\n")
    project.make()
    project.run()
    assert project.gt("trust", "--yes").code == 0
    project.agent(f"{DONE}git config core.pager more\n")
    project.make("m4n8")
    project.run()
    assert warnings(project, "m4n8") == ["`core.pager` was changed during the session of m4n8"]
    listed = json.loads(project.gt("trust", "--list", "--json").out)
    assert "is:  more" in json.dumps(listed)


def test_settings_that_a_session_set_count_for_no_command_and_block_none(project: RunProject) -> None:
    project.settings(NO_PERSON)
    git("config", "gitticks.parallel", "2", at=project.path)
    project.agent(f"git config gitticks.nonsense 1; git config gitticks.parallel 9\n{DONE}")
    project.make()
    project.run()
    assert project.ok("config", "parallel") == "2\n"
    assert "nonsense" in project.gt("status").err
    assert project.gt("trust", "--yes").code == 0
    assert "nonsense" in project.gt("config").err


def test_of_two_sessions_at_once_both_are_named(
    project: RunProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEET", str(tmp_path / "meet"))
    project.settings(NO_PERSON)
    memory = "$(git rev-parse --git-common-dir)/gitticks/left-behind.json"
    project.agent(
        f"{DONE}touch $MEET-$GITTICKS_TASK; until [ -e $MEET-k7f2 -a -e $MEET-m4n8 ]; do sleep 0.05; done\n"
        "if [ $GITTICKS_TASK = k7f2 ]; then git config commit.gpgsign true\n"
        f"else until grep -qs gpgsign {memory}; do sleep 0.05; done; fi\n"
    )
    project.make()
    project.make("m4n8", title="Another")
    project.run("--parallel", "2")
    assert warnings(project) == ["`commit.gpgsign` was added during sessions of k7f2, m4n8"]
    assert warnings(project, "m4n8") == []
    assert project.gt("status").err.count("commit.gpgsign") == 1


def test_a_session_that_ends_later_is_named_too_though_nothing_else_changed(project: RunProject) -> None:
    repository = discover(project.path)
    for task in ("k7f2", "m4n8"):
        begin_watch(repository, task)
    git("config", "commit.gpgsign", "true", at=project.path)
    for task in ("k7f2", "m4n8"):
        end_watch(repository, task)
    assert [one.tasks for one in left_behind(repository)] == [("k7f2", "m4n8")]


def test_what_git_itself_notes_for_branches_is_not_asked_about(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(f"git branch -q side; git branch -q --set-upstream-to=main side\n{DONE}")
    project.make()
    assert project.run().code == 0
    assert warnings(project) == []
    assert project.task("k7f2").status is Status.DONE


@pytest.mark.parametrize("role", ["worker", "reviewer"])
def test_a_base_that_an_agent_moved_is_said_and_how_to_undo_it(project: RunProject, role: str) -> None:
    project.settings("base: main\n")
    move = "git -C ../.. merge -q gitticks/work/$GITTICKS_TASK"
    project.agent(_of_role(role, move))
    project.make()
    before = git("rev-parse", "main", at=project.path)
    ran = project.run()
    undo = f"git reset --keep {before[:10]}"
    said = f"an agent moved `main`: `git log {before[:10]}..main` shows what came since, `{undo}` on `main` takes all of that back"
    assert said in ran.seen
    assert {*warnings(project)} == {said}  # also by a session that began in the same second
    project.ok("list")
    assert project.stands() == (Status.REVIEWING, Awaiting.ESCALATION)
    _shell(project, undo)
    assert git("status", "--short", at=project.path) == ""


@pytest.mark.parametrize("role", ["worker", "reviewer"])
def test_a_base_that_an_agent_made_is_said_and_how_to_undo_it(project: RunProject, role: str) -> None:
    git("update-ref", "refs/remotes/origin/develop", "main", at=project.path)
    project.settings("base: develop\n")
    project.agent(_of_role(role, "git branch develop HEAD"))
    project.make()
    ran = project.run()
    said = "an agent made the branch `develop`: `git log develop` shows it, and if it was not there before, `git branch -D develop` removes it"
    assert said in ran.seen
    assert {*warnings(project)} == {said}


@pytest.mark.parametrize("role", ["worker", "reviewer"])
def test_a_base_that_an_agent_deleted_is_said_and_how_to_undo_it(project: RunProject, role: str) -> None:
    git("branch", "develop", "main", at=project.path)
    project.settings("base: develop\n")
    project.agent(_of_role(role, "git branch -q -D develop"))
    project.make()
    before = git("rev-parse", "develop", at=project.path)
    ran = project.run()
    said = f"`develop` was deleted during the session: `git branch develop {before}` makes it again where it stood before"
    assert said in ran.seen
    assert warnings(project) == [said]


def test_a_base_that_an_agent_of_an_odd_address_moved_is_said_too(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    commit = "git -C ../.. commit -q --allow-empty -m"
    odd = "GIT_COMMITTER_EMAIL=$(printf 'a\\342\\200\\250b')"
    project.agent(f"{commit} one\n{odd} {commit} two\n{DONE}")
    project.make()
    ran = project.run()
    assert "an agent moved `main`" in ran.seen
    assert project.stands() == TO_REVIEW


def test_a_base_that_others_move_meanwhile_or_an_agent_put_back_is_nothing_to_say(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(NO_REVIEW)
    me = "env -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL git -C ../.. commit -q --allow-empty -m mine"
    project.agent(f"{me}\n{DONE}")
    project.make()
    project.run()
    assert project.stands() == TO_REVIEW
    back = "b=$(git rev-parse main); git update-ref refs/heads/main HEAD; git update-ref refs/heads/main $b"
    project.agent(f"{DONE}{back}\n")
    project.make("m4n8")
    project.run()
    assert warnings(project) == warnings(project, "m4n8") == []


def _of_role(role: str, words: str) -> str:
    """Returns an agent that does its work, and more in that role."""
    body = f'if [ "$GITTICKS_ROLE" = reviewer ]; then {PASS}else {DONE}fi\n'
    return f'{body}if [ "$GITTICKS_ROLE" = {role} ]; then {words}; fi\n'


def test_what_gitticks_itself_excludes_during_a_session_is_nobodys_doing(project: RunProject) -> None:
    repository = discover(project.path)
    project.make()
    begin_watch(repository, "k7f2")
    keep_notes(repository, {task_path(TaskId("k7f2")): "`status` is no status"})
    excluded = (project.path / ".git/info/exclude").read_text().splitlines()
    assert set(NOTES_PATTERNS) <= set(excluded)
    assert {line for line in excluded if line.startswith("/")} <= set(OWN_EXCLUSIONS)
    assert end_watch(repository, "k7f2") == ()
    begin_watch(repository, "k7f2")
    exclude_patterns(repository, ["/secret.txt"])
    assert [one.shown for one in end_watch(repository, "k7f2")] == [".git/info/exclude"]
