"""`gt export`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitticks.actions.context import Context
from gitticks.actions.named_file import write_named_file
from gitticks.cli.json import SCHEMA, entry_object, event_object, plain
from gitticks.cli.options import Command, Completes, pass_context
from gitticks.terminal_safety import safe_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitticks.actions.transfer import Exported

FORMATS = ("json", "csv", "beads")


@click.command(
    "export",
    cls=Command,
    examples=("gt export --format csv -o tasks.csv", "gt export --format beads > issues.jsonl"),
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="json", show_default=True, help="What to write."
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=Completes("file"),
    help="Write to a file, whole or not at all; a pipe or device gets it as a stream.",
)
@pass_context
def command(context: Context, *, form: str, output: str | None) -> None:
    """Write every task as JSON, CSV or beads issues."""
    from gitticks.actions.transfer import as_beads, as_csv

    context.store.tip()  # where there is nothing to export, not even a beginning is written
    lines = {"json": _as_json, "csv": as_csv, "beads": as_beads}[form](context)
    if output is not None and output != "-":
        write_named_file(context.directory / output, "".join(lines).encode())
        return
    for line in lines:
        click.echo(line.encode(), nl=False)


def _as_json(context: Context) -> Iterator[str]:
    """Yields one object, with a line for each task: what differs between two exports shows as tasks that differ."""
    from gitticks.actions.transfer import read_all

    yield f'{{"schema": {SCHEMA}, "tasks": ['
    separator = "\n"
    for one in read_all(context):
        yield separator + _task_line(one)
        separator = ",\n"
    yield "\n]}\n"


def _task_line(one: Exported) -> str:
    import json

    body = {
        **plain(one.file.task),
        "summary": one.file.summary,
        "sections": one.sections,
        "notes": [entry_object(note) for note in one.notes],
        "history": [event_object(event) for event in one.events],
    }
    return safe_json(json.dumps(body, ensure_ascii=False))
