"""Rows at the widths of panes: nothing is wider than its pane, and no text steers the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.inbox import ReviewWord
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.queries import Graph
from gitticks.runner.transcripts import transcripts_of
from gitticks.tui import iterations, run_settings
from gitticks.tui.feed import last_words
from gitticks.tui.theme import look_of
from gitticks.tui.transcript import Piece
from gitticks.tui.widgets import epics, inbox, meters, tasks
from gitticks.tui.widgets.lines import Line, fit, line, words
from gitticks.tui.widgets.output import MOST_ENTRIES, Output
from gitticks.tui.widgets.review_rows import check_rows
from tests.support.projects import make_project
from tests.tui import made_up_places
from tests.tui.made_up import CHANGES, HANDOFF, ITERATIONS, NOW, PIECES, SPENDING, snapshot
from tests.tui.made_up import row as made_up_row

WIDTHS = (38, 78, 118)
HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07 gone",
    "\u202eright to left\u2066",
    "[/x] [bold red]markup[/]",
    "\U000e0041\U000e0042 tags",
    "wide 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字",
    "e\u0301\u0301\u0301 combined \u200d",
    "a\tb\rc\nd",
    "x" * 10_000_000,
    "",
)


def _all_rows(width: int) -> Iterable[Line]:
    shown = snapshot()
    yield from (tasks.task(shown, row, width) for row in shown.rows)
    yield from tasks.roots(shown, width, {"h8d4"})
    yield from inbox.rows(shown, NOW, width)
    for asked in shown.inbox:
        yield from inbox.preview(asked, CHANGES, HANDOFF, NOW, width)[1]
    yield from epics.rows(shown, epics.running(shown), {TaskId("e4mq"): "pytest"}, NOW, (width, 40))
    yield from meters.budget_rows(SPENDING.budgets, width)
    yield from iterations.rows(ITERATIONS, {}, width)
    yield from run_settings.rows({"agent": "claude"}, {"parallel": "3"})
    output = Output()
    output.take(PIECES)
    yield from output.rows(width)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_row_fits_and_says_something(width: int) -> None:
    look = look_of("gt-dark")
    for row in _all_rows(width):
        segments = fit(row, width, look)
        assert sum(one.cell_length for one in segments) == width, words(row)
    text = "\n".join("".join(one.text for one in fit(row, width, look)) for row in _all_rows(width))
    for word in ("e4mq", "Parallel test", "Which tone", "UNCERTAIN", "412k of 500k", "assert pool.pending"):
        assert word in text


def test_titles_are_below_one_another_whatever_the_length_of_ids() -> None:
    shown = snapshot()
    rows = tuple(row._replace(id=TaskId("k7f2x")) if row.id == "b2cd" else row for row in shown.rows)
    shown = replace(shown, rows=rows, graph=Graph.of(rows))
    for lines in (tasks.listed(shown, rows, 78), tasks.roots(shown, 78, ())):
        at = {words(one).index(row.title) for one in lines for row in rows if row.title in words(one)}
        assert len(at) == 1


def test_an_epic_that_holds_only_an_epic_is_as_empty_as_that() -> None:
    shown = snapshot()
    inner = made_up_row("n2nn", "Inner", parent="hhm3", is_epic=True)
    rows = (*(row for row in shown.rows if row.id != "b2cd"), inner)
    shown = replace(shown, rows=rows, graph=Graph.of(rows))
    said = {one.key: [span[0].strip() for span in one.right] for one in tasks.roots(shown, 78, ())}
    assert "empty" in said["n2nn"]
    assert said["hhm3"] == said["n2nn"]


@pytest.mark.parametrize(
    ("outcome", "said"), [("pass", "passed"), ("fail", "failed"), ("missing", "without a verdict")]
)
def test_a_review_that_came_to_no_verdict_is_not_said_to_have_failed(outcome: str, said: str) -> None:
    asked = next(one for one in snapshot().inbox if one.review is not None)
    asked = asked._replace(review=ReviewWord(outcome, "council", "1 of 2 reviewers answered."))
    shown = [inbox.gist(asked), *map(words, inbox.preview(asked, None, HANDOFF, NOW, 78)[1])]
    assert sum(f"review {said} by council" in row for row in shown) == 2


@pytest.mark.parametrize("width", WIDTHS[1:])
def test_epics_side_by_side_say_where_each_of_their_tasks_is_done(width: int) -> None:
    shown = snapshot()
    text = "\n".join(map(words, epics.rows(shown, epics.running(shown), {}, NOW, (width, 40))))
    for task in ("e4mq", "v6tn", "gjq8", "p2wd"):  # at work, in review, waiting for a person
        assert f"gitticks/work/{task} in .gitticks-work/{task}" in text


@pytest.mark.parametrize("height", [4, 12, 40])
def test_epics_side_by_side_have_a_row_for_each_agent_and_task(height: int) -> None:
    shown = snapshot()
    found = epics.running(shown)
    rows = [words(one) for one in epics.rows(shown, found, {}, NOW, (100, height))]
    listed = {one.task for epic in found for one in epic.sessions}
    listed |= {one.standing.task.id for epic in found for one in epic.asked}
    below = [row for row in rows if row.startswith("   ")]
    assert all(any(f" {one} " in row for row in below) for one in listed)


def test_of_the_same_second_the_iteration_that_ended_last_is_the_newest(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    ended = Event(EventType.SESSION_ENDED, NOW, ENGINE, data={"role": "worker", "ending": "clean"})
    merged = Event(EventType.MERGED, NOW, ENGINE, reason="into main")
    project.make("k7f2", events=[ended, merged])
    found = iterations.iterations_of(Context(directory=project.path), [TaskId("k7f2")])
    assert [one.word for one in found] == ["merged", "goes on"]


@pytest.mark.parametrize(
    ("percent", "colour", "said"),
    [
        (79, "busy", ""),
        (80, "waits", "tokens nearly spent"),
        (94, "waits", "tokens nearly spent"),
        (95, "bad", "tokens nearly spent"),
        (100, "bad", "tokens: limit reached"),
    ],
)
def test_a_budget_changes_its_colour_as_it_is_spent(percent: int, colour: str, said: str) -> None:
    budget = next(one for one in SPENDING.budgets if one.metric == "tokens")
    budgets = [budget._replace(percent=percent)]
    [row] = meters.budget_rows(budgets, 78)
    assert row.left[1][1] == colour
    assert meters.nearly_spent(budgets)[0] == said


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("made", ["title", "prose", "call"])
def test_no_text_steers_the_screen(text: str, made: str) -> None:
    makers: dict[str, Callable[[str], list[Line]]] = {
        "title": _as_title,
        "prose": _as_prose,
        "call": _as_call,
    }
    for width in WIDTHS:
        for row in makers[made](text)[:200]:
            segments = fit(row, width, look_of("gt-light"))
            shown = "".join(one.text for one in segments)
            assert sum(one.cell_length for one in segments) == width
            assert not any(char in shown for char in "\x1b\x07\r\n\t\u202e\u2066\U000e0041")


def _as_title(text: str) -> list[Line]:
    return [line((text, "fg"), right=[("3 min", "muted")])]


def _as_prose(text: str) -> list[Line]:
    output = Output()
    output.take([Piece(text, is_prose=True), Piece(text)])
    return output.rows(80)


def _as_call(text: str) -> list[Line]:
    output = Output()
    output.take([Piece(text, "run", "1"), Piece("", call="1", detail=(text,), failed=True)])
    return output.rows(80)


def test_a_call_is_folded_and_what_it_came_to_is_joined_with_it() -> None:
    output = Output()
    output.take([Piece("pytest -q", "run", "a"), Piece("", call="a", detail=("212 passed",), failed=False)])
    assert ["212 passed" in words(row) for row in output.rows(60)] == [False]
    key = output.rows(60)[0].key
    assert key is not None
    output.turn(key)
    assert "212 passed" in words(output.rows(60)[1])
    output.take([Piece("pytest -q", "run", "b"), Piece("", call="b", detail=("E  1",), failed=True)])
    assert "E  1" in words(output.rows(60)[-1]), "a failed call opens by itself"
    output.is_verbose = True
    assert output.last == "run pytest -q"


def test_only_the_newest_of_an_endless_output_is_kept() -> None:
    output = Output()
    for number in range(4 * MOST_ENTRIES):
        output.take([Piece(f"line {number}")])
    assert len(output.rows(80)) < 2 * MOST_ENTRIES
    assert output.last == f"line {4 * MOST_ENTRIES - 1}"
    assert words(output.rows(80)[0]) == "… earlier output is in .git/gitticks/transcripts/"


@pytest.mark.parametrize(("count", "is_cut"), [(3, False), (3_000, True)])
def test_of_a_long_output_that_is_over_the_beginning_says_where_the_rest_is(
    tmp_path: Path, count: int, is_cut: bool
) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    context = Context(directory=project.path)
    folder = transcripts_of(context.repository.own_dir, TaskId("k7f2"))
    folder.mkdir(parents=True)
    (folder / "20261122T100000.000000Z-1.log").write_text("".join(f"line {one}\n" for one in range(count)))
    said = [one.text for one in last_words(context, TaskId("k7f2"), "")]
    assert said[-1] == f"line {count - 1}"
    assert said[0] == ("… earlier output is in .git/gitticks/transcripts/" if is_cut else "line 0")


def test_the_iteration_of_an_agent_at_work_counts() -> None:
    usual = snapshot()
    shown = replace(usual, details={})
    rows = [words(row) for row in epics.rows(shown, epics.running(shown), {}, NOW, (120, 40))]
    assert "iteration  1" in next(row for row in rows if "fbv2" in row)
    assert not any("iteration  0" in row for row in rows)


def test_run_settings_become_flags_and_choices_go_round() -> None:
    assert run_settings.flags_of({}) == ["--auto"]
    chosen = {"auto": "no", "parallel": "2"}
    assert run_settings.flags_of(chosen) == ["--parallel", "2"]
    [row] = run_settings.rows({}, {"permission": "yolo"}, ("permission",))
    assert words(row).endswith("yolo, only in a sandbox")
    seen = []
    choices: dict[str, str] = {}
    for _ in range(4):
        choices = run_settings.after("isolation", choices)
        seen.append(choices.get("isolation"))
    assert seen == ["task", "epic", "none", None]


def test_what_was_interrupted_says_so_and_keeps_its_columns() -> None:
    shown = snapshot()
    row = next(one for one in shown.rows if shown.graph.is_ready(one, shown.around))
    left = replace(shown, around=shown.around._replace(left={row.id: "interrupted"}))
    before, after = (words(tasks.root(one, row, 80, 4, is_chosen=False)) for one in (shown, left))
    assert before.split()[-1] == "ready"
    assert after.split()[-1] == "interrupted"
    assert len(before) == len(after)
    assert before.index(f"P{row.priority}") == after.index(f"P{row.priority}")


def test_what_was_stopped_before_its_first_session_says_so() -> None:
    shown = snapshot()
    row = next(one for one in shown.rows if shown.graph.is_ready(one, shown.around))
    held = replace(shown, around=shown.around._replace(held={row.id}))
    assert words(tasks.root(held, row, 80, 4, is_chosen=False)).endswith("stopped   ")
    assert words(tasks.task(held, row, 80)).endswith("stopped")


@pytest.mark.parametrize(
    ("checks", "marks"),
    [
        ("tests pass (2 in 1 s); `fail.sh (a)` passes (1 s)", "✓✓"),
        ("tests pass (1 s); build failed (exit code 1, 0 s)", "✓✗"),
        ("the commits are refused", "✗"),
        ("commits outside the branch", "✗"),
        ("uncommitted changes", "✗"),
    ],
)
def test_a_check_has_the_mark_of_what_it_came_to(checks: str, marks: str) -> None:
    view = made_up_places.work().view._replace(changes=None, checks=checks)
    assert "".join(words(one)[0] for one in check_rows(view, 60)) == marks
    (logged,) = view.worklog
    earlier = check_rows(view._replace(checks=None, worklog=(logged._replace(checks=checks),)), 60)
    assert words(earlier[0]) == "of iteration 1"
    assert {span[1] for row in earlier for span in row.left if not isinstance(span, str)} == {"muted"}
