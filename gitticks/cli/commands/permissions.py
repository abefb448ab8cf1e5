"""`gt permissions`."""

from __future__ import annotations

import select
import sys
import termios
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from gitticks.actions.context import Context
from gitticks.actions.permissions import (
    answer_questions,
    attached,
    change_mode,
    explain_access,
    forget_rules,
    loosened_by,
    open_questions,
    policy,
)
from gitticks.cli.commands.inbox import request_lines, request_object
from gitticks.cli.editor import is_on_terminal
from gitticks.cli.json import print_answer, print_object
from gitticks.cli.options import Completes, Group, command
from gitticks.cli.render import hint, say, screen
from gitticks.cli.table import table
from gitticks.cli.text import visible
from gitticks.errors import NotFoundError, RefusedError, UsageError
from gitticks.model.settings import PermissionMode
from gitticks.runner.questions import Question
from gitticks.store.permissions import LEARNED_ORIGIN
from gitticks.workflow.permissions import Operation, rule_words

R = TypeVar("R")
_POLL_SECONDS = 0.3


@click.group(
    "permissions",
    cls=Group,
    invoke_without_command=True,
    examples=(
        "gt permissions",
        "gt permissions allow 3",
        "gt permissions allow 3 --always",
        "gt permissions explain shell 'go test ./...'",
    ),
)
@click.option(
    "--wait", "waits", is_flag=True, help="Keep running, and answer requests as they come (Ctrl-C quits)."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def permissions_command(call: click.Context, *, waits: bool, as_json: bool) -> None:
    """Answer permission requests of agents, and show the rules.

    Without a command, the open requests are listed. Agents ask only while somebody is there to answer: a run on a
    terminal, the interface, or `gt permissions --wait`.
    """
    if call.invoked_subcommand is None:
        call.invoke(wait_command if waits else list_command, **({} if waits else {"as_json": as_json}))
    elif as_json or waits:
        raise UsageError(
            f"`{'--json' if as_json else '--wait'}` cannot be followed by a command",
            hint=f"`gt permissions {call.invoked_subcommand} --json`",
        )


@command("list", "gt permissions list", of=permissions_command)
def list_command(context: Context) -> None:
    """List the requests that wait for an answer."""
    found = open_questions(context)
    if context.as_json:
        print_object(questions=[request_object(one) for one in found], mode=context.settings.permissions.mode)
        return
    if not found:
        say(f"no open requests; the mode is {context.settings.permissions.mode}", err=True)
        hint("`gt permissions rules` shows the rules, `gt audit` what was decided")
        return
    say(*(line for one in found for line in request_lines(screen(), one, context.now)))
    first = found[0]
    hint(f"`gt permissions allow {first.number} --always` remembers `{visible(rule_words(first.rule))}`")


@command("wait", "gt permissions wait", of=permissions_command, with_json=False)
def wait_command(context: Context) -> None:
    """Keep running, and answer requests as they come.

    The same as `gt permissions --wait`. While it runs, agents ask instead of being refused.
    """
    if not is_on_terminal():
        raise UsageError("there is no terminal to answer on", hint="`gt permissions allow NUMBER`")
    with attached(context):
        say("agents now ask here; Ctrl-C quits")
        while True:
            for question in open_questions(context)[:1]:  # others may be answered elsewhere meanwhile
                _ask(context, question)
            time.sleep(_POLL_SECONDS)


def _ask(context: Context, question: Question) -> None:
    say(*request_lines(screen(), question, context.now))
    said = _typed(
        context,
        question,
        f"      allow? [y]es, [Y] always ({visible(rule_words(question.rule))}), [n]o, [N] never: ",
    )
    if said is None:
        say("", "      no longer open: answered elsewhere, or too late")
        return
    try:
        answer_questions(context, [question.number], allows=said in "yY", always=said in "YN")
    except (RefusedError, NotFoundError) as error:
        say(f"      {error}")


def _typed(context: Context, question: Question, prompt: str) -> str | None:
    """Returns which of y, Y, n and N a person types; None once the question is not open any more."""
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before it was shown is no answer to it
    click.echo(prompt, nl=False)
    while any(one.number == question.number for one in open_questions(context)):
        if select.select([sys.stdin], [], [], _POLL_SECONDS)[0]:
            line = sys.stdin.readline()
            if not line:
                raise click.Abort
            if line.strip() in ("y", "Y", "n", "N"):
                return line.strip()
            click.echo(prompt, nl=False)
    return None


def _answer_options(function: Callable[..., R]) -> Callable[..., R]:
    for option in (
        click.option("--always", is_flag=True, help="Remember the answer as a rule of this clone."),
        click.option("--all", "with_all", is_flag=True, help="All open requests."),
        click.argument("numbers", metavar="[NUMBER]...", nargs=-1, type=int),
    ):
        function = option(function)
    return function


def _answer(
    context: Context, *, numbers: tuple[int, ...], with_all: bool, allows: bool, always: bool
) -> None:
    if numbers and with_all:
        raise UsageError("`--all` already means every open request", hint="give numbers, or `--all`")
    if with_all:
        numbers = tuple(one.number for one in open_questions(context))
    elif not numbers:
        raise UsageError("no request was named", hint="`gt permissions` lists them with their numbers")
    answered = answer_questions(context, numbers, allows=allows, always=always)
    word = "allowed" if allows else "denied"
    lines = (
        f"{one.number}  {word}: {one.access.operation} {visible(one.access.target)}"
        + (f"; from now on `{visible(rule_words(one.rule))}` is {word}" if always else "")
        for one in answered
    )
    requests = list(map(request_object, answered))
    print_answer(context, lines, "no open requests", answered=requests, allows=allows, always=always)


@command("allow", "gt permissions allow 3", "gt permissions allow 3 4 --always", of=permissions_command)
@_answer_options
def allow_command(context: Context, **options: Any) -> None:
    """Allow what agents ask for."""
    _answer(context, allows=True, **options)


@command("deny", "gt permissions deny 3", "gt permissions deny --all", of=permissions_command)
@_answer_options
def deny_command(context: Context, **options: Any) -> None:
    """Refuse what agents ask for."""
    _answer(context, allows=False, **options)


@command(
    "explain",
    "gt permissions explain shell 'rm -rf build'",
    "gt permissions explain file_write src/main.py --agent claude",
    "gt permissions explain network github.com",
    of=permissions_command,
)
@click.argument("operation", metavar="OPERATION", shell_complete=Completes("|".join(Operation)))
@click.argument("target", metavar="TARGET...", nargs=-1, required=True)
@click.option("--agent", shell_complete=Completes("agent"), help="This agent instead of the default one.")
def explain_command(context: Context, *, operation: str, target: tuple[str, ...], agent: str | None) -> None:
    """Show how the rules decide a request, and which one does.

    OPERATION is file_read, file_write, shell or network; TARGET a path, a command line or a host.
    """
    found = explain_access(context, operation, " ".join(target), agent)
    ruling = found.ruling
    lines = (
        f"{ruling.answer}  {found.access.operation} {visible(found.access.target)}",
        f"      {visible(ruling.reason)} (agent {visible(found.agent)}, mode {found.mode})",
    )
    print_answer(
        context,
        lines,
        operation=found.access.operation,
        target=found.access.target,
        agent=found.agent,
        mode=found.mode,
        decision=ruling.answer,
        reason=ruling.reason,
        origin=ruling.origin,
        rule=ruling.rule,
    )
    if found.access.operation is Operation.SHELL and not context.as_json:
        hint("rules about commands are guard rails; only a sandbox limits what a command can reach")


@command("rules", "gt permissions rules", of=permissions_command)
def rules_command(context: Context) -> None:
    """List the rules in effect, where each comes from, and the mode."""
    found = policy(context)
    if context.as_json:
        print_object(
            mode=found.mode,
            mode_origin=found.mode_origin,
            layers=found.layers,
            learned=found.learned,
            timeout=found.timeout,
        )
        return
    say(f"mode {found.mode}, from {visible(found.mode_origin)}; a request waits {found.timeout} s")
    rows = []
    for layer in found.layers:
        if layer.origin == LEARNED_ORIGIN:
            continue
        rows += [
            ("", word, visible(rule_words(rule)), visible(layer.origin))
            for word, rules in (("deny", layer.deny), ("allow", layer.allow))
            for rule in rules
        ]
        if layer.default is not None:
            rows.append(("", layer.default.value, "everything else", visible(layer.origin)))
    rows += [
        (str(one.number), one.answer.value, visible(rule_words(one.rule)), LEARNED_ORIGIN)
        for one in found.learned
    ]
    if rows:
        say(*table(screen(), ("no", "says", "rule", "from"), rows, flexible="rule"))
    else:
        hint("there are no rules: `gt config --explain permissions.deny`")


@command("forget", "gt permissions forget 2", of=permissions_command)
@click.argument("numbers", metavar="NUMBER...", nargs=-1, type=int, required=True)
def forget_command(context: Context, *, numbers: tuple[int, ...]) -> None:
    """Forget rules learned from your answers, by their numbers in `gt permissions rules`."""
    dropped = forget_rules(context, numbers)
    lines = (f"forgotten: {one.answer} {visible(rule_words(one.rule))}" for one in dropped)
    print_answer(context, lines, forgotten=dropped)


@command("mode", "gt permissions mode", "gt permissions mode interactive", of=permissions_command)
@click.argument(
    "mode",
    metavar="[MODE]",
    required=False,
    type=click.Choice([*(one.value for one in PermissionMode), "default"]),
)
@click.option("--yes", is_flag=True, help="Do not ask, even if agents may do more.")
def mode_command(context: Context, *, mode: str | None, yes: bool) -> None:
    """Show or set what agents may do without asking in this clone.

    MODE is interactive, auto-edit, auto-all, yolo, or `default` to unset it. A stricter mode takes effect at once, even
    for agents at work; a looser one is confirmed, and takes effect with their next iteration.
    """
    if mode is None:
        found = policy(context)
        line = f"{found.mode}, from {visible(found.mode_origin)}"
        print_answer(context, [line], mode=found.mode, origin=found.mode_origin)
        return
    asked = None if mode == "default" else PermissionMode(mode)
    looser = () if yes else loosened_by(context, asked)
    if looser:
        if context.as_json or not is_on_terminal():
            whose = ", ".join(
                f"`{one.after}`" + (f", the mode of `{one.agent}`" if one.agent else "") for one in looser
            )
            raise RefusedError(
                f"agents may do more under {whose}", hint=f"`gt permissions mode {mode} --yes`"
            )
        steps = ", ".join(
            " ".join(filter(None, (one.agent, f"{one.before} → {one.after}"))) for one in looser
        )
        if not click.confirm(f"Let agents do more ({steps})?", default=False):
            raise RefusedError("nothing was changed")
    changed = change_mode(context, asked)
    if context.as_json:
        print_object(mode=changed.holds, before=changed.before, origin=changed.origin)
        return
    when = (
        "; agents at work keep their mode until their next iteration"
        if changed.is_looser and changed.is_run_alive
        else ""
    )
    say(f"{changed.before} → {changed.holds}{when}")
    if asked is None and changed.origin != "default":
        hint(f"it is set by {visible(changed.origin)}")
    elif asked is not None and changed.holds is not asked:
        hint(f"{changed.origin} is stricter")
