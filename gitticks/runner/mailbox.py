"""The mailbox: the folder `.gt/` of a workspace, through which agent and runner exchange files.

The agent may write anything there. Only what its role may say is taken, compared with what it was given, and always
under its own name; everything else is dropped with a warning, so that neither the agent nor a person wonders.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import encodable
from gitticks.errors import DocumentError
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind, Role
from gitticks.redaction import mask, mask_bytes
from gitticks.runner import outbox
from gitticks.runner.untrusted_files import (
    UnfitError,
    open_folder,
    read_file,
    remove_tree,
    set_aside,
    write_file,
)
from gitticks.runner.workspace_plan import MAILBOX_FOLDER
from gitticks.runner.workspaces import Workspace
from gitticks.safe_read import reason_of

TASK_FILE = "TASK.md"
PREVIOUS_TASK_FILE = "TASK.previous.md"
PROMPT_FILE = "prompt.md"
PROGRAM = "gt"
"""The session's own `gt`: it needs neither the PATH nor the variables that an agent's shell may have dropped."""
OWN_COMMAND = (sys.executable, "-P", "-m", "gitticks")
"""Without -P the workspace, where a folder may be called `gitticks`, would stand before the installed one."""
LEARNINGS_FILE = "learnings.md"
_PREVIOUS_OUTBOX = f"{outbox.FOLDER}.previous"

OWN_SECTION = {Role.WORKER: Section.HANDOFF, Role.REVIEWER: Section.REVIEW}
"""The section that a role writes whole."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came back, as far as the role may write it.

    `questions` and `notes` are the texts of new entries in file order, `known_questions` and `known_notes` the
    entries that the agent was given, `given` the role's own section as it was given. `warnings` name what was dropped.
    A council has an answer of each reviewer, by name, and in `undecided` why it leaves the decision to a person.
    """

    handoff: str | None = None
    review: str | None = None
    questions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    learnings: str = ""
    warnings: tuple[str, ...] = ()
    known_questions: tuple[Entry, ...] = ()
    known_notes: tuple[Entry, ...] = ()
    given: str | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    undecided: str = ""


def fill(
    workspace: Workspace, file: TaskFile, prompt: str, variables: Mapping[str, str] | None = None
) -> None:
    """Puts a task and its prompt into a workspace's mailbox, and for a session a `gt` that sets its `variables`.

    What an earlier session left is kept beside it: the file as `TASK.previous.md`, requests that nobody collected as
    `outbox.previous`.

    Raises:
        OSError: the workspace cannot be written to.
    """
    with open_folder(workspace.path, MAILBOX_FOLDER, make=True) as folder:
        assert folder is not None  # noqa: S101 - it was made
        _keep_previous(folder)
        write_file(folder, TASK_FILE, file.data)
        write_file(folder, PROMPT_FILE, prompt.encode("utf-8", "replace"))
        write_file(folder, LEARNINGS_FILE, b"")
        if variables is None:
            remove_tree(folder, PROGRAM)
        else:
            write_file(folder, PROGRAM, _program(variables), mode=0o700)
    with open_folder(workspace.path, MAILBOX_FOLDER, outbox.FOLDER, make=True):
        pass


def _program(variables: Mapping[str, str]) -> bytes:
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    command = f'exec {shlex.join(OWN_COMMAND)} "$@"'
    return "\n".join(["#!/bin/sh", *lines, command, ""]).encode("utf-8", "surrogateescape")


def _keep_previous(folder: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        try:
            os.replace(TASK_FILE, PREVIOUS_TASK_FILE, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:  # one of the two is a folder
            set_aside(folder, TASK_FILE)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        try:
            os.rmdir(outbox.FOLDER, dir_fd=folder)
        except OSError as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError):
                raise
            remove_tree(folder, _PREVIOUS_OUTBOX)
            os.rename(outbox.FOLDER, _PREVIOUS_OUTBOX, src_dir_fd=folder, dst_dir_fd=folder)


def read(mailbox: Path, original: TaskFile, role: Role, secrets: Mapping[str, str] | None = None) -> Delivery:
    """Returns what an agent left in its mailbox, with its secrets masked.

    `original` is the file as `fill` gave it to the agent, whatever became of it on the state branch since; the role decides
    what it may write.
    """
    known = {section: original.entries(section) for section in (Section.QUESTIONS, Section.NOTES)}
    content, learnings, warnings = _read_files(mailbox, secrets)
    delivery = Delivery(
        learnings=learnings,
        warnings=warnings,
        known_questions=known[Section.QUESTIONS],
        known_notes=known[Section.NOTES],
    )
    if content is None:
        return delivery
    from gitticks.runner.mailbox_diff import ReturnedFile

    returned = ReturnedFile(content, original)
    own = OWN_SECTION.get(role)
    new = {section: returned.new_entries(section) for section in known}
    return replace(
        delivery,
        handoff=returned.section(Section.HANDOFF) if own is Section.HANDOFF else None,
        review=returned.section(Section.REVIEW) if own is Section.REVIEW else None,
        questions=new[Section.QUESTIONS][0],
        notes=new[Section.NOTES][0],
        warnings=(
            *warnings,
            *returned.warnings(own),
            *new[Section.QUESTIONS][1],
            *new[Section.NOTES][1],
        ),
        given=None if own is None else original.section(own),
    )


def _read_files(
    mailbox: Path, secrets: Mapping[str, str] | None
) -> tuple[bytes | None, str, tuple[str, ...]]:
    warnings: list[str] = []
    task = learnings = None
    try:
        with open_folder(mailbox.parent, mailbox.name) as folder:
            if folder is not None:
                task = _read_one(folder, TASK_FILE, warnings)
                learnings = _read_one(folder, LEARNINGS_FILE, warnings)
    except FileNotFoundError:  # the workspace went with it
        pass
    except (UnfitError, OSError) as error:
        warnings.append(f"`{MAILBOX_FOLDER}`: {error}; nothing was taken from it")
    if task is None and not warnings:
        warnings.append(f"`{MAILBOX_FOLDER}/{TASK_FILE}` was deleted: nothing was taken from it")
    text = mask((learnings or b"").decode("utf-8", "replace"), secrets)
    return None if task is None else mask_bytes(task, secrets), encodable(text), tuple(warnings)


def _read_one(folder: int, name: str, warnings: list[str]) -> bytes | None:
    try:
        return read_file(folder, name)
    except (UnfitError, OSError) as error:
        why = f"cannot be read ({reason_of(error)})" if isinstance(error, OSError) else str(error)
        warnings.append(f"`{MAILBOX_FOLDER}/{name}` {why}: nothing was taken from it")
        return None


def take(
    file: TaskFile,
    delivery: Delivery,
    role: Role,
    at: datetime,
    agent_name: str,
    *,
    is_persons: bool = False,
) -> tuple[TaskFile, list[str]]:
    """Returns the state's file with a delivery in it, and what could not be taken; taking the same delivery twice adds nothing.

    A text that would change the sections around it is refused as a whole, with a warning. Where a person wrote the
    role's own section meanwhile (`is_persons`), that stays, and the agent's becomes a note.
    """
    warnings: list[str] = []
    notes = delivery.notes
    own = OWN_SECTION.get(role)
    text = {Section.HANDOFF: delivery.handoff, Section.REVIEW: delivery.review}.get(own) if own else None
    if own is not None and text is not None and text != file.section(own):
        if is_persons and file.section(own) is not None:
            beside = f"`## {own}` of this session, in addition to the one that a person wrote in the meantime:\n\n{text}"
            notes = (*notes, beside)
            entry = Entry(at, ActorKind.AGENT, agent_name, beside)
            if _not_yet_taken(file, Section.NOTES, [entry], delivery.known_notes):
                warnings.append(
                    f"a person wrote `## {own}` while {agent_name} worked: it stays, and the agent's is a note"
                )
            text = file.section(own) or ""
        try:
            file = file.with_section(own, text)
        except DocumentError as error:
            warnings.append(f"`## {own}` was not taken: {error.problem}")
    for section, texts, known in (
        (Section.QUESTIONS, delivery.questions, delivery.known_questions),
        (Section.NOTES, notes, delivery.known_notes),
    ):
        asked = [Entry(at, ActorKind.AGENT, agent_name, text) for text in texts]
        for entry in _not_yet_taken(file, section, asked, known):
            try:
                file = file.with_entry(section, entry)
            except DocumentError as error:
                warnings.append(f"an entry of `## {section}` was not taken: {error.problem}")
    return file, warnings


def _not_yet_taken(
    file: TaskFile, section: Section, asked: list[Entry], known: tuple[Entry, ...]
) -> list[Entry]:
    """Returns the entries to add: without those that came in since the agent was given the file, at its request."""
    from gitticks.document.entries import normalised

    since = list(file.entries(section))
    for entry in known:
        if entry in since:
            since.remove(entry)
    taken = [(entry.name, entry.text) for entry in since if entry.kind is ActorKind.AGENT]
    fresh = []
    for entry in map(normalised, asked):
        if (entry.name, entry.text) in taken:
            taken.remove((entry.name, entry.text))
        else:
            fresh.append(entry)
    return fresh
