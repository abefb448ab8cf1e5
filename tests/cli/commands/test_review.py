"""What `gt review` shows above the changes: what was asked and said, and of what is long only the newest."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from gitticks.model.status import Awaiting, Status
from tests.cli.support import gt_on_terminal
from tests.support.projects import make_reviewing
from tests.support.runs import DONE, PASS, TO_REVIEW, RunProject, project
from tests.support.tasks import write_files

__all__ = ["project"]

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
FOLDER = "tasks/f2/k7f2"
ENTRY = "### 2026-11-22T{hour:02}:00:00Z · {kind} · {name}\n\n{text}\n\n"
BODY = """\
After SSO people land on / instead of where they were.

## Acceptance Criteria

- bookmarks go on working

"""


def entries(section: str, *texts: str, name: str = "Ada", kind: str = "human") -> str:
    written = (
        ENTRY.format(hour=hour, kind=kind, name=name, text=text) for hour, text in enumerate(texts, start=1)
    )
    return f"## {section}\n\n{''.join(written)}"


def iteration(number: int, said: str = "") -> str:
    heading = f"## {number} · 2026-11-22T{number:02}:00:00Z · worker · claude"
    return f"{heading}\n\n- ended: clean\n- signal: COMPLETE\n- checks: tests pass\n\n> {said}\n\n"


def shown(project: RunProject, *options: str) -> str:
    return project.ok("review", "k7f2", *options, now=NOW)


def test_it_tells_what_was_asked_said_and_done_before_the_changes(project: RunProject) -> None:
    question = ENTRY.format(hour=9, kind="agent", name="claude", text="Which tone?")
    answer = ENTRY.format(hour=10, kind="human", name="Ada", text="Friendly.")
    review = "## Review\n\nPASS\n\n- `security`: APPROVED\n- `style`: abstained (exit code 3)\n\n"
    artifacts = f"## Handoff\n\n- DONE: all\n\n{review}"
    body = f"{BODY}## Questions\n\n{question}{answer}{artifacts}{entries('Notes', 'Mind the cookies.')}"
    make_reviewing(project, body=body)
    write_files(
        project.store,
        {
            f"{FOLDER}/worklog.md": iteration(1, "All is done.").encode(),
            f"{FOLDER}/rounds/01-review-security.md": b"No hole.\n\nVERDICT: BLOCKING\nVERDICT: APPROVED\n",
        },
    )
    assert shown(project, "--stat") == (
        """\
k7f2  Login loses the return URL
reviewing, awaits review

  After SSO people land on / instead of where they were.

Acceptance Criteria
  - bookmarks go on working

Handoff
  - DONE: all

Review
  PASS

  - `security`: APPROVED
  - `style`: abstained (exit code 3)

Council
  security: APPROVED
    No hole.

    VERDICT: BLOCKING
    VERDICT: APPROVED

Questions
  claude, 3 h ago
    Which tone?
  answered by Ada, 2 h ago
    Friendly.

Notes
  Ada, 11 h ago
    Mind the cookies.

Work
  1  worker claude, 11 h ago: clean, COMPLETE, tests pass

1 file, +1 -0, merges cleanly into main
"""
    )
    told = json.loads(shown(project, "--json"))["review"]
    assert told["summary"] == "After SSO people land on / instead of where they were."
    assert told["criteria"] == "- bookmarks go on working"
    assert [one["text"] for one in told["notes"]] == ["Mind the cookies."]
    assert [one["answer"]["text"] for one in told["questions"]] == ["Friendly."]
    assert told["reviews"]["security"].startswith("No hole.")
    assert told["verdicts"] == [
        {"reviewer": "security", "verdict": "APPROVED", "reason": None},
        {"reviewer": "style", "verdict": "abstained", "reason": "exit code 3"},
    ]
    assert [(one["iteration"], one["said"]) for one in told["worklog"]] == [(1, "All is done.")]


def test_of_many_the_newest_are_shown_and_of_long_ones_the_beginning(project: RunProject) -> None:
    notes = entries("Notes", *(f"note {number}" for number in range(1, 9)), "1\n2\n3\n4\n5\n6")
    questions = entries("Questions", *(f"Question {n}?" for n in range(1, 6)), name="claude", kind="agent")
    summary = "\n".join(f"line {number}" for number in range(1, 21))
    make_reviewing(project, body=f"{summary}\n\n{questions}{notes}")
    log = "".join(iteration(number, f"said {number}") for number in range(1, 7)).encode()
    write_files(project.store, {f"{FOLDER}/worklog.md": log})
    page = shown(project, "--stat")
    assert "  line 12\n  … 8 more lines: `gt show k7f2`\n\n" in page
    assert "Questions\n  … 2 earlier questions: `gt show k7f2`\n  claude, 9 h ago: open\n" in page
    assert "Notes\n  … 6 earlier notes: `gt show k7f2`\n  Ada, 5 h ago\n    note 7\n" in page
    assert "    4\n    … 2 more lines: `gt show k7f2`\n" in page
    assert (
        f"Work\n  … 3 earlier iterations: `git show gitticks/state:{FOLDER}/worklog.md`\n  4  worker" in page
    )
    assert "said 6" in page
    assert "said 5" not in page
    told = json.loads(shown(project, "--json"))["review"]
    assert [len(told[name]) for name in ("notes", "questions", "worklog")] == [9, 5, 6]
    assert project.path.joinpath(".gitticks", FOLDER, "worklog.md").read_bytes() == log


def test_what_the_agent_said_last_stands_there_once(project: RunProject) -> None:
    note = ENTRY.format(hour=10, kind="agent", name="claude", text="It drops a column.")
    asked = datetime(2026, 11, 22, 9, tzinfo=UTC)
    make_reviewing(project, body=f"## Notes\n\n{note}", asked_at=asked)
    page = shown(project)
    assert page.count("It drops a column.") == 1
    assert "Notes" not in page


def test_a_question_that_was_signalled_stands_there_once(project: RunProject) -> None:
    asked = "Which tone: friendly or formal?"
    project.make(
        awaiting=Awaiting.INPUT, status=Status.CLARIFICATION, body=entries("Questions", asked, kind="agent")
    )
    signal = f"<promise>INPUT_NEEDED: {asked}</promise>"
    for words, lines in ((signal, 0), (f"I looked around.\n> {signal}", 1)):
        write_files(project.store, {f"{FOLDER}/worklog.md": iteration(1, words).encode()})
        page = shown(project)
        assert page.count(asked) == 1
        assert page.count("I looked around.") == lines


@pytest.mark.parametrize("closed", [{}, {"rounds/01-review.md": b"FAIL\n"}])
def test_a_council_of_an_earlier_round_says_nothing_of_this_one(
    project: RunProject, closed: dict[str, bytes]
) -> None:
    make_reviewing(project)
    files = {"rounds/01-review-security.md": b"A hole.\n", **closed, "rounds/99.md": b"no round\n"}
    write_files(project.store, {f"{FOLDER}/{name}": data for name, data in files.items()})
    assert ("A hole." in shown(project)) is (not closed)


def test_nothing_of_it_steers_the_terminal_or_is_wider(project: RunProject) -> None:
    title = "\x1b]0;owned\x07"
    body = f"{title}\n\n{entries('Notes', title, name='Eve')}{entries('Questions', title, kind='agent')}"
    make_reviewing(project, body=body)
    files = {"worklog.md": iteration(1, title), "rounds/01-review-x\x1b.md": title}
    write_files(project.store, {f"{FOLDER}/{name}": text.encode() for name, text in files.items()})
    assert "\x1b" not in shown(project)
    plain = {"NO_COLOR": "1"}
    lines = gt_on_terminal(
        "review", "k7f2", "--stat", at=project.path, columns=40, environment=plain
    ).out.splitlines()
    assert [line for line in lines if len(line) > 40] == []


@pytest.mark.parametrize(
    ("awaiting", "commands"),
    [
        (Awaiting.CONTENT, 'gt approve k7f2 · gt reject k7f2 "…"'),
        (Awaiting.ESCALATION, 'gt respond k7f2 "…"'),
        (Awaiting.WORK, "gt start k7f2 · gt close k7f2"),
        (None, "no code was handed off"),
    ],
)
def test_without_code_a_terminal_shows_what_answers_it(
    project: RunProject, awaiting: Awaiting | None, commands: str
) -> None:
    project.make(awaiting=awaiting)
    shown = gt_on_terminal("review", "k7f2", at=project.path, environment={"NO_COLOR": "1"}).out
    assert shown.splitlines()[-1] == commands
    assert "no code was handed off\n" in shown


def test_merged_work_is_reported_as_such(project: RunProject) -> None:
    make_reviewing(project)
    project.ok("approve", "k7f2")
    merged = project.task("k7f2").merged_sha or ""
    assert f"1 file, +1 -0, merged into main as {merged[:7]}\n" in shown(project, "--stat")


def test_a_damaged_worklog_hides_nothing_else(project: RunProject) -> None:
    make_reviewing(project)
    write_files(project.store, {f"{FOLDER}/worklog.md": b"\xff\x00 no entry\n## 1 \xc2\xb7 \n"})
    assert "+k7f2" in shown(project)
    assert json.loads(shown(project, "--json"))["review"]["worklog"] == []


def test_a_run_leaves_what_the_page_tells(project: RunProject) -> None:
    project.agent(f'case "$GITTICKS_ROLE" in reviewer) {PASS};; *) {DONE};; esac\n')
    project.make(body="Do it.")
    project.run()
    assert project.stands() == TO_REVIEW
    page = project.ok("review", "k7f2", "--stat")
    assert "\n  Do it.\n\n" in page
    assert "Work\n  1  worker mine, " in page
    assert ": clean, COMPLETE\n" in page
