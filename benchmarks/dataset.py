"""Made-up tasks, the same for the same count and seed, in the proportions of a lived-in queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from gitticks.model.ids import TaskId, new_id

BEGIN = datetime(2026, 1, 1, 8, 0, tzinfo=UTC)
DONE_SHARE, EPIC_SHARE, CHILD_SHARE, BLOCKED_SHARE = 0.35, 0.03, 0.5, 0.2
PRIORITY_WEIGHTS = (1, 4, 10, 5, 3)
LABELS = (
    "api",
    "auth",
    "build",
    "cli",
    "docs",
    "flaky",
    "import",
    "mobile",
    "security",
    "search",
    "ui",
    "upgrade",
)
VERBS = (
    "Add",
    "Cache",
    "Document",
    "Drop",
    "Explain",
    "Fix",
    "Guard",
    "Limit",
    "Log",
    "Move",
    "Rename",
    "Retry",
)
THINGS = (
    "the login redirect", "the session table", "a second factor", "rate limits", "the upload queue", "old exports",
    "the search index", "the error page", "time zones", "the nightly build", "the mail templates", "page numbers",
)  # fmt: skip
PLACES = (
    "after a deploy",
    "in the admin area",
    "on slow links",
    "for guests",
    "under load",
    "in the mobile client",
)
WORDS = [
    "account",
    "cache",
    "client",
    "commit",
    "config",
    "count",
    "data",
    "default",
    "error",
    "field",
    "file",
    "filter",
    "form",
    "handler",
    "header",
    "hook",
    "index",
    "input",
    "job",
    "key",
    "level",
    "limit",
    "line",
    "list",
    "log",
    "menu",
    "message",
    "name",
    "node",
    "order",
    "output",
    "page",
    "parser",
    "path",
    "path",
    "query",
    "queue",
    "record",
    "report",
    "request",
    "retry",
    "route",
    "row",
    "rule",
    "schema",
    "script",
    "server",
    "session",
    "setting",
    "sort",
    "state",
    "status",
    "step",
    "store",
    "stream",
    "table",
    "task",
    "template",
    "test",
    "text",
    "thread",
    "time",
    "token",
    "tree",
    "type",
    "update",
    "user",
    "value",
    "view",
    "warning",
    "window",
    "worker",
]


@dataclass(frozen=True, slots=True)
class Record:
    """One made-up task; times are UTC, `closed` is None while it is open."""

    id: TaskId
    title: str
    is_epic: bool
    priority: int
    labels: tuple[str, ...]
    parent: TaskId | None
    blocked_by: tuple[TaskId, ...]
    created: datetime
    closed: datetime | None
    summary: str
    criteria: tuple[str, ...]


def records(count: int, seed: int = 1) -> Iterator[Record]:
    """Yields `count` tasks by age; blockers and parents come before the tasks that name them."""
    random = Random(seed)
    taken: set[TaskId] = set()
    ids: list[TaskId] = []
    epics: list[TaskId] = []
    for number in range(count):
        task_id = new_id(taken.__contains__, count, random.randrange)
        record = _record(random, task_id, number, ids, epics)
        taken.add(task_id)
        ids.append(task_id)
        if record.is_epic and record.closed is None:
            epics.append(task_id)
        yield record


def _record(random: Random, task_id: TaskId, number: int, ids: list[TaskId], epics: list[TaskId]) -> Record:
    is_epic = random.random() < EPIC_SHARE
    created = BEGIN + timedelta(minutes=7 * number)
    closed = created + timedelta(hours=random.randint(2, 200)) if random.random() < DONE_SHARE else None
    is_child = not is_epic and epics and random.random() < CHILD_SHARE
    is_blocked = not is_epic and ids and random.random() < BLOCKED_SHARE
    return Record(
        id=task_id,
        title=f"{random.choice(VERBS)} {random.choice(THINGS)} {random.choice(PLACES)}",
        is_epic=is_epic,
        priority=random.choices(range(5), PRIORITY_WEIGHTS)[0],
        labels=tuple(sorted(random.sample(LABELS, random.randint(0, 3)))),
        parent=random.choice(epics[-20:]) if is_child else None,
        blocked_by=tuple(sorted(set(random.choices(ids[-200:], k=random.randint(1, 2)))))
        if is_blocked
        else (),
        created=created,
        closed=closed,
        summary="\n\n".join(_paragraph(random) for _ in range(random.randint(1, 6))),
        criteria=tuple(_sentence(random) for _ in range(random.randint(1, 5))),
    )


def _paragraph(random: Random) -> str:
    return " ".join(_sentence(random) for _ in range(random.randint(3, 7)))


def _sentence(random: Random) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(6, 14))).capitalize() + "."
