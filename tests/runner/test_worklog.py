from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gitticks.agents.base import AgentReport
from gitticks.model.status import Role
from gitticks.model.task import Ending, Usage
from gitticks.runner.verifiers import ChecksReport
from gitticks.runner.worklog import (
    LoggedIteration,
    WorklogEntry,
    append_entry,
    read_entries,
    recent_work,
    render_entry,
)
from gitticks.workflow.signals import Signal, SignalKind

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def entry(number: int, ending: Ending = Ending.CLEAN, said: str = "done") -> WorklogEntry:
    report = AgentReport(ending, final_message=said)
    return WorklogEntry(AT + timedelta(days=number), number, Role.WORKER, "claude", report)


def worklog(count: int) -> str:
    text = ""
    for number in range(1, count + 1):
        text = append_entry(text, entry(number, Ending.CRASHED if number == 2 else Ending.CLEAN))
    return text


def test_an_entry_tells_all_that_is_known() -> None:
    report = AgentReport(
        Ending.CRASHED,
        final_message="first\nsecond",
        usage=Usage(tokens_in=1200, tokens_out=30, cost=0.126, seconds=61.4),
        detail="exit code 1",
    )
    checks = ChecksReport(None, ("tests pass (2 in 1 s)", "build passes (3 s)"))
    whole = WorklogEntry(AT, 3, Role.REVIEWER, "claude", report, Signal(SignalKind.COMPLETE), checks)
    assert render_entry(whole) == (
        "## 3 · 2026-01-02T03:04:05Z · reviewer · claude\n\n"
        "- ended: crashed (exit code 1)\n"
        "- signal: COMPLETE\n"
        "- checks: tests pass (2 in 1 s); build passes (3 s)\n"
        "- used: 1,200 tokens in, 30 out, $0.13, 61 s\n\n"
        "> first\n> second\n"
    )


def test_an_empty_worklog_has_no_recent_work() -> None:
    assert recent_work("") == ([], "")


def test_the_last_five_stay_whole_and_the_rest_is_one_line() -> None:
    entries, summary = recent_work(worklog(8))
    assert [text.split(" ")[1] for text in entries] == ["4", "5", "6", "7", "8"]
    assert summary == ("3 earlier iterations (2026-01-03 to 2026-01-05): 3 worker; ended 2 clean, 1 crashed")


def test_few_entries_need_no_summary() -> None:
    entries, summary = recent_work(worklog(5))
    assert len(entries) == 5
    assert summary == ""


def test_what_an_agent_said_is_cut_and_cannot_look_like_an_entry() -> None:
    forged = render_entry(entry(9)) + "z" * 5000
    text = append_entry(worklog(1), entry(2, said=forged))
    assert len(recent_work(text)[0]) == 2
    assert len(text) < 2000


def test_the_end_of_what_a_failed_check_printed_stays_and_cannot_look_like_an_entry() -> None:
    printed = f"{'early ' * 500}\n{render_entry(entry(9))}> quoted\n\n  AssertionError: 3 != 4"
    lines = "\n".join(f"    {line}".rstrip() for line in printed.splitlines())
    failed = ChecksReport(f"tests failed\n\n{lines}", ("tests failed (exit code 1)",))
    text = append_entry(worklog(1), entry(2, said="")._replace(checks=failed))
    shown = recent_work(text)[0][-1]
    assert len(recent_work(text)[0]) == 2
    assert "\nOutput of the failed check:\n\n    …" in shown
    assert shown.endswith("      AssertionError: 3 != 4")
    assert read_entries(text)[-1].said == ""
    assert len(text) < 3500


def test_what_was_written_is_read_back() -> None:
    report = AgentReport(Ending.CLEAN, final_message="- ended: crashed", detail="late")
    signal = Signal(SignalKind.COMPLETE, details="no problems found")
    checks = ChecksReport(None, ("tests pass",))
    whole = WorklogEntry(AT, 1, Role.WORKER, "mine · too", report, signal, checks)
    first, second = read_entries(append_entry(render_entry(whole), entry(2, Ending.CRASHED, said="")))
    assert first == LoggedIteration(
        1,
        AT,
        "worker",
        "mine · too",
        "clean (late)",
        "COMPLETE",
        "tests pass",
        "0 tokens in, 0 out, 0 s",
        "- ended: crashed\n\nno problems found",
    )
    assert (second.iteration, second.ended, second.signal, second.checks, second.said) == (
        2,
        "crashed",
        None,
        None,
        "",
    )


def test_what_is_no_entry_is_left_out() -> None:
    written = render_entry(entry(1))
    later = written.replace("2026-01-03T", "2026-99-03T")
    longer = written.replace("## 1 ", f"## {'1' * 5000} ")
    assert [one.iteration for one in read_entries(f"words\n\n{later}\n{longer}\n{written}")] == [1]
    assert read_entries("") == ()
