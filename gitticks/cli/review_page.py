"""A task's work on one page: who asks what, what was said of it, and the changes themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.cli.inbox_lines import joined
from gitticks.cli.render import GAP, Style, count_of
from gitticks.cli.review_told import told_lines
from gitticks.cli.text import visible
from gitticks.model.status import Awaiting

if TYPE_CHECKING:
    from gitticks.actions.review import ReviewView
    from gitticks.cli.render import Screen
    from gitticks.model.task import Task

_HEADS = ("diff --git ", "--- ", "+++ ")
_STYLES = {"+": Style.GOOD, "-": Style.BAD, "@": Style.BUSY}


def review_lines(on: Screen, seen: ReviewView, patch: Sequence[str] | None, now: datetime) -> Iterator[str]:
    """Yields the page; the changes stand on it line by line where there is a patch."""
    task = seen.task
    yield on.fit(f"{task.id}{GAP}{visible(task.title)}", on.columns)
    yield f"{task.status}" + (f", awaits {task.awaiting}" if task.awaiting else "")
    yield from told_lines(on, seen, now)
    yield ""
    yield from joined(on, list(_facts(seen)), ", ")
    if seen.look_first:
        yield ""
        yield on.styled("look at these first", Style.STRONG)
        yield from (visible(f"{GAP}{one.path}: {one.why}") for one in seen.look_first)
    if patch:
        yield ""
        yield from (_patch_line(on, line) for line in patch)
    commands = _commands(task)
    if on.is_terminal and commands:
        yield ""
        yield from (on.styled(line, Style.FAINT) for line in joined(on, commands, " · "))


def _commands(task: Task) -> Sequence[str]:
    """Returns what answers the task now; nothing where no person is asked."""
    match task.awaiting:
        case None:
            return ()
        case Awaiting.INPUT | Awaiting.ESCALATION | Awaiting.CHECKPOINT:
            return (f'gt respond {task.id} "…"',)
        case Awaiting.WORK:
            return (f"gt close {task.id}",)
        case Awaiting.APPROVAL | Awaiting.REVIEW | Awaiting.CONTENT:
            return f"gt approve {task.id}", f'gt reject {task.id} "…"'


def _facts(seen: ReviewView) -> Iterator[str]:
    changes, task = seen.changes, seen.task
    if changes is None:
        yield "no code was handed off"
        return
    if not changes.files:
        yield "no changes"
        return
    yield f"{count_of(changes.files, 'file')}, +{changes.added} -{changes.removed}"
    if seen.conflicts:
        yield visible(f"conflicts in {', '.join(seen.conflicts)}")
    elif task.merged_sha is not None:
        yield visible(f"merged into {task.base} as {task.merged_sha[:7]}")
    elif task.is_open and task.base is not None:
        yield visible(f"merges cleanly into {task.base}")


def _patch_line(on: Screen, line: str) -> str:
    """Returns a line of a patch, which is never broken or cut: it is code."""
    style = Style.STRONG if line.startswith(_HEADS) else _STYLES.get(line[:1], Style.PLAIN)
    return on.styled(visible(line, keep="\t"), style)
