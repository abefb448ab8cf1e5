"""`gt worktree`, `gt verify`, `gt conflicts` and `gt merge`."""

from __future__ import annotations

from functools import partial

import click

from gitticks.actions.context import Context
from gitticks.actions.evidence import verify_task
from gitticks.actions.run import continue_merge, list_conflicts, merge_each, merge_task, try_out
from gitticks.actions.task_lookup import CHARACTERS_TO_DECIDE, find_or_take_up_task, find_tasks_to_decide
from gitticks.actions.verdict import prove_approval
from gitticks.actions.workspaces import (
    Cleaned,
    clean_worktrees,
    collect_leftovers,
    list_worktrees,
    open_shell,
)
from gitticks.cli.decisions import Decided, decide_each, merge_now
from gitticks.cli.editor import typed_word
from gitticks.cli.json import print_answer, print_object
from gitticks.cli.options import Completes, Group, command, task_argument
from gitticks.cli.render import say, screen
from gitticks.cli.table import table
from gitticks.cli.text import visible
from gitticks.cli.views.run import RunLines, printed
from gitticks.cli.writing import moved_words
from gitticks.errors import Exit, GitticksError, UsageError
from gitticks.model.ids import TaskId

_THOUSAND = 1000
_NOTHING = "no approved task is waiting to be merged"


@click.group(
    "worktree",
    cls=Group,
    examples=("gt worktree list", "gt worktree clean"),
)
def worktree_command() -> None:
    """List, open and clean workspaces."""


@command("list", "gt worktree list", of=worktree_command)
def list_command(context: Context) -> None:
    """List the workspaces of this clone with their tasks."""
    states = list_worktrees(context)
    rows = [
        (
            state.workspace.name,
            "live"
            if state.is_live
            else state.task.status.value
            if state.task
            else "unreadable"
            if state.is_unreadable
            else "no task",
            (state.workspace.head or "")[:7],
            str(state.workspace.path),
        )
        for state in states
    ]
    lines = table(screen(), ("name", "task", "head", "path"), rows, flexible="path")
    found = [
        {
            "name": state.workspace.name,
            "path": state.workspace.path,
            "branch": state.workspace.branch,
            "head": state.workspace.head,
            "live": state.is_live,
            "status": state.task.status if state.task else None,
        }
        for state in states
    ]
    print_answer(context, lines, "no workspaces: `gt start ID` and `gt run` create them", workspaces=found)


@command("clean", "gt worktree clean", "gt worktree clean k7f2 --force", of=worktree_command)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=Completes("workspace*"))
@click.option(
    "--force",
    is_flag=True,
    help="Remove it even with uncommitted work, which is kept under refs/gitticks/rescued.",
)
def clean_command(context: Context, *, names: tuple[str, ...], force: bool) -> int:
    """Remove the workspaces of closed tasks, or the named ones."""
    cleaned = clean_worktrees(context, names, force=force)
    lines = (f"{visible(one.name)}  {visible(_cleaned_words(one))}" for one in cleaned)
    print_answer(context, lines, "nothing to clean", workspaces=cleaned)
    return Exit.FAILED if any(one.problem for one in cleaned) else Exit.DONE


def _cleaned_words(one: Cleaned) -> str:
    kept = f", uncommitted work kept as {one.rescued}" if one.rescued else ""
    return f"stays: {one.problem}" if one.problem else f"removed{kept}"


@command("open", "gt worktree open k7f2", of=worktree_command)
@task_argument()
def open_command(context: Context, *, task: str) -> None:
    """Start a shell in a task's workspace; exit it to come back."""
    task_id = context.resolve(task)
    branch = context.store.task_file(task_id).task.branch
    listed = [state.workspace for state in list_worktrees(context)]
    found = [one for one in listed if one.name == task_id or one.branch == branch]
    if not found:
        raise GitticksError(f"`{task_id}` has no workspace", hint=f"`gt start {task_id}` makes one")
    if found[0].is_gone:
        raise GitticksError(
            f"the workspace `{found[0].path}` is gone",
            hint=f"`gt start {task_id}` or `gt run {task_id}` recreates it",
        )
    if context.as_json:
        print_object(id=task_id, path=found[0].path)
        return
    open_shell(context, found[0].path)


@command("gc", "gt worktree gc", "gt worktree gc --dry-run", of=worktree_command)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed, and its size.")
def gc_command(context: Context, *, dry_run: bool) -> int:
    """Remove what is no longer needed, and show its size.

    This removes workspaces of closed tasks, checkouts left by killed reviews and merges, transcripts older than
    `keep.transcripts` and rescued work older than `keep.rescued`. A workspace with uncommitted work stays.
    """
    found = collect_leftovers(context, dry_run=dry_run)
    if context.as_json:
        print_object(leftovers=found)
    for one in [] if context.as_json else found:
        words = f"stays: {one.problem}" if one.problem else "would go" if dry_run else "removed"
        say(f"{one.kind} {visible(one.name)}  {_in_bytes(one.size_bytes)}  {visible(words)}")
    gone = [one for one in found if one.problem is None]
    if not context.as_json:
        total = _in_bytes(sum(one.size_bytes for one in gone))
        say(f"{total} in {len(gone)} of {len(found)}" if found else "nothing to remove", err=True)
    return Exit.FAILED if len(gone) < len(found) else Exit.DONE


def _in_bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < _THOUSAND:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _THOUSAND
    return f"{size:.1f} GB"


@command("verify", "gt verify k7f2", "gt verify")
@task_argument(required=False)
def verify_command(context: Context, *, task: str | None) -> int:
    """Run the quality gates in a task's workspace.

    They decide whether work can be handed off: nothing uncommitted, then the commands of `verify`. The task is not
    changed. In a workspace the ID is optional. Exits with 1 if a gate fails.
    """
    task_id = context.resolve(task)
    report = verify_task(context, task_id)
    if context.as_json:
        print_object(id=task_id, lines=report.lines, failure=report.failure, seconds=round(report.seconds, 1))
    else:
        for line in report.lines or ("everything is committed",):
            say(f"{task_id}  {visible(line)}")
        if report.failure is not None:
            say(*(visible(line, keep="\t") for line in report.failure.splitlines()), err=True)
    return Exit.DONE if report.failure is None else Exit.FAILED


@command("conflicts", "gt conflicts", "gt conflicts k7f2")
@task_argument(required=False, many=True, name="tasks")
def conflicts_command(context: Context, *, tasks: tuple[str, ...]) -> int:
    """Show which unmerged work conflicts, before you merge.

    Every work branch is merged in memory with the base branch and with the others; nothing is changed. Exits with 1
    if something conflicts.
    """
    found = list_conflicts(context, [find_or_take_up_task(context, task) for task in tasks])
    lines = (
        f"{visible(one.name)} and {visible(one.other or 'the base')} conflict in {visible(', '.join(one.paths))}"
        for one in found
    )
    conflicts = [{"id": one.name, "with": one.other, "paths": one.paths} for one in found]
    print_answer(context, lines, "no unmerged work conflicts", conflicts=conflicts)
    return Exit.FAILED if found else Exit.DONE


@command("merge", "gt merge", "gt merge --dry-run k7f2", "gt merge --continue k7f2")
@task_argument(required=False, many=True, name="tasks")
@click.option("--dry-run", is_flag=True, help="Only show what would conflict.")
@click.option(
    "--continue", "continues", is_flag=True, help="Approve and merge what you committed after a failed merge."
)
def merge_command(context: Context, *, tasks: tuple[str, ...], dry_run: bool, continues: bool) -> int:
    """Merge approved tasks.

    Without an ID: all approved tasks, in the order that `gt status` shows. Each one is merged in memory and tested
    separately before the base branch moves. If that fails, it goes back to its agent, or you resolve it: `git merge`
    the base in the task's workspace, commit, and `gt merge --continue`.
    """
    if continues and (dry_run or not tasks):
        raise UsageError(
            "`--continue` needs the ids of the tasks that you resolved", hint="`gt merge --continue k7f2`"
        )
    if continues:
        return decide_each(context, find_tasks_to_decide(context, tasks), partial(_continue, context))
    ids = [find_or_take_up_task(context, task, least=CHARACTERS_TO_DECIDE) for task in tasks]
    if dry_run:
        tried = try_out(context, ids)
        lines = (
            f"{task_id}  " + (f"conflicts in {visible(', '.join(paths))}" if paths else "merges cleanly")
            for task_id, paths in tried.items()
        )
        merges = [{"id": task_id, "conflicts": paths} for task_id, paths in tried.items()]
        print_answer(context, lines, _NOTHING, merges=merges)
        return Exit.FAILED if any(tried.values()) else Exit.DONE
    listener = (lambda _event: None) if context.as_json else printed(RunLines(screen(), context.world))
    results = (
        {one: merge_task(context, one, listener) for one in ids}
        if len(ids) == 1
        else merge_each(context, ids, listener)
    )
    if context.as_json:
        print_object(
            merges=[
                {"id": task_id, "done": one.is_done, "sha": one.sha, "waits": one.waits, "pr": one.offered}
                for task_id, one in results.items()
            ]
        )
    elif not results:
        say(_NOTHING, err=True)
    return Exit.DONE if all(one.is_done or one.offered for one in results.values()) else Exit.FAILED


def _continue(context: Context, task_id: TaskId) -> Decided:
    proof = partial(prove_approval, context, task_id, typed_word, closes=True)
    moved = continue_merge(context, task_id, proof)
    return merge_now(context, moved.after, moved_words(moved.before, moved.after), is_left=False)
