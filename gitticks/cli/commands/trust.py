"""`gt trust`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click

from gitticks.actions.context import Context
from gitticks.actions.trust import Listed, list_runnables, trust_shown
from gitticks.cli.json import print_object
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.render import count_of, say
from gitticks.cli.text import visible
from gitticks.errors import Exit, RefusedError


@click.command("trust", cls=Command, examples=("gt trust", "gt trust --list", "gt trust --yes"))
@click.option("--yes", is_flag=True, help="Trust all that is shown, without a question.")
@click.option("--list", "is_list", is_flag=True, help="Only list what runs, and whether it is trusted.")
@json_option
@pass_context
def command(context: Context, *, yes: bool, is_list: bool, as_json: bool) -> int:
    """Review what came from elsewhere and would run here, and trust it.

    Settings, templates and scripts that this clone did not write itself run nothing before that, nor do hooks and
    configuration in .git that changed during an agent's session. It holds for this clone alone, and until they change.
    """
    found = list_runnables(context)
    asked = [one for one in found if not one.is_trusted]
    if is_list or not asked:
        _show(found if is_list else (), as_json=as_json)
        return Exit.DONE
    if not as_json:
        _say(asked)
    if not yes:
        if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            if as_json:
                _print_json(found)
            raise RefusedError("nothing was trusted", hint="`gt trust --yes` trusts all of it")
        if not click.confirm("Trust all of this?", default=False):
            return Exit.REFUSED
    trust_shown(context, [one.runnable for one in asked])
    if as_json:
        _print_json(tuple(Listed(one.runnable, is_trusted=True) for one in found))
    else:
        they_change = "it changes" if len(asked) == 1 else "they change"
        say(f"trusted {count_of(len(asked), 'thing')}; asked again when {they_change}")
    return Exit.DONE


def _show(found: tuple[Listed, ...], *, as_json: bool) -> None:
    if as_json:
        _print_json(found)
    elif not found:
        say("nothing came from elsewhere that would run and is not trusted")
    else:
        say(*(f"{'trusted' if one.is_trusted else 'not yet'}  {_title(one)}" for one in found))


def _say(asked: Iterable[Listed]) -> None:
    for one in asked:
        say(_title(one), *_lines(one.runnable.text))


def _title(one: Listed) -> str:
    return f"{one.runnable.kind.value} {visible(one.runnable.name)}"


def _lines(text: str) -> Iterator[str]:
    lines = text.splitlines()
    yield from (f"    {visible(line)}" for line in lines)


def _print_json(found: Iterable[Listed]) -> None:
    print_object(
        runnables=[
            {
                "kind": one.runnable.kind,
                "name": one.runnable.name,
                "text": one.runnable.text,
                "digest": one.runnable.digest,
                "trusted": one.is_trusted,
            }
            for one in found
        ]
    )
