"""YAML that people, other tools and attackers write: what readers most often read differently from one another."""

from __future__ import annotations

from hypothesis import strategies as st

DATES = [
    "2026-11-22", "2026-11-22T10:02:03Z", "2026-11-22t10:02:03z", "2026-11-22 10:02:03 +02:00", "2026-11-22T10:02:03.5-0130",
    "2026-11-22T10:02Z", "2026-11-22T24:00:00Z", "2026-13-01", "2026-02-29", "0000-01-01", "9999-12-31T23:59:59-12:00",
    "2026-W47-7T10:02:03Z", "20261122T100203Z", "2026-1-2", "2026-11-22T10:02:03", "1:30", "10:02:03",
]  # fmt: skip
NUMBERS = [
    "0", "1", "4", "5", "-1", "+1", "012", "0o14", "0x1F", "0b11", "1_000", "1,000", ".5", "1.", "1e3", "1E-2", "1.5e+3", ".inf",
    "-.INF", ".nan", ".NaN", "1e400", "9" * 18, "9" * 19, "1" * 5000, "٣", "१", "1__0", "_1", "-", "+", ".", "..", "0.1.2",
]  # fmt: skip
WORDS = [
    "no", "on", "off", "yes", "y", "n", "No", "ON", "true", "True", "TRUE", "tRUE", "false", "FALSE", "~", "null", "Null", "NULL",
    "nULL", "", "=", "<<", "pending", "working", "agent-review", "epic", "task", "none", "input", "approved", "Pending",
]  # fmt: skip
TEXTS = [
    "a b", "a  b", "a:b", "a: b", "a :b", "a:", ":a", "a#b", "a #b", "a # b: c", "#a", "a\tb", "a \t# b", "a, b", "a,b", "(a) [b] {c}",
    "[a", "a]", "{a", "a}", "- a", "-a", "--- a", "---", "...", "... a", "? a", "?a", "! a", "!a", "!!str a", "&a b", "*a", "%a", "@a",
    "`a`", "|a", ">a", "'a", '"a', "'a'", '"a"', "'a''b'", "'a\\n'", '"a\\tb"', '"\\u00e9\\x41\\U0001F389"', '"\\/"', '"\\q"', '"a # b"',
    "'a: b'", '"" ', "''", '"', "'", "\\", "a\\b", "é", "ﬁ", "🎉", "a\x85b", "a\u2028b", "a\u2029", "\ufeffa", "a\ufeff", "\xa0a", "a\xa0",
    "\u200b", "\x7f", "\x01", "\x0b", "\x1b[0m", "e\u0301", "\ud7ff", "\ue000", "\U0010ffff", "<<<<<<< HEAD", "https://example.org/a?b=c#d",
    "/a/b", "./a", "~/a", "C:\\a", "a@b", "=1", "$(a)", "a..b", "k7f2", "a-b", "0" * 64, "f" * 40, "gitticks/work/k7f2",
]  # fmt: skip
FLOWS = [
    "[]", "{}", "[ ]", "[a]", "[a, b]", "[a,b]", "[a , b]", "[a, b,]", "[,]", "[a, , b]", "[ a, b ]", "[a b, c]", "[a: b]", "[a, 'b', \"c\"]",
    '["a, b"]', "[a:b]", "[a #b]", "[a] # b", "[a]b", "[[a], [b]]", "[null, ~]", "[no, 012]", "[-]", "[- a]", "[a, a]", "[é, 🎉]", "[a\tb]",
    "{a: b}", "{a: b, c: d}", "{a: b, a: c}", "{a:b}", '{"a":b}', "{a: }", "{a}", "{a: [b, {c: d}]}", "{'a b': c}", "{<<: {a: b}}", "{? a : b}",
    "{by: Ada, at: 2026-11-22T10:02:03Z}", "{by: Ada, at: 2026-11-22, head: abcd, strength: L1}", "{cost: .5, iterations: 2}",
    "{iterations: 012}", "{cost: 1e3}", "{cost: .nan}", "{seconds: 1_0}", "{runner: r, host: h, since: 2026-11-22, expires: 2026-11-23}",
    "{claude: 1, mine: x y}", "[*a]", "[&a b]", "{a: !!int b}", "[a,\n  b]", "{a: b,\n  c: d}", "[a,\nb]", "[a\n", "{a: b\n",
]  # fmt: skip
BLOCKS = [
    "\n- a\n- b", "\n  - a\n  -  b # c", "\n- - a\n  - b", "\n- a: b\n  c: d", "\n-\n- a", "\n  a: b\n  c: d", "\n  a:\n    b: c", "\n  a: b\n  a: c",
    "|\n  a\n  b", "|-\n  a\n", "|+\n  a\n\n", ">\n  a\n  b\n\n  c", ">-\n  a", "|2\n   a", "| # b\n  a", "|\n", "|\n a\n  b", "|\n\ta", "a\n  b", "a\n  b: c",
    "a\n\n  b", "'a\n  b'", '"a\n  b"', '"a\\\n  b"', "a\n  # b\n  c", "&a\n  b", "!!map\n  a: b", "\n  ? a\n  : b", "\n  <<: {a: b}", "\n\t- a", "  a", " \n a",
]  # fmt: skip
LINES = [
    "", " ", "\t", "# a", " # a", "#\x85", "a", "a:", "a : b", " a: b", "- a", "? a", ": a", "---", "--- a", "...", "%YAML 1.2", "%TAG ! a", "<<: {a: b}",
    "<<: [a]", "a: &x b", "b: *x", "!!map", "'a': b", '"a": b', "a b: c", "é: a", "[a]: b", "{a: b}: c", "? [a]\n: b", "1: a", "null: a", "~: a", "true: a",
    "\ufeffa: b", "a: b\x85c: d", "a: b\u2028c: d", "=======", ">>>>>>> a", "&a a: b", "!!str a: b", "own: {a: [1, x]}", "Own-key: a", "a.b: c", "manual: true", "manual:",
]  # fmt: skip
KEYS = [
    "id", "title", "type", "status", "priority", "labels", "blocked_by", "parent", "requires", "asked", "awaiting", "verdict", "approval", "reviewer", "assignee", "due", "defer_until", "agent",
    "model", "isolation", "base", "branch", "start_sha", "end_sha", "merged_sha", "pr", "review_round", "failed_reviews", "crash_count", "usage", "claim", "agent_sessions",
    "asked_at", "responded_at", "created", "created_by", "updated", "closed", "closed_reason", "external_ref", "manual", "own",
]  # fmt: skip
TAILS = ["", "", "", "", " ", "  ", "\t", " # a", "  # é", "\t# a", " #", "#a", " \x85", "\u2028"]

VALUES = DATES + NUMBERS + WORDS + TEXTS + FLOWS + BLOCKS

scalars = st.sampled_from(DATES + NUMBERS + WORDS + TEXTS) | st.text(
    st.characters(codec="utf-8") | st.sampled_from(":#'\"[]{},-?!&*|>%@` \t\\~\x85\u2028\ufeff"), max_size=6
)
values = scalars | st.sampled_from(FLOWS) | st.sampled_from(BLOCKS) | scalars.map(lambda text: f"[a, {text}]")
gaps = st.sampled_from([" ", " ", " ", " ", " ", " ", "  ", "\t", ""])
pairs = st.builds(
    lambda key, gap, value, tail: f"{key}:{gap}{value}{tail}",
    st.sampled_from(KEYS),
    gaps,
    values,
    st.sampled_from(TAILS),
)
lines = pairs | pairs | pairs | st.sampled_from(LINES)


def _document(parts: list[str], newline: str, end: str, *, has_head: bool) -> str:
    head = ["id: a1", "title: T"] if has_head else []
    return ("\n".join([*head, *parts]) + end).replace("\n", newline)


documents = st.builds(
    _document,
    st.lists(lines, min_size=1, max_size=1) | st.lists(pairs, max_size=2) | st.lists(lines, max_size=6),
    st.sampled_from(["\n", "\n", "\n", "\n", "\r\n", "\r"]),
    st.sampled_from(["\n", "\n", "\n", "", "\n\n", "\n...\n"]),
    has_head=st.sampled_from([True, True, False]),
)
"""Whole frontmatters, most of them with an id and a title, and with few lines: one wrong line hides the others."""
