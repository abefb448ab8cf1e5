"""gitticks: a Git-native task tracker and agent runner.

`import gitticks` gives the public API of `gitticks.api`, loaded when a name of it is first used:

    tasks = gitticks.open_tasks(".")
    for task in tasks.awaiting():
        print(task.id, task.title, task.awaiting)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gitticks.api import GitticksError, RunEvent, RunExit, RunOptions, Task, Tasks, open_tasks

__all__ = [
    "GitticksError",
    "RunEvent",
    "RunExit",
    "RunOptions",
    "Task",
    "Tasks",
    "__version__",
    "open_tasks",
]


def __getattr__(name: str) -> object:
    """Loads a public name; the command itself pays for none of them."""
    if name in __all__:
        from gitticks import api

        return getattr(api, name)
    raise AttributeError(f"module `gitticks` has no attribute `{name}`")
