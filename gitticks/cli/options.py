"""Building blocks of commands: help that starts with examples, the context, shared options."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.exceptions import NoArgsIsHelpError

from gitticks.actions.context import Context
from gitticks.cli.at_once import JSON, Argument, Option, ReadingCommand, Switch, run_in, with_values
from gitticks.cli.catalogue import BY_NAME, name_of
from gitticks.cli.text import as_called, called
from gitticks.errors import DocumentError, GitticksError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


R = TypeVar("R")
STDIN = "-"
LONGEST_TEXT = 100_000
_DOES_MUCH = frozenset({"run", "watch", "sync", "merge", "import", "doctor", "health", "migrate"})
"""Commands that live long or look at many objects, for which libgit2 is worth its loading."""
Decorator = Callable[[Callable[..., Any]], Any]
_QUOTED = re.compile(r"'([^']*)'")
NAMES_ELSEWHERE = {
    **dict.fromkeys(("delete", "remove"), "cancel"),
    **dict.fromkeys(("finish", "resolve"), "close"),
    **dict.fromkeys(("assign", "modify", "set"), "update"),
    **dict.fromkeys(("cat", "info"), "show"),
    **dict.fromkeys(("tasks", "issues"), "list"),
    **dict.fromkeys(("find", "grep"), "search"),
    **dict.fromkeys(("fetch", "pull", "push"), "sync"),
    **dict.fromkeys(("begin", "claim", "work"), "start"),
    "annotate": "note",
    "answer": "respond",
    "depend": "block",
    "diff": "review",
    "gc": "worktree gc",
    "history": "log",
    "prune": "worktree clean",
    "settings": "config",
    "todo": "ready",
}
"""What git and other trackers call a command, and what it is called here."""
_LIKE, _SHORTEST_LIKE = 0.6, 3
_TEXTS = ("TITLE", "TEXT", "NOTE", "FEEDBACK", "REASON", "VALUE")
"""Arguments that often are several words."""
_TEXT_PARAMETERS = ("comments", "description", "file", "message", "note", "reject", "script", "text", "title")
"""Parameters for which `-` is a text from stdin; so it may be among `words`."""


class _HelpFormatter(click.HelpFormatter):
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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Takes `-l=bug` for `-l bug`, and a text that begins with `-` for a text."""
        return super().parse_args(ctx, self._plain(ctx, args) if ctx.allow_interspersed_args else args)

    def _plain(self, ctx: click.Context, words: list[str]) -> list[str]:
        """Returns the words as click has to be given them: a text that begins with `-` goes after `--`."""
        takes_value = {
            word: not one.is_flag
            for one in self.get_params(ctx)
            if isinstance(one, click.Option)
            for word in one.opts
        }
        plain: list[str] = []
        behind: list[str] = []
        rest = words[::-1]
        while rest:
            word = rest.pop()
            if word == "--":
                behind += reversed(rest)
                return [*plain, word, *behind]
            if takes_value.get(word):
                if not rest:
                    return words  # click says what is missing
                plain += word, rest.pop()
            elif takes_value.get(word[:2]) and word[2:3] == "=":
                plain += word[:2], word[3:]
            elif _is_text(word, takes_value) or (behind and (word == STDIN or not word.startswith("-"))):
                behind.append(word)
            else:
                plain.append(word)
        return [*plain, "--", *behind] if behind else plain


def _is_text(word: str, options: Container[str]) -> bool:
    """True for a word that begins as an option does, and has white space where none has any."""
    first = word.split(maxsplit=1)[0] if word.startswith("-") else word
    if first == word:
        return False
    return "=" not in first if first.startswith("--") else first[2:] == "" or first[:2] not in options


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

    def __call__(self, *_: object) -> list[CompletionItem]:
        """Returns nothing: click is asked for the names of flags, and the table of completion knows the rest."""
        return []


class Reading(Command):
    """A reading command for click: the same words, meanings and answer."""

    def __init__(self, reading: ReadingCommand) -> None:
        super().__init__(
            reading.name,
            examples=reading.examples,
            callback=pass_context(reading.answer),
            params=[parameter_of(one) for one in reading.parameters],
            help=reading.answer.__doc__,
        )
        self.reading = reading

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Gives an option that stands without its value an empty one, so that click can parse it."""
        return super().parse_args(ctx, with_values(self.reading, args))


def parameter_of(one: Argument | Switch | Option) -> click.Parameter:
    """Returns a parameter as click takes it."""
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


def _name_of(call: click.Context) -> str:
    """Returns the name of a command after `gt`: of one in a group with the group's."""
    name = str(call.command.name)
    return name if call.parent is None or call.parent.parent is None else f"{_name_of(call.parent)} {name}"


def pass_context(function: Callable[..., R]) -> Callable[..., R]:
    """Gives a command the `Context` of this call as its first argument, as `run_in` does."""

    @functools.wraps(function)
    def with_context(**values: Any) -> R:
        call = click.get_current_context()
        context = call.ensure_object(Context)
        context.does_much = context.does_much or call.info_name in _DOES_MUCH
        from_stdin = _count_stdin(values)
        try:
            if from_stdin > 1:
                raise UsageError(
                    "`-` is given for several texts, but stdin is only one", hint="give the others as text"
                )
            return run_in(context, _name_of(call), function, values)
        except GitticksError as error:
            if from_stdin and context.typed is None and context.mailbox is None and not sys.stdin.isatty():
                with suppress(UnicodeDecodeError):
                    context.typed = sys.stdin.read(LONGEST_TEXT + 1)  # refused before it was read
            keep_typed(context, error)
            raise

    return with_context


def _count_stdin(values: dict[str, Any]) -> int:
    """Returns for how many texts `-` was given."""
    given = [values.get(name) for name in _TEXT_PARAMETERS]
    texts = [text for one in given for text in (one if isinstance(one, tuple) else (one,))]
    return texts.count(STDIN) + (STDIN in (values.get("words") or ()))


def keep_typed(context: Context, error: GitticksError, task: str = "") -> None:
    """Keeps what a person typed for a command, or for a task, that was refused, and adds to the error's hint where.

    What has changed a task is not kept, whatever fails afterwards, nor a text that is longer than any may be.
    """
    text = context.typed or ""
    is_taken = any(subject.startswith(task) for subject in context.written)
    if text.strip() and len(text) <= LONGEST_TEXT and not is_taken and context.mailbox is None:
        context.typed = ""
        from gitticks.actions.drafts import keep_text

        keep_text(context, text, error)


def command(name: str, *examples: str, with_json: bool = True, of: Any = click) -> Decorator:
    """Makes a command of a function that takes the `Context`, with `--json` unless it has none.

    The examples open the help; `of` is the group that the command is in, the catalogue's if not said.
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


def begin_of(since: str | None, now: datetime) -> datetime | None:
    """Returns when the period begins that `--since` names; None without one."""
    if since is None:
        return None
    from gitticks.actions.statistics.figures import period_until, read_since

    return period_until(now, read_since(since)).since


def message_of(error: click.ClickException) -> str:
    """Returns what was wrong, in one line: lower case, what was typed or is missing in backticks."""
    if isinstance(error, NoArgsIsHelpError):
        group = error.ctx.command
        names = group.list_commands(error.ctx) if isinstance(group, click.Group) else []
        return f"`{error.ctx.command_path}` needs a command: {', '.join(f'`{name}`' for name in names)}"
    if isinstance(error, click.NoSuchOption):
        return f"no such option `{error.option_name}`{did_you_mean(_near_options(error))}"
    text = _QUOTED.sub(r"`\1`", " ".join(error.format_message().split()).rstrip(".").removesuffix(" range"))
    return text[:1].lower() + text[1:]


def _near_options(error: click.NoSuchOption) -> list[str]:
    """Returns the options that may be meant; click counts the hyphens, which make all of them look alike."""
    named = {one.lstrip("-"): one for one in error.possibilities or ()}
    return [named[one] for one in get_close_matches(error.option_name.lstrip("-"), named, n=2)]


def hint_of(error: click.UsageError, arguments: list[str]) -> str:
    """Returns how to get help for the command that was meant; click does not always tell which that was."""
    if error.ctx is not None:
        path = error.ctx.command_path
        if isinstance(error, click.NoSuchOption) and (
            before := _belongs_before(error.option_name, error.ctx)
        ):
            program, _, rest = path.partition(" ")
            return f"`{program} {before} {rest}`"
        arguments_of = [one for one in error.ctx.command.params if isinstance(one, click.Argument)]
        last = arguments_of[-1].make_metavar(error.ctx).split()[-1].strip("[]") if arguments_of else ""
        if last in _TEXTS and isinstance(error, click.NoSuchOption) and not _near_options(error):
            return f"a {last} that begins with `-` goes after `--`; `{path} --help`"
        if last in _TEXTS and error.message.startswith("Got unexpected extra argument"):
            return f'put a text of several words in quotes, `"{last}"`; `{path} --help`'
        return f"`{path} --help`"
    is_known = bool(arguments) and name_of(arguments[0]) in BY_NAME
    return f"`gt {arguments[0]} --help`" if is_known else "`gt --help`"


def _belongs_before(option: str, ctx: click.Context) -> str | None:
    """Returns an option of every command as it is typed before the command; None for any other."""
    every = (one for one in ctx.find_root().command.params if not one.expose_value and option in one.opts)
    return next((f"{option} {one.metavar or ''}".rstrip() for one in every), None)


def nearest_names(word: str, names: Sequence[str]) -> list[str]:
    """Returns the names that may be meant by a word: those that begin with it, else those that look like it.

    A word of one or two letters looks like too much, so only its beginning counts.
    """
    begun = [name for name in names if len(word) > 1 and name.startswith(word)]
    if begun:
        return begun
    return get_close_matches(word, names, n=2, cutoff=_LIKE) if len(word) >= _SHORTEST_LIKE else []


def did_you_mean(near: list[str] | tuple[str, ...]) -> str:
    """Returns the end of a message that offers what was probably meant; empty if nothing is near."""
    return f"; did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else ""
