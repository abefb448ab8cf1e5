"""The command reference: every `--help`, written into one page, so that the page cannot say anything else.

`python -m tools.reference` fails if the page is stale; `--write` renews it.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from gitticks.cli.commands.about import other_names

APPLICATION = "gitticks.cli.app:gt"
PAGE = Path("docs/reference/commands.md")
WIDTH = 100
NEWLINE = "\n"
OPENING = """\
# Commands

<!-- written by `make docs` from the commands themselves; edit their help, not this page -->
"""
ALIASES_OF_REPOSITORIES = (
    "One that only a repository's configuration has is refused: an agent could set it.\n"
)


def load(application: str) -> click.Command:
    """Returns the click command that `module:name` means.

    Raises:
        TypeError: that name is no click command.
    """
    module, _, name = application.partition(":")
    command = getattr(importlib.import_module(module), name)
    if not isinstance(command, click.Command):
        raise TypeError(f"`{application}` is no click command")
    return command


def walk(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Yields the full name and the help of a command and of all below it; hidden ones are left out."""
    yield context.command_path, command.get_help(context)
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        if child is not None and not child.hidden:
            yield from walk(child, new_context(child, name, context))


def new_context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    """Returns a context as a call has it, in which help has the same width on every machine."""
    return click.Context(
        command,
        parent,
        info_name=name,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        **command.context_settings,
    )


def page_of(command: click.Command, name: str) -> str:
    """Returns the whole page; `name` is what a person types."""
    sections = [
        f"\n## {path}\n\n```text\n{text.strip(NEWLINE)}\n```\n"
        for path, text in walk(command, new_context(command, name))
    ]
    return f"{OPENING}\n{NEWLINE.join(other_names())}\n{ALIASES_OF_REPOSITORIES}" + "".join(sections)


def main(arguments: list[str]) -> int:
    """Compares the page with the commands, or writes it; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.reference", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew the page")
    parser.add_argument("--application", default=APPLICATION, help="module:name of the click command")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    wanted = page_of(load(options.application), "gt")
    page: Path = options.page
    if options.write:
        page.write_text(wanted, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == wanted:
        return 0
    print(f"error: {page} is not what the commands say\n\nhint: make docs", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
