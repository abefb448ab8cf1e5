"""The table from which words are completed before click is loaded, written from what the commands tell click.

`python -m tools.completion_table` fails if it is stale; `--write` renews it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from gitticks.cli.app import gt
from gitticks.cli.completion.offers import ASKS_CLICK, NOTHING
from gitticks.cli.options import Completes
from tools.page import check_or_write

PAGE = Path("gitticks/cli/completion/table.py")
_OPENING = '''\
"""What each command takes, written by `make docs` from the commands themselves; edit these, not this table.

By a command's full name: the kinds of its arguments, then each flag that takes a value, with the kind of that. `-` is
free text, and a kind with `*` holds for all words that follow.
"""

# fmt: off
TABLE: dict[str, tuple[str, str]] = {
'''


def table(_present: str = "") -> str:
    """Returns the module's text."""
    return "".join([_OPENING, *_rows(gt, ""), "}\n"])


def _rows(group: click.Group, path: str) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _rows(command, f"{path}{name} ")
        elif command is not None:
            arguments, flags = " ".join(_arguments(command)), " ".join(_flags(command))
            yield f'    "{path}{name}": ("{arguments}", "{flags}"),\n'


def _arguments(command: click.Command) -> Iterator[str]:
    for one in command.params:
        if isinstance(one, click.Argument):
            kinds = _kinds(one)
            yield from kinds
            if one.nargs == -1 and len(kinds) == 1 and not kinds[0].endswith("*"):
                raise ValueError(
                    f"`{command.name}`: say whether `{one.name}` completes once or for every word"
                )


def _flags(command: click.Command) -> Iterator[str]:
    for one in command.params:
        if isinstance(one, click.Option) and not one.is_flag and not one.hidden:
            yield from (f"{flag}={_kinds(one)[0]}" for flag in one.opts)


def _kinds(one: click.Parameter) -> tuple[str, ...]:
    completes = one._custom_shell_complete  # noqa: SLF001 (click has no other way to ask)
    if isinstance(completes, Completes):
        return completes.kinds
    if completes is not None:
        return (ASKS_CLICK,)
    if isinstance(one.type, click.Choice):
        return ("|".join(str(choice) for choice in one.type.choices),)
    return (f"{NOTHING}*" if one.nargs == -1 else NOTHING,)


def main(arguments: list[str]) -> int:
    """Compares the table with the commands, or writes it; returns the exit code."""
    return check_or_write(arguments, "tools.completion_table", PAGE, table, "the commands")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
