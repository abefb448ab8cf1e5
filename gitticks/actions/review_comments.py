"""Comments on a line under review, as notes that the next agent reads together with that line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.update import note_task
from gitticks.errors import UsageError
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.model.ids import TaskId
from gitticks.model.task import Task

_PLACE = re.compile(r"(?P<path>[^\n]*?[^\s:]):(?P<line>[0-9]{1,9})(?::?\s+(?P<text>.*))?", re.DOTALL)
_LONGEST_LINE = 300


def comment_on(context: Context, task_id: TaskId, comments: Sequence[str], text: str | None = None) -> None:
    """Adds a person's comments as notes; one that begins with `path:line` quotes that line of the work.

    With a `text`, `comments` is the place that it is about.

    Raises:
        UsageError: a place is not in the work; then no comment is added.
    """
    context.require_person("comment on work")
    task = context.store.task_file(task_id).task
    for note in [_note(context, task, comment, text) for comment in comments]:
        note_task(context, task_id, note)


def _note(context: Context, task: Task, comment: str, text: str | None) -> str:
    place = _PLACE.fullmatch(comment)
    if text is not None and place and place["text"]:
        where = f"{place['path']}:{place['line']}"
        raise UsageError(
            f"`{place['text']}` and `{text}` are two texts for the same line",
            hint=f'`gt review {task.id} --comment {quote(where)} "…"`',
        )
    if text is None and place and not (place["text"] or "").strip():
        where = f"{place['path']}:{place['line']}"
        if _quote(context, task, place["path"], int(place["line"])) is not None:
            raise UsageError(
                f"there is no comment for `{where}`",
                hint=f'`gt review {task.id} --comment {quote(where)} "…"`',
            )
    words = text if text is not None else place["text"] if place else None
    quoted = (
        _quote(context, task, place["path"], int(place["line"]))
        if place and words and words.strip()
        else None
    )
    if quoted is None and text is not None and text.strip():
        raise UsageError(
            f"`{comment}` is not a line of a file in the work",
            hint=f'`gt review {task.id} --comment src/app.py:12 "what is wrong there"`',
        )
    return f"{quoted}\n\n{words}" if quoted else comment if text is None else text


def _quote(context: Context, task: Task, path: str, number: int) -> str | None:
    """Returns the place with the line as it was handed off; None if there is no such file."""
    repository = context.repository
    tip = task.branch and read_ref(repository.common_dir, f"{BRANCHES}{task.branch}")
    commit = task.end_sha or tip
    if commit is None:
        return None
    found = repository.objects.find(repository.objects.tree_of(commit), path)
    if found is None or not found.is_file:
        return None
    lines = repository.objects.read_blob(found.object_id).decode("utf-8", "replace").splitlines()
    if not 0 < number <= len(lines):
        count = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        raise UsageError(f"`{path}` has {count} at {commit[:7]}, but no line {number}")
    return f"On `{path}:{number}` at {commit[:7]}:\n\n    {lines[number - 1][:_LONGEST_LINE]}"
