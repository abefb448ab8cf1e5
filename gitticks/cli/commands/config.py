"""`gt config`."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from gitticks.actions.config import (
    ShownSetting,
    all_settings,
    change_setting,
    explain_setting,
    one_setting,
)
from gitticks.actions.context import Context
from gitticks.cli.json import print_object
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.render import Style, say, screen, warn
from gitticks.cli.table import Cell, table
from gitticks.cli.text import visible
from gitticks.errors import UsageError
from gitticks.model.settings import Settings


def _complete_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    from gitticks.document.settings import explain, names

    found = (name for name in names(Settings()) if name.startswith(incomplete))
    return [CompletionItem(name, help=explain(name)) for name in found]


@click.command(
    "config",
    cls=Command,
    examples=(
        'gt config verify.test "make test"',
        "gt config --explain human",
        "gt config verify.test --unset",
    ),
)
@click.argument("name", metavar="[KEY]", required=False, shell_complete=_complete_name)
@click.argument("value", metavar="[VALUE]", required=False)
@click.option("--unset", is_flag=True, help="Remove the team's value, so that the default holds again.")
@click.option("--explain", is_flag=True, help="Say what a setting is for, and what it may hold.")
@json_option
@pass_context
def command(
    context: Context, *, name: str | None, value: str | None, unset: bool, explain: bool, as_json: bool
) -> None:
    """Read, set and explain settings.

    Without KEY: every setting with its value and where that comes from. VALUE is set for the whole team, on the
    state branch; `git config gitticks.KEY` is for this clone alone.
    """
    _check_usage(name, value, unset=unset, explain=explain)
    if name is None:
        _print_all(context, explain=explain, as_json=as_json)
    elif value is not None or unset:
        changed = change_setting(context, name, value)
        for warning in changed.warnings:
            warn(warning)
        _print_one(changed.settings[0], as_json=as_json, with_name=True)
    elif explain and not as_json:
        say(f"{name}: {explain_setting(name)}")
    else:
        found = one_setting(context, name)
        for warning in found.warnings:
            warn(warning)
        _print_one(found.settings[0], as_json=as_json, with_name=False)


def _check_usage(name: str | None, value: str | None, *, unset: bool, explain: bool) -> None:
    if unset and name is None:
        raise UsageError("`--unset` needs the setting's name", hint="`gt config` lists the settings")
    if value is not None and (unset or explain):
        raise UsageError("a value was given, and an option that takes none", hint="`gt config --help`")
    if unset and explain:
        raise UsageError("`--unset` and `--explain` exclude each other", hint="`gt config --help`")


def _print_one(setting: ShownSetting, *, as_json: bool, with_name: bool) -> None:
    if as_json:
        print_object(setting=setting)
    elif with_name:
        say(visible(f"{setting.name}: {setting.shown} ({setting.origin})"))
    else:
        say(visible(setting.shown))


def _print_all(context: Context, *, explain: bool, as_json: bool) -> None:
    found = all_settings(context)
    for warning in found.warnings:
        warn(warning)
    if as_json:
        print_object(settings=found.settings)
        return
    rows: list[list[Cell | str]] = [
        [one.name, one.explanation]
        if explain
        else [one.name, one.shown, Cell(one.origin, _weight(one.origin))]
        for one in found.settings
    ]
    names = ["setting", "is for"] if explain else ["setting", "value", "from"]
    say(*table(screen(), names, rows, flexible=names[1]))


def _weight(origin: str) -> str:
    return Style.FAINT if origin == "default" else Style.STRONG
