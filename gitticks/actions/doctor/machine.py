"""Checks the environment: git, the user, which `gt` the shell finds, disk, clock, settings, agents."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote

from gitticks.actions.agents import unknown_in_settings, why_unknown
from gitticks.actions.context import Context
from gitticks.actions.doctor import Finding, Severity, fault, note, warning
from gitticks.actions.edit_checks import check_team_file, refuse_secrets
from gitticks.actions.trust import are_settings_trusted, why_no_sandbox
from gitticks.errors import DocumentError, GitticksError, first_of
from gitticks.flocks import is_lock_held
from gitticks.git.log import read_log
from gitticks.model.settings import Settings
from gitticks.model.task import Task
from gitticks.runner.templates import idle_templates, require_sound
from gitticks.sandbox.machine import require_walls, require_workspace
from gitticks.store.layout import CONFIG_PATH, FORMAT, PROMPTS_FOLDER, STATE_REF, format_of
from gitticks.world import is_ours, program_on_path

_MEGABYTE = 1024 * 1024
_FEW_BYTES, _NO_BYTES = 100 * _MEGABYTE, 10 * _MEGABYTE
_CLOCK_SLACK_SECONDS = 600
_MINUTES_SHOWN = 120

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


def _span(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes} minutes" if minutes < _MINUTES_SHOWN else f"{minutes // 60} hours"


def check_settings(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the settings."""
    try:
        found = context.resolved_settings
    except GitticksError as error:
        yield fault(error.message, error.hint)
        return
    newer = format_of(context.store.read(CONFIG_PATH))
    if newer > FORMAT:
        what = f"the tasks are kept in format {newer}, which is newer than this gitticks: they are read-only"
        yield warning(what, "`pipx upgrade gitticks`")
    yield from errors_of(found.require_whole_prices)
    for message in found.warnings:
        yield warning(message)
    for unavailable in found.unavailable:
        yield warning(unavailable.message, unavailable.hint)


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
    if are_settings_trusted(context):
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
