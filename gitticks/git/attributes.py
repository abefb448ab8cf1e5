"""Asks git which files of a checkout it would not store as their bytes are."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gitticks.git.checkouts import Checkout
from gitticks.git.process import run_git

_CHANGING = ("filter", "ident", "working-tree-encoding")
_NOTHING = frozenset({"unspecified", "unset"})


def converted_paths(checkout: Checkout, paths: Sequence[str]) -> frozenset[str]:
    """Returns those of the paths for which a filter, a keyword or an encoding is set in git's attributes."""
    answer = run_git(
        ["check-attr", "-z", "--stdin", *_CHANGING],
        repository_dir=checkout.git_dir,
        work_tree=checkout.path,
        directory=checkout.path,
        input=b"".join(os.fsencode(path) + b"\0" for path in paths),
    )
    words = os.fsdecode(answer.stdout).split("\0")
    triples = zip(words[::3], words[2::3], strict=False)
    return frozenset(path for path, value in triples if path and value not in _NOTHING)
