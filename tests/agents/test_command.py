"""Any command line as an agent."""

from __future__ import annotations

import subprocess

import pytest

from gitticks.agents.base import AgentSpec, Ended, EndReason, Request
from gitticks.agents.command import LinesReader, invocation
from gitticks.errors import GitticksError
from gitticks.model.settings import AgentKind, PromptWay
from gitticks.model.task import Ending
from tests.support.agents import NOW


@pytest.mark.parametrize(
    ("way", "argv", "stdin"),
    [
        (PromptWay.STDIN, ("./agent.sh", "-v"), b"do it"),
        (PromptWay.ARGUMENT, ("./agent.sh", "-v", "do it"), None),
        (PromptWay.FILE, ("./agent.sh", "-v", "/w/.gt/prompt.md"), None),
    ],
)
def test_the_prompt_goes_the_way_that_the_settings_say(
    way: PromptWay, argv: tuple[str, ...], stdin: bytes | None
) -> None:
    spec = AgentSpec("mine", AgentKind.COMMAND, ("./agent.sh",), way, args=("-v",))
    started = invocation(spec, Request("do it", prompt_file="/w/.gt/prompt.md"))
    assert (started.argv, started.stdin) == (argv, stdin)


def test_a_prompt_that_no_argument_can_hold_is_refused() -> None:
    spec = AgentSpec("mine", AgentKind.COMMAND, ("printf", "%s"), PromptWay.ARGUMENT)
    longest = invocation(spec, Request("x" * 131_071)).argv
    assert subprocess.run(longest, stdout=subprocess.DEVNULL, check=False).returncode == 0
    with pytest.raises(GitticksError, match="as one argument"):
        invocation(spec, Request("x" * 131_069 + "€"))


def test_a_prompt_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(GitticksError, match="reads its prompt from a file"):
        invocation(AgentSpec("mine", AgentKind.COMMAND, ("x",), PromptWay.FILE), Request("x"))


@pytest.mark.parametrize(
    ("exit_code", "ending", "final"),
    [(0, Ending.CLEAN, "<promise>COMPLETE</promise>"), (1, Ending.CRASHED, None)],
)
def test_every_line_is_a_message(exit_code: int, ending: Ending, final: str | None) -> None:
    reader = LinesReader()
    assert [reader.feed(line) for line in ("one", "<promise>COMPLETE</promise>", "")] == [
        "one",
        "<promise>COMPLETE</promise>",
        "",
    ]
    report = reader.report(Ended(EndReason.EXITED, exit_code, seconds=2.0), NOW)
    assert (report.ending, report.final_message, report.usage.seconds) == (ending, final, 2.0)
    assert report.text == "one\n<promise>COMPLETE</promise>\n"
    assert report.signals_on_own_lines


def test_lines_of_usage_add_up_and_what_makes_no_sense_in_them_is_left_out() -> None:
    reader = LinesReader(has_service=True)
    reader.feed(
        '{"gitticks": "usage", "tokens_in": 1000, "tokens_cached": 600, "tokens_out": 50, "model": "m"}'
    )
    assert reader.report(Ended(EndReason.EXITED, 0), NOW).cost is None
    reader.feed('{"gitticks": "usage", "tokens_in": 10, "tokens_cached": 99, "cost": 0.25}')
    reader.feed('{"gitticks": "usage", "tokens_in": -5, "tokens_out": "many", "cost": -1, "model": 7}')
    reader.feed('{"gitticks": "usage", "tokens_in": 1e300, "cost": 1e300}')
    reader.feed(f'{{"gitticks": "usage", "tokens_in": {"9" * 400}}}')
    report = reader.report(Ended(EndReason.EXITED, 0, seconds=2.0), NOW)
    assert (report.usage.tokens_in, report.usage.tokens_out, report.cached_tokens) == (1010, 50, 610)
    assert (report.cost, report.spent.cost, report.model) == (0.25, 0.25, "m")


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ('"tokens_in": "12000"', "`tokens_in` in its usage line is not a number: '12000'"),
        ('"cost": "7.50"', "`cost` in its usage line is not a number: '7.50'"),
        ('"cost": NaN', "`cost` in its usage line is not a number: nan"),
        ('"tokens_out": true', "`tokens_out` in its usage line is not a number: True"),
        ('"tokens_cached": -5', "`tokens_cached` in its usage line is negative: -5"),
        ('"cost": 1e300', "`cost` in its usage line is too large: 1e+300"),
        ('"model": 7', "`model` in its usage line is not a text: 7"),
        (
            '"usd": 7.5',
            "`usd` in its usage line is not one of `tokens_in`, `tokens_out`, `tokens_cached`, `cost`, `model`: 7.5",
        ),
        ('"cost": null, "model": null', None),
    ],
)
def test_what_makes_no_sense_in_a_line_of_usage_is_named_once(line: str, warning: str | None) -> None:
    reader = LinesReader(has_service=True)
    for _ in range(2):
        reader.feed(f'{{"gitticks": "usage", {line}}}')
    report = reader.report(Ended(EndReason.EXITED, 0), NOW)
    assert report.warnings == (() if warning is None else (warning,))
    assert (report.tokens, report.cost, report.model) == (0, None, None)


def test_warnings_of_one_session_are_few() -> None:
    reader = LinesReader()
    for number in range(100):
        reader.feed(f'{{"gitticks": "usage", "key {number}": "{"x" * 1000}"}}')
    warnings = reader.report(Ended(EndReason.EXITED, 0), NOW).warnings
    assert len(warnings) == 5
    assert max(map(len, warnings)) <= 200


@pytest.mark.parametrize(
    ("after", "seconds", "warnings"),
    [
        ("60", 60.0, ()),
        ('"2h"', None, ("`retry_after` in its rate-limit line is not a number: '2h'",)),
        ("-1", None, ("`retry_after` in its rate-limit line is negative: -1",)),
    ],
)
def test_how_long_it_is_to_rest_is_a_number(
    after: str, seconds: float | None, warnings: tuple[str, ...]
) -> None:
    reader = LinesReader(has_service=True)
    reader.feed(f'{{"gitticks": "rate-limit", "retry_after": {after}}}')
    report = reader.report(Ended(EndReason.EXITED, 75), NOW)
    assert (report.retry_after_seconds, report.warnings) == (seconds, warnings)


def test_a_wrong_word_or_key_is_a_rate_limit_with_a_warning() -> None:
    kinds = "`rate-limit`, `usage-limit`, `outage`, `context-full`, `refusal`, `login`"
    line = '{"gitticks": "usage_limit", "retry_after": 60, "messages": "slow down"}'
    reader = LinesReader(has_service=True)
    reader.feed(line)
    report = reader.report(Ended(EndReason.EXITED, 75), NOW)
    assert (report.ending, report.retry_after_seconds) == (Ending.RATE_LIMITED, 60.0)
    assert report.warnings == (
        f"`gitticks` in its usage_limit line is not one of {kinds}: 'usage_limit'",
        "`messages` in its usage_limit line is not one of `retry_after`, `message`: 'slow down'",
    )


def test_what_gt_version_prints_is_no_word_of_the_agent() -> None:
    reader = LinesReader(has_service=True)
    reader.feed('{"gitticks": "0.1.0"}')
    report = reader.report(Ended(EndReason.EXITED, 1), NOW)
    assert (report.ending, report.detail, report.warnings) == (Ending.CRASHED, "exit code 1", ())


@pytest.mark.parametrize(
    ("exit_code", "ending", "detail"),
    [
        (0, Ending.CLEAN, "its last line says `refusal`, which counts only with exit code 75"),
        (1, Ending.CRASHED, "exit code 1; its last line says `refusal`, which counts only with exit code 75"),
        (75, Ending.REFUSED, "the model refuses the task"),
    ],
)
def test_what_a_line_says_without_its_exit_code_is_not_passed_over(
    exit_code: int, ending: Ending, detail: str
) -> None:
    reader = LinesReader(has_service=True)
    reader.feed('{"gitticks": "refusal"}')
    report = reader.report(Ended(EndReason.EXITED, exit_code), NOW)
    assert (report.ending, report.detail) == (ending, detail)


@pytest.mark.parametrize(
    ("kind", "detail"),
    [
        ("refusal", "the model refuses the task: I will not"),
        ("login", "the login is missing or was refused: I will not"),
        ("outage", "I will not"),
    ],
)
def test_what_a_task_is_stuck_with_says_what_it_is(kind: str, detail: str) -> None:
    reader = LinesReader(has_service=True)
    reader.feed(f'{{"gitticks": "{kind}", "message": "I will not"}}')
    assert reader.report(Ended(EndReason.EXITED, 75), NOW).detail == detail


def test_what_a_tool_printed_on_the_way_is_no_word_of_the_agent() -> None:
    reader = LinesReader(has_service=True)
    for line in ('{"gitticks": "outage"}', "was the answer to a test", "<promise>COMPLETE</promise>"):
        reader.feed(line)
    report = reader.report(Ended(EndReason.EXITED, 0), NOW)
    assert (report.ending, report.detail) == (Ending.CLEAN, "")


def test_a_program_that_is_not_there_is_named_and_not_what_starts_it() -> None:
    errors = "prlimit: failed to execute ./agent.sh: No such file or directory\n"
    report = LinesReader().report(Ended(EndReason.EXITED, 127, errors=errors), NOW)
    assert report.ending is Ending.START_FAILED
    why = "No such file or directory; it has to be in the workspace: commit it, and merge the base there"
    assert report.detail == f"`./agent.sh` cannot be started: {why}"
