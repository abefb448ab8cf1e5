"""`gt review`: what a person sees, and the verdict given on it."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.review import diff, reject_work, view
from gitticks.errors import RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status
from tests.cli.support import command, gt_on_terminal
from tests.support.processes import has_read
from tests.support.projects import make_reviewing, make_working
from tests.support.repositories import commit_file, git
from tests.support.runs import DONE, NO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

K7F2 = TaskId("k7f2")
WAYS = {None: "show", Awaiting.WORK: "close"}


def test_it_shows_hand_off_review_and_changes(project: RunProject) -> None:
    make_reviewing(project)
    shown = project.ok("review", "k7f2")
    assert "reviewing, awaits review" in shown
    assert "1 file, +1 -0, merges cleanly into main" in shown
    assert "+k7f2" in shown
    assert "+k7f2" not in project.ok("review", "k7f2", "--stat")


def test_work_on_the_branch_of_an_epic_is_said_to_be_merged_with_it(project: RunProject) -> None:
    project.make("ep1c", type="epic")
    workspace = make_reviewing(project, parent="ep1c", branch="gitticks/work/ep1c")
    git("branch", "-m", "gitticks/work/k7f2", "gitticks/work/ep1c", at=workspace)
    for shown in (project.ok("review", "k7f2"), project.ok("inbox"), project.ok("show", "k7f2", "--stat")):
        assert "1 file, +1 -0, merged with its epic ep1c" in shown
        assert "cleanly" not in shown
    project.ok("cancel", "ep1c")
    for shown in (project.ok("review", "k7f2"), project.ok("inbox"), project.ok("show", "k7f2", "--stat")):
        assert "1 file, +1 -0, no longer merged with its epic ep1c: reject it to start over" in shown
    assert "with which it is merged no more" in project.gt("approve", "k7f2").err


def test_on_a_terminal_it_is_one_page_in_colour_with_what_to_type(project: RunProject) -> None:
    note = "### 2026-11-22T10:00:00Z · agent · claude\n\nIt *drops* a column.\n"
    asked = datetime(2026, 11, 22, 9, tzinfo=UTC)
    make_reviewing(project, body=f"## Handoff\n\n- DONE: all\n\n## Notes\n\n{note}", asked_at=asked)
    assert "\nSaid\n  It *drops* a column.\n\nHandoff\n  - DONE: all\n" in project.ok("review", "k7f2")
    assert json.loads(project.ok("review", "k7f2", "--json"))["review"]["said"] == "It *drops* a column."
    shown = gt_on_terminal("review", "k7f2", at=project.path, columns=40).out
    assert "\x1b[32m+k7f2\x1b[0m\n" in shown
    assert "\x1b[1m+++ b/login.txt\x1b[0m\n" in shown
    plain = re.sub("\x1b\\[[0-9;]*m", "", shown)
    assert "\n1 file, +1 -0, merges cleanly into main\n" in plain
    assert plain.endswith('\ngt approve k7f2 · gt reject k7f2 "…"\n')


def test_changes_are_what_the_task_did_and_not_what_the_base_did_meanwhile(project: RunProject) -> None:
    make_reviewing(project)
    commit_file(project.path, "other.txt", "meanwhile\n")
    seen = view(Context(directory=project.path), K7F2)
    assert seen.changes is not None
    assert seen.changes.files == 1
    assert b"other.txt" not in diff(Context(directory=project.path), seen.task)


def test_merged_changes_are_still_shown(project: RunProject) -> None:
    make_reviewing(project)
    project.ok("approve", "k7f2")
    assert b"login.txt" in diff(Context(directory=project.path), project.task("k7f2"))


def test_conflicts_are_named(project: RunProject) -> None:
    make_reviewing(project)
    commit_file(project.path, "login.txt", "mine\n")
    assert "conflicts in login.txt" in project.ok("review", "k7f2")
    body = json.loads(project.ok("review", "k7f2", "--json"))["review"]
    assert body["conflicts"] == ["login.txt"]
    assert body["head"] == git("rev-parse", "gitticks/work/k7f2", at=project.path)


def test_without_code_it_says_so(project: RunProject) -> None:
    project.make()
    assert "no code was handed off" in project.ok("review", "k7f2")
    assert diff(Context(directory=project.path), project.task("k7f2")) == b""


def test_names_of_files_are_shown_as_they_are_written(project: RunProject) -> None:
    workspace = make_reviewing(project)
    commit_file(workspace, "דוח.txt", "it\n")
    project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
    assert "\n+++ b/דוח.txt\n" in project.ok("review", "k7f2")


def test_control_characters_of_the_work_do_not_reach_the_terminal(project: RunProject) -> None:
    workspace = make_reviewing(project)
    commit_file(workspace, "evil.txt", "\x1b]0;owned\x07\n")
    project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
    assert "\x1b" not in project.ok("review", "k7f2")


def test_a_name_is_shown_as_it_is_written_unless_it_could_steer_the_terminal(project: RunProject) -> None:
    workspace = make_reviewing(project)
    commit_file(workspace, "דוח.txt", "1\n")
    commit_file(workspace, "evil\u202e.txt", "1\n")
    project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
    shown = project.ok("review", "k7f2")
    assert "+++ b/דוח.txt" in shown
    assert "\u202e" not in shown


def test_no_program_of_the_repository_is_asked(project: RunProject) -> None:
    ran = project.path.parent / "ran"
    make_reviewing(project)
    git("config", "diff.external", f"touch {ran}; true", at=project.path)
    git("config", "diff.evil.textconv", f"touch {ran}; cat", at=project.path)
    (project.path / ".git/info/attributes").write_text("* diff=evil\n")
    assert "+k7f2" in project.ok("review", "k7f2")
    assert not ran.exists()


def test_a_word_among_the_questions_that_answers_none_is_shown_as_a_note(project: RunProject) -> None:
    entry = "### 2026-01-02T03:04:05Z · human · Ada\n\n{}\n\n"
    body = f"## Questions\n\n{entry.format('Mind the step.')}## Notes\n\n{entry.format('Hurry.')}"
    make_reviewing(project, body=body)
    told = json.loads(project.ok("review", "k7f2", "--json"))["review"]
    assert [note["text"] for note in told["notes"]] == ["Hurry.", "Mind the step."]
    assert told["questions"] == []


def test_accepted_work_is_merged(project: RunProject) -> None:
    make_reviewing(project)
    assert "done" in project.ok("review", "k7f2", "--accept")
    assert project.stands() == (Status.DONE, None)
    assert project.gt("review", "k7f2", "--accept").code == 3


def test_only_what_awaits_a_person_can_be_accepted(project: RunProject) -> None:
    make_working(project)
    assert project.gt("review", "k7f2", "--accept").code == 3
    assert project.stands() == (Status.WORKING, None)


def test_a_rejection_resumes_the_agent(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(f'grep -q "too short" "$GITTICKS_MAILBOX/prompt.md" || exit 9\n{DONE}')
    make_reviewing(project)
    project.ok("review", "k7f2", "--reject", "too short")
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert project.task("k7f2").review_round == 2


def test_a_rejection_starts_no_agent_on_what_a_person_works_on_by_hand(project: RunProject) -> None:
    project.make("k7f2")
    workspace = Path(project.ok("start", "k7f2").strip())
    head = commit_file(workspace, "login.txt", "x\n", "by hand")
    project.ok("handoff", "k7f2", "--done", "the login")
    project.ok("complete", "k7f2")
    assert project.task("k7f2").end_sha == head
    rejected = project.gt("review", "k7f2", "--reject", "too short")
    assert (rejected.code, rejected.err) == (0, "")
    assert project.stands() == (Status.WORKING, None)


def test_a_rejection_can_leave_the_agent_alone(project: RunProject) -> None:
    make_reviewing(project)
    project.ok("review", "k7f2", "--reject", "too short", "--no-resume")
    assert project.stands() == (Status.WORKING, None)
    assert project.notes("k7f2") == ["too short"]


def test_feedback_and_comments_are_read_from_stdin(project: RunProject) -> None:
    make_reviewing(project)
    project.ok("review", "k7f2", "--comment", "-", input="Mind the\nborder.\n")
    project.ok("review", "k7f2", "--comment", "login.txt:1", "-", input="Not this.\n")
    project.ok("review", "k7f2", "--reject", "-", "--no-resume", input="Too short.\n")
    assert [note.splitlines()[-1] for note in project.notes("k7f2")] == ["border.", "Not this.", "Too short."]
    assert "the comment is not UTF-8" in project.gt("review", "k7f2", "--comment", "a\udcff").err


def test_a_rejection_is_of_what_was_there_when_it_began(project: RunProject) -> None:
    make_reviewing(project)
    words = command("review", "k7f2", "--reject", "-", "--no-resume")
    with subprocess.Popen(
        words, cwd=project.path, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        pipe = process.stdin
        pipe.write("Too ")
        pipe.flush()
        until(lambda: has_read(pipe))
        project.change("k7f2", end_sha=project.task("k7f2").start_sha)
        _, errors = process.communicate("short.\n", timeout=LONGEST_SECONDS)
    assert (process.returncode, project.stands()) == (3, (Status.REVIEWING, Awaiting.REVIEW)), errors


def test_what_was_decided_is_reported_as_json_too(project: RunProject) -> None:
    make_reviewing(project)
    noted = project.ok("review", "k7f2", "--comment", "Mind the border.")
    assert noted == "k7f2  note added\n"
    told = project.ok("review", "k7f2", "--reject", "too short", "--no-resume", "--json")
    assert json.loads(told)["task"]["status"] == "working"
    refused = project.gt("review", "k7f2", "--accept", "--json")
    assert refused.code == 3
    assert "only work that awaits a person" in json.loads(refused.err)["error"]["message"]


def test_a_person_may_fail_work_that_an_agent_still_reviews(project: RunProject) -> None:
    make_reviewing(project, status=Status.AGENT_REVIEW, awaiting=None)
    project.ok("review", "k7f2", "--reject", "The border is missing.", "--no-resume")
    assert project.stands() == (Status.WORKING, None)
    review = project.file("k7f2").section(Section.REVIEW) or ""
    assert review.startswith("FAIL by Ada Lovelace")
    assert "The border is missing." in review
    assert re.search("Review +Ada Lovelace, .*: FAIL", project.ok("show", "k7f2"))


def test_work_that_is_another_by_now_is_not_failed(project: RunProject) -> None:
    make_reviewing(project, status=Status.AGENT_REVIEW, awaiting=None)
    context = Context(directory=project.path)
    seen = view(context, K7F2).seen
    project.change("k7f2", end_sha=project.task("k7f2").start_sha)
    with pytest.raises(RefusedError, match="changed since you looked: its head is"):
        reject_work(context, K7F2, "The border is missing.", seen)
    assert project.stands() == (Status.AGENT_REVIEW, None)
    assert project.file("k7f2").section(Section.REVIEW) is None


@pytest.mark.parametrize(
    ("status", "awaiting"),
    [
        (Status.STUCK, Awaiting.ESCALATION),
        (Status.CLARIFICATION, Awaiting.INPUT),
        (Status.REVIEWING, Awaiting.INPUT),
        (Status.REVIEWING, Awaiting.WORK),
        (Status.WORKING, None),
    ],
)
def test_what_is_no_verdict_on_work_is_not_given_by_a_review(
    project: RunProject, status: Status, awaiting: Awaiting | None
) -> None:
    make_reviewing(project, status=status, awaiting=awaiting)
    for arguments in (["--accept"], ["--reject", "again"]):
        refused = project.gt("review", "k7f2", *arguments)
        assert refused.code == 3, refused.seen
        assert f"hint: `gt {WAYS.get(awaiting, 'respond')} k7f2" in refused.err
    assert project.stands() == (status, awaiting)
    assert project.notes("k7f2") == []


def test_work_that_changes_nothing_has_no_numbers(project: RunProject) -> None:
    make_reviewing(project)
    project.change("k7f2", end_sha=project.task("k7f2").start_sha)
    assert project.ok("review", "k7f2").endswith("\n\nno changes\n")


def test_wrong_usage(project: RunProject) -> None:
    make_reviewing(project)
    assert project.gt("review", "k7f2", "--accept", "--reject", "x").code == 2
    assert project.gt("review", "k7f2", "--reject", " ", "--comment", "Mind the border.").code == 2
    assert project.notes("k7f2") == []
    assert project.gt("review", "nope").code == 1
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)


@pytest.mark.parametrize("arguments", [("--accept",), ("--reject", "Once more.")])
@pytest.mark.parametrize("awaiting", [None, Awaiting.INPUT])
def test_a_verdict_that_the_state_refuses_leaves_no_comment(
    project: RunProject, arguments: tuple[str, ...], awaiting: Awaiting | None
) -> None:
    project.make("k7f2", status=Status.CLARIFICATION if awaiting else Status.PENDING, awaiting=awaiting)
    for _ in range(2):
        assert project.gt("review", "k7f2", *arguments, "--comment", "Mind the border.").code == 3
    assert project.notes("k7f2") == []


def test_an_approval_without_proof_leaves_no_comment(project: RunProject) -> None:
    project.ok("config", "approvals.minimum", "L1")
    make_reviewing(project)
    assert project.gt("review", "k7f2", "--accept", "--comment", "Mind the border.").code == 3
    assert project.notes("k7f2") == []


def test_an_agent_cannot_judge(project: RunProject) -> None:
    make_reviewing(project)
    for arguments in (["--accept"], ["--reject", "x"], ["--comment", "x"]):
        ran = project.gt("review", "k7f2", *arguments, environment={"GITTICKS_AGENT": "1"})
        assert ran.code == 3, ran.seen
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert project.notes("k7f2") == []


def test_a_comment_is_a_note_and_moves_nothing(project: RunProject) -> None:
    make_reviewing(project)
    project.ok("review", "k7f2", "--comment", "Nice border.")
    assert project.notes("k7f2") == ["Nice border."]
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)


def test_a_comment_on_a_line_quotes_it_as_it_was_handed_off(project: RunProject) -> None:
    workspace = make_reviewing(project)
    commit = str(project.task("k7f2").end_sha)
    (workspace / "login.txt").write_text("changed since\n")
    project.ok("review", "k7f2", "--comment", "login.txt:1", "Not this.")
    project.ok("review", "k7f2", "--comment", "login.txt:1 Nor that:\nnever.", "--comment", "12:30 is fine")
    notes = [note.text for note in project.file("k7f2").entries(Section.NOTES)]
    quoted = f"On `login.txt:1` at {commit[:7]}:\n\n    k7f2\n\n"
    assert notes == [f"{quoted}Not this.", f"{quoted}Nor that:\nnever.", "12:30 is fine"]


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("src/lgin.txt:3 Not this.", "the work has no file `src/lgin.txt`: the comment quotes no line"),
        ("http://localhost:8080 answers nothing", ""),
        ("see 12:30 and Later:1 too", ""),
    ],
)
def test_a_comment_on_a_file_that_is_not_there_says_that_it_quotes_nothing(
    project: RunProject, comment: str, words: str
) -> None:
    make_reviewing(project)
    ran = project.gt("review", "k7f2", "--comment", comment)
    assert (ran.code, "quotes no line" in ran.err, words in ran.err) == (0, bool(words), True), ran
    assert [note.text for note in project.file("k7f2").entries(Section.NOTES)] == [comment]


def test_a_comment_quotes_the_line_that_git_numbers_so(project: RunProject) -> None:
    workspace = make_reviewing(project)
    (workspace / "odd.txt").write_bytes("a\n\fb\u2028\x85c\nd\re\r\nlast".encode())
    git("add", ".", at=workspace)
    git("commit", "-qm", "odd", at=workspace)
    project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
    for number in (3, 4):
        project.ok("review", "k7f2", "--comment", f"odd.txt:{number}", "Why?")
    texts = [note.text for note in project.file("k7f2").entries(Section.NOTES)]
    assert [one.split("\n\n")[1:] for one in texts] == [["    d e", "Why?"], ["    last", "Why?"]]
    assert "has 4 lines at" in project.gt("review", "k7f2", "--comment", "odd.txt:5", "x").err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--comment", "login.txt:7", "x"], "`login.txt` has 1 line at"),
        (["--comment", "login.txt:1", "--comment", "login.txt:1", "x"], "it is not clear what `x` is for"),
        (["--comment", "login.txt:1 ok", "--comment", "login.txt:7 x"], "but no line 7"),
        (["nice"], "it is not clear what `nice` is for"),
        (["--comment", "login.txt:1", " "], "there is no comment for `login.txt:1`"),
    ],
)
def test_a_comment_on_no_line_is_refused(project: RunProject, arguments: list[str], words: str) -> None:
    make_reviewing(project)
    ran = project.gt("review", "k7f2", *arguments)
    assert (ran.code, words in ran.err) == (2, True), ran
    assert project.file("k7f2").entries(Section.NOTES) == ()
