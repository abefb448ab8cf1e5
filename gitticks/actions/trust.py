"""Shows what would run here, trusts what a person has reviewed, and finds the sandbox that runs here get."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitticks.actions.changing import record
from gitticks.actions.context import Context
from gitticks.document.runnables import Runnable, RunnableKind, setting_of
from gitticks.document.settings import Layer, keys_of
from gitticks.document.settings_layers import DEFAULT
from gitticks.errors import RefusedError
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.model.audit import AuditEntry, Decided, UserAction
from gitticks.model.event import Event, EventType
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path
from gitticks.model.settings import SandboxPreset, Settings
from gitticks.redaction import secret_values
from gitticks.runner.commit_checks import ALLOWED, CommittedSecret, allowed_secrets, committed_secrets
from gitticks.sandbox.machine import require_walls, why_no_default
from gitticks.store.audit import PendingAudit
from gitticks.store.authors import familiar_names, remember_names
from gitticks.store.layout import CONFIG_PATH, may_run
from gitticks.store.left_behind import LeftBehind, agree, left_behind, require_agreed, text_of
from gitticks.store.runnable_files import runnables_of_file, team_runnables, why_unread
from gitticks.store.transaction import Transaction
from gitticks.store.trust import agree_on_settings, agreed_settings, require_trusted, trust, untrusted
from gitticks.workflow.artifacts import strangers_in

_STRANGERS = "their tasks and notes are treated like your own"
_NO_PROGRAMS = (RunnableKind.REPOSITORY, RunnableKind.AUTHOR)


class Listed(NamedTuple):
    """Something that would run or loosens a rule, whether it may, and what held before it loosened that."""

    runnable: Runnable
    is_trusted: bool
    before: str = ""


def list_runnables(context: Context) -> tuple[Listed, ...]:
    """Returns every setting, template and script of an open task that would run: settings first, then by name.

    Before these stands what sessions changed in the repository's own folder and nobody has agreed to.
    """
    branch = context.store.snapshot()
    agreed = agreed_settings(context.repository)
    asked = list(team_runnables(branch, agreed))
    # What this clone has agreed to is listed as well, and so is a stricter value that it took since.
    found = list(dict.fromkeys((*asked, *team_runnables(branch))))
    for task_id, data, _ in context.index.texts(open_only=True):
        asked += (scripts := runnables_of_file(task_path(task_id), data))
        found += scripts
    familiar = familiar_names(context.repository, context.world.environment)
    strangers = set(context.index.by_strangers(familiar).values())
    for row in context.index.begun():  # who only changed a text is known once an agent has read it
        strangers |= strangers_in(context.store.history(row.id)) - familiar
    authors = [Runnable(RunnableKind.AUTHOR, name, _STRANGERS) for name in sorted(strangers)]
    waiting = {*untrusted(context.repository, asked), *authors}
    changed = [
        Listed(_as_runnable(context, one), is_trusted=False) for one in left_behind(context.repository)
    ]
    return (*changed, *(Listed(one, one not in waiting, _before(agreed, one)) for one in (*found, *authors)))


def _before(agreed: Layer, one: Runnable) -> str:
    """Returns what a value that loosens takes the place of; nothing where that was none."""
    text = setting_of(agreed, keys_of(one.name)).text if one.only_loosens else ""
    return "" if text in ("null", "[]") else text


def unread_files(context: Context) -> tuple[str, ...]:
    """Returns a line for each file of which nobody can tell everything that it would run, with how to correct it."""
    lines = []
    error = why_unread(CONFIG_PATH, context.store.read(CONFIG_PATH) or b"")
    if error is not None:
        commit = f"`git -C {BOARD_FOLDER} commit -am 'correct the settings'`"
        lines.append(f"{BOARD_FOLDER}/{error.in_one_line}, then {commit}")
    broken = {one.task_id: one.message for one in context.index.broken() if one.task_id is not None}
    for task_id, data, _ in context.index.texts(open_only=True):
        path = task_path(task_id)
        error = why_unread(path, data) if may_run(path, data) else None
        if error is not None:
            broken[task_id] = error.message
    lines += (f"{BOARD_FOLDER}/{message}; `gt edit {task_id}`" for task_id, message in broken.items())
    return tuple(lines)


def _as_runnable(context: Context, one: LeftBehind) -> Runnable:
    text = f"{one.words}\n{text_of(context.repository, one)}"
    return Runnable(RunnableKind.REPOSITORY, one.shown, text)


def trust_shown(context: Context, shown: Iterable[Runnable]) -> None:
    """Trusts what was shown, and nothing that came since."""
    context.require_person("trust what runs here")
    kept = tuple(shown)
    trust(context.repository, (one for one in kept if one.kind not in _NO_PROGRAMS))
    remember_names(context.repository, (one.name for one in kept if one.kind is RunnableKind.AUTHOR))
    digests = {one.digest for one in kept if one.kind is RunnableKind.REPOSITORY}
    if digests:
        same = [
            one for one in left_behind(context.repository) if _as_runnable(context, one).digest in digests
        ]
        agree(context.repository, same)


def secrets_in_commits(context: Context, task_id: TaskId) -> tuple[CommittedSecret, ...]:
    """Returns what looks like a secret in the commits of a task's branch and nobody has allowed."""
    file = context.store.task_file(task_id)
    common = context.repository.common_dir
    base = read_ref(common, BRANCHES + file.task.base) if file.task.base else file.task.start_sha
    head = (read_ref(common, BRANCHES + file.task.branch) if file.task.branch else None) or file.task.end_sha
    if base is None or head is None:
        raise RefusedError(f"`{task_id}` has no commits of its own here", hint=f"`gt show {task_id}`")
    project = context.repository.project_dir
    values = secret_values(context.world.environment, () if project is None else (str(project),))
    allowed = allowed_secrets(context.store.history(task_id))
    found = committed_secrets(context.repository, base, head, tuple(values.items()))
    return tuple(one for one in found if one.digest not in allowed)


def allow_secrets(context: Context, task_id: TaskId, found: Iterable[CommittedSecret]) -> None:
    """Allows what looks like a secret and is none, or may be merged all the same; the history says who did."""
    context.require_person("allow a secret")
    kept = tuple(found)
    reason = "; ".join(one.words for one in kept)
    digests = [one.digest for one in kept]
    event = Event(
        EventType.SECRETS_ALLOWED, context.now, context.actor, reason=reason, data={ALLOWED: digests}
    )

    audit = PendingAudit(context.repository.own_dir, task_id)
    task = context.store.task_file(task_id).task
    for one in kept:
        audit.note(
            AuditEntry(
                context.now,
                task.usage.iterations,
                task.parent,
                context.actor.name,
                "secret",
                one.words,
                Decided.ASKED,
                "a person allowed it with `gt trust --secret`",
                UserAction.APPROVED,
            )
        )

    def write(transaction: Transaction) -> None:
        audit.write(transaction)
        record(transaction, task_id, "secret allowed", event)

    context.store.transact(write, author=context.author)
    audit.forget()


def require_team_trusted(context: Context, about: tuple[str, ...] = ("",)) -> None:
    """Refuses to continue where settings or templates would run that nobody trusted here, or hooks that a session left.

    Only those whose names begin with one of `about` count.
    """
    require_agreed(context.repository)
    branch = context.store.snapshot()
    found = team_runnables(branch, agreed_settings(context.repository))
    require_trusted(context.repository, (one for one in found if one.name.startswith(about)))
    if "" in about:
        agree_on_settings(context.repository, branch.read(CONFIG_PATH))


def untrusted_settings(context: Context) -> tuple[Runnable, ...]:
    """Returns the settings and templates that wait to be trusted here."""
    if not context.store.exists:
        return ()
    found = team_runnables(context.store.snapshot(), agreed_settings(context.repository))
    return untrusted(context.repository, found)


def may_settings_run(context: Context) -> bool:
    """True if every command that the settings name may run here; what only loosens a rule runs none."""
    return all(one.only_loosens for one in untrusted_settings(context))


def why_no_sandbox(context: Context) -> str | None:
    """Returns why the default sandbox does not work here, found by setting it up; None if it does, or if one was chosen."""
    if context.resolved_settings.origin("sandbox.preset") != DEFAULT:
        return None

    return why_no_default(context.settings, context.world.environment)


def no_sandbox_warning(context: Context) -> str | None:
    """Returns the warning of each start without a sandbox, with the reason; None if there is one."""
    if settings_here(context).sandbox.preset is not SandboxPreset.NONE:
        return None
    why = why_no_sandbox(context) or "`sandbox.preset` is `none`"
    return f"no sandbox, so agents can do anything you can: {why}"


def settings_here(context: Context) -> Settings:
    """Returns the settings for what is started on this machine.

    Raises:
        GitticksError: the sandbox that somebody chose does not work here.
    """
    settings = context.settings
    if why_no_sandbox(context) is not None:
        return settings._replace(sandbox=settings.sandbox._replace(preset=SandboxPreset.NONE))

    require_walls(settings.sandbox, context.world.environment)
    return settings
