"""Gathers everything that goes into an iteration's prompt from the state branch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from gitticks.document.taskfile import TaskFile
from gitticks.document.values import format_time
from gitticks.errors import GitticksError
from gitticks.git.repository import Repository
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, ReviewOutcome, Section, pair_questions, quoted, unasked
from gitticks.model.settings import Settings, VerifySettings
from gitticks.model.status import ActorKind, Isolation, Role, Status
from gitticks.model.task import CAME_TO_NOTHING, Ending, Task
from gitticks.runner.strangers import EPIC_REVIEW, Writers, writers_of
from gitticks.runner.templates import (
    PromptContext,
    PromptKind,
    choose_kind,
    render_prompt,
    require_sound,
    without_signals,
)
from gitticks.runner.worklog import recent_work
from gitticks.runner.workspaces import Workspace
from gitticks.store import layout
from gitticks.store.branch import Store
from gitticks.store.layout import Round, read_rounds
from gitticks.store.runnable_files import runnables_of_file
from gitticks.store.trust import require_trusted
from gitticks.workflow.artifacts import count_since_last_word
from gitticks.workflow.budget import iteration_number
from gitticks.workflow.council import is_shortened
from gitticks.workflow.sessions import current_round

_OVERFLOWED = (
    "The last session ran out of its context window. Work in smaller steps, commit each, and keep what commands print "
    "short."
)

_MOST_PATHS = 100
_MOST_ROUNDS = 3
_NOBODY_STRANGE = Writers()


class Setbacks(NamedTuple):
    """The last failure in words, the paths of a failed merge, what was dropped, and whether the task was stuck.

    `denied` is what agents were not allowed to do.
    """

    failure: str = ""
    conflicts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    was_stuck: bool = False


def find_setbacks(history: Iterable[Event]) -> Setbacks:
    """Returns what a worker that is started now has to know of the time since the last one, oldest event first."""
    events = _since_last_worker(tuple(history))
    failed = [event for event in events if event.type in (EventType.GATE_FAILED, EventType.MERGE_FAILED)]
    crashed = [event for event in events if event.type is EventType.CRASHED]
    merges = [event for event in events if event.type is EventType.MERGE_FAILED]
    failure = next(reversed(failed or crashed), None)
    conflicts = merges[-1].data.get("conflicts") if merges else None
    warnings = [event.reason for event in events if event.type is EventType.WARNED and event.reason]
    ends = [event for event in events if event.ends(Role.WORKER)]
    if any(end.data.get("ending") == Ending.CONTEXT_FULL for end in ends):
        warnings.append(_OVERFLOWED)
    return Setbacks(
        failure=_words(failure) if failure else "",
        conflicts=tuple(conflicts) if isinstance(conflicts, list) else (),
        warnings=tuple(dict.fromkeys(warnings)),
        denied=tuple(dict.fromkeys(one for end in ends for one in denied_in(end))),
        was_stuck=any(event.from_status is Status.STUCK for event in events),
    )


def denied_in(ended: Event) -> list[str]:
    """Returns what the end of a session says that its agent was not allowed to do."""
    denied = ended.data.get("denied")
    return denied if isinstance(denied, list) else []


def _words(event: Event) -> str:
    reason = event.reason or ""
    match event.type:
        case EventType.CRASHED:
            return f"The last session ended early: {reason}"
        case EventType.MERGE_FAILED:
            return f"The merge failed: {reason}"
        case _:
            return reason


def _since_last_worker(history: tuple[Event, ...]) -> tuple[Event, ...]:
    """Returns the events from the start of the last worker's session that ran its course."""
    has_ended = False
    for index in range(len(history) - 1, -1, -1):
        event = history[index]
        if event.ends(Role.WORKER):
            has_ended = event.data.get("ending") not in CAME_TO_NOTHING
        elif event.begins(Role.WORKER) and has_ended:
            return history[index:]
    return history


def build_prompt(
    store: Store,
    file: TaskFile,
    role: Role,
    workspace: Workspace,
    settings: Settings,
    *,
    is_resumed: bool = False,
    focus: str = "",
    is_council: bool = False,
    writers: Writers | None = None,
) -> str:
    """Returns the prompt for a session on a task, at most `limits.prompt` bytes long as far as that goes.

    `writers` are known to whoever has recorded the strangers among them; texts of these are enclosed.
    A reviewer has a `focus`, and answers in a message where it is one of a council. With `is_resumed` the agent
    continues with a session of its own, and its prompt leaves out what it knows.
    """
    task = file.task
    history = store.history(task.id)
    is_worker = role is Role.WORKER
    setbacks = find_setbacks(history) if is_worker else Setbacks()
    review_failed = file.review_outcome is ReviewOutcome.FAIL
    worklog, scratchpad = layout.worklog_path(task.id), layout.scratchpad_path(task.parent or task.id)
    rounds = layout.rounds_folder(task.id)
    work, earlier_work = recent_work(_text(store, worklog))
    writers = writers_of(store, file) if writers is None else writers
    start, head, since_fork = _difference(task, workspace, settings)
    context = PromptContext(
        task=task,
        mailbox=str(workspace.mailbox),
        round=current_round(task, role),
        iteration=iteration_number(task.usage, role),
        text=writers.fence(file.summary, file.path),
        task_context=writers.fence(file.section(Section.CONTEXT) or "", file.path),
        acceptance=writers.fence(file.section(Section.ACCEPTANCE) or "", file.path),
        handoff=writers.fence(file.section(Section.HANDOFF) or "", Section.HANDOFF)
        if role is Role.REVIEWER
        else "",
        review=writers.fence(_review(store, file), Section.REVIEW, rounds)
        if is_worker and review_failed
        else "",
        earlier_reviews="" if is_worker else writers.fence(_earlier_reviews(store, task), rounds),
        focus=focus,
        feedback=feedback_text(file.entries(Section.NOTES), file.entries(Section.QUESTIONS), writers),
        questions=open_question_text(file.entries(Section.QUESTIONS)),
        failure=setbacks.failure,
        warnings=setbacks.warnings,
        conflicts=setbacks.conflicts,
        denied=setbacks.denied,
        **_epic(store, task, writers),
        scratchpad=writers.fence(_text(store, scratchpad), scratchpad),
        worklog=writers.fence("\n\n".join(work), worklog),
        worklog_summary=writers.fence(earlier_work, worklog),
        checks=gate_lines(settings.verify),
        branch=workspace.branch or "",
        base=workspace.base or "",
        start=start,
        head=head,
        since_fork=since_fork,
        changes=_changes(store.repository, start, head, since_fork=since_fork)
        if role is Role.REVIEWER
        else "",
    )
    kind = choose_kind(role, review_failed=review_failed, was_stuck=setbacks.was_stuck, is_resumed=is_resumed)
    if is_council and kind is PromptKind.REVIEWER:
        kind = PromptKind.COUNCILLOR
    # What did not fit into the agent's context window last time is halved.
    limit = settings.limits.prompt >> count_since_last_word(history).overflows
    return render_prompt(kind, context, overrides=read_overrides(store), limit_bytes=limit)


def with_notes(prompt: str, notes: tuple[str, ...]) -> str:
    """Returns a prompt that ends with what was odd when the workspace was made ready."""
    if not notes:
        return prompt
    listed = "\n".join(f"- {without_signals(note)}" for note in notes)
    return f"{prompt}\n## About this workspace\n\n{listed}\n"


def feedback_text(
    notes: tuple[Entry, ...], questions: tuple[Entry, ...], writers: Writers = _NOBODY_STRANGE
) -> str:
    """Returns people's notes, and their answers with the questions they answer, oldest first; fenced what is a stranger's.

    What a verdict's note answered is in both places of the file, and is said once. What answers no question is a
    note, also where it stands among them.
    """
    found = (
        *(note for note in notes if note.kind is ActorKind.HUMAN and note not in questions),
        *unasked(questions),
    )
    said = [(note.at, writers.fence_entry(_entry(note), note.name)) for note in found]
    for pair in pair_questions(questions):
        if pair.answer is not None:
            asked = f"Asked by {pair.question.name}:\n\n{quoted(pair.question.text)}"
            answered = writers.fence_entry(_entry(pair.answer, "answered"), pair.answer.name)
            said.append((pair.answer.at, f"{asked}\n\n{answered}"))
    said.sort(key=lambda item: item[0])
    return "\n\n".join(text for _, text in said)


def open_question_text(questions: tuple[Entry, ...]) -> str:
    """Returns the questions that nobody has answered, oldest first."""
    asked = [pair.question for pair in pair_questions(questions) if pair.answer is None]
    return "\n\n".join(_entry(question, "asked") for question in asked)


def gate_lines(verify: VerifySettings) -> tuple[str, ...]:
    """Returns the quality gates as a worker's prompt lists them, in the order in which they run."""
    lines = ["everything is committed"] if verify.committed else []
    commands = [verify.test, verify.build, *verify.scripts]
    return (*lines, *(f"`{command}`" for command in commands if command))


def read_overrides(store: Store) -> dict[str, str]:
    """Returns a team's own templates by name, such as `worker.md` or `parts/limits.md`.

    Raises:
        RefusedError: one came from elsewhere and was not trusted here.
    """
    found: dict[str, str] = {}
    for folder in ("", "parts/"):
        path = f"{layout.PROMPTS_FOLDER}/{folder}".removesuffix("/")
        for name in store.list(path):
            content = store.read(f"{path}/{name}") if name.endswith(".md") else None
            if content is not None:
                require_trusted(store.repository, runnables_of_file(f"{path}/{name}", content))
                found[folder + name] = content.decode("utf-8", "replace")
    return found


def require_templates(store: Store) -> None:
    """Refuses to begin anything while a template of the team's is broken."""
    require_sound(frozenset(read_overrides(store).items()))


def _entry(entry: Entry, verb: str = "wrote") -> str:
    return f"{entry.name} {verb} at {format_time(entry.at)}:\n\n{quoted(entry.text)}"


def _review(store: Store, file: TaskFile) -> str:
    """Returns the review that sent the work back, with all that a council answered."""
    rounds = read_rounds(store.repository, store.tip(), file.task.id)
    whole = _left_out(rounds[-1]) if rounds and rounds[-1].review is None else ()
    return "\n\n".join([file.section(Section.REVIEW) or "", *whole])


def _earlier_reviews(store: Store, task: Task) -> str:
    rounds = read_rounds(store.repository, store.tip(), task.id)
    found = [one for one in reversed(rounds) if one.review]
    return "\n\n".join(
        "\n\n".join([f"Round {one.number}:", quoted(one.review or ""), *_left_out(one)])
        for one in found[:_MOST_ROUNDS]
    )


def _left_out(one: Round) -> tuple[str, ...]:
    """Returns the answers of a council, whole, of which the round's review has only the ends."""
    return tuple(
        f"`{name}` in full:\n\n{quoted(text)}" for name, text in one.councillors.items() if is_shortened(text)
    )


def _text(store: Store, path: str) -> str:
    return (store.read(path) or b"").decode("utf-8", "replace")


def _epic(store: Store, task: Task, writers: Writers) -> dict[str, Any]:
    """Returns what a prompt shows of the epic above: an epic has no agent of its own that would read the rest."""
    if task.parent is None:
        return {}
    try:
        epic = store.task_file(TaskId(task.parent))
    except GitticksError:
        return {}
    parts = [epic.summary, epic.section(Section.CONTEXT), epic.section(Section.ACCEPTANCE)]
    failed = epic.review_outcome is ReviewOutcome.FAIL
    rounds = layout.rounds_folder(epic.task.id)
    return {
        "epic_title": epic.task.title,
        "epic_text": writers.fence("\n\n".join(part for part in parts if part), epic.path),
        "epic_review": writers.fence(_review(store, epic), EPIC_REVIEW, rounds) if failed else "",
        "epic_feedback": feedback_text(epic.entries(Section.NOTES), epic.entries(Section.QUESTIONS), writers),
    }


def _difference(task: Task, workspace: Workspace, settings: Settings) -> tuple[str, str, bool]:
    """Returns where the task's difference begins and ends, and whether it counts from where the two parted."""
    head = task.end_sha or workspace.branch or "HEAD"
    isolation = task.isolation_in(settings.isolation)
    if isolation is Isolation.TASK and workspace.base is not None:
        return workspace.base, head, True
    return task.start_sha or workspace.start_sha or "HEAD", head, False


def _changes(repository: Repository, start: str, head: str, *, since_fork: bool) -> str:
    from gitticks.git.merges.history import diff_summary
    from gitticks.git.refs import resolve

    try:
        first, last = resolve(repository, start), resolve(repository, head)
        if since_fork:
            first = repository.objects.merge_base(first, last) or first
        summary = diff_summary(repository, first, last)
    except GitticksError:
        return ""
    shown = [f"- `{path}`" for path in summary.paths[:_MOST_PATHS]]
    more = len(summary.paths) - len(shown)
    count = f"{summary.files} file{'' if summary.files == 1 else 's'} changed, {summary.added} lines added, {summary.removed} removed:"
    return "\n".join([count, "", *shown, *([f"- and {more} more"] if more > 0 else [])])
