"""Why the content of a hand edit is refused, saved or staged, and what it is warned about."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from gitticks.actions.changing import carry_out_edit
from gitticks.actions.context import Context
from gitticks.document.fields import misnamed_keys
from gitticks.document.merging.three_way import lines_of_code
from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import decode, with_newlines
from gitticks.errors import DocumentError, RefusedError
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.model.status import Status
from gitticks.store.hand_edits import HandEdit, check_fields
from gitticks.store.layout import CONFIG_PATH, PROMPTS_FOLDER, check_place
from gitticks.store.transaction import Transaction

_MARKER = re.compile(r"^(?:<<<<<<<|>>>>>>>) ", re.MULTILINE)


def edit_between(old: bytes | None, new: bytes, path: str) -> HandEdit:
    """Returns the edit that turns one version of a task's file into another.

    Raises:
        DocumentError: the new version cannot be read.
    """
    after = TaskFile.parse(new, path)
    if old is None:
        return HandEdit(None, after, None)
    try:
        before: TaskFile = TaskFile.parse(old, path)
    except DocumentError:
        # What a broken file's fields were cannot be known: only a verdict is still a wish.
        before = after.with_task(replace(after.task, verdict=None))
    return HandEdit(before, after, before.task)


def check_edit(context: Context, transaction: Transaction, edit: HandEdit) -> None:
    """Carries an edit of a task's file out in a transaction that is then given up."""
    refuse_markers(edit.after, edit.before.data if edit.before else b"")
    refuse_secrets(context, edit.after.data, edit.after.path)
    check_place(edit.after, TaskId(edit.after.path.split("/")[-2]))
    check_fields(edit)
    task, first = edit.after.task, "write `status: pending`"
    if edit.before is None and not task.is_open:
        raise RefusedError(f"`{task.id}` is new, so it cannot be {task.status} already", hint=first)
    try:
        carry_out_edit(context, transaction, edit, context.actor)
    except RefusedError as error:
        if edit.before is None and task.status is not Status.PENDING:
            raise RefusedError(
                error.message, hint=first
            ) from error  # other hints name what does not exist yet
        raise


def refuse_markers(file: TaskFile, old: bytes) -> None:
    """Refuses the conflict markers of a merge that were not there before; code may show some."""
    # A side may open a block of code that the other one is in.
    if len({*_MARKER.findall(with_newlines(file.frontmatter.text, "\n"))}) < len(("begin", "end")):
        return
    try:
        known = {line for _, line in _markers(TaskFile.parse(old, file.path))}
    except DocumentError:
        known = {line for line in old.decode("utf-8", "replace").splitlines() if _MARKER.match(line)}
    number = next((number for number, line in _markers(file) if line not in known), None)
    if number is not None:
        raise DocumentError(
            "holds conflict markers",
            path=file.path,
            line=number,
            hint="keep what is right and delete the markers",
        )


def _markers(file: TaskFile) -> list[tuple[int, str]]:
    """Returns the lines outside of code that begin as git's markers do, with their numbers."""
    code = lines_of_code(file.body.source)
    lines = enumerate(with_newlines(file.frontmatter.text, "\n").split("\n"), 1)
    return [(number, line) for number, line in lines if number not in code and _MARKER.match(line)]


def refuse_secrets(context: Context, content: bytes, path: str) -> None:
    """Refuses a person's text with a secret in it; what comes by command is masked instead, as nobody has it open."""
    masked = context.store.masked(content)
    if masked != content:
        lines = zip(content.splitlines(), masked.splitlines(), strict=False)
        line = next((number for number, (old, new) in enumerate(lines, 1) if old != new), 1)
        found = re.search(rb"\(masked ([^()\n]+)\)", masked.splitlines()[line - 1])
        raise DocumentError(
            f"holds a secret: {found[1].decode() if found else 'a key'}",
            path=path,
            line=line,
            hint="remove it, since commits stay in the history; use a variable instead",
        )


def refuse_new_secrets(context: Context, content: bytes, old: bytes, path: str) -> None:
    """Refuses settings or a template with a new secret; the doctor names one that the version before held."""
    if context.store.masked(old) == old:
        refuse_secrets(context, content, path)


def check_team_file(path: str, content: bytes, old: bytes | None = None) -> None:
    """Refuses settings that cannot be read, or that are for a newer gitticks, and a template that is broken.

    Mistakes that `old` has may stay while others go.
    """
    if path == CONFIG_PATH:
        from gitticks.document.settings import changed_layer

        before = ""
        with suppress(DocumentError):
            before = decode(old or b"", path)
        changed_layer(decode(content, path), before)
    elif path.endswith(".md"):
        from gitticks.runner.templates import check_template

        check_template(path.removeprefix(f"{PROMPTS_FOLDER}/"), decode(content, path))


def warn_of_edit(context: Context, edit: HandEdit) -> None:
    """Warns of what an edit makes so that it reaches nobody: the first of two sections, a key that is nearly a field."""
    doubles = edit.after.warnings
    is_new = len(doubles) > (len(edit.before.warnings) if edit.before is not None else 0)
    keys = misnamed_keys(None if edit.before is None else edit.before.frontmatter, edit.after.frontmatter)
    found = (f"{BOARD_FOLDER}/{warning}" for warning in (*(doubles if is_new else ()), *keys))
    context.warnings += (warning for warning in found if warning not in context.warnings)
