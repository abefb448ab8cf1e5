"""Shows what would run here, and trusts what a person has looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitticks.actions.context import Context
from gitticks.model.trust import Runnable


@dataclass(frozen=True, slots=True)
class Listed:
    """Something that would run, and whether it may."""

    runnable: Runnable
    is_trusted: bool


def list_runnables(context: Context) -> tuple[Listed, ...]:
    """Returns every setting, template and script of an open task that would run: settings first, then by name."""
    from gitticks.document.runnables import runnable_of_task
    from gitticks.store.trust import team_runnables, trusted_digests

    known = trusted_digests(context.repository)
    found = list(team_runnables(context.store.snapshot()))
    for task_id, data, _ in context.index.texts(open_only=True):
        script = runnable_of_task(task_id, data)
        found += [] if script is None else [script]
    return tuple(Listed(one, one.digest in known) for one in found)


def trust_shown(context: Context, shown: Iterable[Runnable]) -> None:
    """Trusts what was shown, and nothing that came since.

    Raises:
        RefusedError: this is an agent's session.
    """
    from gitticks.store.trust import trust

    context.require_person("trust what runs here")
    trust(context.repository, shown)


def require_team_trusted(context: Context) -> None:
    """Refuses to go on where settings or templates would run that nobody trusted here.

    Raises:
        RefusedError: there are such.
    """
    from gitticks.store.trust import require_trusted, team_runnables

    require_trusted(context.repository, team_runnables(context.store.snapshot()))


def are_settings_trusted(context: Context) -> bool:
    """True if every command that the settings name may run here."""
    from gitticks.store.trust import team_runnables, trusted_digests

    if not context.store.exists:
        return True
    known = trusted_digests(context.repository)
    return all(one.digest in known for one in team_runnables(context.store.snapshot()))
