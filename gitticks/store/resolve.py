"""Finds the task that a person means by an id, or by the beginning of one."""

from __future__ import annotations

from gitticks.errors import NotFoundError
from gitticks.model.ids import TaskId, is_valid_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitticks.store.index import Index

MOST_CANDIDATES = 8
_LONGEST_SHOWN = 70


def resolve_id(index: Index, text: str) -> TaskId:
    """Returns the task whose id is `text`, or the only one whose id begins with it.

    Raises:
        NotFoundError: there is none, with the nearest one in the hint; or several, with all of them in the hint.
    """
    found = index.find_ids(text) if is_valid_id(text) else []
    if text in found:
        return TaskId(text)
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(_named(index, task_id) for task_id in found[:MOST_CANDIDATES])
        more = f" and {len(found) - MOST_CANDIDATES} more" if len(found) > MOST_CANDIDATES else ""
        raise NotFoundError(f"`{text}` is the beginning of {len(found)} ids", hint=f"one of {shown}{more}")
    near = _nearest(index, text)
    hint = "`gt list` shows the tasks" if near is None else f"did you mean {_named(index, near)}?"
    raise NotFoundError(f"there is no task `{_shown(text)}`", hint=hint)


def _nearest(index: Index, text: str) -> TaskId | None:
    from difflib import get_close_matches  # only where something went wrong

    near = get_close_matches(text.lower(), index.find_ids(""), n=1, cutoff=0.6)
    return TaskId(near[0]) if near else None


def _named(index: Index, task_id: TaskId) -> str:
    title = index.titles().get(task_id)
    return f"`{task_id}`" if title is None else f"`{task_id}` ({title})"


def _shown(text: str) -> str:
    if text.isprintable() and len(text) <= _LONGEST_SHOWN:
        return text
    return ascii(text)[1:-1][:_LONGEST_SHOWN]
