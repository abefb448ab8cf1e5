"""Creates tasks, changes their fields, asks for a status, a verdict or whose turn it is, and adds notes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from gitticks.actions.changing import (
    add_entry,
    circumstances_of,
    record,
    require_words,
    warn_of_closed_epic,
    warn_of_leaving,
)
from gitticks.actions.context import Context
from gitticks.actions.field_values import Reading, Wishes, read_title, read_wishes
from gitticks.actions.task_lookup import find_task
from gitticks.document.taskfile import new_task_file
from gitticks.errors import GitticksError, RefusedError
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import ActorKind, Status, Verdict
from gitticks.model.task import Task
from gitticks.store.links import changes_links, check_links
from gitticks.store.task_ids import free_id

if TYPE_CHECKING:
    from gitticks.store.decisions import WantedState
    from gitticks.store.transaction import Transaction


class Changes(NamedTuple):
    """What is asked for: `wishes` as they were typed, the state typed; None where nothing is asked."""

    wishes: Wishes
    status: Status | None = None
    verdict: Verdict | None = None
    note: str | None = None
    description: str | None = None

    @property
    def needs_person(self) -> bool:
        """True if it asks for more than an agent may."""
        return bool(self.wishes) or self.verdict is not None or self.description is not None

    @property
    def is_empty(self) -> bool:
        """True if it asks for nothing."""
        return not self.needs_person and self.status is None and not self.note


class Updated(NamedTuple):
    """A task before and after, and whether it was described again or noted on, of which its fields need not tell."""

    before: Task
    after: Task
    is_described: bool = False
    is_noted: bool = False

    @property
    def is_changed(self) -> bool:
        """True if something was written."""
        return self.before != self.after or self.is_described or self.is_noted


def update_task(context: Context, task_id: TaskId, changes: Changes) -> Updated:
    """Carries out changes of one task, all of them or none."""
    if changes.needs_person:
        context.require_person("change a task's fields or give a verdict")
    reading = reading_for(context)
    wanted = _wanted_state(context, task_id, changes, read_wishes(changes.wishes, reading))
    checks = None
    if wanted is not None and wanted.status is Status.AGENT_REVIEW:
        from gitticks.actions.evidence import check_work

        checks = check_work(context, task_id)
    note = None if changes.verdict else changes.note

    def write(transaction: Transaction) -> Updated:
        before = transaction.task_file(task_id).task
        # `+x` adds to the list as it is now, so what others added since the command began stays.
        fields = {name: wish for name, wish in changes.wishes.items() if name != "awaiting"}
        values = read_wishes(fields, reading._replace(before=before))
        _change_fields(context, transaction, task_id, values)
        is_described = _describe(context, transaction, task_id, changes.description)
        if note:
            add_entry(context, transaction, task_id, Section.NOTES, note)
        if wanted is not None:
            from gitticks.store.decisions import apply_state

            circumstances = circumstances_of(context, before, checks=checks)
            apply_state(transaction, task_id, wanted, context.actor, circumstances)
        return Updated(before, transaction.task_file(task_id).task, is_described, bool(note))

    updated = context.store.transact(write, author=context.author)
    if not changes.wishes.keys().isdisjoint({"agent", "parent"}):
        _warned(context, updated.after)
    warn_of_leaving(context, updated.before, updated.after)
    return updated


def _warned(context: Context, task: Task) -> Task:
    """Returns the task, after a warning if its epic is closed, or the settings here do not know its agent.

    They may where its run is.
    """
    warn_of_closed_epic(context, task)
    if task.agent is not None:
        from gitticks.actions.agents import why_unknown

        with suppress(GitticksError):  # the settings are to be fixed before any run, which says why
            reason = why_unknown(context.settings, task.agent)
            if reason is not None:
                context.warnings.append(f"runs here skip `{task.id}`: {reason}")
    return task


def _follow_parents(context: Context, transaction: Transaction, task: Task, before: Task | None) -> None:
    from gitticks.store.hand_edits import follow_parents

    follow_parents(transaction, task, before, lambda parent: circumstances_of(context, parent))


def _wanted_state(
    context: Context, task_id: TaskId, changes: Changes, values: dict[str, Any]
) -> WantedState | None:
    """Returns what is asked of the state; None for a change of fields alone.

    Such a change loads neither the rules of the workflow nor the settings: that would take longer than the change.
    """
    sets_awaiting = "awaiting" in values
    if not (sets_awaiting or changes.status or changes.verdict):
        return None
    from gitticks.store.decisions import WantedState
    from gitticks.workflow.triggers import Seen

    seen = context.store.task_file(task_id).task
    return WantedState(
        status=changes.status if changes.status is not seen.status else None,
        awaiting=values.get("awaiting"),
        sets_awaiting=sets_awaiting,
        verdict=changes.verdict,
        note=changes.note if changes.verdict else None,
        # A verdict that comes with a status or a kind of awaiting answers that, and not what was there before.
        seen=None if sets_awaiting or changes.status else Seen(seen.awaiting, seen.asked_at, seen.end_sha),
    )


def reading_for(context: Context) -> Reading:
    """Returns what reading fields depends on here and now; a task is looked up once, however often one reads."""
    today = context.now.astimezone().date()
    return Reading(today, cache(lambda text: find_task(context, text)), me=lambda: context.actor.name)


def _change_fields(
    context: Context, transaction: Transaction, task_id: TaskId, values: dict[str, Any]
) -> None:
    """Writes those of the values that differ, with one event that names their fields."""
    file = transaction.task_file(task_id)
    before = file.task
    names = [name for name, value in values.items() if getattr(before, name) != value]
    if not names:
        return
    after = replace(before, **{name: values[name] for name in names}, updated=context.now)
    if changes_links(before, after):
        check_links(transaction.all_tasks(), before, after)
        _refuse_at_work(context, before, after)
    if before.is_merging:
        from gitticks.workflow.transitions import refuse_settled

        refuse_settled(before, names)
    transaction.put_task(file.with_task(after))
    event = Event(EventType.FIELDS_CHANGED, context.now, context.actor, data={"fields": names})
    record(transaction, task_id, ", ".join(names), event, is_minor=True)
    if after.parent != before.parent:
        _follow_parents(context, transaction, after, before)


def _refuse_at_work(context: Context, before: Task, after: Task) -> None:
    """Refuses to take a task out of the epic on whose branch its agent commits right now: the epic may be finished with it."""
    from gitticks.runner.liveness import live_tasks

    if (
        before.sharing_epic
        and before.parent != after.parent
        and before.id in live_tasks(context.repository.own_place)
    ):
        raise RefusedError(
            f"an agent is at work on `{before.id}`, on the branch of its epic `{before.sharing_epic}`",
            hint=f"`gt stop {before.id}` stops it first; the task then starts over where you move it",
        )


def _describe(context: Context, transaction: Transaction, task_id: TaskId, description: str | None) -> bool:
    """Writes another summary, and returns whether there is one; its sections stay."""
    file = transaction.task_file(task_id)
    if description is None or file.summary == description.strip():
        return False
    described = file.with_summary(description)
    transaction.put_task(described.with_task(replace(file.task, updated=context.now)))
    event = Event(EventType.TEXT_CHANGED, context.now, context.actor, data={"sections": ["summary"]})
    record(transaction, task_id, "summary", event, is_minor=True)
    return True


def set_field(context: Context, task_id: TaskId, name: str, wish: str | tuple[str, ...]) -> Updated:
    """Changes one field, as `gt block`, `gt unblock` and `gt defer` do."""
    return update_task(context, task_id, Changes({name: wish}))


def note_task(context: Context, task_id: TaskId, text: str, *, kind: ActorKind | None = None) -> Task:
    """Adds a note and returns the task; `kind` is who the note is from; by default the caller."""
    text = require_words(text, "note", f'gt note {task_id} "…"')
    check_author(context, kind)

    def write(transaction: Transaction) -> Task:
        add_entry(context, transaction, task_id, Section.NOTES, text, kind=kind)
        return transaction.task_file(task_id).task

    return context.store.transact(write, author=context.author)


def check_author(context: Context, kind: ActorKind | None) -> None:
    """Refuses a note that claims to be a person's inside an agent's session."""
    if kind is ActorKind.HUMAN and context.world.in_session:
        raise RefusedError(
            "only a person can write a person's note, and this is an agent's session",
            hint="leave out `--from`: your note is an agent's note",
        )


class NewTask(NamedTuple):
    """A task to be made: its title, its other fields as they were typed, and its text.

    `script` is markdown with `sh` blocks, or a bare shell script.
    """

    title: str
    wishes: Wishes
    description: str = ""
    script: str | None = None


def require_creator(context: Context) -> None:
    """Refuses to create a task in an agent's session."""
    context.require_person("create a task", '`gt note "…"` leaves a note about what else should be done')


def create_task(context: Context, new: NewTask) -> Task:
    """Commits a new task and returns it."""
    require_creator(context)
    title = read_title(new.title)
    values = read_wishes(new.wishes, reading_for(context))

    def write(transaction: Transaction) -> Task:
        at, actor = context.now, context.actor
        task = Task(
            free_id(transaction, at, context.world.random_number),
            title,
            asked_at=at if values.get("awaiting") else None,
            created=at,
            created_by=actor.name,
            updated=at,
            **values,
        )
        if changes_links(None, task):
            check_links(transaction.all_tasks(), None, task)
        file = new_task_file(task, new.description)
        if new.script is not None:
            file = file.with_section(Section.SCRIPT, script_text(new.script))
        transaction.put_task(file)
        record(transaction, task.id, f"created: {title}", Event(EventType.CREATED, at, actor))
        if task.parent is not None:
            _follow_parents(context, transaction, task, None)
        return task

    return _warned(context, context.store.transact(write, author=context.author))


def script_text(script: str) -> str:
    """Returns the text of `## Script` for what a person handed over: markdown as it is, a bare script in a block."""
    if any(line.lstrip().startswith(("```", "~~~")) for line in script.splitlines()):
        return script
    return f"```sh\n{script.rstrip()}\n```"
