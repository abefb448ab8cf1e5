"""Generates man pages from the commands' help."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from gitticks import __version__

_WIDTH = 78


def write_pages(root: click.Command, folder: Path) -> list[Path]:
    """Writes a page for each command into `folder`, and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for path, text in _pages(root, _context(root, "gt", None)):
        page = folder / f"{path.replace(' ', '-')}.1"
        page.write_text(text, "utf-8")
        written.append(page)
    return written


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    context = command.context_class(command, info_name=name, parent=parent)
    context.terminal_width = context.max_content_width = _WIDTH
    return context


def _pages(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    path = context.command_path
    summary = (command.help or "").strip().partition("\n")[0]
    title = path.replace(" ", "-")
    body = "\n".join(_plain(line) for line in command.get_help(context).splitlines())
    yield (
        path,
        (
            f'.TH {title.upper()} 1 "" "gitticks {__version__}" "gitticks"\n'
            f".SH NAME\n{_plain(title)} \\- {_plain(summary)}\n.SH DESCRIPTION\n.nf\n{body}\n.fi\n"
            ".SH SEE ALSO\n.BR gt (1),\n`gt help all`\n"
        ),
    )
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from _pages(below, _context(below, name, context))


def _plain(line: str) -> str:
    """Returns a line that roff prints as it is."""
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{line}" if line.startswith((".", "'")) else line
