"""`gt import`, `gt export` and `gt migrate`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from shlex import quote

import click

from gitticks.actions import transfer
from gitticks.actions.context import Context
from gitticks.actions.named_file import write_named_file
from gitticks.cli.json import SCHEMA, plain, print_answer, print_object
from gitticks.cli.options import Completes, command
from gitticks.cli.render import count_of, hint, say, warn
from gitticks.cli.text import visible
from gitticks.errors import Exit, UsageError
from gitticks.importing.bring_in import Imported
from gitticks.importing.record import Format
from gitticks.model.notes import Section
from gitticks.terminal_safety import safe_json

IMPORT_FORMATS = ("ticks", "beads", "backlog", "github")
_MOST_SHOWN = 20

EXPORT_FORMATS = ("json", "csv", "beads")


@command("import", "gt import beads --dry-run", "gt import backlog", "gt import github issues.json")
@click.argument(
    "words",
    metavar="[ticks|beads|backlog|github] [PATH]",
    nargs=-1,
    shell_complete=Completes("|".join(IMPORT_FORMATS), "file"),
)
@click.option("--dry-run", is_flag=True, help="Only show what would be imported.")
@click.option(
    "--update",
    "takes_updates",
    is_flag=True,
    help="Also import changes, for tasks that did not change here.",
)
def import_command(context: Context, *, words: tuple[str, ...], dry_run: bool, takes_updates: bool) -> int:
    """Import tasks from another tracker.

    Without PATH, the tracker's usual place is used. Importing again adds only what is new.
    """
    named = words[0] if words and words[0] in IMPORT_FORMATS else None
    places = words[1:] if named else words
    if len(places) > 1:
        raise UsageError("`import` takes one format and one place", hint="`gt import --help`")
    form = Format(named) if named else None
    place = places[0] if places else None
    done = transfer.import_tasks(context, form, place, is_dry_run=dry_run, takes_updates=takes_updates)
    if context.as_json:
        print_object(**{"import": {"count": done.count, **plain(done)}})
    else:
        _print(done, " ".join(map(quote, words)) or done.format)
    return Exit.FAILED if done.problems and done.is_empty else Exit.DONE


def _print(done: Imported, words: str) -> None:
    if done.is_guessed:
        say(f"found {done.format} data: `{visible(done.source)}`")
    for problem in done.problems[:_MOST_SHOWN]:
        place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
        warn(f"{place}: {problem.message}")
    if len(done.problems) > _MOST_SHOWN:
        warn(f"… and {len(done.problems) - _MOST_SHOWN} more; `--json` has them all")
    would = "would be " if done.is_dry_run else ""
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(done.created.items()))
    say(f"{count_of(done.count, 'task')} {would}imported" + (f": {statuses}" if statuses else ""))
    say(*_rest(done, would))
    if done.is_dry_run and done.count:
        hint(f"`gt import {words}` imports them")
    elif done.behind:
        hint(f"`gt import {words} --update` imports the changes")
    for other in done.others:
        hint(f"there is {other} data too: `gt import {other}` imports it")


def _rest(done: Imported, would: str) -> list[str]:
    lines = [f"{count} skipped: {reason}" for reason, count in sorted(done.skipped.items())]
    if done.updated:
        lines.append(f"{len(done.updated)} {would}updated")
    if done.linked:
        lines.append(
            f"{len(done.linked)} already here, {would}linked to what is imported now: {_some(done.linked)}"
        )
    if done.unchanged:
        lines.append(f"{done.unchanged} here already")
    if done.behind:
        lines.append(f"{len(done.behind)} changed there since, not imported: {_some(done.behind)}")
    if done.kept:
        lines.append(f"{len(done.kept)} changed both there and here, not imported: {_some(done.kept)}")
    if done.new_epics:
        words = "an epic, because it has" if done.new_epics == 1 else "epics, because they have"
        lines.append(f"{done.new_epics} {would}turned into {words} children")
    if done.missing_links:
        lines.append(
            f"{count_of(done.missing_links, 'link')} to missing tasks, kept as text under `imported`"
        )
    return lines


def _some(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:_MOST_SHOWN])
    return shown if len(ids) <= _MOST_SHOWN else f"{shown}, …"


@command(
    "export",
    "gt export --format csv -o tasks.csv",
    "gt export --format beads > issues.jsonl",
    with_json=False,
)
@click.option(
    "--format",
    "form",
    type=click.Choice(EXPORT_FORMATS),
    default="json",
    show_default=True,
    help="What to write.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=Completes("file"),
    help="Write to a file, completely or not at all; a pipe or device gets a stream.",
)
def export_command(context: Context, *, form: str, output: str | None) -> None:
    """Export all tasks as JSON, CSV or beads issues."""
    context.store.tip()  # where there is nothing to export, not even a beginning is written
    lines = {"json": _as_json, "csv": transfer.as_csv, "beads": transfer.as_beads}[form](context)
    if output is not None and output != "-":
        write_named_file(context.directory / output, "".join(lines).encode())
        return
    for line in lines:
        click.echo(line.encode(), nl=False)


def _as_json(context: Context) -> Iterator[str]:
    """Yields one object, with a line for each task: what differs between two exports shows as tasks that differ."""
    yield f'{{"schema": {SCHEMA}, "tasks": ['
    separator = "\n"
    for one in transfer.read_all(context):
        body = {
            **plain(one.file.task),
            "summary": one.file.summary,
            "sections": one.sections,
            "notes": plain(one.file.entries(Section.NOTES)),
            "history": plain(one.events),
        }
        yield separator + safe_json(json.dumps(body, ensure_ascii=False))
        separator = ",\n"
    yield "\n]}\n"


@command("migrate", "gt migrate --manual-to-awaiting")
@click.option("--manual-to-awaiting", is_flag=True, help="Write `manual: true` as `awaiting: work`.")
def migrate_command(context: Context, *, manual_to_awaiting: bool) -> None:
    """Upgrade old task files."""
    if not manual_to_awaiting:
        raise UsageError("nothing to do", hint="`gt migrate --manual-to-awaiting`")
    changed = transfer.manual_to_awaiting(context)
    lines = [*(f"{task_id}  awaits work" for task_id in changed), f"{count_of(len(changed), 'task')} changed"]
    print_answer(context, lines, migrated=changed)
