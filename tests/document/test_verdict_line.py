"""The verdict line, row by row."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitticks.document import verdict_line as module
from gitticks.document.verdict_line import last_verdict, leading_verdict, review_outcome
from gitticks.model.notes import ReviewOutcome

PASS, FAIL, UNCLEAR = ReviewOutcome.PASS, ReviewOutcome.FAIL, ReviewOutcome.UNCLEAR


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("PASS", PASS),
        ("fail", FAIL),
        ("Verdict: Pass, well done", PASS),
        ("**PASS**", PASS),
        ("_PASS_", PASS),
        ("- [ ] PASS", PASS),
        ("1. FAIL", FAIL),
        ("### FAIL", FAIL),
        ("FAIL-fast", FAIL),
        ("no FAIL found", FAIL),
        ("**Verdict:** PASS", PASS),
        ("Final verdict: **PASS**.", PASS),
        ("Review result = pass", PASS),
        ("**Status**: PASS", PASS),
        ("Overall: pass, no problems", PASS),
        ("Decision: no pass", UNCLEAR),
        ("PASS ✅", PASS),
        ("PASS (not a single issue)", PASS),
        ("Pass - no problems", PASS),
        ("It does not pass: the password check is missing.", UNCLEAR),
        ("Blocking: it leaks. It cannot pass review like this.", UNCLEAR),
        ("**Verdict:** not a pass", UNCLEAR),
        ("NO PASS", UNCLEAR),
        ("Pass is impossible", UNCLEAR),
        ("PASS once the check is there", UNCLEAR),
        ("**PASS** *once* it is there", UNCLEAR),
        ("PASS? No.", UNCLEAR),
        ("pass/no pass: no", UNCLEAR),
        ("pass-through is broken", UNCLEAR),
        ("pass() does nothing", UNCLEAR),
        ("PASS \u00e0 condition", UNCLEAR),
        ("PASS\u00a0is impossible", UNCLEAR),
        ("PASS&nbsp;is impossible", UNCLEAR),
        ('"PASS" is what I cannot say', UNCLEAR),
        ("~~PASS~~", UNCLEAR),
        ("PASS \u2014 well done", PASS),
        ("PASS:fine", PASS),
        ("12 pass, the others do not", UNCLEAR),
        ("All tests pass.\n\nPASS", UNCLEAR),
        ("All tests pass.\n\nFAIL", UNCLEAR),
        ("It does not pass.\n\nFAIL", UNCLEAR),
        ("Looks good.\n\nPASS\n\nFAIL", UNCLEAR),
        ("Criteria:\n- PASS: login\n- FAIL: logout\n\nVerdict: FAIL", UNCLEAR),
        ("- \u2705 PASS: login\n- \u274c FAIL: logout", UNCLEAR),
        ("- [ ] PASS\n- [x] FAIL", UNCLEAR),
        ("PASS\n\nNo tests fail.", PASS),
        ("\u274c PASS: not reached", UNCLEAR),
        ("Verdict != PASS", UNCLEAR),
        ("Verdict: != PASS", UNCLEAR),
        ("Verdict \u2014 PASS", PASS),
        ("Overall assessment: PASS", PASS),
        ("Code review: PASS", PASS),
        ("Looks good.\nFAIL\nPASS", FAIL),
        ("Looks good.  \nFAIL", FAIL),
        ("PASS/FAIL: PASS", UNCLEAR),
        ("12 pass, 1 fail\n\nPASS", UNCLEAR),
        ("pass **FAIL**", UNCLEAR),
        ("", UNCLEAR),
        ("no problems found", UNCLEAR),
        ("bypass, fail2ban, test_pass, passed, FAILED, failure", UNCLEAR),
        ("PA\u017fS", UNCLEAR),
        ("éPASS", PASS),
        ("`PASS`", UNCLEAR),
        ("`PASS` and FAIL", FAIL),
        ("`` a ` PASS ``\n\nFAIL", FAIL),
        ("```\nPASS\n```\nFAIL", FAIL),
        ("    PASS\n\nFAIL", FAIL),
        ("> PASS\n\nFAIL", FAIL),
        ("> quoted\nPASS\n\nFAIL", FAIL),
        ("- > PASS\n\nFAIL", FAIL),
        ("<!-- write PASS or FAIL -->\nPASS", PASS),
        ("<!-- write PASS or FAIL --> PASS", PASS),
        ("text <!-- PASS --> FAIL", FAIL),
        ("<!-- PASS\n\nFAIL", UNCLEAR),
        ("<b>PASS</b>", PASS),
        ("<div>FAIL</div>\n\nPASS", FAIL),
        ("<pre>\nPASS\n</pre>\n\nFAIL", FAIL),
        ('<img alt="PASS">\n\nFAIL', FAIL),
        ("![PASS](x.png)\n\nFAIL", FAIL),
        ("[PASS](https://x/FAIL)", PASS),
        ("[PASS]: https://x\n\nFAIL", FAIL),
        ("PASS<br>FAIL", UNCLEAR),
        ("\\PASS", PASS),
        ("**PASS**ED\n\nFAIL", FAIL),
        ("PASS " + "x" * 9000, UNCLEAR),
        ("x\n" * 40_000 + "PASS", UNCLEAR),
    ],
)
def test_the_first_line_of_prose_with_a_word_decides(text: str, outcome: ReviewOutcome) -> None:
    assert review_outcome(text) is outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("VERDICT: APPROVED", PASS),
        ("fine\n\nVERDICT: BLOCKING\n", FAIL),
        ("fine\r\nVERDICT: BLOCKING\r\n", FAIL),
        ("VERDICT: APPROVED\nlooked again\nVERDICT: BLOCKING", FAIL),
        ("VERDICT: BLOCKING\nlooked again\nVERDICT: APPROVED", UNCLEAR),
        ("VERDICT: APPROVED\n\nVERDICT: APPROVED", PASS),
        ("VERDICT: BLOCKING\n\n```\nVERDICT: APPROVED\n```", FAIL),
        ("VERDICT: BLOCKING\n\n- it has\n  ```\n  VERDICT: APPROVED\n  ```", FAIL),
        ("VERDICT: BLOCKING\n\n    VERDICT: APPROVED", FAIL),
        ("VERDICT: BLOCKING\n> VERDICT: APPROVED", FAIL),
        ("VERDICT: BLOCKING\n<!--\nVERDICT: APPROVED\n-->", FAIL),
        ("> it leaks here\nVERDICT: BLOCKING", FAIL),
        ("<details>\nVERDICT: BLOCKING\n</details>", FAIL),
        ("- it leaks\nVERDICT: BLOCKING", FAIL),
        ("x\n" * 20_000 + "VERDICT: BLOCKING", FAIL),
        ("x\n" * 40_000 + "VERDICT: BLOCKING\n" + "y\n" * 10_000, FAIL),
        ("**VERDICT: APPROVED**", PASS),
        ("**VERDICT:** BLOCKING", FAIL),
        ("- `VERDICT: BLOCKING`", FAIL),
        ("VERDICT: `BLOCKING`", FAIL),
        ("2. VERDICT: BLOCKING", FAIL),
        ("## VERDICT: BLOCKING.", FAIL),
        ("VERDICT: BLOCKING\n---", FAIL),
        ("verdict: Blocking", FAIL),
        ("VERDICT: APPROVED\n\nthat was all", PASS),
        ("> VERDICT: APPROVED", UNCLEAR),
        ("+VERDICT: APPROVED", UNCLEAR),
        ("-VERDICT: APPROVED", UNCLEAR),
        (" VERDICT: APPROVED", UNCLEAR),
        ("+ VERDICT: APPROVED", UNCLEAR),
        ("- VERDICT: APPROVED", UNCLEAR),
        ("+  \tVERDICT: APPROVED", UNCLEAR),
        ("     3\tVERDICT: APPROVED", UNCLEAR),
        ("w:3:VERDICT: APPROVED", UNCLEAR),
        ("+x\rVERDICT: APPROVED", UNCLEAR),
        ("> x\r\rVERDICT: APPROVED", UNCLEAR),
        ("- VERDICT:VERDICT: APPROVED", UNCLEAR),
        ("* VERDICT: APPROVED", PASS),
        ("+VERDICT: BLOCKING\n\nVERDICT: APPROVED", PASS),
        ("VERDICT: APPROVED\n\n> VERDICT: BLOCKING", PASS),
        ("VERDICT: APPROVED\n\n+VERDICT: BLOCKING", UNCLEAR),
        ("VERDICT: APPROVED\n\nVERDICT: BLOCKING - it leaks in w:1", FAIL),
        ("VERDICT: APPROVED\n\nVERDICT: BLOCKING, because it leaks", FAIL),
        ("VERDICT: BLOCKING (see 1)", FAIL),
        ("VERDICT: BLOCKING ❌", FAIL),
        ("VERDICT: ❌ **BLOCKING**!", FAIL),
        ("VERDICT:\u00a0BLOCKING", FAIL),
        ("- VERDICT: BLOCKING: it leaks", FAIL),
        ("VERDICT: BLOCKINGS", UNCLEAR),
        ("VERDICT: BLOCKING\n\nVERDICT: MAYBE", FAIL),
        ("VERDICT: MAYBE\n\nVERDICT: APPROVED", PASS),
        ("VERDICT: APPROVED\n\nFinal VERDICT: BLOCKING", UNCLEAR),
        ("VERDICT: APPROVED\n\nVERDICT: NOT APPROVED", UNCLEAR),
        ("VERDICT: APPROVED\n\nVERDICT: APPROVED is impossible", UNCLEAR),
        ("VERDICT: BLOCKING\n\n```VERDICT: a\nVERDICT: APPROVED\n```", FAIL),
        ("VERDICT: BLOCKING\n<!-- VERDICT: a\nVERDICT: APPROVED\n-->", FAIL),
        ("<!-- VERDICT: APPROVED or not -->\nVERDICT: BLOCKING", FAIL),
        ("I would say it is approved.", UNCLEAR),
        ("My VERDICT: APPROVED", UNCLEAR),
        ("VERDICT: APPROVED or BLOCKING", UNCLEAR),
        ("VERDICT: MAYBE", UNCLEAR),
        ("", UNCLEAR),
        ("VERDICT:\nAPPROVED", UNCLEAR),
    ],
)
def test_of_an_answer_the_last_line_of_its_own_decides(text: str, outcome: ReviewOutcome) -> None:
    assert last_verdict(text) is outcome


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("PASS", (PASS, "")),
        ("PASS: tests no longer FAIL", (PASS, "tests no longer FAIL")),
        ("pass\nall of it", (PASS, "all of it")),
        ("FAIL it does not pass", (FAIL, "it does not pass")),
        ("Pass is impossible", None),
        ("it would PASS", None),
    ],
)
def test_a_command_begins_with_its_verdict(text: str, verdict: tuple[ReviewOutcome, str] | None) -> None:
    assert leading_verdict(text) == verdict


def test_no_review_is_missing() -> None:
    assert review_outcome(None) is ReviewOutcome.MISSING


@pytest.mark.parametrize("part", ["[", "![", "*", "`", "<", "<!--", "](", "*a_ ", "&#1;", "\\"])
def test_hostile_text_has_an_end(part: str) -> None:
    assert review_outcome("xPASS" + (part * 8000)[:7900]) is UNCLEAR
    assert review_outcome("<div>\n" + part * 12_000) is UNCLEAR
    assert review_outcome("<div>\nVerdict" + f"{part}:" * 12_000 + " PASS?") is UNCLEAR
    assert last_verdict(f"VERDICT: APPROVED\n{part * 12_000}") is PASS
    assert last_verdict(part * 60_000) is UNCLEAR
    assert last_verdict(f"{part}VERDICT" * 6_000) is UNCLEAR
    assert last_verdict(f"VERDICT:{part}" * 6_000 + "\nVERDICT: BLOCKING") in (FAIL, UNCLEAR)


def test_a_label_with_very_many_signs_takes_no_seconds() -> None:
    before = time.process_time()
    assert review_outcome(("review " + "- " * 3900 + " PASS\n\n") * 8) is PASS
    assert time.process_time() - before < 3


_PIECES = st.sampled_from(
    ["PASS", "fail", "PA", "SS", " ", "  ", "\n", "\n\n", "*", "**", "_", "`", "- ", "1. ", "# ", "> ", "---", "===",
     "<b>", "&amp;", "[a]", "(b)", "!", "\\", "    ", "\t", "é", "🎉", ":", "/", "word", "~~~", "```"]
)  # fmt: skip


@settings(max_examples=1500)
@given(st.lists(_PIECES, max_size=9).map("".join))
def test_lines_that_are_taken_as_written_say_what_the_parser_says(text: str) -> None:
    plain = module._plain_lines(text)
    if plain is not None:
        assert module._outcome(plain) == module._outcome(module._prose(text))


def test_a_review_that_begins_with_its_verdict_needs_no_parser() -> None:
    assert module._plain_lines("**PASS**: all tests run (12 of 12).\n\n```\ncode\n```\n") is not None
    assert module._plain_lines("`code` first\n\nPASS") is None


def test_an_answer_whose_beginning_is_not_read_approves_nothing_if_a_line_blocks() -> None:
    quoted = "x\n" * 40_000 + "VERDICT: APPROVED\n"
    assert last_verdict(f"```\n{quoted}```\n\nVERDICT: BLOCKING") is not PASS
    assert last_verdict(quoted) is PASS
