"""Merging work into a base: in memory first, then as a commit, then by moving the base and what has it checked out."""

from gitticks.git.merges.aside import checkout_aside, sweep_asides
from gitticks.git.merges.base import BaseMoved, CheckoutOverlaps, Moved, finish_checkout, move_base
from gitticks.git.merges.commits import HookRefusedError, add_trailers, commit_merge
from gitticks.git.merges.file_by_file import Fixed
from gitticks.git.merges.history import (
    DiffSummary,
    LongChange,
    count_commits,
    diff_summary,
    find_merge,
    is_ancestor,
    long_changes,
    merge_base,
    merge_trailers,
)
from gitticks.git.merges.memory import CleanMerge, CleanRebase, Conflict, merge_in_memory, rebase_in_memory
from gitticks.git.merges.overlaps import tree_changes

__all__ = [
    "BaseMoved",
    "CheckoutOverlaps",
    "CleanMerge",
    "CleanRebase",
    "Conflict",
    "DiffSummary",
    "Fixed",
    "HookRefusedError",
    "LongChange",
    "Moved",
    "add_trailers",
    "checkout_aside",
    "commit_merge",
    "count_commits",
    "diff_summary",
    "find_merge",
    "finish_checkout",
    "is_ancestor",
    "long_changes",
    "merge_base",
    "merge_in_memory",
    "merge_trailers",
    "move_base",
    "rebase_in_memory",
    "sweep_asides",
    "tree_changes",
]
