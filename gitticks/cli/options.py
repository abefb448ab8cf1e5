"""The pieces that commands are put together from: help with an example first, the context, shared options."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from gitticks.actions.context import Context
from gitticks.errors import UsageError
from gitticks.model.status import Awaiting, Phase, Status

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

P = ParamSpec("P")
R = TypeVar("R")
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Command(click.Command):
    """A command whose help opens with examples, and whose `KindsOption` may stand without a value."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.examples = examples

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples and then what click writes."""
        for example in self.examples:
            formatter.write(f"  {example}\n")
        if self.examples:
            formatter.write_paragraph()
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Gives an option that stands without its value an empty one, so that click can parse it."""
        takes_words = any(isinstance(parameter, click.Argument) for parameter in self.params)
        names = {name for one in self.params if isinstance(one, KindsOption) for name in one.opts}
        return super().parse_args(ctx, _with_values(args, names, takes_words=takes_words))


def _with_values(args: list[str], names: set[str], *, takes_words: bool) -> list[str]:
    """Returns the arguments with `--awaiting review` and a bare `--awaiting` written as `--awaiting=…`.

    Where the command takes words of its own, one that is no kind stays with the command.
    """
    done: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*done, word, *rest]
        if word in names:
            follows = bool(rest) and not rest[0].startswith("-")
            is_value = follows and (not takes_words or _is_kinds(rest[0]))
            word = f"{word}={rest.pop(0) if is_value else ''}"
        done.append(word)
    return done


def _is_kinds(word: str) -> bool:
    kinds = {kind.value for kind in Awaiting}
    return all(part in kinds for part in word.split(","))


class KindsOption(click.Option):
    """An option whose value is a comma list of kinds of awaiting; without a value it means every kind."""


def parse_kinds(text: str) -> frozenset[Awaiting]:
    """Returns the kinds of awaiting that a comma list names; every kind for an empty one.

    Raises:
        UsageError: one of the words is no kind.
    """
    known = {kind.value: kind for kind in Awaiting}
    words = _words(text, known, "kind of awaiting")
    return frozenset(known[word] for word in words) or frozenset(Awaiting)


def parse_statuses(text: str) -> frozenset[Status]:
    """Returns the statuses that a comma list names, by themselves or by their phase.

    Raises:
        UsageError: one of the words is neither.
    """
    known = {phase.value: frozenset(one for one in Status if one.phase is phase) for phase in Phase}
    known |= {status.value: frozenset({status}) for status in Status}
    words = _words(text, known, "status or phase")
    return frozenset[Status]().union(*(known[word] for word in words))


def _words(text: str, known: Iterable[str], what: str) -> list[str]:
    words = [word for word in text.split(",") if word]
    unknown = next((word for word in words if word not in known), None)
    if unknown is not None:
        raise unknown_word(what, unknown, known)
    return words


def unknown_word(what: str, word: str, known: Iterable[str]) -> UsageError:
    """Returns the error for a word that is none of those known, with the near ones or all of them in its hint."""
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), known, n=2, cutoff=0.6)
    if near:
        return UsageError(
            f"no {what} is called `{word}`", hint=f"did you mean {' or '.join(f'`{one}`' for one in near)}?"
        )
    return UsageError(f"no {what} is called `{word}`", hint=f"one of {', '.join(known)}")


def pass_context(function: Callable[Concatenate[Context, P], R]) -> Callable[P, R]:
    """Gives a command the `Context` of this call as its first argument.

    At the end the index is let go, and warnings are printed that came up on the way.
    """

    @functools.wraps(function)
    def with_context(*args: P.args, **kwargs: P.kwargs) -> R:
        call = click.get_current_context()
        context = call.ensure_object(Context)
        call.call_on_close(lambda: _close(context))
        return function(context, *args, **kwargs)

    return with_context


def _close(context: Context) -> None:
    if "index" in context.__dict__:
        context.index.close()
    if context.warnings:
        from gitticks.cli.render import warn

        for warning in context.warnings:
            warn(warning)


def json_option(function: Callable[..., R]) -> Callable[..., R]:
    """Adds `--json`, which arrives as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(function)


def awaiting_filter(function: Callable[..., R]) -> Callable[..., R]:
    """Adds `--awaiting [kinds]`, which arrives as a frozen set of kinds or None."""
    return click.option(
        "--awaiting",
        cls=KindsOption,
        type=parse_kinds,
        metavar="[KINDS]",
        help="Only what awaits a person; KINDS is a comma list of work, approval, input, review, content, "
        "escalation, checkpoint.",
    )(function)


def status_filter(function: Callable[..., R]) -> Callable[..., R]:
    """Adds `--status`, which arrives as a tuple of frozen sets of statuses, one for each time it was given."""
    return click.option(
        "--status",
        "statuses",
        type=parse_statuses,
        multiple=True,
        metavar="STATUS[,…]",
        help="Only these statuses or phases (open, in_progress, in_review, closed).",
    )(function)


def task_argument(*, required: bool = True, name: str = "task", many: bool = False) -> Decorator:
    """Adds the argument ID, which arrives as the text that was typed, to be given to `Context.resolve`."""
    metavar = "ID" if required else "[ID]"
    return click.argument(
        name,
        metavar=f"{metavar}..." if many else metavar,
        required=required,
        nargs=-1 if many else 1,
        shell_complete=complete_task,
    )


def complete_task(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001 (click's signature)
    incomplete: str,
) -> list[CompletionItem]:
    """Returns the ids that begin with what was typed, with their titles; nothing where there are no tasks."""
    from click.shell_completion import CompletionItem

    from gitticks.cli.text import visible
    from gitticks.errors import GitticksError

    context = ctx.ensure_object(Context)
    try:
        titles = context.index.titles()
    except GitticksError:
        return []
    finally:
        _close(context)
    return [
        CompletionItem(task_id, help=visible(title))
        for task_id, title in titles.items()
        if task_id.startswith(incomplete)
    ]
