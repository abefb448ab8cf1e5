"""Writes made-up tasks onto a state branch, in one commit, as fast as git can take them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from benchmarks.dataset import Record
from gitticks.model.ids import task_path
from gitticks.store.layout import history_path

REF = "refs/heads/gitticks/state"
COMMITTER = "Ada <ada@example.org> 1767254400 +0000"
_ADA = {"kind": "human", "name": "Ada"}
_ENGINE = {"kind": "engine", "name": "gitticks"}
_CLAUDE = {"kind": "agent", "name": "claude", "role": "worker"}


def task_file(record: Record) -> str:
    """Returns the record as TASK.md, 0.5 to 3 kB long; nulls and defaults are left out as gitticks leaves them out."""
    frontmatter = "".join(f"{line}\n" for line in _frontmatter(record))
    criteria = "".join(f"- [ ] {criterion}\n" for criterion in record.criteria)
    text = f"---\n{frontmatter}---\n\n{record.summary}\n\n## Acceptance Criteria\n\n{criteria}"
    if record.closed is None:
        return text
    return f"{text}\n## Handoff\n\nDONE: {record.criteria[0]}\n\n## Review\n\nPASS\n"


def _frontmatter(record: Record) -> Iterator[str]:
    yield f"id: {record.id}"
    yield f"title: {record.title}"
    if record.is_epic:
        yield "type: epic"
    yield f"status: {'pending' if record.closed is None else 'done'}"
    if record.priority != 2:
        yield f"priority: {record.priority}"
    if record.labels:
        yield f"labels: [{', '.join(record.labels)}]"
    if record.blocked_by:
        yield f"blocked_by: [{', '.join(record.blocked_by)}]"
    if record.parent:
        yield f"parent: {record.parent}"
    yield f"created: {_time(record.created)}"
    yield "created_by: Ada"
    yield f"updated: {_time(record.closed or record.created)}"
    if record.closed:
        yield f"closed: {_time(record.closed)}"


def history_file(record: Record) -> str:
    """Returns the record's history.jsonl: a line for an open task, and eight more for a closed one, 1.3 kB."""
    events = [_event(record.created, "task.created", _ADA)]
    if record.closed is not None:
        steps = (
            ("auto.advanced", _ENGINE, {"from": "pending", "to": "working", "reason": "claude"}),
            ("session.started", _CLAUDE, {"agent": "claude", "role": "worker"}),
            ("auto.advanced", _ENGINE, {"from": "working", "to": "agent-review", "reason": "hand-off"}),
            ("session.ended", _CLAUDE, {"ending": "clean", "role": "worker", "round": 1}),
            ("session.ended", _CLAUDE, {"ending": "clean", "role": "reviewer", "round": 1}),
            ("auto.advanced", _ENGINE, {"from": "agent-review", "to": "reviewing", "reason": "PASS"}),
            ("verdict.given", _ADA, {"awaiting": "review", "strength": "L0", "verdict": "approved"}),
            ("auto.advanced", _ENGINE, {"from": "reviewing", "to": "done", "reason": "merged 21d187e"}),
        )
        events += [_event(record.closed, name, actor, **data) for name, actor, data in steps]
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


def _event(at: datetime, name: str, actor: dict[str, str], **data: str | int) -> dict[str, object]:
    return {"type": name, "at": _time(at), "actor": actor, **data}


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def write_branch(repository: Path, tasks: Iterable[Record]) -> None:
    """Makes the state branch with these tasks as its only commit."""
    _import(repository, _stream(tasks))


def change_task(repository: Path, task: Record, title: str) -> None:
    """Adds a commit to the state branch, by git alone, that gives one task another title."""
    changed = task_file(replace(task, title=title))
    commit = f"commit {REF}\ncommitter {COMMITTER}\n".encode() + _data("a change from elsewhere\n")
    parent = f"from {REF}^0\n".encode()
    _import(repository, (commit, parent, _file(task_path(task.id), changed), b"done\n"))


def change_tasks(repository: Path, tasks: Iterable[Record]) -> None:
    """Adds a commit to the state branch, by git alone, with these tasks as they are now."""
    commit = f"commit {REF}\ncommitter {COMMITTER}\n".encode() + _data("changes from elsewhere\n")
    files = (_file(task_path(task.id), task_file(task)) for task in tasks)
    _import(repository, (commit, f"from {REF}^0\n".encode(), *files, b"done\n"))


def ask_questions(repository: Path, tasks: Iterable[Record]) -> None:
    """Adds a commit to the state branch, by git alone, in which agents at work on these tasks have asked something."""
    commit = f"commit {REF}\ncommitter {COMMITTER}\n".encode() + _data("questions\n")
    files = (_file(task_path(task.id), _asking(task)) for task in tasks)
    _import(repository, (commit, f"from {REF}^0\n".encode(), *files, b"done\n"))


def _asking(task: Record) -> str:
    at = _time(task.created)
    text = task_file(task).replace("\nstatus: pending\n", "\nstatus: clarification\nawaiting: input\n", 1)
    text = text.replace("\ncreated_by:", f"\nasked_at: {at}\ncreated_by:", 1)
    return f"{text}\n## Questions\n\n### {at} · agent · claude\n\nWhich of the two ways?\nBoth are in use.\n"


def _import(repository: Path, stream: Iterable[bytes]) -> None:
    with subprocess.Popen(
        ["git", "-C", str(repository), "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE
    ) as importer:
        if importer.stdin is None:
            raise AssertionError("git was started with a pipe")
        for part in stream:
            importer.stdin.write(part)
    if importer.returncode != 0:
        raise subprocess.CalledProcessError(importer.returncode, "git fast-import")


def _stream(tasks: Iterable[Record]) -> Iterator[bytes]:
    yield f"commit {REF}\ncommitter {COMMITTER}\n".encode() + _data("begin with a data set\n")
    yield _file(".gitattributes", "TASK.md merge=gitticks\n*.jsonl merge=union\n")
    yield _file("config.yaml", "version: 1\n")
    for record in tasks:
        yield _file(task_path(record.id), task_file(record))
        yield _file(history_path(record.id), history_file(record))
    yield b"done\n"


def _file(path: str, text: str) -> bytes:
    return f"M 100644 inline {path}\n".encode() + _data(text)


def _data(text: str) -> bytes:
    content = text.encode()
    return f"data {len(content)}\n".encode() + content + b"\n"
