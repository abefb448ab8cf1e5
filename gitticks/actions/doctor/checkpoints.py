"""Checks for checkpoints without code, unreadable ones, and stray refs."""

from __future__ import annotations

from collections.abc import Iterator

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Severity
from gitticks.git.sharing import remotes
from gitticks.model.ids import BOARD_FOLDER
from gitticks.runner.records import Sessions
from gitticks.store.checkpoints import REFS, kept_refs, missing_commits, read_all

_MOST_NAMED = 3


def check_checkpoints(context: Context) -> Iterator[Finding]:
    """Yields what keeps `gt resume` from a checkpoint, and what nothing resumes any more."""
    store = context.store
    found, refs = read_all(store), kept_refs(store)
    for one in found:
        if one.checkpoint is None:
            what = f"{BOARD_FOLDER}/{one.path}: {one.problem}"
            yield Finding(Severity.WARNING, what, f"`gt checkpoints prune {one.id}`", task=one.workspace)
    missing = missing_commits(store, (one.checkpoint.commit for one in found if one.checkpoint))
    gone = [one for one in found if one.checkpoint is not None and one.checkpoint.commit in missing]
    is_shared = bool(remotes(context.repository))
    for one in gone:
        what = f"the code of checkpoint `{one.id}` is gone"
        if is_shared:
            what = f"the code of checkpoint `{one.id}` is not in this clone; another one may have it"
        severity = Severity.NOTE if is_shared else Severity.WARNING
        yield Finding(severity, what, f"`gt checkpoints prune {one.id}` drops it", task=one.workspace)
    there = {(one.workspace, one.number) for one in found}
    stray = [f"`{REFS}{name}/{number}`" for name, number in sorted(refs) if (name, number) not in there]
    if stray and not Sessions(context.repository.own_dir).live():
        more = f" and {len(stray) - _MOST_NAMED} more" if len(stray) > _MOST_NAMED else ""
        shown = ", ".join(stray[:_MOST_NAMED])
        belongs = "belongs" if len(stray) == 1 else "belong"
        yield Finding(Severity.NOTE, f"{shown}{more} {belongs} to no checkpoint", "`gt checkpoints prune`")
