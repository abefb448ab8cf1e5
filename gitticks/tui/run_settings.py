"""The settings for the next run: what the repository says, and what is chosen here for one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gitticks.cli.render import count_of
from gitticks.errors import UsageError
from gitticks.model.settings import PermissionMode
from gitticks.model.status import Isolation
from gitticks.tui.widgets.lines import Line, line

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.model.settings import Settings

AUTO, AGENT = "auto", "agent"
_YES, _NO = "yes", "no"


class RunSetting(NamedTuple):
    """One row: the flag of `gt run`, its label, what may be chosen (empty: anything), and what the field is asked."""

    flag: str
    label: str
    choices: tuple[str, ...] = ()
    ask: str = ""


RUN_SETTINGS: tuple[RunSetting, ...] = (
    RunSetting(AGENT, "Agent"),
    RunSetting("parallel", "Parallel", ask="how many agents at once, 1 to 64"),
    RunSetting("max-iterations", "Iterations", ask="stop after this many iterations in all"),
    RunSetting("max-cost", "Cost", ask="stop after this many dollars in all"),
    RunSetting("max-duration", "Time", ask="stop after this time: 90s, 30m, 2h"),
    RunSetting("isolation", "Workspace", tuple(one.value for one in Isolation)),
    RunSetting("permission", "Permissions", tuple(one.value for one in PermissionMode)),
    RunSetting(AUTO, "Continues", (_YES, _NO)),
)
BY_FLAG = {one.flag: one for one in RUN_SETTINGS}


def flags_of(chosen: dict[str, str]) -> list[str]:
    """Returns the flags of `gt run` for what was chosen; a run waits for what becomes ready unless told otherwise."""
    flags = [] if chosen.get(AUTO, _YES) == _NO else ["--auto"]
    for flag, value in chosen.items():
        if flag != AUTO and value:
            flags += [f"--{flag}", value]
    return flags


def agents_here(context: Context) -> tuple[str, ...]:
    """Returns the agents that can be chosen here."""
    from gitticks.runner.reviewing import registry_for

    registry = registry_for(context.settings, context.world.environment)
    return tuple(one.spec.name for one in registry.found())


def why_refused(flag: str, text: str) -> str | None:
    """Returns why `gt run` does not take a value, in its own words; None if it does."""
    import click

    from gitticks.cli.commands.running import run_command
    from gitticks.cli.options import seconds_of

    try:
        run_command.make_context("run", [f"--{flag}={text}"])
        if flag == "max-duration":
            seconds_of(f"--{flag}", text)
    except (click.UsageError, UsageError) as error:
        return error.message
    return None


def defaults_of(context: Context) -> dict[str, str]:
    """Returns what holds where nothing is chosen, in words."""
    settings: Settings = context.settings
    run = settings.budget.run
    return {
        "agent": settings.agent or "the first one installed",
        "parallel": count_of(settings.parallel, "agent"),
        "max-iterations": (f"{run.iterations} a run, " if run.iterations else "")
        + f"{settings.iterations} a task",
        "max-cost": "no limit" if run.cost is None else f"${run.cost:g} a run",
        "max-duration": "no limit" if run.duration is None else f"{run.duration / 60:g} min a run",
        "isolation": f"one for each {settings.isolation}"
        if settings.isolation != "none"
        else "your own checkout",
        "permission": settings.permissions.mode.value,
        AUTO: "waits for your answers, and for new tasks",
    }


def rows(defaults: dict[str, str], chosen: dict[str, str]) -> list[Line]:
    """Returns one row a setting; what was chosen for the next run stands out."""
    found = []
    for one in RUN_SETTINGS:
        value = chosen.get(one.flag)
        shown = defaults.get(one.flag, "") if value is None else value
        if one.flag == AUTO and value is not None:
            shown = defaults.get(AUTO, "") if value == _YES else "exits when nothing is ready"
        token = "fg" if value is None else "*strong"
        found.append(line((f"{one.label:<12}", "muted"), (shown, token), key=one.flag))
    return found


def after(flag: str, chosen: dict[str, str]) -> dict[str, str]:
    """Returns the choices with the next value of a setting that has a few; after the last none is chosen."""
    choices = BY_FLAG[flag].choices
    if flag == AUTO:
        return {**chosen, AUTO: _YES if chosen.get(AUTO, _YES) == _NO else _NO}
    now = chosen.get(flag)
    following = choices[0] if now is None else next(iter(choices[choices.index(now) + 1 :]), None)
    rest = {name: value for name, value in chosen.items() if name != flag}
    return rest if following is None else {**rest, flag: following}
