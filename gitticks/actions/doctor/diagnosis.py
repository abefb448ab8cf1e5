"""Runs all checks, in the order in which they depend on one another, and makes the safe repairs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from shlex import quote

from gitticks.actions.conflict_markers import join_all
from gitticks.actions.context import Context
from gitticks.actions.doctor import (
    Finding,
    Repair,
    Report,
    Severity,
    Topic,
    board,
    fault,
    history,
    machine,
    repository,
    tasks,
    warning,
    workspaces,
)
from gitticks.board.hooks import checkout_hooks_state, install_checkout_hooks, keep_board_hooks
from gitticks.board.place import create_board
from gitticks.board.step import WORKTREE_BOARD
from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.process import git_version
from gitticks.git.refs import OBJECT_ID, require_packed_refs
from gitticks.git.worktrees import prune_worktrees
from gitticks.safe_read import reason_of
from gitticks.store.dropped import bring_back_dropped
from gitticks.store.hook_files import HooksState
from gitticks.store.layout import state_tip
from gitticks.store.merging.checkout import install_merge_driver
from gitticks.store.sharing import remove_impossible

Check = Callable[[Context], Iterable[Finding]]
_OBJECT = re.compile(rf"\b{OBJECT_ID}\b")

_OF_REPOSITORY = (repository.check_kind, repository.check_loose_objects, repository.check_left_behind)
_OF_BRANCH = (
    repository.check_dropped,
    repository.check_rewound,
    repository.check_remote,
    repository.check_paths,
)
_OF_TASKS: tuple[tuple[Topic, tuple[Check, ...]], ...] = (
    (
        Topic.SETTINGS,
        (
            machine.check_settings,
            repository.check_base,
            machine.check_sandbox,
            machine.check_agents,
            machine.check_templates,
            machine.check_secrets,
        ),
    ),
    (Topic.BOARD, (board.check_board, board.check_saved, board.check_hooks)),
    (Topic.INDEX, (machine.check_index,)),
    (Topic.FILES, (tasks.check_files, tasks.check_kept)),
    (Topic.TASKS, (tasks.check_tasks, tasks.check_texts, tasks.check_conflicts)),
    (Topic.HISTORY, (history.check_history, history.check_audit, machine.check_clock)),
    (
        Topic.WORKSPACES,
        (
            workspaces.check_workspaces,
            workspaces.check_merged,
            workspaces.check_bases,
            workspaces.check_checkpoints,
        ),
    ),
    (Topic.SESSIONS, (workspaces.check_sessions,)),
)


def diagnose(context: Context, *, full: bool = False) -> Report:
    """Returns what was found, by topic and within it errors first.

    `full` reads every object of the state branch whole, instead of asking whether it is there, and rebuilds the index.
    """
    looked_at: list[Topic] = []
    found = _said_once(list(_found(context, looked_at, full=full)))
    topics, severities = list(Topic), list(Severity)
    found.sort(key=lambda one: (topics.index(one.topic), severities.index(one.severity)))
    return Report(tuple(found), tuple(looked_at))


def diagnose_range(context: Context, words: str) -> Report:
    """Returns what is illegal in a range of commits, `A..B` or `B`; nothing else is looked at."""
    found = (one._replace(topic=Topic.HISTORY) for one in history.check_range(context, words))
    return Report(tuple(found), (Topic.HISTORY,))


def repair_findings(context: Context, findings: Iterable[Finding]) -> list[Repair]:
    """Carries out the repairs that the findings name and returns them, each once."""
    wanted = list(dict.fromkeys(finding.repair for finding in findings if finding.repair is not None))
    for repair in wanted:
        _REPAIRS[repair](context)
    return wanted


def _found(context: Context, looked_at: list[Topic], *, full: bool) -> Iterator[Finding]:
    looked_at.append(Topic.MACHINE)
    yield from _of(
        Topic.MACHINE, (*machine.errors_of(git_version), *machine.check_program(context.world.environment))
    )
    try:
        _ = context.repository
    except GitticksError as error:
        yield fault(error.message, error.hint, topic=Topic.REPOSITORY)
        return
    yield from _of(Topic.MACHINE, machine.errors_of(lambda: context.author))
    closed = tuple(machine.check_rights(context))
    yield from _of(Topic.MACHINE, (*machine.check_disk(context), *closed, *machine.check_file_locks(context)))
    for one in _of_repository(context, looked_at, full=full):
        yield one._replace(fix=None, repair=None) if closed and one.repair else one


def _of_repository(context: Context, looked_at: list[Topic], *, full: bool) -> Iterator[Finding]:
    try:
        require_packed_refs(context.repository.common_dir)
        state_tip(context.repository)
    except NotFoundError as error:
        yield from _checked(context, _before_tasks(_OF_REPOSITORY), looked_at)
        yield warning(error.message, error.hint)
        return
    except GitticksError as error:  # git itself may wait for what is there, so nothing more is asked of it
        yield fault(error.message, error.hint, topic=Topic.REPOSITORY)
        return
    damage = tuple(
        _checked(context, ((Topic.REPOSITORY, (partial(repository.check_damage, full=full),)),), [])
    )
    yield from damage
    lost = {name for one in damage for name in _OBJECT.findall(one.what)}
    rest = _beside_damage(context, damage, looked_at, full=full)
    yield from (one for one in rest if lost.isdisjoint(_OBJECT.findall(one.what)))


def _before_tasks(checks: tuple[Check, ...]) -> tuple[tuple[Topic, tuple[Check, ...]], ...]:
    return (Topic.REPOSITORY, checks), (Topic.LOCKS, (machine.check_locks,))


def _beside_damage(
    context: Context, damage: Sequence[Finding], looked_at: list[Topic], *, full: bool
) -> Iterator[Finding]:
    has_branch = not any(one.commit is not None for one in damage)
    checks = (*_OF_REPOSITORY, *_OF_BRANCH) if has_branch else _OF_REPOSITORY
    yield from _checked(context, _before_tasks(checks), looked_at)
    if has_branch:
        history = {Topic.HISTORY} if damage else set()  # its changes are not to be told from the damage
        if full:  # before anything else reads the index
            renewed = partial(machine.check_index, renews=True)
            yield from _checked(context, ((Topic.INDEX, (renewed,)),), [])
        yield from _checked(context, (one for one in _OF_TASKS if one[0] not in history), looked_at)


def _said_once(findings: list[Finding]) -> list[Finding]:
    """Returns the findings without what follows from another.

    That is files that are damaged, the history of broken ones, and what seems left over of a task that is wrong itself,
    or of any while commits of the state branch are missing.

    What keeps several checks from being made, such as settings that cannot be read, is said by the first.
    """
    findings = list({(one.what, one.fix): one for one in reversed(findings)}.values())[::-1]
    damaged = {one.task for one in findings if one.topic is Topic.REPOSITORY} - {None}
    findings = [one for one in findings if one.topic is not Topic.FILES or one.task not in damaged]
    broken = {one.task for one in findings if one.topic is Topic.FILES and one.severity is Severity.ERROR}
    findings = [one for one in findings if one.topic is not Topic.HISTORY or one.task not in broken - {None}]
    wrong = {one.task for one in findings if one.severity is Severity.ERROR} - {None}
    if {one.repair for one in findings} & {Repair.DROPPED, Repair.FALLEN}:
        wrong = {one.task for one in findings} - {None}
    return [one for one in findings if one.topic is not Topic.WORKSPACES or one.task not in wrong]


def _checked(
    context: Context, checks: Iterable[tuple[Topic, tuple[Check, ...]]], looked_at: list[Topic]
) -> Iterator[Finding]:
    for topic, group in checks:
        looked_at.append(topic)
        for check in group:
            try:
                yield from _of(topic, check(context))
            except (GitticksError, OSError) as error:
                # One check that cannot be made keeps no other from being made, but nobody says that no problems found there.
                looked_at[:] = [one for one in looked_at if one is not topic]
                yield _unmade(error)._replace(topic=topic)


def _unmade(error: GitticksError | OSError) -> Finding:
    if isinstance(error, GitticksError):
        return fault(error.message, error.hint)
    name = error.filename if isinstance(error.filename, str) else None
    what = reason_of(error) if name is None else f"`{name}`: {reason_of(error)}"
    return fault(what, None if name is None else f"`ls -ld {quote(name)}` shows what is there")


def _of(topic: Topic, findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield finding._replace(topic=topic)


def _make_board(context: Context) -> None:
    create_board(context.repository)
    keep_board_hooks(context.repository)


def _install_hooks(context: Context) -> None:
    if checkout_hooks_state(context.repository) is HooksState.OUTDATED:
        install_checkout_hooks(context.repository)
    keep_board_hooks(context.repository)
    install_merge_driver(context.repository)


_REPAIRS: dict[Repair, Callable[[Context], object]] = {
    Repair.LOCKS: machine.clear_locks,
    Repair.BOARD: _make_board,
    Repair.HOOKS: _install_hooks,
    Repair.STEP: lambda context: WORKTREE_BOARD.bring_in_step(context.repository),
    Repair.FILES: board.put_back_removed,
    Repair.DROPPED: lambda context: bring_back_dropped(context.store),
    Repair.FALLEN: repository.bring_back,
    Repair.PATHS: lambda context: remove_impossible(context.store),
    Repair.MARKERS: join_all,
    Repair.INDEX: machine.rebuild_index,
    Repair.WORKTREES: lambda context: prune_worktrees(context.repository),
}
