"""Backlog.md among the peers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.dataset import Record
from benchmarks.peers.base import (
    LARGEST,
    Job,
    Prepared,
    Work,
    open_names,
    open_task,
    repository_in,
    run_once,
)

_PRIORITIES = ("high", "high", "medium", "low", "low")


class Backlog:
    """Backlog.md: markdown files in the checkout, in TypeScript compiled by bun; by default it makes no commits."""

    program = "backlog"
    largest = LARGEST

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes the files that `backlog task create` would write and commits them; it names tasks by number."""
        place = repository_in(folder)
        run_once(("backlog", "init", "bench", "--defaults", "--agent-instructions", "none"), place)
        names = {str(task.id): f"TASK-{number}" for number, task in enumerate(tasks, 1)}
        for task in tasks:
            file = f"{names[task.id].lower()} - {task.title.replace(' ', '-')}.md"
            (folder / "backlog" / "tasks" / file).write_text(_file(task, names))
        run_once(("git", "add", "--all"), place)
        run_once(("git", "commit", "--quiet", "--message", "tasks"), place)
        chosen = names[open_task(tasks).id]
        next_ones = open_names(tasks, lambda task: f"{names[task.id]} ")
        listing = ("backlog", "task", "list", "--plain")
        view = ("backlog", "task", "view", chosen, "--plain")
        updates = tuple(("backlog", "task", "edit", chosen, "--priority", word) for word in ("high", "low"))
        return Prepared(
            place,
            {
                (Work.NEXT, "Backlog.md"): Job(((*listing, "--ready", "--limit", "1"),), next_ones),
                (Work.READY, "Backlog.md"): Job(((*listing, "--ready"),), (f"{chosen} ",)),
                (Work.LIST, "Backlog.md"): Job(((*listing, "--exclude-status", "Done"),), (f"{chosen} ",)),
                (Work.SHOW, "Backlog.md"): Job((view,), (f"{chosen} ",)),
                (Work.UPDATE, "Backlog.md"): Job(updates, ("Priority: High",), view),
                (Work.CREATE, "Backlog.md"): Job((("backlog", "task", "create", "x"),)),
            },
        )


def _file(task: Record, names: Mapping[str, str]) -> str:
    blockers = [names[blocker] for blocker in task.blocked_by]
    criteria = "".join(f"- [ ] #{number} {text}\n" for number, text in enumerate(task.criteria, 1))
    return (
        f"---\nid: {names[task.id]}\ntitle: {task.title}\n"
        f"status: {'To Do' if task.closed is None else 'Done'}\nassignee: []\n"
        f"created_date: '{task.created:%Y-%m-%d %H:%M}'\n{_listed('labels', task.labels)}"
        f"{_listed('dependencies', blockers)}priority: {_PRIORITIES[task.priority]}\n---\n\n"
        "## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\n"
        f"{task.summary}\n<!-- SECTION:DESCRIPTION:END -->\n\n"
        f"## Acceptance Criteria\n<!-- AC:BEGIN -->\n{criteria}<!-- AC:END -->\n"
    )


def _listed(key: str, values: Sequence[str]) -> str:
    return f"{key}:\n" + "".join(f"  - {value}\n" for value in values) if values else f"{key}: []\n"
