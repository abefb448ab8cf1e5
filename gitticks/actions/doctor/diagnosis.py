"""Runs every check in the order in which they build on one another, and carries the safe repairs out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Repair, Severity
from gitticks.actions.doctor.machine import (
    check_git,
    check_identity,
    check_program,
    check_repository,
    check_settings,
)
from gitticks.actions.doctor.state import check_board, check_hooks, check_index, check_sessions
from gitticks.actions.doctor.tasks import check_tasks
from gitticks.errors import GitticksError, NotFoundError


def diagnose(context: Context) -> list[Finding]:
    """Returns what was found, errors first; empty if all is well."""
    order = list(Severity)
    return sorted(_found(context), key=lambda finding: order.index(finding.severity))


def mend(context: Context, findings: Iterable[Finding]) -> list[Repair]:
    """Carries out the repairs that the findings name and returns them, each once.

    Raises:
        GitticksError: a repair failed; those before it are done.
    """
    wanted = list(dict.fromkeys(finding.repair for finding in findings if finding.repair is not None))
    for repair in wanted:
        _carry_out(context, repair)
    return wanted


def _found(context: Context) -> Iterator[Finding]:
    from gitticks.store.tip import state_tip

    yield from check_git()
    yield from check_program(context.world.environment)
    try:
        _ = context.repository
    except GitticksError as error:
        yield Finding(Severity.ERROR, error.message, error.hint)
        return
    yield from check_repository(context)
    yield from check_identity(context)
    try:
        state_tip(context.repository)
    except NotFoundError as error:
        yield Finding(Severity.WARNING, error.message, error.hint)
        return
    yield from check_settings(context)
    yield from check_board(context)
    yield from check_hooks(context)
    yield from check_index(context)
    yield from check_tasks(context)
    yield from check_sessions(context)


def _carry_out(context: Context, repair: Repair) -> None:
    from gitticks.store.board import WORKTREE_BOARD, repair_board
    from gitticks.store.hooks import install_board_hooks
    from gitticks.store.index import index_path, open_index

    if repair is Repair.BOARD:
        repair_board(context.repository)
        install_board_hooks(context.repository)
    elif repair is Repair.HOOKS:
        install_board_hooks(context.repository)
    elif repair is Repair.STEP:
        WORKTREE_BOARD.bring_in_step(context.repository)
    else:
        index_path(context.repository).unlink(missing_ok=True)
        open_index(context.repository).close()
