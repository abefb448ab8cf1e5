"""Carries out what a plain `git commit` on the board asks for, in a follow-up commit.

Text and fields stand as the person committed them; who wrote a hand-off or review is noted in the history. A status, a
verdict or whose turn it is was only a request: the follow-up takes it back out of the file and writes what the decision
says, on the task as it was before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from gitticks.actions.changing import carry_out_edit, record, warn_of_leaving
from gitticks.actions.context import Context
from gitticks.actions.edit_checks import edit_between
from gitticks.board.judge_edit import join_moves
from gitticks.board.notes import keep_notes
from gitticks.board.step import WORKTREE_BOARD
from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError
from gitticks.git.identity import Identity
from gitticks.git.locks import hold_lock
from gitticks.git.log import ACTOR_TRAILER, author_of, trailers_of
from gitticks.git.objects import Change, Objects
from gitticks.git.refs import logged, read_symbolic_ref
from gitticks.git.staged import is_in_series, is_made_again, version_before
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.notes import Section
from gitticks.model.status import ActorKind, Verdict
from gitticks.model.task import Task
from gitticks.store.hand_edits import STATE_FIELDS, HandEdit, record_plain_edit
from gitticks.store.layout import STATE_BRANCH, STATE_REF, may_run, task_of_path
from gitticks.store.transaction import Transaction


class FollowedUp(NamedTuple):
    """What became of a task that a commit asked something for, as by a verdict; `refusal` says why nothing did."""

    before: Task | None
    after: Task
    person: str
    refusal: str | None = None
    verdict: Verdict | None = None


def follow_commit(context: Context) -> tuple[FollowedUp, ...]:
    """Carries out what the commit that was just made on the board asks for, one task after the other."""
    repository = context.repository
    if read_symbolic_ref(repository.git_dir, "HEAD") != STATE_REF:
        return ()
    if is_made_again(repository.git_dir):
        if not is_in_series(repository.git_dir):
            WORKTREE_BOARD.bring_in_step(repository)
        return ()
    # First the board's journal learns of the commit: else what it holds would look staged on top of the follow-up.
    WORKTREE_BOARD.bring_in_step(repository)
    commit, parent = own_commit(context)
    if parent is None:
        return ()
    before = version_before(repository, STATE_BRANCH, commit, parent)
    author = author_of(repository, commit)
    objects = context.store.objects
    changes = tuple(objects.changed_files(objects.tree_of(before), objects.tree_of(commit)))
    _trust_own(context, changes)
    edits = tuple(_edits(objects, changes))
    keep_notes(repository, {}, [edit.after.path for edit in edits])
    followed = [_follow_edit(context, edit, author) for edit in edits]
    return tuple(one for one in followed if one is not None)


def _trust_own(context: Context, changes: Sequence[Change]) -> None:
    """Lets run here what the person committed on the board, as what commands write is."""
    if context.world.in_session:
        return
    objects = context.store.objects
    new = {one.path: None if one.new is None else objects.read_blob(one.new) for one in changes}
    if any(may_run(path, content) for path, content in new.items()):
        from gitticks.store.runnable_files import trust_own

        old = {one.path: None if one.old is None else objects.read_blob(one.old) for one in changes}
        trust_own(context.repository, {path: (old[path], content) for path, content in new.items()})


def own_commit(context: Context) -> tuple[str, str | None]:
    """Returns what the person has just committed, and its parent, None of a merge or a first commit.

    A writer may have moved the branch on since, before this hook ran.
    """
    objects, commit = context.store.objects, context.store.tip()
    with suppress(GitticksError):
        own = next(logged(context.repository.git_dir, "HEAD"), None)
        if own is not None and objects.is_ancestor(own, commit):
            commit = own
    parents = objects.parents_of(commit)
    return commit, parents[0] if len(parents) == 1 else None


def _edits(objects: Objects, changes: Sequence[Change]) -> Iterator[HandEdit]:
    for change in join_moves(changes):
        task_id = task_of_path(change.path)
        if task_id is None or change.new is None:
            continue
        old = None if change.old is None else objects.read_blob(change.old)
        try:
            edit = edit_between(old, objects.read_blob(change.new), change.path)
        except GitticksError:
            continue  # a broken file was committed past the hook; every reader names it
        if edit.after.task.id == task_id:
            yield edit


def needs_follow_up(edit: HandEdit) -> bool:
    """True if the file as it was committed is not what it has to be; plain edits of text and fields are."""
    if edit.before is None or edit.asks_for_decisions or edit.forbidden_fields:
        return True
    loose = (edit.after.loose_text(section, edit.before) for section in (Section.NOTES, Section.QUESTIONS))
    return edit.before.task.parent != edit.after.task.parent or any(text is not None for text in loose)


def _follow_edit(context: Context, edit: HandEdit, author: Identity) -> FollowedUp | None:
    """Carries out what a committed edit asks for, or puts back what is refused; None where nothing is to be done."""
    actor = Actor(ActorKind.HUMAN, author.name)
    if context.world.in_session:
        actor = context.actor._replace(name=author.name)
    if not needs_follow_up(edit):
        try:
            if edit.is_of_work:
                context.store.transact(
                    lambda transaction: record_plain_edit(transaction, edit, actor, context.now),
                    author=author,
                )
        except GitticksError as error:  # the other tasks of the commit are followed up all the same
            context.warnings.append(
                f"`{edit.after.task.id}`: the history does not name who edited it: {error.in_one_line}"
            )
        return None
    try:
        followed = context.store.transact(
            lambda transaction: carry_out_request(context, transaction, edit, actor), author=author
        )
    except GitticksError as error:
        reason = error.message
        return context.store.transact(
            lambda transaction: _put_back(context, transaction, edit, actor, reason), author=author
        )
    if followed is not None:
        warn_of_leaving(context, edit.before and edit.before.task, followed.after)
    return followed


def carry_out_request(
    context: Context, transaction: Transaction, edit: HandEdit, actor: Actor
) -> FollowedUp | None:
    """Writes what an edit asks for on top of the edit itself; None where somebody else was faster."""
    current = transaction.task_file(edit.after.task.id)
    if not _stands(edit, current):
        return None
    state = None if edit.before is None else _state_before(edit.before, edit, current)
    carry_out_edit(context, transaction, HandEdit(edit.before, current, state), actor)
    after = transaction.task_file(current.task.id).task
    refused = ", ".join(edit.forbidden_fields) if edit.before is not None else ""
    return FollowedUp(
        state,
        after,
        actor.name,
        f"{refused}: only gitticks writes that, the old value was restored" if refused else None,
        current.task.verdict,
    )


def _stands(edit: HandEdit, current: TaskFile) -> bool:
    """True unless somebody else has changed the task's state since the commit."""
    return all(getattr(edit.after.task, name) == getattr(current.task, name) for name in STATE_FIELDS)


def _state_before(before: TaskFile, edit: HandEdit, current: TaskFile) -> Task:
    names = {*STATE_FIELDS, *edit.forbidden_fields}
    kept: dict[str, Any] = {name: getattr(before.task, name) for name in names}
    return replace(current.task, **kept)


def restore_trailers(context: Context, amended: bytes) -> None:
    """Gives a commit of gitticks' own its trailers back, which it lost as a person amended it by `--amend -m`.

    Nothing else says who asked for its events. `amended` names both commits, as git does to its hook.
    """
    repository, objects = context.repository, context.store.objects
    before, after = amended.decode("ascii", "replace").split()[:2]
    lost = trailers_of(repository, before)
    if f"{ACTOR_TRAILER}: " not in lost or f"{ACTOR_TRAILER}: " in trailers_of(repository, after):
        return
    from gitticks.git.merges.commits import commit_again  # which no other commit on the board needs

    with hold_lock(repository.own_file("lock")):
        parents = objects.parents_of(after)
        if len(parents) != 1 or context.store.tip() != after:
            return
        place = objects.tree_of(after), parents[0]
        again = commit_again(repository, after, place, context.author, lost)
        objects.move_ref(STATE_REF, after, again, "commit (amend): trailers", who=context.author)
    WORKTREE_BOARD.bring_in_step(repository)


def _put_back(
    context: Context, transaction: Transaction, edit: HandEdit, actor: Actor, reason: str
) -> FollowedUp | None:
    """Takes a refused request out of the file; the rest of the person's edit stays."""
    current = transaction.task_file(edit.after.task.id)
    if not _stands(edit, current):
        return None
    state = _state_before(edit.before, edit, current) if edit.before else replace(current.task, verdict=None)
    transaction.put_task(current.with_task(replace(state, updated=context.now)))
    warned = Event(EventType.WARNED, context.now, actor, reason=f"a commit by hand was refused: {reason}")
    record(transaction, state.id, "refused and reverted", warned)
    return FollowedUp(state, state, actor.name, f"{reason}; it was reverted")
