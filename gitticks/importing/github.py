"""GitHub issues, as printed by `gh issue list --json …`."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from gitticks.errors import GitticksError, NotFoundError
from gitticks.importing.exported import MOST_LIST_BYTES, STDIN, RecordError, json_of, read_file
from gitticks.importing.record import ForeignTask, Format, Parts, Reading, comment, one_line
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.status import Status
from gitticks.model.task import Task

FIELDS = (
    "number", "title", "body", "state", "stateReason", "labels", "assignees", "createdAt", "updatedAt", "closedAt",
    "comments", "url", "author", "milestone",
)  # fmt: skip
_GIVEN_UP = frozenset({"NOT_PLANNED", "DUPLICATE"})
_LIST = ("gh", "issue", "list", "--state", "all", "--limit", "100000", "--json", ",".join(FIELDS))
_HINT = f"`{' '.join(_LIST)} > issues.json`, then `gt import github issues.json`"


def read_github(path: Path | None, directory: Path) -> Reading:
    """Returns what a list of issues holds: a file, `-` for stdin, or None for what `gh` says in `directory`."""
    if path is None:
        data, name = _ask_gh(directory), "gh"
    elif str(path) == STDIN:
        data, name = sys.stdin.buffer.read(MOST_LIST_BYTES), "stdin"
    else:
        data, name = read_file(path, MOST_LIST_BYTES), str(path)
    items = json_of(data)
    if not isinstance(items, list):
        raise RecordError("this is not a list of issues")
    if any(isinstance(item, dict) and "html_url" in item for item in items):
        # It has other names for most fields, counts the comments instead of holding them, and lists pull requests too.
        raise GitticksError("this list is from GitHub's REST API, which leaves out the comments", hint=_HINT)
    reading = Reading(Format.GITHUB)
    for number, item in enumerate(items, start=1):
        with reading.noting(name, what=f"issue {number} of the list: "):
            reading.add(_task_of(item, name))
    return reading


def _ask_gh(directory: Path) -> bytes:
    """Returns every issue of the repository that GitHub's own program knows."""
    try:
        done = subprocess.run(
            _LIST, capture_output=True, check=False, stdin=subprocess.DEVNULL, cwd=directory
        )
    except FileNotFoundError as error:
        raise NotFoundError("no file was named, and `gh` is not installed", hint=_HINT) from error
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise GitticksError(f"`gh` failed: {message}", hint=_HINT)
    return done.stdout


def _task_of(record: Any, path: str) -> ForeignTask:
    if not isinstance(record, dict):
        raise RecordError("this is not a JSON object")
    if not isinstance(record.get("number"), int):
        raise RecordError("`number` is not a number" if "number" in record else "`number` is missing")
    parts = Parts.of(record)
    number, title = parts.left.pop("number"), parts.name("title")
    updated, closed, created = parts.time("updatedAt"), parts.time("closedAt"), parts.time("createdAt")
    status, reason = _status(parts)
    return ForeignTask.of(
        record,
        Task(
            TaskId(str(number)),
            title,
            status=status,
            labels=parts.names("labels", "name"),
            assignee=", ".join(parts.names("assignees", "login")) or None,
            created=created,
            created_by=_login(parts.left.pop("author", None)),
            updated=updated,
            closed=(closed or updated) if status.is_terminal else None,
            closed_reason=reason if status.is_terminal else None,
            external_ref=parts.line("url"),
        ),
        path,
        wanted_id=f"gh-{number}",
        summary=parts.text("body") or "",
        notes=tuple(_comment(one, updated) for one in parts.objects("comments")),
        extra=parts.left,
    )


def _status(parts: Parts) -> tuple[Status, str | None]:
    state, reason = (parts.line("state") or "OPEN").upper(), (parts.line("stateReason") or "").upper()
    why = reason.lower().replace("_", " ") or None
    if state != "CLOSED":
        return Status.PENDING, why
    return (Status.CANCELLED if reason in _GIVEN_UP else Status.DONE), why


def _login(author: Any) -> str | None:
    login = author.get("login") if isinstance(author, dict) else None
    return one_line(login) or None if isinstance(login, str) else None


def _comment(one: dict[str, Any], undated: datetime | None) -> Entry:
    body = one.get("body")
    return comment(
        _login(one.get("author")), body if isinstance(body, str) else "", one.get("createdAt"), undated
    )
