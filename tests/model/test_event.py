from __future__ import annotations

from gitticks.model.event import ENGINE, Actor, EventType
from gitticks.model.status import ActorKind, Role


def test_actors_are_people_agents_or_the_engine() -> None:
    person, agent = Actor(ActorKind.HUMAN, "Ada"), Actor(ActorKind.AGENT, "claude", Role.WORKER)
    assert [(one.is_human, one.is_agent) for one in (person, agent, ENGINE)] == [
        (True, False),
        (False, True),
        (False, False),
    ]


def test_the_names_of_events_are_kept_for_ever() -> None:
    """They stand in the history of every repository; a new kind may join, none may be renamed."""
    assert [kind.value for kind in EventType][:3] == ["task.created", "task.changed", "task.edited"]
    assert {"status.changed", "auto.advanced", "agent.crashed", "gate.waived", "merge.done"} <= {
        kind.value for kind in EventType
    }
    assert len({kind.value for kind in EventType}) == len(EventType)
