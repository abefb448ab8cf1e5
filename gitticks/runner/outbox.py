"""The outbox: requests that `gt complete`, `gt ask` and others leave in a workspace for the runner.

An agent cannot reach the state branch from inside a sandbox, so its commands only write a file each here. The runner
reads what it finds as a stranger's letter: bounded, checked, and with no right but the agent's.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from gitticks.errors import GitticksError
from gitticks.model.status import Status
from gitticks.runner.untrusted_files import UnfitError, open_folder, read_file, set_aside, write_file

FOLDER = "outbox"
MOST_REQUESTS = 100
_LARGEST_REQUEST = 200_000
_NAME = re.compile(r"(\d{6,18})-[0-9a-f]{8}\.json")


class RequestKind(StrEnum):
    """What an agent can ask for from inside its workspace."""

    COMPLETE = "complete"
    ASK = "ask"
    HANDOFF = "handoff"
    NOTE = "note"
    STATUS = "status"


class Request(NamedTuple):
    """One request.

    `text` is the question, the hand-off or the note; `status` is what `gt update --status` asks for and None for every
    other kind.
    """

    kind: RequestKind
    text: str = ""
    status: Status | None = None


class Collected(NamedTuple):
    """What is in an outbox by the names of files, oldest request first, and what was odd about the rest."""

    requests: tuple[tuple[str, Request], ...] = ()
    warnings: tuple[str, ...] = ()


def post(mailbox: Path, request: Request) -> None:
    """Leaves a request in the outbox of `mailbox`, whole or not at all."""
    content = json.dumps(request._asdict(), ensure_ascii=True).encode() + b"\n"
    if len(content) > _LARGEST_REQUEST:
        raise GitticksError(
            f"the text is longer than {_LARGEST_REQUEST // 1000} kB",
            hint=f"write it into `{mailbox}/TASK.md` instead",
        )
    try:
        with open_folder(mailbox, FOLDER, make=True) as folder:
            assert folder is not None  # noqa: S101 - it was made
            write_file(folder, f"{_next_number(folder):06d}-{secrets.token_hex(4)}.json", content)
    except (OSError, UnfitError) as error:
        raise GitticksError(
            f"the request cannot be left in `{mailbox}`: {error}",
            hint="`echo $GITTICKS_MAILBOX` must name the folder `.gt` of a workspace",
        ) from error


def collect(mailbox: Path) -> Collected:
    """Returns the requests that wait in the outbox of `mailbox`, which stay there until `remove`.

    What is no request is renamed, so that it is warned of once and nothing is thrown away.
    """
    try:
        with open_folder(mailbox.parent, mailbox.name, FOLDER) as folder:
            return Collected() if folder is None else _collect(folder)
    except FileNotFoundError:
        return Collected()
    except (UnfitError, OSError) as error:
        return Collected(warnings=(f"`{mailbox.name}/{FOLDER}`: {error}; its requests were not read",))


def remove(mailbox: Path, name: str) -> None:
    """Removes a request that was carried out; one that is gone already is no error."""
    with (
        contextlib.suppress(OSError, UnfitError),
        open_folder(mailbox.parent, mailbox.name, FOLDER) as folder,
    ):
        if folder is not None:
            os.unlink(name, dir_fd=folder)


def _collect(folder: int) -> Collected:
    requests, warnings = [], []
    names = sorted(
        (name for name in os.listdir(folder) if name.endswith(".json") and name[0] != "."), key=_order
    )
    for name in names[:MOST_REQUESTS]:
        try:
            requests.append((name, _read(folder, name)))
        except FileNotFoundError:
            continue
        except UnfitError as error:
            set_aside(folder, name)
            warnings.append(f"the request `{ascii(name)[1:-1][:60]}` {error}: it was not acted on")
    if len(names) > MOST_REQUESTS:
        warnings.append(f"more than {MOST_REQUESTS} requests are waiting: so many are read at a time")
    return Collected(tuple(requests), tuple(warnings))


def _order(name: str) -> tuple[int, str]:
    match = _NAME.fullmatch(name)
    return (int(match[1]) if match else 0, name)


def _next_number(folder: int) -> int:
    """Returns a number after all that wait; a clock would put requests in the wrong order when it is set back."""
    return 1 + max((_order(name)[0] for name in os.listdir(folder)), default=0)


def _read(folder: int, name: str) -> Request:
    if _NAME.fullmatch(name) is None:
        raise UnfitError("has a name that `gt` does not use")
    content = read_file(folder, name, _LARGEST_REQUEST)
    if content is None:
        raise FileNotFoundError(name)
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnfitError("is not JSON") from error
    return _request(values)


def _request(values: object) -> Request:
    if not isinstance(values, dict):
        raise UnfitError("is not a JSON object")
    try:
        kind = RequestKind(_text(values, "kind"))
    except ValueError as error:
        raise UnfitError("is of an unknown kind") from error
    if kind is not RequestKind.STATUS:
        return Request(kind, _text(values, "text"))
    try:
        return Request(kind, _text(values, "text"), status=Status(_text(values, "status")))
    except ValueError as error:
        raise UnfitError("asks for an unknown status") from error


def _text(values: dict[Any, Any], key: str) -> str:
    value = values.get(key, "")
    if not isinstance(value, str):
        raise UnfitError(f"has a `{key}` that is not text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UnfitError(f"has a `{key}` that is not text") from error
    return value
