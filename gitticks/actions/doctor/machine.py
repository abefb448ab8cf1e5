"""Checks the environment: git, the user, which `gt` the shell finds, disk, clock, locks, index, settings, agents."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from shlex import quote

from gitticks.actions.agents import incomplete_agents, unknown_in_settings, why_unknown
from gitticks.actions.context import Context
from gitticks.actions.doctor import Finding, Repair, Severity, fault, note, warning
from gitticks.actions.edit_checks import check_team_file, refuse_secrets
from gitticks.actions.trust import may_settings_run, why_no_sandbox
from gitticks.board.place import board_checkout
from gitticks.board.step import WORKTREE_BOARD
from gitticks.document.settings import read_layer
from gitticks.document.texts import decode
from gitticks.errors import DocumentError, GitticksError, first_of
from gitticks.flocks import is_lock_held
from gitticks.git.checkouts import list_worktrees
from gitticks.git.indexfile import hold_index_lock
from gitticks.git.locks import hold_lock
from gitticks.git.log import read_log
from gitticks.git.maintenance import Holder, LockFile, clear_ref_locks, holder_of, index_lock, ref_locks
from gitticks.model.settings import Settings
from gitticks.model.task import Task
from gitticks.runner.templates import idle_templates, require_sound
from gitticks.sandbox.machine import require_walls, require_workspace
from gitticks.store.index import open_index
from gitticks.store.index_database import connect, index_path
from gitticks.store.layout import CONFIG_PATH, FORMAT, PROMPTS_FOLDER, STATE_REF, format_of
from gitticks.world import is_ours, program_on_path

_MEGABYTE = 1024 * 1024
_FEW_BYTES, _NO_BYTES = 100 * _MEGABYTE, 10 * _MEGABYTE
_CLOCK_SLACK_SECONDS = 600
_HELD_LONG_SECONDS = 5.0
_MOST_SECONDS, _MOST_MINUTES = 120, 120

_SHOWN_TASKS = 3


def errors_of(ask: Callable[[], object]) -> Iterator[Finding]:
    """Yields what goes wrong when something is asked for."""
    try:
        ask()
    except GitticksError as error:
        yield fault(error.message, error.hint)


def check_program(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yields a warning if the shell's `gt` is another tool's."""
    found = program_on_path(environment)
    if found is not None and not is_ours(found):
        yield warning(
            f"another tool's gt comes first on PATH: {found}",
            "type `gitticks` instead: it is the same command",
        )
    elif found is None:
        yield note("`gt` is not on PATH, so hooks and agents may not find it")


def check_disk(context: Context) -> Iterator[Finding]:
    """Yields a finding if there is hardly room for another write."""
    folder = context.repository.common_dir
    free = shutil.disk_usage(folder).free
    if free < _FEW_BYTES:
        yield Finding(
            Severity.ERROR if free < _NO_BYTES else Severity.WARNING,
            f"the disk of `{folder}` is nearly full: {free // _MEGABYTE} MB left",
            f"`df -h {quote(str(folder))}` shows it; `git maintenance run` packs loose objects",
        )


def check_rights(context: Context) -> Iterator[Finding]:
    """Yields an error for the first folder of the repository that has to be written to and cannot be."""
    common_dir = context.repository.common_dir
    folders = (common_dir, context.repository.own_dir, common_dir / "objects", common_dir / "refs/heads")
    for folder in folders:
        if folder.is_dir() and not os.access(folder, os.W_OK):
            yield fault(
                f"`{folder}` cannot be written to, so nothing can be changed",
                showing_rights(folder),
            )
            return


def showing_rights(folder: Path) -> str:
    """Returns what shows why a folder cannot be written to."""
    named = quote(str(folder))
    return f"`ls -ld {named}` shows who can write, `findmnt -T {named}` how it is mounted"


def check_file_locks(context: Context) -> Iterator[Finding]:
    """Yields an error if the file system knows no locks, without which writers would overtake one another."""
    try:
        is_lock_held(context.repository.own_file("lock"))
    except OSError as error:
        yield fault(
            f"the file system of `{context.repository.common_dir}` has no locks: {error.strerror}",
            "move the repository to a local disk",
        )


def check_clock(context: Context) -> Iterator[Finding]:
    """Yields a warning if the state branch was written in the future, as seen from here."""
    for newest in read_log(context.repository, STATE_REF, count=1):
        ahead = (newest.at - context.now).total_seconds()
        if ahead > _CLOCK_SLACK_SECONDS:
            yield warning(
                f"the newest commit, {newest.commit[:10]} by {newest.author}, is from {_span(ahead)} in the future",
                "`date -u` shows this machine's clock; either it or the writer's is wrong",
                commit=newest.commit,
            )


def check_locks(context: Context) -> Iterator[Finding]:
    """Yields the locks that are held for long, and those that nobody holds any more."""
    repository = context.repository
    holder = long_holder(context)
    if holder is not None:
        who = "another process" if holder.pid is None else f"process {holder.pid}"
        yield warning(
            f"{who} has held the lock of the state branch for {_span(holder.seconds)}",
            f"`ps -fp {holder.pid}` shows it; the lock ends when it does" if holder.pid else None,
        )
    for lock in ref_locks(repository):
        if lock.is_old:
            yield warning(
                f"`{lock.ref}` has been locked for {_span(lock.age_seconds)}, and git does not say by whom",
                "`gt doctor --fix`"
                if lock.is_of_git
                else f"if no git command is running: `rm {quote(str(lock.path))}`",
                Repair.LOCKS if lock.is_of_git else None,
            )
    board = board_checkout(repository)
    for one in list_worktrees(repository):  # what gitticks writes into
        found = index_lock(one.git_dir)
        if found is not None and found.is_old:
            is_board = board is not None and one.git_dir == board.git_dir
            yield _index_finding("the board" if is_board else f"`{one.path}`", found)


def long_holder(context: Context) -> Holder | None:
    """Returns who has the lock of the state branch for longer than a command should, whom it is no use to wait for."""
    holder = holder_of(context.repository.own_file("lock"))
    return holder if holder is not None and holder.seconds > _HELD_LONG_SECONDS else None


def clear_locks(context: Context) -> None:
    """Removes the locks whose takers are certainly dead: of refs of ours, and our own of the board's index."""
    repository = context.repository
    clear_ref_locks(repository)
    WORKTREE_BOARD.bring_in_step(repository)
    board = board_checkout(repository)
    if board is not None:  # one that was in step already was not locked for that
        with hold_lock(repository.own_file("lock")), hold_index_lock(board.git_dir, wait_seconds=0):
            pass


def _index_finding(name: str, lock: LockFile) -> Finding:
    since = f"has been locked for {_span(lock.age_seconds)}"
    if lock.taker is not None:
        return warning(
            f"the index of {name} {since} by gitticks, process {lock.taker}, which was killed",
            "`gt doctor --fix`",
            Repair.LOCKS,
        )
    return warning(
        f"the index of {name} {since}, and git does not say by whom",
        f"if no git command or its editor is running there: `rm {quote(str(lock.path))}`",
    )


def _span(seconds: float) -> str:
    whole = int(seconds)
    if whole < _MOST_SECONDS:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < _MOST_MINUTES * 60 else f"{whole // 3600} h"


def check_index(context: Context, *, renews: bool = False) -> Iterator[Finding]:
    """Yields what is wrong with the index; one that is missing or old is made by the next command.

    With `renews` it is built again if nothing is: a wrong value in it is not noticed.
    """
    path = index_path(context.repository)
    if not os.path.lexists(path):
        return
    is_writable = os.access(path, os.W_OK)
    if not is_writable:
        what = f"the index `{path}` cannot be written"
        yield warning(f"{what}, so every command is slower", f"`ls -l {quote(str(path))}`")
    try:
        with closing(connect(path)) as connection:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError as error:
        yield warning(f"the index cannot be used now: {error}", "every command is slower")
        return
    except sqlite3.DatabaseError as error:
        answer = str(error)
    if answer != "ok":
        yield fault(f"the index is damaged: {answer}", "`gt doctor --fix`", Repair.INDEX)
    elif renews and is_writable:
        rebuild_index(context)


def rebuild_index(context: Context) -> None:
    """Throws the index away and builds it again."""
    index_path(context.repository).unlink(missing_ok=True)
    open_index(context.repository).close()


def check_settings(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the settings."""
    try:
        found = context.resolved_settings
    except GitticksError as error:
        yield fault(error.message, error.hint)
        with suppress(GitticksError):
            mistakes = read_layer(decode(context.store.read(CONFIG_PATH) or b"", CONFIG_PATH))[1]
            yield from (fault(one.message, one.hint) for one in mistakes.values())
        return
    newer = format_of(context.store.read(CONFIG_PATH))
    if newer > FORMAT:
        what = f"the tasks are kept in format {newer}, which is newer than this gitticks: they are read-only"
        yield warning(what, "`pipx upgrade gitticks`")
    yield from errors_of(found.require_whole_prices)
    for message in found.warnings:
        yield warning(message)


def check_templates(context: Context) -> Iterator[Finding]:
    """Yields the templates that no prompt can be made from, and those that none is; what is not trusted is only read."""
    readable: dict[str, str] = {}
    for path in _templates(context):
        content = context.store.read(path) or b""
        try:
            check_team_file(path, content)
        except GitticksError as error:
            yield fault(error.message, error.hint)
        else:
            readable[path.removeprefix(f"{PROMPTS_FOLDER}/")] = content.decode("utf-8", "replace")
    if may_settings_run(context):
        yield from errors_of(lambda: require_sound(frozenset(readable.items())))
    yield from map(warning, idle_templates(readable))


def check_secrets(context: Context) -> Iterator[Finding]:
    """Yields the settings and templates of the team that hold a secret."""
    for path in (CONFIG_PATH, *_templates(context)):
        try:
            refuse_secrets(context, context.store.read(path) or b"", path)
        except DocumentError as error:
            yield warning(error.message, error.hint)


def _templates(context: Context) -> list[str]:
    folders = (PROMPTS_FOLDER, f"{PROMPTS_FOLDER}/parts")
    found = [f"{folder}/{name}" for folder in folders for name in sorted(context.store.list(folder))]
    return [path for path in found if path not in folders]


def check_sandbox(context: Context) -> Iterator[Finding]:
    """Yields an error if the settings ask for a sandbox that does not work here; they are built to find out."""
    settings = _settings(context)
    if settings is None:
        return
    why = why_no_sandbox(context)
    if why is not None:
        yield note(f"agents run without a sandbox here: {why}")
        return
    try:
        require_walls(settings.sandbox, context.world.environment)
        require_workspace(settings.sandbox, settings.isolation, "`gt config isolation task`")
    except GitticksError as error:
        yield fault(error.message, error.hint)


def check_agents(context: Context) -> Iterator[Finding]:
    """Yields a warning for each setting that names an agent, or its program, that there is not."""
    settings = _settings(context)
    if settings is None:
        return
    for error in incomplete_agents(context.resolved_settings):
        yield warning(error.message, error.hint)
    for setting, unknown in unknown_in_settings(settings, context.world.environment):
        yield warning(f"the setting `{setting}`: {unknown}", f"`gt config {setting}`")


def unknown_workers(context: Context, tasks: Iterable[Task]) -> Iterator[Finding]:
    """Yields a warning for each agent that tasks name and that there is not."""
    settings = _settings(context)
    if settings is None:
        return
    named: dict[str, list[Task]] = {}
    for task in tasks:
        if task.agent is not None:
            named.setdefault(task.agent, []).append(task)
    for name, waiting in named.items():
        unknown = why_unknown(settings, name)
        if unknown is not None:
            ids = first_of([f"`{task.id}`" for task in waiting], _SHOWN_TASKS)
            fix = f"`gt update {waiting[0].id} --agent null` uses the default"
            yield warning(f"runs here skip {ids}: {unknown}", fix)


def _settings(context: Context) -> Settings | None:
    try:
        return context.settings
    except GitticksError:
        return None
