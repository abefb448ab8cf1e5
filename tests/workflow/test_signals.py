"""Every signal in all three dialects, and what must never be taken for one."""

from __future__ import annotations

import json

import pytest

from gitticks.model.status import Requires
from gitticks.workflow.signals import Signal, SignalKind, read_signal, without_promises

PROMISES = [
    ("COMPLETE", "COMPLETE"),
    ("APPROVAL_NEEDED", "APPROVAL_NEEDED"),
    ("REVIEW_REQUESTED", "REVIEW_REQUESTED"),
    ("CONTENT_REVIEW", "CONTENT_REVIEW"),
    ("INPUT_NEEDED", "INPUT_NEEDED"),
    ("BLOCKED", "INPUT_NEEDED"),
    ("ESCALATE", "ESCALATE"),
    ("CHECKPOINT", "CHECKPOINT"),
    ("EJECT", "EJECT"),
]


@pytest.mark.parametrize(("word", "kind"), PROMISES)
@pytest.mark.parametrize("on_own_lines", [False, True])
def test_promise(word: str, kind: str, *, on_own_lines: bool) -> None:
    bare = read_signal(f"Working…\n<promise>{word}</promise>\n", on_own_lines=on_own_lines)
    assert bare.signal == Signal(SignalKind(kind))
    said = read_signal(f"<promise>{word}: what: and why </promise>", on_own_lines=on_own_lines)
    assert said.signal == Signal(SignalKind(kind), "what: and why")
    assert bare.warnings == said.warnings == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<promise>INPUT_NEEDED: which\n\none?</promise>", "which\n\none?"),
        ("<promise>\n  INPUT_NEEDED\n  : one\n</promise>", "one"),
        ("<promise>\r\nINPUT_NEEDED:\r\none\r\n</promise>\r\n", "one"),
        ("I say <promise>input_needed: one</promise> now", "one"),
        ("<promise> I began <promise>INPUT_NEEDED: one</promise>", "one"),
        ("<promise>INPUT_NEEDED: a < b > c</promise>", "a < b > c"),
    ],
)
def test_promise_may_span_lines_and_stand_anywhere(text: str, said: str) -> None:
    assert read_signal(text).signal == Signal(SignalKind.INPUT_NEEDED, said)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "all done",
        "<promise>COMPLETE",
        "COMPLETE</promise>",
        "</promise>COMPLETE<promise>",
        "promise COMPLETE",
        "&lt;promise&gt;COMPLETE&lt;/promise&gt;",
        "STATUS: DONE\nand then I went on",
        "STATUS: FINISHED",
        "my STATUS: DONE",
        '{"status": "completed"} and more',
        '{"status": "great"}',
        '{"summary": "no status"}',
        '["completed"]',
        "{broken}",
        "}",
        "```",
    ],
)
def test_no_signal(text: str) -> None:
    reading = read_signal(text)
    assert reading.signal is None
    assert reading.warnings == ()


def test_last_one_counts_and_different_ones_warn() -> None:
    reading = read_signal("<promise>COMPLETE</promise>\n<promise>EJECT: no key</promise>")
    assert reading.signal == Signal(SignalKind.EJECT, "no key")
    assert reading.warnings == ("several different signals (COMPLETE, EJECT): the last one counts",)


def test_same_signal_twice_does_not_warn() -> None:
    reading = read_signal("<promise>COMPLETE: a</promise><promise>COMPLETE: b</promise>\nSTATUS: DONE")
    assert reading.signal == Signal(SignalKind.COMPLETE, "b")
    assert reading.warnings == ()


@pytest.mark.parametrize(
    "body", ["FINISHED", "FINISHED: yes", "I will be careful", "INPUT-NEEDED", "CONTINUE"]
)
def test_unknown_type_warns_and_is_no_signal(body: str) -> None:
    reading = read_signal(f"<promise>COMPLETE</promise>\n<promise>{body}</promise>")
    assert reading.signal == Signal(SignalKind.COMPLETE)
    (warning,) = reading.warnings
    assert body.partition(":")[0] in warning
    assert "unknown" in warning


def test_warnings_are_few_and_short() -> None:
    many = "".join(
        f"<promise>{'X' * 5000}{chr(65 + number % 26)}\n{number}</promise>" for number in range(200)
    )
    warnings = read_signal(many).warnings
    assert 1 <= len(warnings) <= 6
    assert all(len(warning) < 200 and "\n" not in warning for warning in warnings)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("<promise>COMPLETE</promise>", True),
        ("log\n  <promise>COMPLETE</promise>  \nlog", True),
        ("log\r\n<promise>COMPLETE</promise>\r\nlog", True),
        ("<promise>COMPLETE:\nall of it</promise>\n", True),
        ("end with <promise>COMPLETE</promise>", False),
        ("<promise>COMPLETE</promise> is how you end", False),
        ('echo "<promise>COMPLETE</promise>"', False),
        ("- <promise>COMPLETE</promise>", False),
        ("> <promise>COMPLETE</promise>", False),
        ("<promise>COMPLETE</promise> <promise>COMPLETE</promise>", False),
    ],
)
def test_own_line_mode(text: str, *, counts: bool) -> None:
    assert (read_signal(text, on_own_lines=True).signal is not None) is counts
    assert read_signal(text).signal is not None


def test_own_line_mode_reads_each_line_for_itself() -> None:
    text = "<promise>COMPLETE</promise>\nsay <promise>EJECT</promise>\n<promise>CHECKPOINT</promise>"
    reading = read_signal(text, on_own_lines=True)
    assert reading.signal == Signal(SignalKind.CHECKPOINT)
    assert reading.warnings == ("several different signals (COMPLETE, CHECKPOINT): the last one counts",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fixed.\nSTATUS: DONE", Signal(SignalKind.COMPLETE)),
        ("Fixed.\n  STATUS:\tDONE  \n\n", Signal(SignalKind.COMPLETE)),
        ("Half way.\n\nSTATUS: CONTINUE", Signal(SignalKind.CONTINUE)),
        ("Long story.\n\nWhich port?\nI need one.\nSTATUS: BLOCKED\n", Signal(SignalKind.INPUT_NEEDED, "Which port?\nI need one.")),
        ("STATUS: BLOCKED", Signal(SignalKind.INPUT_NEEDED)),
        ("<promise>INPUT_NEEDED: Which db?</promise>\n\nSTATUS: BLOCKED", Signal(SignalKind.INPUT_NEEDED, "Which db?")),
        ("Which db?\n<promise>CHECKPOINT</promise>\nSTATUS: BLOCKED", Signal(SignalKind.INPUT_NEEDED, "Which db?")),
    ],
)  # fmt: skip
def test_status_line(text: str, expected: Signal) -> None:
    assert read_signal(text).signal == expected


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("completed", SignalKind.COMPLETE),
        ("failed", SignalKind.FAILED),
        ("blocked", SignalKind.INPUT_NEEDED),
        ("needs_input", SignalKind.INPUT_NEEDED),
    ],
)
@pytest.mark.parametrize(
    "frame", ["{}", "Here it is:\n\n{}\n", "```json\n{}\n```\n", "{{\n}}\n```\n{}\n```", "text {{\n{}"]
)
def test_json_result(status: str, kind: SignalKind, frame: str) -> None:
    result = {
        "status": status,
        "summary": "the summary",
        "details": "the details",
        "question": "which?",
        "questionContext": "two ports",
        "issues": ["one", {"file": "a.py"}],
    }
    for indent in (None, 2):
        signal = read_signal(frame.format(json.dumps(result, indent=indent))).signal
        assert signal is not None
        assert signal.kind is kind
        assert signal.text == ("which?" if kind is SignalKind.INPUT_NEEDED else "the summary")
        assert (signal.context, signal.details) == ("two ports", "the details")
        assert signal.issues == ("one", '{"file": "a.py"}')


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"status": "blocked", "summary": "no key"}, "no key"),
        ({"status": "needs_input"}, ""),
        ({"status": "blocked", "summary": None, "question": 7, "issues": "none"}, "7"),
    ],
)
def test_json_result_that_is_incomplete_or_odd(result: dict[str, object], text: str) -> None:
    assert read_signal(json.dumps(result)).signal == Signal(SignalKind.INPUT_NEEDED, text)


def test_json_result_with_half_a_character_can_be_written() -> None:
    signal = read_signal('{"status": "completed", "summary": "\\ud83d!"}').signal
    assert signal is not None
    assert signal.text.encode() == b"?!"


def test_dialects_may_differ_and_the_last_counts() -> None:
    reading = read_signal('<promise>COMPLETE</promise>\n{"status": "blocked", "question": "which?"}')
    assert reading.signal == Signal(SignalKind.INPUT_NEEDED, "which?")
    assert len(reading.warnings) == 1


@pytest.mark.parametrize(
    "text",
    [
        "<promise>A:" * 200_000,
        "</promise>" * 200_000,
        "<promise>COMPLETE</promise>" * 50_000,
        "<promise>" + "A" * 1_000_000 + "</promise>",
        "<promise>" + " " * 1_000_000 + "!</promise>",
        "<promise>A" + "\n" * 1_000_000 + "!</promise>",
        "<promise>COMPLETE:" + " " * 1_000_000 + "</promise>",
        " " * 1_000_000 + "<promise>COMPLETE</promise>" + " " * 1_000_000 + "x",
        "{\n" * 500_000 + "}",
        "[" * 100_000 + "\n{" * 1000 + '"a":' * 1000 + "}",
        '{"status": "completed", "summary": ' + "[" * 90_000 + "]" * 90_000 + "}",
        '{"a": 1}\n' * 100_000,
        "STATUS: " * 300_000,
        "\n" * 1_000_000 + "STATUS: BLOCKED",
    ],
    ids=lambda text: f"{text[:20]!r}…",
)
@pytest.mark.parametrize("on_own_lines", [False, True])
@pytest.mark.timeout(30)
def test_long_and_hostile_output_is_read_in_one_pass(text: str, *, on_own_lines: bool) -> None:
    reading = read_signal(text, on_own_lines=on_own_lines)
    assert sum(map(len, reading.warnings)) < 2000


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("see https://example.org/pull/7.", "https://example.org/pull/7"),
        ("(http://example.org/a?b=c#d) and https://other.org", "http://example.org/a?b=c#d"),
        ("no address", None),
        ("ftp://example.org", None),
        ("https://", None),
        ("http://" + "." * 100_000, None),
    ],
)
def test_url(text: str, url: str | None) -> None:
    assert Signal(SignalKind.REVIEW_REQUESTED, text).url == url


ASKED = {
    "COMPLETE": None,
    "APPROVAL_NEEDED": Requires.APPROVAL,
    "REVIEW_REQUESTED": Requires.REVIEW,
    "CONTENT_REVIEW": Requires.CONTENT,
}


@pytest.mark.parametrize("kind", SignalKind)
def test_what_a_signal_asks(kind: SignalKind) -> None:
    assert kind.asks_for_review is (kind.value in ASKED)
    assert kind.asked is ASKED.get(kind.value)


@pytest.mark.parametrize("key", ["status", "summary"])
def test_json_result_that_is_nested_as_deep_as_can_be_read_is_no_failure_of_ours(key: str) -> None:
    for depth in range(150, 1000):
        nested = "[" * depth + "]" * depth
        reading = read_signal(f'{{"status": "completed", "{key}": {nested}}}')
        assert reading.signal is None or reading.signal.kind is SignalKind.COMPLETE


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Done.\n<promise>COMPLETE</promise>\n", "Done.\n\n"),
        ("a<promise>INPUT_NEEDED: one\ntwo</promise>b<promise>X</promise>c", "abc"),
        ("<promise>one <promise>COMPLETE</promise> two", "<promise>one  two"),
        ("</promise> nothing <promise>", "</promise> nothing <promise>"),
        ("", ""),
    ],
)
def test_a_text_without_its_promises(text: str, rest: str) -> None:
    assert without_promises(text) == rest
