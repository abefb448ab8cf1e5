"""`gt help`, `gt version` and `gt completion`."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shlex import quote

import click

from gitticks import __version__
from gitticks.cli import completion
from gitticks.cli.at_once import JSON
from gitticks.cli.catalogue import ALIASES, CATALOGUE, HEADINGS
from gitticks.cli.completion.offers import SHELLS
from gitticks.cli.entry import ALIAS_SETTING
from gitticks.cli.json import print_object
from gitticks.cli.options import NAMES_ELSEWHERE, Command, Completes, nearest_names
from gitticks.cli.pager import paged
from gitticks.cli.render import say, screen, shown_text
from gitticks.cli.table import table
from gitticks.cli.text import as_called
from gitticks.cli.views.workflow import TOPICS, TOPICS_ELSEWHERE, guide_words, guides, guides_about
from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.process import versions_of_git
from gitticks.safe_read import reason_of

_WIDTH = 78
_ELSEWHERE = {**NAMES_ELSEWHERE, **TOPICS_ELSEWHERE}


@click.command(
    "help",
    cls=Command,
    examples=(
        "gt help all",
        "gt help states",
        "gt help approve",
        "gt help worktree clean",
        "gt help council",
    ),
)
@click.argument("words", metavar="[TOPIC|GUIDE|COMMAND...]", nargs=-1, shell_complete=Completes("topic", "-"))
@click.option(
    "--man",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    shell_complete=Completes("folder"),
    help="Write man pages for all commands to this folder, such as ~/.local/share/man/man1.",
)
@click.pass_context
def help_command(ctx: click.Context, words: tuple[str, ...], folder: Path | None) -> None:
    """Explain a command or a topic, or open a guide.

    Without arguments: the everyday commands, and the topics. `all` lists every command, topic and guide. A guide
    opens by its name or by any word that only one of them is about, such as `council` or `budget`.
    """
    if folder is not None:
        try:
            pages = write_pages(ctx.find_root().command, Path(os.path.expanduser(folder)))
        except OSError as error:
            hint = f"`ls -ld {quote(str(Path(error.filename or folder).parent))}` shows it"
            raise GitticksError(f"`{folder}` cannot be written: {reason_of(error)}", hint=hint) from error
        say(f"{len(pages)} man pages written: `man -l {folder}/gt.1`")
        return
    if words == ("all",):
        say(*map(as_called, _all_commands()))
        return
    if len(words) == 1 and words[0] in TOPICS:
        say(*TOPICS[words[0]].page(screen()))
        return
    context = ctx.find_root()
    for word in words:
        group = context.command
        found = group.get_command(context, word) if isinstance(group, click.Group) else None
        if found is None:
            is_first = context.parent is None
            about = guides_about(word) if is_first and word not in _ELSEWHERE else []
            if len(about) == len(words) == 1:
                paged(partial(say, *shown_text(screen(), about[0].text)))
                return
            raise _unknown(group, context, word, [one.name for one in about])
        context = found.context_class(found, parent=context, info_name=word)
    say(context.get_help())
    if not words:
        say("", *_topics())


def _all_commands() -> list[str]:
    lines: list[str] = []
    for heading in HEADINGS:
        rows = [(f"  {one.name}", one.summary) for one in CATALOGUE if one.heading == heading]
        lines += [*_listed(heading, rows), ""]
    rows = [(f"  {one.name}", one.title) for one in guides().values()]
    lines += [*_topics(), "", *_listed("Guides", rows), ""]
    return [*lines, *other_names()]


def other_names() -> tuple[str, str]:
    """Returns the lines on what commands are called as well, by us and by the person."""
    other = ", ".join(f"`{alias}` ({name})" for alias, name in ALIASES.items())
    own = f'`git config --global {ALIAS_SETTING}mine "list --mine"`'
    return f"Other names: {other}.", f"Your own aliases: {own}."


def _topics() -> list[str]:
    rows = [(f"  {name}", topic.summary) for name, topic in TOPICS.items()]
    return _listed("Topics", rows)


def _listed(heading: str, rows: list[tuple[str, str]]) -> list[str]:
    return [f"{heading}:", *table(screen(), ["", "what"], rows, flexible="what", with_heading=False)]


def _unknown(group: click.Command, context: click.Context, word: str, about: list[str]) -> NotFoundError:
    known = group.list_commands(context) if isinstance(group, click.Group) else []
    is_first = context.parent is None
    elsewhere = _ELSEWHERE.get(word) if is_first else None
    near = [elsewhere] if elsewhere else about or nearest_names(word, [*known, *(TOPICS if is_first else ())])
    if is_first and not (elsewhere or about or any(one.startswith(word) for one in near)):
        near = [one for one in guide_words() if one.startswith(word)] or near
    path = "" if is_first else f" {context.command_path.partition(' ')[2]}"
    hint = " or ".join(f"`gt help{path} {one}`" for one in near) or "`gt help all` lists the commands"
    what = "command, topic or guide" if is_first else "command"
    return NotFoundError(f"there is no {what} `{word}`", hint=f"did you mean {hint}?" if near else hint)


@click.command("version", cls=Command, examples=("gt version --json",))
@click.option(*JSON.words, JSON.name, is_flag=True, help=JSON.help)
def version_command(as_json: bool) -> None:
    """Print the versions of gitticks and its libraries."""
    found = {"gitticks": __version__, "python": platform.python_version()}
    try:
        found |= versions_of_git()
    except GitticksError:
        found["git"] = "missing"
    if as_json:
        print_object(versions=found)
    else:
        say(*table(screen(), ["", "version"], list(found.items()), flexible="version", with_heading=False))


@click.command(
    "completion",
    cls=Command,
    examples=(
        'eval "$(gt completion bash)"',
        'eval "$(gt completion zsh)"',
        "gt completion fish | source",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(shell: str) -> None:
    """Print the completion script for a shell.

    It completes commands, options, statuses, agents, labels in use, and task ids with their titles.
    """
    click.echo(Path(completion.__file__).with_name(f"gt.{shell}").read_text("utf-8"), nl=False)


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
    context = command.context_class(command, info_name=name, parent=parent, **command.context_settings)
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
