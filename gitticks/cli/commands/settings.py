"""`gt config` and `gt trust`."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from gitticks.actions.config import (
    ShownSetting,
    all_settings,
    change_setting,
    one_setting,
)
from gitticks.actions.context import Context
from gitticks.actions.trust import (
    Listed,
    allow_secrets,
    list_runnables,
    secrets_in_commits,
    trust_shown,
    unread_files,
)
from gitticks.cli.editor import is_on_terminal
from gitticks.cli.json import print_answer, print_object
from gitticks.cli.options import command
from gitticks.cli.render import Style, count_of, say, screen, warn
from gitticks.cli.table import Cell, table
from gitticks.cli.text import visible
from gitticks.document.settings import explain as explanation_of
from gitticks.document.settings import is_group, names
from gitticks.document.settings_table import ANY, SETTINGS
from gitticks.errors import Exit, RefusedError, UsageError
from gitticks.model.ids import TaskId
from gitticks.model.settings import Settings


def _complete_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    found = (name for name in names(Settings()) if name.startswith(incomplete))
    return [CompletionItem(name, help=explanation_of(name)) for name in found]


@command(
    "config",
    'gt config verify.test "make test"',
    "gt config --explain human",
    "gt config verify.test --unset",
)
@click.argument("name", metavar="[KEY]", required=False, shell_complete=_complete_name)
@click.argument("value", metavar="[VALUE]", required=False)
@click.option(
    "--unset",
    is_flag=True,
    help="Remove the team's value, so that the default applies again, or a key that is no setting.",
)
@click.option("--explain", is_flag=True, help="Explain a setting and its values.")
def config_command(
    context: Context, *, name: str | None, value: str | None, unset: bool, explain: bool
) -> None:
    """Read, set and explain settings.

    Without KEY: every setting with its value and where it comes from; with a group, such as `limits`, those in it. VALUE is set for the whole team, on the state
    branch; use `git config gitticks.KEY` for this clone only.
    """
    if unset and name is None:
        raise UsageError("`--unset` needs the name of a setting", hint="`gt config` lists the settings")
    if value is not None and (unset or explain):
        raise UsageError("a value was given with an option that takes none", hint="`gt config --help`")
    if unset and explain:
        raise UsageError("`--unset` and `--explain` cannot be used together", hint="`gt config --help`")
    if name is None or (value is None and not unset and is_group(name)):
        if explain and not context.as_json:
            _explain_all(name)
        else:
            _print_all(context, name)
    elif value is not None or unset:
        changed = change_setting(context, name, value)
        for warning in changed.warnings:
            warn(warning)
        _print_one(context, changed.settings[0], with_name=True)
    elif explain and not context.as_json:
        say(f"{name}: {explanation_of(name)}")
    else:
        _print_one(context, one_setting(context, name), with_name=False)


def _print_one(context: Context, setting: ShownSetting, *, with_name: bool) -> None:
    line = f"{setting.name}: {setting.shown} ({setting.origin})" if with_name else setting.shown
    print_answer(context, [visible(line)], setting=setting)


def _print_all(context: Context, group: str | None) -> None:
    found = all_settings(context)
    for warning in found.warnings:
        warn(warning)
    settings = [one for one in found.settings if group is None or one.name.startswith(f"{group}.")]
    rows: list[list[Cell | str]] = [
        [one.name, one.shown, Cell(one.origin, Style.FAINT if one.origin == "default" else Style.STRONG)]
        for one in settings
    ]
    lines = table(screen(), ["setting", "value", "from"], rows, flexible="value")
    nothing = f"nothing in `{group}` is set; `gt config --explain {group}` lists what can be"
    print_answer(context, lines or [nothing], settings=settings)


def _explain_all(group: str | None) -> None:
    """Prints what each setting is for; `NAME` stands where a name of the user's choice belongs."""
    found = [one.name for one in SETTINGS if group is None or one.name.startswith(f"{group}.")]
    rows = [[name.replace(ANY, "NAME", 1).replace(ANY, "OPTION"), explanation_of(name)] for name in found]
    say(*table(screen(), ["setting", "is for"], rows, flexible="is for"))


@command("trust", "gt trust", "gt trust --list", "gt trust --yes", "gt trust --secret k7f2")
@click.option("--yes", is_flag=True, help="Trust everything shown, without asking.")
@click.option("--list", "is_list", is_flag=True, help="Only list what has to be trusted, and whether it is.")
@click.option("--secret", metavar="ID", help="Allow what looks like a secret in a task's commits.")
def trust_command(context: Context, *, yes: bool, is_list: bool, secret: str | None) -> int:
    """Review settings and scripts from elsewhere before they run here.

    Settings that run something or loosen a rule, templates and scripts that were not written in this clone, and hooks
    or configuration in .git that changed during an agent's session, do not count until you trust them. Trust applies
    to this clone only, and ends when they change. --secret is for commits that seem to contain a secret: what you allow is recorded in the task's history.
    """
    if secret is not None:
        return _allow_secrets(context, context.resolve(secret), yes=yes, is_list=is_list)
    found = list_runnables(context)
    asked = [one for one in found if not one.is_trusted]
    is_all = not _warn_of_unread(context)
    if is_list or not asked:
        _show(context, found if is_list else (), is_all=is_all)
        return Exit.DONE
    for one in [] if context.as_json else asked:
        say(_title(one), *(f"    {visible(line)}" for line in one.runnable.text.splitlines()))
        if one.before:
            say(f"    before: {visible(one.before)}")
    if not yes:
        if context.as_json or not is_on_terminal():
            if context.as_json:
                _print_json(found)
            raise RefusedError("nothing was trusted", hint="`gt trust --yes` trusts everything")
        if not click.confirm("Trust all of this?", default=False):
            return Exit.REFUSED
    trust_shown(context, [one.runnable for one in asked])
    if context.as_json:
        _print_json(tuple(Listed(one.runnable, is_trusted=True) for one in found))
    else:
        they_change = "it changes" if len(asked) == 1 else "they change"
        say(f"trusted {count_of(len(asked), 'thing')}; you are asked again when {they_change}")
    return Exit.DONE


def _allow_secrets(context: Context, task_id: TaskId, *, yes: bool, is_list: bool) -> int:
    found = secrets_in_commits(context, task_id)
    nothing = f"the commits of `{task_id}` contain no secret that was not allowed"
    print_answer(context, [visible(one.words) for one in found] or [nothing], secrets=found)
    if is_list or not found:
        return Exit.DONE
    if not yes:
        if context.as_json or not is_on_terminal():
            raise RefusedError(
                "nothing was allowed", hint=f"`gt trust --secret {task_id} --yes` allows everything"
            )
        if not click.confirm("Allow all of this?", default=False):
            return Exit.REFUSED
    allow_secrets(context, task_id, found)
    if not context.as_json:
        say(f"allowed; the next hand-off or merge of `{task_id}` accepts it")
    return Exit.DONE


def _warn_of_unread(context: Context) -> bool:
    unread = unread_files(context)
    for line in unread:
        warn(line)
    return bool(unread)


def _show(context: Context, found: tuple[Listed, ...], *, is_all: bool) -> None:
    if context.as_json:
        _print_json(found)
    elif not found and is_all:
        say("nothing from elsewhere is waiting to be trusted")
    else:
        say(*(f"{'trusted' if one.is_trusted else 'not yet'}  {_title(one)}" for one in found))


def _title(one: Listed) -> str:
    return f"{one.runnable.kind.value} {visible(one.runnable.name)}"


def _print_json(found: Iterable[Listed]) -> None:
    print_object(
        runnables=[
            {
                "kind": one.runnable.kind.value,
                "name": one.runnable.name,
                "text": one.runnable.text,
                "digest": one.runnable.digest,
                "trusted": one.is_trusted,
            }
            for one in found
        ]
    )
