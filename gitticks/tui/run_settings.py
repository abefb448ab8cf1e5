"""The settings for the next run: what the repository says, and what is chosen here for one run."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.cli.render import count_of
from gitticks.errors import GitticksError, UsageError
from gitticks.model import spending
from gitticks.model.settings import PermissionMode, Settings
from gitticks.model.status import Isolation
from gitticks.tui.widgets.lines import Line, line

AUTO, AGENT = "auto", "agent"
WRONG = "wrong"
_YES, _NO = "yes", "no"


class RunSetting(NamedTuple):
    """One row: the flag of `gt run`, its label, what may be chosen (empty: anything), what the field is asked and takes."""

    flag: str
    label: str
    choices: tuple[str, ...] = ()
    ask: str = ""
    takes: str = ""


RUN_SETTINGS: tuple[RunSetting, ...] = (
    RunSetting(AGENT, "Agent"),
    RunSetting("parallel", "Parallel", ask="how many agents at once", takes="a whole number from 1 to 64"),
    RunSetting(
        "max-iterations",
        "Iterations",
        ask="stop the run after this many iterations in all",
        takes="a whole number from 1 up",
    ),
    RunSetting(
        "max-cost", "Cost", ask="stop the run after this many dollars in all", takes="dollars, such as 5.50"
    ),
    RunSetting(
        "max-duration", "Time", ask="stop the run after this time", takes="a time, such as 90s, 30m or 2h"
    ),
    RunSetting("isolation", "Workspace", tuple(one.value for one in Isolation)),
    RunSetting("permission", "Permissions", tuple(one.value for one in PermissionMode)),
    RunSetting(AUTO, "Continues", (_YES, _NO)),
)
BY_FLAG = {one.flag: one for one in RUN_SETTINGS}
DEFAULTS_SECONDS = 10.0
"""So long the repository's own settings are shown before they are read again."""
LIMITS = ("max-iterations", "max-cost", "max-duration")


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


def taken(flag: str, text: str) -> str | None:
    """Returns a value that was typed as `gt run` takes it; None if it does not."""
    import click

    from gitticks.cli.commands.running import run_command
    from gitticks.cli.options import seconds_of

    value = text.strip().removeprefix("$") if flag == "max-cost" else text.strip()
    try:
        run_command.make_context("run", [f"--{flag}={value}"])
        if flag == "max-duration":
            seconds_of(f"--{flag}", value)
    except (click.UsageError, UsageError):
        return None
    return value


def in_words(flag: str, value: str) -> str:
    """Returns a value as its row shows it."""
    from gitticks.cli.options import seconds_of

    match flag:
        case "parallel":
            return count_of(int(value), "agent")
        case "max-iterations":
            return f"{value} a run"
        case "max-cost":
            return f"${float(value):.2f} a run".replace(".00 ", " ")
        case "max-duration":
            return f"{spending.in_words(spending.Metric.DURATION, seconds_of(flag, value))} a run"
        case "isolation":
            return "your own checkout" if value == "none" else f"one for each {value}"
        case "permission" if value == PermissionMode.YOLO:
            return f"{value}, only in a sandbox"
    return value


def defaults_of(context: Context) -> dict[str, str]:
    """Returns what holds where nothing is chosen, in words; what is wrong with the settings if they cannot be read."""
    try:
        settings: Settings = context.settings
    except GitticksError as error:
        return {WRONG: "\n".join(filter(None, (error.message, error.hint)))}
    run = settings.budget.run
    limits = {
        "max-iterations": run.iterations,
        "max-cost": run.cost,
        "max-duration": None if run.duration is None else f"{run.duration}s",
    }
    found = {
        flag: "no limit" if value is None else in_words(flag, str(value)) for flag, value in limits.items()
    }
    of_run = "no limit for the run" if run.iterations is None else found["max-iterations"]
    return {
        **found,
        "max-iterations": f"{of_run}, {settings.iterations} a task",
        "agent": settings.agent or "the first one installed",
        "parallel": in_words("parallel", str(settings.parallel)),
        "isolation": in_words("isolation", settings.isolation),
        "permission": settings.permissions.mode.value,
        AUTO: "waits for answers and new tasks in its epics",
    }


def rows(defaults: dict[str, str], chosen: dict[str, str], flags: Container[str] = BY_FLAG) -> list[Line]:
    """Returns one row a setting; what was chosen for the next run stands out."""
    found = []
    for one in RUN_SETTINGS:
        if one.flag not in flags:
            continue
        value = chosen.get(one.flag)
        shown = defaults.get(one.flag, "") if value is None else in_words(one.flag, value)
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
