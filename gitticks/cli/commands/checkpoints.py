"""`gt checkpoints` and `gt resume`."""

from __future__ import annotations

import sys

import click

from gitticks.actions.checkpoints import (
    ListedCheckpoint,
    Pruned,
    ResumedWork,
    diff_checkpoint,
    list_checkpoints,
    prune_checkpoints,
    resume_checkpoint,
)
from gitticks.actions.context import Context
from gitticks.actions.run_requests import add_to_run
from gitticks.cli.app import run
from gitticks.cli.json import print_answer, print_object
from gitticks.cli.options import Completes, Group, command, task_argument
from gitticks.cli.render import ago, count_of, hint, say, screen, warn
from gitticks.cli.table import table
from gitticks.cli.text import visible
from gitticks.cli.views.tasks import resuming
from gitticks.errors import UsageError
from gitticks.model.checkpoint import Cause, Checkpoint
from gitticks.model.spending import Metric, in_words
from gitticks.runner.liveness import is_run_alive_at

_SHORT = 7
_MOST_COMMITS = 10


class _Checkpoints(Group):
    """Takes what is no command for the task whose checkpoints are to be listed."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command, which may be left out."""
        if self.get_command(ctx, args[0]) is None and not self.near(ctx, args[0]):
            return "list", list_command, args
        return super().resolve_command(ctx, args)


@click.group(
    "checkpoints",
    cls=_Checkpoints,
    invoke_without_command=True,
    examples=("gt checkpoints", "gt checkpoints diff k7f2-14", "gt checkpoints prune"),
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def checkpoints_command(call: click.Context, *, as_json: bool) -> None:
    """List, compare and drop checkpoints.

    `gt resume` goes back to one. Without a command, or with only an ID, they are listed.
    """
    if call.invoked_subcommand is None:
        call.invoke(list_command, task=None, as_json=as_json)
    elif as_json:
        raise UsageError("`--json` comes last", hint=f"`gt checkpoints {call.invoked_subcommand} --json`")


@command("list", "gt checkpoints list", "gt checkpoints list k7f2", of=checkpoints_command)
@task_argument(required=False)
def list_command(context: Context, *, task: str | None) -> None:
    """List the checkpoints of all tasks, or of one task or epic.

    Checkpoints are made every `checkpoint_every` iterations of a workspace and before each merge.
    """
    listed = list_checkpoints(context, None if task is None else context.resolve(task))
    names = ("checkpoint", "made", "iteration", "cost", "why", "code", "title")
    rows = [_row(context, one) for one in listed]
    nothing = "no checkpoints: `gt run` makes one every `checkpoint_every` iterations, and before each merge"
    lines = table(screen(), names, rows, flexible="title")
    print_answer(context, lines, nothing, checkpoints=list(map(_object, listed)))
    for one in listed:
        if one.stored.checkpoint is None and not context.as_json:
            warn(f"`.gitticks/{one.stored.path}` cannot be read: {one.stored.problem}")


def _row(context: Context, one: ListedCheckpoint) -> tuple[str, ...]:
    made = one.stored.checkpoint
    if made is None:
        return one.stored.id, "", "", "", "cannot be read", "", visible(one.title)
    code = made.commit[:_SHORT] if one.has_code else "not here"
    return (
        made.id,
        ago(made.at, context.now),
        str(made.total.iterations),
        in_words(Metric.COST, made.total.cost) if made.total.cost else "",
        "before a merge" if made.cause is Cause.MERGE else "uncommitted work" if made.has_uncommitted else "",
        code,
        visible(one.title),
    )


def _object(one: ListedCheckpoint) -> dict[str, object]:
    made = one.stored.checkpoint
    return {
        "id": one.stored.id,
        "workspace": one.stored.workspace,
        "path": one.stored.path,
        "problem": one.stored.problem or None,
        "has_code": one.has_code,
        **({} if made is None else _fields(made)),
    }


def _fields(made: Checkpoint) -> dict[str, object]:
    total = made.total
    return {
        "time": made.at,
        "cause": made.cause,
        "task": made.task,
        "epic": made.epic,
        "iteration": total.iterations,
        "tokens": total.tokens_in + total.tokens_out,
        "cost": total.cost,
        "completed_tasks": made.completed,
        "head": made.head,
        "git_commit": made.commit,
    }


@command("diff", "gt checkpoints diff k7f2-14", "gt checkpoints diff k7f2-9 k7f2-14", of=checkpoints_command)
@click.argument("checkpoint", metavar="CHECKPOINT", shell_complete=Completes("checkpoint"))
@click.argument("until", metavar="[CHECKPOINT]", required=False, shell_complete=Completes("checkpoint"))
@click.option("--stat", is_flag=True, help="Only the summary, not the changes themselves.")
def diff_command(context: Context, *, checkpoint: str, until: str | None, stat: bool) -> None:
    """Show what has changed since a checkpoint, or between two checkpoints.

    Without a second one it is compared with what the workspace holds now. What is uncommitted is part of both.
    """
    found = diff_checkpoint(context, checkpoint, until)
    end = found.until.id if found.until else None
    if context.as_json:
        print_object(
            diff={
                "since": found.since.id,
                "until": end,
                "commits": found.span,
                "changes": found.summary,
                **({} if stat else {"patch": found.patch.decode("utf-8", "replace")}),
            }
        )
        return
    files = count_of(found.summary.files, "file")
    added = f"+{found.summary.added} -{found.summary.removed}"
    say(
        f"{found.since.id} → {end or 'now'}  {files} {added}  {found.span[0][:_SHORT]}..{found.span[1][:_SHORT]}"
    )
    if stat:
        say(*(f"  {visible(one)}" for one in found.summary.paths))
    elif found.patch:
        lines = found.patch.decode("utf-8", "replace").splitlines()
        say("", *(visible(line, keep="\t") for line in lines))


@command(
    "prune",
    "gt checkpoints prune",
    "gt checkpoints prune k7f2-14",
    "gt checkpoints prune k7f2 --keep 2",
    of=checkpoints_command,
)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=Completes("task*"))
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the newest N of each task.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
def prune_command(context: Context, *, names: tuple[str, ...], keep: int | None, dry_run: bool) -> None:
    """Drop checkpoints: those named, all of a task, or without a NAME those of closed tasks.

    With --keep and without a NAME those of open tasks too. What only a checkpoint has is named with its commit, which
    git forgets after some weeks.
    """
    pruned = prune_checkpoints(context, names, keep=keep, dry_run=dry_run)
    lines = (f"{visible(one.id)}  {_pruned_words(one, dry_run=dry_run)}" for one in pruned)
    print_answer(context, lines, "nothing to drop", pruned=pruned, dry_run=dry_run)


def _pruned_words(one: Pruned, *, dry_run: bool) -> str:
    what = "would be dropped" if dry_run else "dropped"
    if one.is_ref_alone:
        what = f"{what}: a ref without a checkpoint"
    if one.is_only_there and one.commit is not None:
        return f"{what}; its code is nowhere else: `git branch keep-{one.id} {one.commit[:10]}` keeps it"
    return what


@command("resume", "gt resume k7f2-14", "gt resume k7f2-14 --no-run")
@click.argument("checkpoint", metavar="CHECKPOINT", shell_complete=Completes("checkpoint"))
@click.option(
    "--force",
    is_flag=True,
    help="Go back even if there is uncommitted work, which is kept under refs/gitticks/rescued.",
)
@click.option("--no-run", is_flag=True, help="Do not continue the work now.")
def resume_command(context: Context, *, checkpoint: str, force: bool, no_run: bool) -> int:
    """Go back to a checkpoint and continue from there.

    Restores the workspace's code, the scratchpad and the counters, and gives the task back to its agent: it is added to
    an active run, otherwise one is started. Commits after the checkpoint are kept under refs/gitticks/rescued. `gt
    checkpoints list` shows which there are.
    """
    resumed = resume_checkpoint(context, checkpoint, force=force)
    context.warnings += resumed.rewound.warnings
    made, rewound = resumed.checkpoint, resumed.rewound
    body = {
        "id": made.id,
        **_fields(made),
        "tasks": resumed.tasks,
        "workspace": rewound.path,
        "uncommitted": rewound.restored,
        "rescued": rewound.rescued,
        "rescued_paths": rewound.uncommitted,
        "rescued_commits": rewound.commits,
    }
    print_answer(context, _resumed_lines(resumed), resumed=body)
    workspace = made.workspace
    is_active = is_run_alive_at(context.repository.own_place)
    if no_run:
        if not context.as_json:
            hint(f"{resuming(workspace, is_active=is_active)} goes on")
        return 0
    if is_active:
        add_to_run(context, (workspace,))
        return 0
    sys.stdout.flush()
    return run(["run", workspace, *(["--json"] if context.as_json else [])])


def _resumed_lines(resumed: ResumedWork) -> list[str]:
    made, rewound = resumed.checkpoint, resumed.rewound
    with_what = f", with {count_of(len(rewound.restored), 'uncommitted file')}" if rewound.restored else ""
    where = f"iteration {made.total.iterations}, code {made.head[:_SHORT]}{with_what}"
    lines = [f"{made.workspace}  back at {made.id}: {where}"]
    if rewound.rescued is not None:
        parts = [count_of(len(rewound.commits), "commit")] if rewound.commits else []
        parts += [count_of(len(rewound.uncommitted), "uncommitted file")] if rewound.uncommitted else []
        what = " and ".join(parts) or "partial work"
        lines.append(f"{made.workspace}  {what} after it: kept as {rewound.rescued}")
        lines += [f"      {visible(one)}" for one in rewound.commits[:_MOST_COMMITS]]
        more = len(rewound.commits) - _MOST_COMMITS
        lines += [f"      and {more} more"] if more > 0 else []
    return lines
