"""Building blocks of commands: help that starts with examples, the context, shared options."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from gitticks.actions.context import Context
from gitticks.cli.at_once import JSON, Argument, Option, ReadingCommand, Switch, finish, run_in, with_values
from gitticks.cli.text import as_called, called
from gitticks.cli.usage import did_you_mean, nearest_names
from gitticks.errors import DocumentError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


P = ParamSpec("P")
R = TypeVar("R")
_NARROW = 60
_DOES_MUCH = frozenset({"run", "watch", "sync", "merge", "import", "doctor", "health", "migrate"})
"""Commands that live long or look at many objects, for which libgit2 is worth its loading."""
Decorator = Callable[[Callable[..., Any]], Any]


class _HelpFormatter(click.HelpFormatter):
    """Leaves what an option means two thirds of a narrow terminal."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl(rows, col_max if self.width > _NARROW else self.width // 3, col_spacing)

    def getvalue(self) -> str:
        """Returns the help with what this program was called by."""
        return as_called(super().getvalue())


class _HelpContext(click.Context):
    formatter_class = _HelpFormatter


class Command(click.Command):
    """A command whose help opens with examples."""

    context_class = _HelpContext

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.examples = examples

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples and then what click writes."""
        for example in self.examples:
            formatter.write(f"  {called()}{example[2:]}\n" if example.startswith("gt ") else f"  {example}\n")
        if self.examples:
            formatter.write_paragraph()
        super().format_help(ctx, formatter)


class Group(Command, click.Group):
    """A command that only holds others, whose help opens with examples too."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds a command and suggests near ones for an unknown name."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            offered = did_you_mean([f"{ctx.command_path} {one}" for one in self.near(ctx, name)])
            raise click.UsageError(f"no command `{name}`{offered}", ctx=ctx)
        return super().resolve_command(ctx, args)

    def near(self, ctx: click.Context, name: str) -> list[str]:
        """Returns the names of commands that may be meant by an unknown one, the likeliest first."""
        return nearest_names(name, self.list_commands(ctx))


class Completes:
    """Says of a parameter of what kinds its words are while they are typed, one after the other.

    A kind with `*` at its end holds for all that follow. The kinds are those of `gitticks.cli.completion.offers`.
    """

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds

    def __call__(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002 (click's signature)
        incomplete: str,
    ) -> list[CompletionItem]:
        """Returns what fits, for click, which asks where the table of completion lacks a command."""
        from click.shell_completion import CompletionItem

        from gitticks.cli.completion.offers import offers

        context = ctx.ensure_object(Context)
        try:
            found = offers(context, self.kinds[0].removesuffix("*"), incomplete) or []
        finally:
            finish(context)
        return [CompletionItem(one.word, help=one.text) for one in found]


class _Reading(Command):
    """A reading command as click sees it."""

    def __init__(self, reading: ReadingCommand) -> None:
        super().__init__(
            reading.name,
            examples=reading.examples,
            callback=pass_context(reading.answer),
            params=[_parameter(one) for one in reading.parameters],
            help=reading.answer.__doc__,
        )
        self.reading = reading

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Gives an option that stands without its value an empty one, so that click can parse it."""
        return super().parse_args(ctx, with_values(self.reading, args))


def as_click(reading: ReadingCommand) -> Command:
    """Returns a reading command for click: the same words, meanings and answer."""
    return _Reading(reading)


def _parameter(one: Argument | Switch | Option) -> click.Parameter:
    if isinstance(one, Argument):
        return click.Argument(
            [one.name],
            metavar=one.metavar,
            required=False,
            nargs=-1 if one.is_repeated else 1,
            shell_complete=Completes(f"{one.completes}*" if one.is_repeated else one.completes),
        )
    if isinstance(one, Switch):
        return click.Option([*one.words, one.name], is_flag=True, help=one.help)
    return click.Option(
        [*one.words, one.name],
        type=None if one.read is str else one.read,
        multiple=one.is_repeated,
        metavar=one.metavar,
        shell_complete=Completes(one.completes),
        help=one.help,
    )


def pass_context(function: Callable[Concatenate[Context, P], R]) -> Callable[P, R]:
    """Gives a command the `Context` of this call as its first argument.

    At the end the index is let go, and warnings are printed that came up on the way.
    """

    @functools.wraps(function)
    def with_context(*args: P.args, **kwargs: P.kwargs) -> R:
        call = click.get_current_context()
        context = call.ensure_object(Context)
        context.does_much = context.does_much or call.info_name in _DOES_MUCH
        return run_in(context, str(call.command.name), lambda: function(context, *args, **kwargs))

    return with_context


def command(name: str, *examples: str, with_json: bool = True, of: Any = click) -> Decorator:
    """Makes a command of a function that takes the `Context`, and `as_json` unless it has no `--json`.

    Args:
        name: what is typed.
        examples: how, which opens the help.
        with_json: adds `--json`, after all other options.
        of: the group that the command is in; the catalogue's if not said.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        params: list[click.Parameter] = function.__dict__.setdefault("__click_params__", [])
        if with_json:  # click reverses them
            params.insert(0, click.Option([*JSON.words, JSON.name], is_flag=True, help=JSON.help))
        made: click.Command = of.command(name, cls=Command, examples=examples)(pass_context(function))
        return made

    return decorate


def task_argument(
    *, required: bool = True, name: str = "task", many: bool = False, completes: str = "task"
) -> Decorator:
    """Adds the argument ID, which arrives as the text that was typed, to be given to `Context.resolve`."""
    metavar = "ID" if required else "[ID]"
    return click.argument(
        name,
        metavar=f"{metavar}..." if many else metavar,
        required=required,
        nargs=-1 if many else 1,
        shell_complete=Completes(f"{completes}*" if many else completes),
    )


def seconds_of(option: str, text: str) -> float:
    """Returns the seconds that an option's value means."""
    from gitticks.document.settings import find_setting, parse_value

    try:
        return float(str(parse_value(*find_setting("limits.idle"), text, option)))
    except DocumentError as error:
        raise UsageError(f"`{option}` is not a duration: '{text}'", hint=error.hint) from None
