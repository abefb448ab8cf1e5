from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.model.status import Status
from gitticks.runner.outbox import MOST_REQUESTS, Request, RequestKind, collect, post, remove


@pytest.fixture
def mailbox(tmp_path: Path) -> Path:
    place = tmp_path / "workspace" / ".gt"
    place.mkdir(parents=True)
    return place


def drop(mailbox: Path, content: bytes, name: str = "000001-00000000.json") -> Path:
    file = mailbox / "outbox" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    return file


def test_requests_come_back_in_the_order_they_were_posted(mailbox: Path) -> None:
    requests = [
        Request(RequestKind.NOTE, "ünï\ncode"),
        Request(RequestKind.ASK, "Which?"),
        Request(RequestKind.STATUS, status=Status.AGENT_REVIEW),
        *[Request(RequestKind.HANDOFF, str(number)) for number in range(10)],
        Request(RequestKind.COMPLETE),
    ]
    for request in requests:
        post(mailbox, request)
    collected = collect(mailbox)
    assert [request for _, request in collected.requests] == requests
    assert collected.warnings == ()


def test_a_request_stays_until_it_is_removed(mailbox: Path) -> None:
    post(mailbox, Request(RequestKind.COMPLETE))
    (posted,) = collect(mailbox).requests
    assert collect(mailbox).requests == (posted,)
    remove(mailbox, posted[0])
    remove(mailbox, posted[0])
    assert collect(mailbox).requests == ()


def test_an_outbox_that_nobody_made_is_empty(mailbox: Path) -> None:
    assert collect(mailbox).requests == ()
    assert collect(mailbox / "nowhere" / ".gt").warnings == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"not json", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b'{"kind": "approve"}', "is of an unknown kind"),
        (b'{"kind": "status", "status": "finished"}', "asks for an unknown status"),
        (b'{"kind": "note", "text": 7}', "has a `text` that is not text"),
        (b'{"kind": "note", "text": "\\ud800"}', "has a `text` that is not text"),
        (b'{"kind": "note", "text": "' + b"x" * 300_000 + b'"}', "is larger than"),
    ],
)
def test_what_is_no_request_is_named_once_and_kept(mailbox: Path, content: bytes, reason: str) -> None:
    drop(mailbox, content)
    post(mailbox, Request(RequestKind.COMPLETE))
    collected = collect(mailbox)
    assert [request.kind for _, request in collected.requests] == [RequestKind.COMPLETE]
    (warning,) = collected.warnings
    assert reason in warning
    assert collect(mailbox).warnings == ()
    assert any(file.read_bytes() == content for file in (mailbox / "outbox").iterdir())


def test_a_link_is_not_followed(mailbox: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"kind": "note", "text": "hello"}')
    (mailbox / "outbox").mkdir()
    (mailbox / "outbox" / "000001-00000000.json").symlink_to(secret)
    collected = collect(mailbox)
    assert collected.requests == ()
    assert "it is a link" in collected.warnings[0]
    assert secret.exists()


def test_a_pipe_does_not_hang(mailbox: Path) -> None:
    (mailbox / "outbox").mkdir()
    os.mkfifo(mailbox / "outbox" / "000001-00000000.json")
    assert "is not a regular file" in collect(mailbox).warnings[0]


def test_an_outbox_that_leads_elsewhere_is_not_read(mailbox: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "000001-00000000.json").write_text(json.dumps({"kind": "complete"}))
    (mailbox / "outbox").symlink_to(elsewhere)
    collected = collect(mailbox)
    assert collected.requests == ()
    assert "is a link" in collected.warnings[0]
    assert len(list(elsewhere.iterdir())) == 1


def test_a_flood_is_read_in_parts(mailbox: Path) -> None:
    for number in range(MOST_REQUESTS + 5):
        drop(mailbox, b'{"kind": "complete"}', f"{number:06d}-00000000.json")
    collected = collect(mailbox)
    assert len(collected.requests) == MOST_REQUESTS
    assert len(collected.warnings) == 1


def test_a_text_that_is_too_long_is_refused(mailbox: Path) -> None:
    with pytest.raises(GitticksError, match="longer than"):
        post(mailbox, Request(RequestKind.NOTE, "x" * 300_000))


def test_a_mailbox_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GitticksError, match="cannot be left"):
        post(tmp_path / "none" / ".gt", Request(RequestKind.COMPLETE))
