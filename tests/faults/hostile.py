"""Tasks that a stranger's branch may bring: texts that steer terminals, bombs, names that are options, paths or devices."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gitticks.model.ids import TaskId, task_folder
from tests.faults.hostile_texts import ODD_IDS, STEERING, WORDS, WRONG_IDS

UNREADABLE = frozenset(
    {
        "a body of ten megabytes",
        "laughing aliases",
        "python tags",
        "deep brackets",
        "deep indents",
        "a long number",
        "infinity",
        "half a pair",
        "an escaped NUL",
        "a branch that leads out",
        "a branch that is an option",
    }
)
_LONGEST_FIELD = 1_000


@dataclass(frozen=True, slots=True)
class Hostile:
    """Files of the state branch, and the id of the task that they make, if it is one that can be asked for."""

    name: str
    files: Mapping[str, bytes]
    task: str | None = None
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_readable(self) -> bool:
        """True if it can be read and listed; the others are refused with their place."""
        return self.task is not None and self.name not in UNREADABLE and bool(self.files)


def by_text() -> list[Hostile]:
    """Returns tasks with each steering text in title, fields, body, notes and history."""
    made = []
    for number, (name, text) in enumerate({**STEERING, **WORDS}.items()):
        task = f"text{number:02}"
        made.append(
            Hostile(f"a text that {name}" if name in STEERING else name, _everywhere(task, text), task)
        )
    return made


def by_id() -> list[Hostile]:
    """Returns tasks whose ids are names of devices, numbers and words of YAML, and folders that are no ids."""
    odd = [Hostile(f"id {task}", _files(task, task), task) for task in ODD_IDS]
    wrong = [
        Hostile(f"folder {name!a}", {f"tasks/f2/{name}/TASK.md": _task("k7f2", "x")}) for name in WRONG_IDS
    ]
    return odd + wrong


def by_size() -> list[Hostile]:
    """Returns bombs, floods and everything that is more than anybody needs."""
    bodies = {
        "a body of ten megabytes": b"x" * 10_000_000,
        "a body just below the limit": b"line of text\n" * 19_000,
        "a line of almost a megabyte": b"x" * 999_000,
        "ten thousand brackets": b"[" * 10_000,
        "fifty thousand stars": b"*a_" * 16_000,
        "deep quotes": b"> " * 5_000 + b"x\n",
        "deep lists": b"".join(b" " * (2 * depth) + b"- x\n" for depth in range(400)),
        "ticks": b"`" * 50_000 + b"\n" + b"`a" * 20_000,
        "open comments": b"<!--" * 20_000,
        "HTML without end": b"<div>\n" * 5_000,
        "references": b"".join(b"[%d]: /x\n" % number for number in range(9_000)),
        "two thousand headings": b"## Notes\n\nx\n\n" * 2_000,
        "sections ten times": b"".join(
            b"## %s\n\nPASS\n\n" % name for name in (b"Review", b"Handoff", b"Script") * 10
        ),
        "five thousand notes": b"## Notes\n\n"
        + b"### 2026-03-04T05:06:07Z \xc2\xb7 human \xc2\xb7 Ada\n\nx\n\n" * 3_900,
        "a table": b"|a|b|\n|-|-|\n" + b"|x|y|\n" * 9_000,
    }
    sized = [
        Hostile(
            name,
            {f"{_folder(f'size{number:02}')}/TASK.md": _task(f"size{number:02}", name) + body},
            f"size{number:02}",
        )
        for number, (name, body) in enumerate(bodies.items())
    ]
    return sized + [_with_lines(number, *case) for number, case in enumerate(_yaml_cases())]


def by_link() -> list[Hostile]:
    """Returns tasks with links where a file or a folder should be, to what is outside, endless, or waited for."""
    made = []
    targets = ("/etc/passwd", "/dev/zero", "../../../../outside", "TASK.md", "/proc/self/environ", "/dev/tty")
    for number, target in enumerate(targets):
        task = f"link{number:02}"
        made.append(
            Hostile(f"a task that is a link to {target}", {}, task, {f"{_folder(task)}/TASK.md": target})
        )
    for number, name in enumerate(("history.jsonl", "worklog.md", "rounds", "scratchpad.md", "checkpoints")):
        task = f"side{number:02}"
        made.append(
            Hostile(
                f"a link for {name}", _files(task, name), task, {f"{_folder(task)}/{name}": "/etc/passwd"}
            )
        )
    folders = {
        "tasks/lk/folder-lk": "/etc",
        "tasks/zy": "../../../outside",
        "prompts/worker.md": "/etc/passwd",
    }
    return [
        *made,
        *(Hostile(f"a link at {path}", {}, None, {path: target}) for path, target in folders.items()),
    ]


def _yaml_cases() -> Iterable[tuple[str, bytes]]:
    yield "laughing aliases", b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n"
    yield "python tags", b"a: !!python/object/apply:os.system ['touch pwned']\n"
    yield "deep brackets", b"a: " + b"[" * 499 + b"]" * 499 + b"\n"
    yield "deep indents", b"".join(b" " * depth + b"a:\n" for depth in range(300))
    yield "five thousand labels", b"labels: [" + b", ".join(b"l%d" % n for n in range(4_900)) + b"]\n"
    yield "blocked by thousands", b"blocked_by: [" + b", ".join(b"z%d" % n for n in range(4_900)) + b"]\n"
    yield "unknown keys", b"".join(b"key%d: x\n" % number for number in range(2_400))
    yield "a long number", b"priority: " + b"9" * 60_000 + b"\n"
    yield "infinity", b"usage: {cost: .inf, seconds: .nan}\n"
    yield "half a pair", b'reviewer: "\\ud800"\n'
    yield "an escaped NUL", b'reviewer: "\\x00"\n'
    yield "escaped controls", b'reviewer: "\\x1b[2J\\r\\n\\u202e"\nagent: "--help"\n'
    yield "a branch that leads out", b"branch: ../../../../etc/passwd\nbase: -rf\n"
    yield "a branch that is an option", b"branch: --upload-pack=touch pwned\nbase: HEAD\n"
    yield "its own parent", b"parent: yaml14\ntype: epic\n"
    yield "its own blocker", b"blocked_by: [yaml15]\n"
    yield "merge keys", b"<<: {a: 1}\n"
    yield (
        "a merged approval",
        b'status: reviewing\napproval: {by: "\\x1b]0;x\\a", at: 2026-03-04T05:06:07Z}\n',
    )


def _with_lines(number: int, name: str, lines: bytes) -> Hostile:
    task = f"yaml{number:02}"
    head = _task(task, name).removesuffix(b"---\n\n")
    if b"status:" in lines:
        head = head.replace(b"status: pending\n", b"")
    return Hostile(name, {f"{_folder(task)}/TASK.md": head + lines + b"---\n\n"}, task)


def _everywhere(task: str, text: str) -> dict[str, bytes]:
    quoted = _quoted(text[:_LONGEST_FIELD])
    head = f"""\
---
id: {task}
title: {_quoted(text)}
status: pending
labels: [{quoted}]
reviewer: {quoted}
agent: {quoted}
assignee: {quoted}
created_by: {quoted}
external_ref: {quoted}
---

{text}

## Context

{text}

## Notes

### 2026-03-04T05:06:07Z · human · {text}

{text}
"""
    event = {
        "type": "note.added",
        "at": "2026-03-04T05:06:07Z",
        "actor": {"kind": "human", "name": text},
        "reason": text,
        "more": text,
    }
    return {
        f"{_folder(task)}/TASK.md": head.encode(),
        f"{_folder(task)}/history.jsonl": json.dumps(event).encode() + b"\n",
        f"{_folder(task)}/worklog.md": text.encode(),
    }


def _files(task: str, title: str) -> dict[str, bytes]:
    return {f"{_folder(task)}/TASK.md": _task(task, title)}


def _task(task: str, title: str) -> bytes:
    return f"---\nid: {_quoted(task)}\ntitle: {_quoted(title)}\nstatus: pending\n---\n\n".encode()


def _quoted(text: str) -> str:
    """Returns a text in double quotes as YAML reads it, with escapes for what cannot stand there."""
    return (
        '"'
        + "".join(char if char.isprintable() and char not in '"\\' else _escaped(char) for char in text)
        + '"'
    )


def _escaped(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\U{ord(char):08x}"


def _folder(task: str) -> str:
    return task_folder(TaskId(task))


HOSTILE = (*by_text(), *by_id(), *by_size(), *by_link())
