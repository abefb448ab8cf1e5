"""`gt audit`."""

from __future__ import annotations

import click

from gitticks.actions.audit import (
    Recorded,
    Wanted,
    as_csv,
    as_objects,
    counts_of,
    find_decisions,
    verify_audit,
)
from gitticks.actions.context import Context
from gitticks.cli.json import print_object
from gitticks.cli.options import Completes, begin_of, command
from gitticks.cli.render import count_of, hint, say, screen
from gitticks.cli.table import table
from gitticks.cli.text import visible
from gitticks.errors import Exit, UsageError
from gitticks.model.audit import Decided
from gitticks.workflow.permissions import Operation

_VERIFY = "verify"
_SHOWN = 50


@command(
    "audit",
    "gt audit",
    "gt audit k7f2 --refused",
    "gt audit --operation shell --since 2h",
    "gt audit --csv > decisions.csv",
    "gt audit verify",
)
@click.argument("words", metavar="[verify] [ID]...", nargs=-1, shell_complete=Completes("task*"))
@click.option(
    "--operation",
    metavar="NAME",
    type=click.Choice([one.value for one in Operation]),
    help="Only file_read, file_write, shell or network.",
)
@click.option("--agent", shell_complete=Completes("agent"), help="Only requests of this agent.")
@click.option(
    "--decision",
    metavar="WORD",
    type=click.Choice([one.value for one in Decided]),
    help="Only allowed, denied or asked.",
)
@click.option("--refused", is_flag=True, help="Only what was not allowed.")
@click.option("--since", metavar="WHEN", help="From a date, or this far back: 2026-10-01, 2h, 30d, 12w.")
@click.option("-n", "--count", type=click.IntRange(1), help="Only the last N; 50 on a terminal.")
@click.option("--csv", "as_table", is_flag=True, help="Print CSV.")
def audit_command(
    context: Context,
    *,
    words: tuple[str, ...],
    operation: str | None,
    agent: str | None,
    decision: str | None,
    refused: bool,
    since: str | None,
    count: int | None,
    as_table: bool,
) -> int:
    """Show what agents asked to do and what was decided; verify it.

    Each decision is a line of its task's `audit.jsonl` on the state branch, with the hash of the line before; `verify`
    checks these chains, and that the lines named by the commits are there.
    """
    if words[:1] == (_VERIFY,):
        return _verify(context, words[1:])
    if as_table and context.as_json:
        raise UsageError("`--csv` and `--json` cannot be used together", hint="use one of the two")
    start = begin_of(since, context.now)
    wanted = Wanted(
        operation, agent, None if decision is None else Decided(decision), True if refused else None, start
    )
    found = find_decisions(context, [context.resolve(word) for word in words], wanted)
    on = screen()
    most = count or (_SHOWN if on.is_terminal and not (context.as_json or as_table) else None)
    shown = found if most is None else found[-most:]
    if context.as_json:
        print_object(decisions=as_objects(shown))
    elif as_table:
        say(*as_csv(shown))
    elif not shown:
        say("no matching decisions", err=True)
        hint("a run records decisions for agents with a hook: claude, codex and gemini")
    else:
        rows = [_row(one) for one in shown]
        say(*table(on, ("time", "task", "agent", "wanted", "decision", "what", "why"), rows, flexible="what"))
        say(", ".join(counts_of(found)))
    return Exit.DONE


def _row(one: Recorded) -> tuple[str, ...]:
    entry = one.entry
    decided = entry.decision.value if entry.user_action is None else f"{entry.decision}: {entry.user_action}"
    at = entry.timestamp.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return (
        at,
        one.task,
        visible(entry.agent),
        entry.operation,
        decided,
        visible(entry.target),
        visible(entry.reason),
    )


def _verify(context: Context, words: tuple[str, ...]) -> int:
    checked = verify_audit(context, [context.resolve(word) for word in words])
    if context.as_json:
        print_object(files=checked.files, lines=checked.lines, problems=checked.problems)
    else:
        say(*(f"error: {visible(one)}" for one in checked.problems), err=True)
        whole = f"{count_of(checked.lines, 'line')} in {count_of(checked.files, 'file')}"
        say(
            f"{whole}: {count_of(len(checked.problems), 'problem') if checked.problems else 'whole and unchanged'}"
        )
    return Exit.REFUSED if checked.problems else Exit.DONE
