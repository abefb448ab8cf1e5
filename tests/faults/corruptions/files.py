"""Files of the state branch that cannot be read: a task's, its history's, and the settings."""

from __future__ import annotations

from tests.faults.corruptions.corruption import Corruption, Reach, variants
from tests.faults.scene import VICTIM, Scene

HISTORY = f"tasks/f2/{VICTIM}/history.jsonl"
TASK = f"tasks/f2/{VICTIM}/TASK.md"
HEAD = b"---\nid: k7f2\ntitle: Broken\nstatus: pending\n"


def _task(scene: Scene, content: bytes) -> None:
    scene.commit_files({TASK: content})


def _with_line(scene: Scene, line: bytes) -> None:
    scene.commit_files({TASK: HEAD + line + b"\n---\n"})


def _history(scene: Scene, content: bytes) -> None:
    scene.commit_files({HISTORY: content})


def _history_end(scene: Scene, content: bytes) -> None:
    scene.commit_files({HISTORY: scene.git("show", f"gitticks/state:{HISTORY}").encode() + b"\n" + content})


def _config(scene: Scene, content: bytes) -> None:
    scene.commit_files({"config.yaml": content})


def _attributes(scene: Scene, content: bytes) -> None:
    scene.commit_files({".gitattributes": content})


EVENT = b'{"type":"note.added","at":"2026-03-04T05:00:00Z","actor":{"kind":"human","name":"Ada"}}\n'
TASKS = (
    b"",
    b"\n",
    b"no frontmatter\n",
    b"---\n",
    b"---\n---\n",
    b"---\n\n",
    HEAD,
    b"\xff\xfe" + HEAD + b"---\n",
    HEAD + b"---\n\xff\n",
    HEAD.decode().encode("utf-16"),
    HEAD + b"---\n\0\n",
    b"\0" * 1000,
    HEAD + b"---\n" + b"x" * 10_000_000,
    HEAD + b"---\n" + b"\n" * 30_000,
    b"<<<<<<< HEAD\n" + HEAD + b"=======\n" + HEAD + b">>>>>>> theirs\n---\n",
    HEAD + b"<<<<<<< HEAD\npriority: 1\n=======\npriority: 2\n>>>>>>> theirs\n---\n",
    HEAD.replace(b"k7f2", b"zzzz") + b"---\n",
    HEAD.replace(b"k7f2", b"q8xy") + b"---\n",
    HEAD.replace(b"id: k7f2\n", b"") + b"---\n",
    HEAD.replace(b"title: Broken\n", b"") + b"---\n",
    HEAD.replace(b"pending", b"asleep") + b"---\n",
    HEAD.replace(b"k7f2", b"'../../etc'") + b"---\n",
)
LINES = (
    b"id: k7f2",
    b"priority: high",
    b"priority: 99999999999999999999999",
    b"labels: {a: b}",
    b"blocked_by: [k7f2, [k7f2]]",
    b"parent: ../x",
    b"created: yesterday",
    b"created: 99999-01-01",
    b"a: &a [*a]",
    b"a: !!python/object/apply:os.system [id]",
    b"a: " + b"[" * 600,
    b"a: " + b"{a: " * 30 + b"1" + b"}" * 30,
    b"a: 'open",
    b"a: b: c",
    b"\ta: b",
    b"%YAML 1.1",
    b"review_round: -1",
    b"verdict: maybe",
    b"title: again",
)
LONG_LINES = (b"a: [" + b"1, " * 6000 + b"1]",)
"""What can be read; only that it was written by hand is wrong with it."""
HISTORIES = (
    b"\xff\xfe\xff\n",
    b"garbage\n" * 10,
    b"[]\n5\nnull\n",
    b"{}\n",
    EVENT + b"\0\n" + EVENT,
    b"[" * 100_000 + b"\n",
    b'{"type":"note.added"}\n',
    b'{"type":"made.up","at":"2026-03-04T05:00:00Z","actor":{"kind":"human","name":"Ada"}}\n',
    b'{"type":"note.added","at":"2026-03-04T05:00:00Z","actor":{"kind":"human","name":"\\ud800"}}\n',
    b"\r\n" * 50,
    b"x" * 3_000_000,
    b"<<<<<<< HEAD\n" + EVENT + b"=======\n" + EVENT + b">>>>>>> theirs\n",
)
LONG_HISTORIES = (EVENT * 100_000, b"")
TORN = (b'{"type":"note.ad', b"\0\0\0", EVENT[:-1])
CONFIGS = (
    b"\xff",
    b"version: 1\nparalel: 3\n",
    b"version: 1\nparallel: many\n",
    b"version: [\n",
    b"- a\n- b\n",
    b"just words\n",
    b"version: 1\nversion: 1\n",
    b"version: 1\nagents: &a {x: *a}\n",
    b"<<<<<<< HEAD\nversion: 1\n=======\nversion: 1\n>>>>>>> x\n",
    b"version: 1\n\0\n",
    b"version: 1\nbudget: " + b"{" * 600,
    b"version: 1\n" + b"# long\n" * 200_000,
    b"version: one\n",
    b"version: -1\n",
)
HARMLESS_CONFIGS = (b"", b"\n", b"# nothing\n", b"version: 1\r\n")

CORRUPTIONS: tuple[Corruption, ...] = (
    *variants("task file", _task, TASKS, Reach.OTHERS, TASK),
    *variants("task line", _with_line, LINES, Reach.OTHERS, TASK),
    *variants("task line long", _with_line, LONG_LINES, Reach.OTHERS, f"`{VICTIM}`"),
    *variants("history", _history, HISTORIES, finding="history.jsonl"),
    *variants("history long", _history, LONG_HISTORIES),
    *variants("history end", _history_end, TORN, finding="history.jsonl"),
    *variants("config", _config, CONFIGS, Reach.ANSWERS, "config.yaml"),
    *variants("config newer", _config, (b"version: 2\n", b"version: 99\n"), Reach.READING, "newer"),
    *variants("config harmless", _config, HARMLESS_CONFIGS),
    *variants("attributes", _attributes, (b"", b"\xff\n", b"* text=auto eol=crlf\n", b"* filter=lfs\n")),
)
