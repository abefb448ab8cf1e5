"""All commands through click; loads only the one that was called."""

from __future__ import annotations

import click

from gitticks import __version__
from gitticks.actions.context import Context
from gitticks.cli.at_once import ReadingCommand
from gitticks.cli.catalogue import BY_NAME, CATALOGUE, DAILY, name_of
from gitticks.cli.failures import guarded, tell
from gitticks.cli.options import NAMES_ELSEWHERE, Group, Reading, hint_of, message_of
from gitticks.cli.text import called
from gitticks.errors import Exit
from gitticks.world import World


class Catalogue(Group):
    """The group of all commands; a command's module is imported when it is called, not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Returns the names in the order of the catalogue."""
        return [entry.name for entry in CATALOGUE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Returns a command, importing its module."""
        entry = BY_NAME.get(name_of(cmd_name))
        command: click.Command | ReadingCommand | None = None if entry is None else entry.load()
        return Reading(command) if isinstance(command, ReadingCommand) else command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the commands of a normal day by group, from the catalogue, so that help imports none of them."""
        for heading, names in DAILY:
            with formatter.section(heading):
                formatter.write_dl([(name, BY_NAME[name].summary) for name in names])
        formatter.write_paragraph()
        formatter.write_text("`gt help all` lists every command and topic.")

    def near(self, ctx: click.Context, name: str) -> list[str]:
        """Returns what a word of other trackers is called here, else the names that look like it."""
        known = NAMES_ELSEWHERE.get(name)
        return [known] if known else super().near(ctx, name)


@click.group(
    cls=Catalogue,
    examples=("gt init", 'gt create "Fix the login"', "gt run", "gt inbox"),
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("-C", metavar="DIR", expose_value=False, help="Run as if started in this folder.")
@click.option("--color", metavar="WHEN", expose_value=False, help="Colour: always, never or auto.")
@click.option("--no-pager", is_flag=True, expose_value=False, help="Do not use a pager.")
@click.option("--version", is_flag=True, help="Print the version and exit.")
@click.option("--web", is_flag=True, help="Serve the interface to a browser on this machine.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="NUMBER", help="With --web: the port to use."
)
@click.pass_context
def gt(ctx: click.Context, version: bool, web: bool, port: int) -> None:
    """Tasks for people and coding agents, kept in your own git repository.

    `gt help` explains a command or a topic, and `gt demo --yes` shows a task from start to merge.
    """
    if version:
        click.echo(f"gitticks {__version__}")
    elif web:
        _serve(ctx, port)
    elif ctx.invoked_subcommand is None:
        from gitticks.tui import may_show_interface, open_interface

        if may_show_interface():
            ctx.exit(open_interface(Context(World().elsewhere(), does_much=True)))
        click.echo(ctx.get_help())


def _serve(ctx: click.Context, port: int) -> None:
    if ctx.invoked_subcommand is not None:
        raise click.UsageError("`--web` cannot be combined with a command: it serves the interface")
    context = Context(World().elsewhere())
    context.require_person("open the interface")
    _ = context.repository  # which is missing or broken for every page, so it is said here
    from gitticks.tui.web import serve

    serve(port)


def run(arguments: list[str]) -> int:
    """Runs `gt` with these arguments and returns the exit code."""
    return guarded(arguments, lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    # Not by `gt.main`, which makes exit code 1 of a reader who left.
    try:
        with gt.make_context(called(), list(arguments)) as ctx:
            code = gt.invoke(ctx)
    except click.exceptions.Exit as left:
        return left.exit_code
    except (EOFError, KeyboardInterrupt) as error:
        click.echo(err=True)
        raise KeyboardInterrupt from error
    except click.UsageError as error:
        return tell(arguments, message_of(error), hint_of(error, arguments), Exit.USAGE)
    except click.ClickException as error:
        return tell(arguments, message_of(error), None, Exit.FAILED)
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return code if isinstance(code, int) else Exit.DONE
