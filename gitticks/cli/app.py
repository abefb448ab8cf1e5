"""The entry point: loads only the command that was asked for, and turns every failure into a message and a code."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, TextIO

import click

from gitticks.cli.catalogue import CATALOGUE, HEADINGS, find_command
from gitticks.errors import Exit, GitticksError

_SEVERAL = 2
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


class _ReaderGoneError(Exception):
    """Nobody reads the output any more; a type of our own, because click makes exit code 1 of a `BrokenPipeError`."""


@contextlib.contextmanager
def _readers_may_leave() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGoneError from error


class Catalogue(click.Group):
    """The group of all commands; a command's module is imported when it is called, not before."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Reads the arguments; `--help` prints here."""
        with _readers_may_leave():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command."""
        with _readers_may_leave():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Returns the names in the order of the catalogue."""
        return [entry.name for entry in CATALOGUE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Returns a command, importing its module."""
        return find_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the commands by group, from the catalogue, so that help imports none of them."""
        for heading in HEADINGS:
            rows = [(entry.name, entry.summary) for entry in CATALOGUE if entry.heading == heading]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds a command and suggests near ones for an unknown name."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is None and not name.startswith("-"):
            raise click.UsageError(f"no command `{name}`{_near(name)}", ctx=ctx)
        return super().resolve_command(ctx, args)


def _near(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [entry.name for entry in CATALOGUE], n=_SEVERAL, cutoff=0.6)
    return f"; did you mean {' or '.join(f'`gt {one}`' for one in near)}?" if near else ""


@click.group(
    cls=Catalogue, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option("--version", is_flag=True, help="Print the version and leave.")
@click.pass_context
def gt(ctx: click.Context, version: bool) -> None:
    """Tasks for people and coding agents, kept in your own git repository.

    Start with `gt init`, then `gt create "…"`, then `gt run`.
    """
    if version:
        from gitticks import __version__

        click.echo(f"gitticks {__version__}")
    elif ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs `gt` and ends the process with the command's exit code."""
    # Loading a command makes thousands of objects that stay; Python would look through them again and again.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    _open_missing_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(given))


def _open_missing_streams() -> None:
    """Opens /dev/null for each of stdin, stdout and stderr that was closed (`>&-`), as git does.

    Else the next file that is opened, such as the index, would take its number, and a subprocess would print into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))  # noqa: PTH123, SIM115


def run(arguments: list[str]) -> int:
    """Runs `gt` with these arguments and returns the exit code; the outermost boundary of every command."""
    try:
        code = gt.main(args=arguments, prog_name="gt", standalone_mode=False)
        sys.stdout.flush()
    except GitticksError as error:
        _say(arguments, error.message, error.hint, _code_of(arguments, error.exit_code))
        return _code_of(arguments, error.exit_code)
    except click.UsageError as error:
        code = _code_of(arguments, Exit.USAGE)
        _say(arguments, _lower(error.format_message()), _usage_hint(error), code)
        return code
    except click.ClickException as error:
        _say(arguments, _lower(error.format_message()), None, Exit.FAILED)
        return Exit.FAILED
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return Exit.INTERRUPTED
    except (_ReaderGoneError, BrokenPipeError):
        _discard(sys.stdout)
        return Exit.DONE
    except Exception as error:  # noqa: BLE001 (the outermost boundary: a bug is reported, never shown as a traceback)
        return _unexpected(arguments, error)
    return code if isinstance(code, int) else Exit.DONE


def _unexpected(arguments: list[str], error: Exception) -> int:
    """Tells what the machine refused, or reports a bug."""
    from gitticks.cli.bug_report import report
    from gitticks.cli.machine import refusal_of

    refusal = refusal_of(error)
    if refusal is None:
        _say(arguments, *report(error, arguments), Exit.BUG)
        return Exit.BUG
    code = _code_of(arguments, refusal.exit_code)
    _say(arguments, refusal.message, refusal.hint, code)
    return code


_RUN_USAGE = 64


def _code_of(arguments: list[str], code: Exit) -> int:
    """Returns the code; `gt run` has codes of its own, in which usage, an unknown id and no repository are 64."""
    called = next((argument for argument in arguments if not argument.startswith("-")), None)
    if called == "run" and code in (Exit.FAILED, Exit.USAGE):
        return _RUN_USAGE
    return int(code)


def _lower(text: str) -> str:
    text = text.rstrip(".")
    return text[:1].lower() + text[1:]


def _usage_hint(error: click.UsageError) -> str | None:
    return f"`{error.ctx.command_path} --help`" if error.ctx is not None else "`gt --help`"


def _discard(stream: TextIO) -> None:
    """Lets what is left in a stream's buffer go nowhere: its reader went away, and it must not raise again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _say(arguments: list[str], message: str, hint: str | None, code: int) -> None:
    try:
        for line in _error_lines(arguments, message, hint, code):
            click.echo(line, err=True)
    except BrokenPipeError:
        _discard(sys.stderr)


def _error_lines(arguments: list[str], message: str, hint: str | None, code: int) -> Iterator[str]:
    if "--json" in arguments:
        import json

        body: dict[str, Any] = {"message": message, "hint": hint, "exit": int(code)}
        yield json.dumps({"schema": 1, "error": body}, ensure_ascii=False)
        return
    from gitticks.cli.text import visible

    yield "error: " + visible(message, keep="\n")
    if hint:
        yield "\nhint: " + visible(hint, keep="\n")
