from __future__ import annotations

import pytest

from gitticks.cli.completion.offers import Typed, what_is_typed

CASES: list[tuple[str, Typed | None]] = [
    ("", Typed("command", "")),
    ("sh", Typed("command", "sh")),
    ("--ver", None),
    ("worktree ", Typed("command worktree", "")),
    ("worktree clean k", Typed("workspace", "k")),
    ("show ", Typed("task", "")),
    ("show k7f2 ", Typed("-", "")),
    ("show --json k", Typed("task", "k")),
    ("show --js", None),
    ("show -- k", Typed("task", "k")),
    ("run k7f2 m3xq c", Typed("task", "c")),
    ("block k7f2 m3xq c", Typed("task", "c")),
    ("approve k7f2 m3xq i", Typed("awaiting", "i")),
    ("list --status pending,wo", Typed("statuses", "pending,wo")),
    ("list --status=pending,wo", Typed("statuses", "pending,wo", "--status=")),
    ("list --status=done ", Typed("-", "")),
    ("list --nope=x", None),
    ("update --parent e0pc k", Typed("task", "k")),
    ("update --parent ", Typed("task", "")),
    ("update k7f2 --note -", Typed("-", "-")),
    ("update - ", Typed("-", "")),
    ("run --isolation e", Typed("task|epic|none", "e")),
    ("import beads ", Typed("file", "")),
    ("config verify.t", Typed("click", "verify.t")),
    ("nonesuch k", None),
]


@pytest.mark.parametrize(("line", "typed"), CASES, ids=[line or "nothing" for line, _ in CASES])
def test_what_the_last_word_is(line: str, typed: Typed | None) -> None:
    assert what_is_typed(line.split(" ")) == typed
