from __future__ import annotations

import json
import re
import shlex
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.cli.editor import LINE, answer_line, answer_of, question_sheet
from gitticks.errors import UsageError
from gitticks.model.notes import Section, open_questions
from gitticks.model.status import Awaiting, Status
from tests.cli.support import command
from tests.support.agents import write_program
from tests.support.processes import has_read
from tests.support.projects import Project, make_project
from tests.support.terminals import typed
from tests.support.waiting import LONGEST_SECONDS, until

BODY = "Text.\n\n## Questions\n\n### 2026-03-04T05:06:07Z · agent · claude\n\nWhich tone?\n\nFriendly or formal?\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("m3xq", title="Rename", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=BODY)
    return project


def _answers(project: Project, task_id: str = "m3xq") -> list[str]:
    return [entry.text for entry in project.file(task_id).entries(Section.QUESTIONS)][1:]


def test_the_answer_goes_back_to_the_agent(project: Project) -> None:
    assert (
        project.ok("respond", "m3xq", "Friendly.") == "m3xq  answered; back to its agent with your answer\n"
    )
    assert _answers(project) == ["Friendly."]
    assert open_questions(project.file("m3xq").entries(Section.QUESTIONS)) == ()
    task = project.task("m3xq")
    assert (task.status, task.awaiting) == (Status.WORKING, None)
    assert project.subject() == "m3xq: clarification → working"


def test_the_agent_that_goes_on_is_named_where_it_is_known(project: Project) -> None:
    project.ok("config", "agent", "script")
    assert "back to script with your answer\n" in project.ok("respond", "m3xq", "Friendly.")
    project.make(agent="codex", status=Status.WORKING, awaiting=Awaiting.APPROVAL)
    assert "back to codex with your feedback · " in project.ok("reject", "k7f2", "Not yet.")


def test_stdin_is_an_answer(project: Project) -> None:
    project.ok("respond", "m3xq", "-", input="From\nstdin\n")
    assert _answers(project) == ["From\nstdin"]


def test_without_text_the_editor_opens_below_the_question(project: Project, tmp_path: Path) -> None:
    editor = tmp_path / "nano"
    editor.write_text('#!/bin/sh\ncat "$2" >&2\necho "line $1" >&2\necho "Written below." >>"$2"\n')
    editor.chmod(0o755)
    project.ok("respond", "m3xq", environment={"GIT_EDITOR": str(editor)})
    assert _answers(project) == ["Written below."]


def test_edit_begins_with_the_text(project: Project) -> None:
    project.ok("respond", "m3xq", "Friendly", "--edit", environment={"GIT_EDITOR": "sed -i '$s/.*/Really./'"})
    assert _answers(project) == ["Really."]


@pytest.mark.parametrize("editor", ["true", "sed -i '/>8/q'"])
def test_an_empty_answer_is_refused(project: Project, editor: str) -> None:
    ran = project.gt("respond", "m3xq", environment={"GIT_EDITOR": editor})
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: the answer is empty, nothing was changed")
    assert project.task("m3xq").awaiting is Awaiting.INPUT


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"status": Status.REVIEWING, "awaiting": Awaiting.REVIEW}, "`k7f2` awaits review, not an answer"),
        ({"status": Status.WORKING}, "`k7f2` is not waiting for an answer: it is working"),
    ],
)
def test_where_no_answer_is_awaited(project: Project, fields: dict[str, object], message: str) -> None:
    project.make("k7f2", **fields)
    ran = project.gt("respond", "k7f2", "text")
    assert (ran.code, ran.err.splitlines()[0]) == (3, f"error: {message}")


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["--all", "m3xq"], 2), (["nope", "x"], 1)])
def test_wrong_usage(project: Project, arguments: list[str], code: int) -> None:
    assert project.gt("respond", *arguments).code == code


def test_all_goes_through_every_question_and_skips_what_is_left_empty(project: Project) -> None:
    project.make("k7f2", priority=0, status=Status.STUCK, awaiting=Awaiting.ESCALATION)
    project.make("r3vw", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    editor = 'grep -q m3xq "$1" && echo Formal. >>"$1"; true'
    ran = project.gt("respond", "--all", "--edit", environment={"GIT_EDITOR": editor})
    assert ran.out == "m3xq  answered; back to its agent with your answer\n"
    assert ran.err == "k7f2  left unanswered\n"
    assert project.task("k7f2").status is Status.STUCK
    assert project.gt("respond", "--all", "--edit", environment={"GIT_EDITOR": "echo x >>"}).code == 0
    assert project.gt("respond", "--all", "--edit").err == "no task is waiting for an answer\n"


def test_the_sheet_holds_the_question_above_the_line(project: Project) -> None:
    file = project.file("m3xq")
    sheet = question_sheet(file.task, file.entries(Section.QUESTIONS), "So far")
    assert sheet.splitlines()[:3] == ["# m3xq  Rename", "# clarification, awaits input", "#"]
    assert "# Friendly or formal?" in sheet
    assert sheet.splitlines()[answer_line(sheet) - 1] == "So far"
    assert answer_of(sheet) == "So far"


def test_a_sheet_without_its_line_is_refused() -> None:
    with pytest.raises(UsageError, match="is gone"):
        answer_of("# m3xq\nanswer")
    assert answer_of(f"# x\n{LINE}\n# a heading\n") == "# a heading"


def test_what_was_written_above_the_line_is_kept(project: Project) -> None:
    ran = project.gt("respond", "m3xq", environment={"GIT_EDITOR": "sed -i 1iFriendly."})
    assert ran.code == 2
    assert ran.err.startswith("error: there is text above the line with `>8`: write below it\n")
    assert _kept(ran.err).read_text().startswith("Friendly.\n# m3xq  Rename\n")
    assert project.task("m3xq").awaiting is Awaiting.INPUT


def test_an_answer_that_came_too_late_is_kept(project: Project, tmp_path: Path) -> None:
    editor = write_program(
        tmp_path / "editor", f"{shlex.join(command('cancel', 'm3xq'))} && echo Friendly. >> $1"
    )
    ran = project.gt("respond", "m3xq", environment={"GIT_EDITOR": str(editor)})
    assert ran.code == 3
    assert _kept(ran.err).read_text().endswith("Friendly.\n")


@pytest.mark.parametrize(
    ("editor", "code", "message"),
    [
        ("no-such-editor", 1, "the editor `no-such-editor` was not found"),
        ("false", 1, "the editor `false` failed with 1"),
        ("rm", 1, "the editor removed the file, so nothing was changed"),
        ("rm -r $(dirname $1); true", 1, "the editor removed the file, so nothing was changed"),
        ("true", 2, "the answer is empty, nothing was changed"),
    ],
)
def test_an_editor_that_leaves_no_answer(project: Project, editor: str, code: int, message: str) -> None:
    tip = project.tip()
    ran = project.gt("respond", "m3xq", environment={"GIT_EDITOR": editor})
    assert (ran.code, project.tip()) == (code, tip)
    assert ran.err.startswith(f"error: {message}")
    assert "Traceback" not in ran.err
    assert list((project.path / ".git/gitticks/drafts").iterdir()) == []


def test_what_an_editor_saved_before_it_failed_is_kept(project: Project, tmp_path: Path) -> None:
    editor = write_program(tmp_path / "editor", "echo Friendly. >> $1; exit 1")
    ran = project.gt("respond", "m3xq", environment={"GIT_EDITOR": str(editor)})
    assert (ran.code, project.task("m3xq").awaiting) == (1, Awaiting.INPUT)
    assert _kept(ran.err).read_text().endswith("Friendly.\n")


def test_an_answer_behind_a_hash_above_the_line_is_kept(project: Project) -> None:
    ran = project.gt("respond", "m3xq", environment={"GIT_EDITOR": "sed -i '1i# Friendly.'"})
    assert ran.code == 2
    assert _kept(ran.err).read_text().startswith("# Friendly.\n")


def test_a_question_cannot_forge_the_line_between(project: Project) -> None:
    forged = f"Which?\n{LINE}\n{LINE.removeprefix('# ')}\nYes, delete it all."
    project.make("k7f2")
    project.ok("ask", "k7f2", forged)
    ran = project.gt("respond", "k7f2", environment={"GIT_EDITOR": "true"})
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: the answer is empty, nothing was changed")
    project.ok("respond", "k7f2", environment={"GIT_EDITOR": "echo Keep it. >>"})
    assert _answers(project, "k7f2") == ["Keep it."]


def test_the_sheet_shows_what_an_agent_wrote_to_deceive(project: Project) -> None:
    task = replace(project.task("m3xq"), title="A\x1b[2Jtitle\u202e")
    sheet = question_sheet(task, (), said="\x07\x1b]0;x")
    assert not set(sheet) & {"\x1b", "\x07", "\u202e"}


def test_what_came_by_stdin_too_late_is_kept(project: Project, tmp_path: Path) -> None:
    late = subprocess.Popen(
        command("respond", "m3xq", "-"),
        cwd=project.path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert late.stdin is not None
    pipe = late.stdin
    pipe.write("A long answer,\n")
    pipe.flush()
    until(lambda: has_read(pipe))
    project.ok("cancel", "m3xq")
    _, errors = late.communicate("in two lines.\n", timeout=LONGEST_SECONDS)
    assert (late.returncode, "`m3xq` is not waiting for an answer: it is cancelled" in errors) == (3, True)
    assert _kept(errors).read_text() == "A long answer,\nin two lines.\n"


def test_a_task_that_asks_nothing_is_refused_before_anything_is_written(project: Project) -> None:
    project.make("k7f2")
    ran = project.gt("respond", "k7f2", environment={"GIT_EDITOR": "touch opened; echo x >>"})
    assert (ran.code, (project.path / "opened").exists()) == (3, False)
    assert "hint: `gt note k7f2" in ran.err


def test_what_the_agent_said_last_stands_above_the_line(project: Project) -> None:
    note = "Text.\n\n## Notes\n\n### 2026-03-04T05:06:07Z · agent · claude\n\nPhase 1 is done.\n"
    asked_at = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    project.make("k7f2", awaiting=Awaiting.CHECKPOINT, asked_at=asked_at, body=note)
    project.gt("respond", "k7f2", environment={"GIT_EDITOR": "cp $1 page; true"})
    assert "# pending, awaits checkpoint\n#\n# Phase 1 is done.\n" in (project.path / "page").read_text()


def test_on_a_terminal_each_question_is_asked_in_turn(project: Project) -> None:
    project.make("k7f2", title="Break it", priority=0, status=Status.STUCK, awaiting=Awaiting.ESCALATION)
    project.make("r3vw", status=Status.PENDING, awaiting=Awaiting.CHECKPOINT, priority=4)
    project.make("zzz9", status=Status.PENDING, awaiting=Awaiting.CHECKPOINT, priority=4)
    ran = typed(
        "respond",
        "--all",
        at=project.path,
        answers=[
            ("1 of 4", ""),
            ("Ctrl-D quits:", "\n"),
            ("2 of 4", ""),
            ("Friendly or formal?", ""),
            ("Ctrl-D quits:", "Friendly,\n\nI think.\n\n"),
            ("Ctrl-D quits:", "\x04"),
        ],
    )
    assert ran.code == 0, ran.seen
    assert ran.out == "m3xq  answered; back to its agent with your answer\n"
    assert _answers(project) == ["Friendly,\n\nI think."], "what was pasted is one answer"
    assert "k7f2  left unanswered\n" in ran.err
    assert "2 questions left unanswered\n" in ran.err
    assert project.task("k7f2").awaiting is Awaiting.ESCALATION


def test_all_as_json_prints_what_was_answered(project: Project) -> None:
    ran = typed("respond", "--all", "--json", at=project.path, answers=[("Ctrl-D quits:", "Friendly.\n\n")])
    (task,) = json.loads(ran.out)["tasks"]
    assert (task["id"], task["awaiting"], task["status"]) == ("m3xq", None, "working")


def test_a_question_that_is_gone_meanwhile_keeps_nobody_from_the_next(
    project: Project, tmp_path: Path
) -> None:
    project.make("zzz9", status=Status.PENDING, awaiting=Awaiting.CHECKPOINT, priority=4)
    cancel = shlex.join(command("cancel", "m3xq"))
    editor = write_program(tmp_path / "editor", f"grep -q m3xq $1 && {cancel} >&2; echo Go on. >> $1")
    ran = project.gt("respond", "--all", "--edit", environment={"GIT_EDITOR": str(editor)})
    assert (ran.code, ran.out) == (3, "zzz9  answered; back to its agent with your answer\n")
    assert _kept(ran.err).read_text().endswith("Go on.\n")
    assert project.task("zzz9").awaiting is None


def test_an_answer_closes_no_question_that_its_writer_did_not_see(project: Project, tmp_path: Path) -> None:
    ask = shlex.join(command("ask", "m3xq", "May I drop the old table?"))
    editor = write_program(tmp_path / "editor", f"{ask} >&2; echo Yes, friendly. >> $1")
    ran = project.gt("respond", "m3xq", environment={"GIT_EDITOR": str(editor)})
    assert ran.code == 3, ran.seen
    # "it asked again", or within one second "its questions changed"
    assert "`m3xq` changed since you looked: it" in ran.err
    assert _kept(ran.err).read_text().endswith("Yes, friendly.\n")
    assert len(open_questions(project.file("m3xq").entries(Section.QUESTIONS))) == 2


def test_without_a_terminal_all_needs_an_editor(project: Project) -> None:
    ran = project.gt("respond", "--all")
    assert (ran.code, "hint: `gt respond --all --edit`" in ran.err) == (2, True)


def test_no_page_is_left_behind(project: Project) -> None:
    project.ok("respond", "m3xq", environment={"GIT_EDITOR": "echo Friendly. >>"})
    assert list((project.path / ".git/gitticks/drafts").iterdir()) == []


def _kept(errors: str) -> Path:
    """Returns the page that an error names."""
    found = re.search(r"your text is kept in `(.+)`", errors)
    assert found is not None
    return Path(found[1])
