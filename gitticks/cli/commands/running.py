"""`gt run`, `gt start`, `gt stop` and `gt health`."""

from __future__ import annotations

import math
import sys
from contextlib import nullcontext
from typing import Any

import click

from gitticks.actions.agents import unknown_in_settings
from gitticks.actions.context import Context
from gitticks.actions.permissions import attached, flags_as_rules, needs_walls, require_yolo_meant
from gitticks.actions.run import check_health, execute, prepare_run
from gitticks.actions.run_requests import add_to_run, pause_runs, stop_one, stop_run, unpause_runs
from gitticks.actions.starting import start_task
from gitticks.actions.sync_auto import claims_of, sync_before
from gitticks.actions.task_lookup import CHARACTERS_TO_DECIDE, find_or_take_up_task
from gitticks.actions.trust import no_sandbox_warning
from gitticks.agents.base import Front
from gitticks.cli.editor import is_on_terminal
from gitticks.cli.json import print_answer
from gitticks.cli.options import (
    Completes,
    command,
    seconds_of,
    task_argument,
)
from gitticks.cli.render import ago, hint, say, screen, warn
from gitticks.cli.text import as_called, visible
from gitticks.cli.views.run import RunLines, print_json_event, printed
from gitticks.cli.views.tasks import resuming
from gitticks.errors import UsageError
from gitticks.model.settings import MOST_PARALLEL, PermissionMode
from gitticks.runner.liveness import takes_work_at
from gitticks.runner.options import RunOptions


def require_finite(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Refuses `nan` and `inf`, which click takes for numbers."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a number of dollars", context, option)
    return value


@command(
    "run",
    "gt run",
    "gt run k7f2 --agent claude",
    "gt run --auto --all --parallel 3 --headless",
    "gt run h8d4 p4xd --worktree",
    "gt run --add qz8r",
    with_json=False,
)
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=Completes("task*"))
@click.option("--add", is_flag=True, help="Add the IDs to the run that is active here, and exit.")
@click.option("--auto", is_flag=True, help="Keep running, and start tasks as they become ready.")
@click.option("--include-standalone", is_flag=True, help="With --auto: include tasks without an epic.")
@click.option("--include-orphans", is_flag=True, help="With --auto: include tasks whose epic is closed.")
@click.option("--all", "with_all", is_flag=True, help="With --auto: include both of these.")
@click.option(
    "--parallel",
    type=click.IntRange(1, MOST_PARALLEL),
    help="How many agents work at the same time (setting `parallel`: 3).",
)
@click.option("--agent", shell_complete=Completes("agent"), help="Use this agent instead of the tasks' own.")
@click.option("--model", help="Use this model instead of the agent's default.")
@click.option("--isolation", type=click.Choice(["task", "epic", "none"]), help="Where agents work.")
@click.option("--worktree", is_flag=True, help="Short for --isolation epic.")
@click.option(
    "--max-iterations",
    type=click.IntRange(1),
    help="End after N iterations in total; `budget.run` sets this and the other --max options permanently.",
)
@click.option("--task-iterations", type=click.IntRange(1), help="Iterations of one task before it is stuck.")
@click.option(
    "--checkpoint-every", type=click.IntRange(1), help="Iterations of a workspace between two checkpoints."
)
@click.option("--max-tokens", type=click.IntRange(1), help="End after N tokens in total.")
@click.option(
    "--max-cost",
    type=click.FloatRange(0, min_open=True),
    callback=require_finite,
    help="End after N dollars in total (setting `budget.run.cost`: 20).",
)
@click.option("--max-duration", "--timeout", "max_duration", metavar="TIME", help="End after 90s, 30m, 2h.")
@click.option(
    "--no-rest", is_flag=True, help="Also use agents that are resting until their usage limit resets."
)
@click.option("--debounce", metavar="TIME", help="Wait this long after a person edits a task (2s).")
@click.option(
    "--poll",
    metavar="TIME",
    help="How often to look for work, ask the remote (`sync.auto`) and check pull requests (30s).",
)
@click.option(
    "--tmux", "in_tmux", is_flag=True, help="Run agents in tmux sessions; `gt attach ID` joins one."
)
@click.option(
    "--permission",
    metavar="MODE",
    type=click.Choice([mode.value for mode in PermissionMode]),
    help="interactive, auto-edit, auto-all or yolo.",
)
@click.option("--allow-network", is_flag=True, help="Let agents reach all public hosts that no rule denies.")
@click.option(
    "--allow-paths", metavar="PATHS", help="Let agents read and write these paths too: `/tmp/a,../b`."
)
@click.option("--deny-commands", metavar="COMMANDS", help="Refuse these commands: `rm -rf,sudo`.")
@click.option("--yolo-without-sandbox", is_flag=True, help="Confirm --permission yolo without a sandbox.")
@click.option(
    "--sandbox",
    type=click.Choice(["strict", "permissive", "none"]),
    help="The sandbox for agents and checks.",
)
@click.option("--headless", is_flag=True, help="Plain lines, without the agents' output.")
@click.option("--json", "--json-output", "as_json", is_flag=True, help="Print one JSON object per line.")
def run_command(
    context: Context,
    *,
    ids: tuple[str, ...],
    add: bool,
    auto: bool,
    include_standalone: bool,
    include_orphans: bool,
    with_all: bool,
    parallel: int | None,
    isolation: str | None,
    worktree: bool,
    task_iterations: int | None,
    checkpoint_every: int | None,
    max_duration: str | None,
    debounce: str | None,
    poll: str | None,
    permission: str | None,
    allow_network: bool,
    allow_paths: str | None,
    deny_commands: str | None,
    yolo_without_sandbox: bool,
    sandbox: str | None,
    in_tmux: bool,
    headless: bool,
    **others: Any,
) -> int:
    """Run agents on ready tasks.

    Without an ID: all ready tasks. A run never waits for a person: after a hand-off it continues with the next task,
    and it ends when nothing else is ready. Ctrl-C ends it after the current iterations, a second Ctrl-C at once.

    Exit codes: 0 all done, 1 a limit was reached or a task cannot be started, 2 a person must do work, 3 what is left awaits a person, 4 a task
    is stuck, 64 wrong usage, 130 interrupted.
    """
    context.require_person("start a run")
    if add:
        return _add(context, ids)
    if worktree and isolation not in (None, "epic"):
        raise UsageError("`--worktree` means `--isolation epic`", hint="use one of the two")
    context.overrides = {
        key: str(value)
        for key, value in {
            "isolation": "epic" if worktree else isolation,
            "iterations": task_iterations,
            "checkpoint_every": checkpoint_every,
            "permissions.mode": permission,
            "sandbox.preset": sandbox,
        }.items()
        if value is not None
    } | flags_as_rules(
        allow_network=allow_network,
        allow_paths=allow_paths,
        deny_commands=deny_commands,
        folder=context.directory,
    )
    _confirm_yolo(context, is_confirmed=yolo_without_sandbox, can_ask=not (headless or context.as_json))
    sync_before(context)
    options = RunOptions(
        ids=tuple(find_or_take_up_task(context, one) for one in ids),
        auto=auto,
        include_standalone=not auto or with_all or include_standalone,
        include_orphans=not auto or with_all or include_orphans,
        parallel=parallel or context.settings.parallel,
        max_seconds=_seconds("--max-duration` / `--timeout", max_duration),
        debounce=0.0 if debounce == "0" else _seconds("--debounce", debounce, 2.0) or 0.0,
        poll=_seconds("--poll", poll, 30.0) or 30.0,
        front=Front.TMUX if in_tmux else Front.NONE,
        **others,
    )
    lines = RunLines(screen(), context.world, with_output=sys.stdout.isatty() and not headless)
    loop = prepare_run(context, options, printed(print_json_event if context.as_json else lines))
    _warn_of_settings(context)
    is_watched = sys.stdout.isatty() and not (headless or context.as_json)
    with attached(context) if is_watched else nullcontext():  # then agents may ask
        return int(execute(context, loop))


def _add(context: Context, ids: tuple[str, ...]) -> int:
    others = [
        parameter.opts[0]
        for parameter in click.get_current_context().command.params
        if parameter.name not in ("ids", "add")
        and click.get_current_context().get_parameter_source(parameter.name or "")
        is click.core.ParameterSource.COMMANDLINE
    ]
    if not ids or others:
        words = (
            f"`--add` cannot be used with `{others[0]}`: the run already has its options"
            if others
            else "`--add` needs an ID"
        )
        raise UsageError(words, hint="`gt run --add k7f2`")
    task_ids = [find_or_take_up_task(context, one) for one in ids]
    was_taken = add_to_run(context, task_ids)
    named = ", ".join(task_ids)
    say(f"{named}  {'added to the run' if was_taken else 'the run adds it when it next looks for work'}")
    return 0


def _confirm_yolo(context: Context, *, is_confirmed: bool, can_ask: bool) -> None:
    """Asks for a typed word before agents run without questions and without a sandbox; the audit keeps that.

    Raises:
        GitticksError: nobody meant it.
    """
    if can_ask and is_on_terminal() and not is_confirmed and needs_walls(context):
        warn("`yolo` without a sandbox: agents can do anything you can, without asking")
        is_confirmed = click.prompt("Type `yolo` to continue", default="", show_default=False) == "yolo"
    require_yolo_meant(context, is_confirmed=is_confirmed)


def _seconds(option: str, text: str | None, default: float | None = None) -> float | None:
    return default if text is None else seconds_of(option, text)


def _warn_of_settings(context: Context) -> None:
    """Says what the settings ask for in vain, and that agents run without a sandbox."""
    found = context.resolved_settings
    for one in found.overruled:
        is_mode = one.name.startswith("agents.") and one.name.endswith(".mode")
        if one.is_flags or is_mode:
            warn(one.words)
    for setting, unknown in unknown_in_settings(found.settings, context.world.environment):
        if setting.endswith(".fallback"):  # another unknown agent is an error of the task that needs it
            warn(f"the setting `{setting}`: {unknown}")
    bare = no_sandbox_warning(context)
    if bare is not None:
        warn(bare)


@command("start", 'cd "$(gt start k7f2)"')
@task_argument()
@click.option("--take-over", is_flag=True, help="Even if somebody else is working on it.")
def start_command(context: Context, *, task: str, take_over: bool) -> None:
    """Start working on a task yourself, in its own workspace.

    Prints the workspace's path. Runs leave the task alone until you hand it off with `gt complete`.
    """
    task_id = find_or_take_up_task(context, task)
    claims = claims_of(context, context.warnings.append)
    started, path = start_task(context, task_id, claims, take_over=take_over)
    print_answer(context, [str(path)], id=started.id, path=path, branch=started.branch)
    if not context.as_json:
        hint(
            f"commit there, then `gt handoff` to say what you did, and `gt complete` to hand {started.id} off"
        )


@command("stop", "gt stop", "gt stop k7f2", "gt stop h8d4 --after-iteration", with_json=False)
@task_argument(required=False)
@click.option("--after-iteration", is_flag=True, help="Let its agents finish their iteration first.")
def stop_command(context: Context, *, task: str | None, after_iteration: bool) -> None:
    """Stop the run, or one task or epic.

    Without an ID, the run ends after its current iterations. With one, its agents are stopped at once and the task, or
    the epic and everything below it, is not started in this clone until `gt run ID`, or `gt run --add ID` while a run is
    active. Work done so far is kept.
    """
    if task is None:
        stop_run(context)
        say("the run ends after its current iterations")
        return
    task_id = context.resolve(task, least=CHARACTERS_TO_DECIDE)
    ending = stop_one(context, task_id, at_once=not after_iteration)
    how = "ends after this iteration" if after_iteration else "is being stopped"
    if not ending:
        say(f"{task_id}  will not be started")
    elif ending == (task_id,):
        say(f"{task_id}  its agent {how}")
    else:
        say(f"{task_id}  will not be started, and the agent of {', '.join(ending)} {how}")
    hint(f"{resuming(task_id, is_active=takes_work_at(context.repository.own_place))} resumes it")


@command("pause", "gt pause", with_json=False)
def pause_command(context: Context) -> None:
    """Keep runs from starting anything new until `gt unpause`.

    Agents at work finish their session; after that no session and no merge starts in this clone.
    """
    pause_runs(context)
    say("runs of this clone start nothing new")
    hint("`gt unpause` lets them continue, `gt stop ID` stops an agent at work")


@command("unpause", "gt unpause", with_json=False)
def unpause_command(context: Context) -> None:
    """Let runs continue after `gt pause`."""
    say("runs of this clone continue" if unpause_runs(context) else "runs of this clone were not paused")


@command("health", "gt health")
def health_command(context: Context) -> None:
    """Find dead sessions and process what they left.

    A session is dead if its runner was killed. What its agent wrote is processed as if the runner had seen it end.
    """
    health = check_health(
        context, (lambda _event: None) if context.as_json else RunLines(screen(), context.world)
    )
    lines = [
        f"{record.task}  {visible(record.agent)}  {record.role}, started {ago(record.started, context.now)}"
        for record in health.live
    ]
    lines += [f"{task_id}  its dead session was processed" for task_id in health.finished]
    again = as_called("its dead session could not be processed yet: run `gt health` again")
    lines += [f"{task_id}  {again}" for task_id in health.left]
    print_answer(
        context,
        lines or ["no sessions are running, and none are dead"],
        run=health.run_is_alive,
        live=list(health.live),
        finished=list(health.finished),
        left=list(health.left),
    )
