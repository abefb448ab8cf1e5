"""What a run is asked to do: the flags of `gt run` as values."""

from __future__ import annotations

from dataclasses import dataclass

from gitticks.model.ids import TaskId


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The flags of one run; times in seconds, None is what the settings say or no limit.

    `ids` are epics and tasks to work on, empty for everything. With `auto` the run goes on for ever, on epics and
    what the three `include` flags add. `debounce` is how long a person's last edit must lie back before a task is
    taken.
    """

    ids: tuple[TaskId, ...] = ()
    auto: bool = False
    include_standalone: bool = True
    include_orphans: bool = True
    parallel: int = 1
    agent: str | None = None
    model: str | None = None
    max_iterations: int | None = None
    max_seconds: float | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    debounce: float = 2.0
    poll: float = 30.0
