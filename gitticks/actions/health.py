"""Finds sessions whose runner died, finishes what they left, and says what lives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gitticks.actions.context import Context
from gitticks.actions.run import is_run_alive, run_context
from gitticks.model.ids import TaskId
from gitticks.model.task import SessionRecord
from gitticks.runner.events import RunEvent
from gitticks.runner.records import Sessions
from gitticks.runner.recovery import recover


@dataclass(frozen=True, slots=True)
class Health:
    """What lives in this clone, and which dead sessions were finished now."""

    run_is_alive: bool
    live: tuple[SessionRecord, ...]
    finished: tuple[TaskId, ...]


def check_health(context: Context, listener: Callable[[RunEvent], None]) -> Health:
    """Finishes dead sessions by the same rules as a run does, and returns what is alive."""
    context.require_person("finish dead sessions")
    sessions = Sessions(context.repository.own_dir)
    if not sessions.dead():  # then nothing depends on settings, which may be what is broken
        return Health(is_run_alive(context.repository), tuple(sessions.live().values()), ())
    run = run_context(context, listener)
    finished = recover(run)
    return Health(is_run_alive(context.repository), tuple(run.sessions.live().values()), tuple(finished))
