"""What hooks find in commits that exist already: in a push, and in a cherry-pick or revert, before which git runs none.

What a person may write may go back to what it was; but lines are only added to a history, and a task moves by decisions
alone: where a revert undid one, the task is as it was before the revert, by a commit that follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from gitticks.actions.changing import record
from gitticks.actions.context import Context
from gitticks.actions.hook_followup import FollowedUp, own_commit
from gitticks.board.hooks import checkout_hooks_state
from gitticks.board.skip_reasons import Problem
from gitticks.document.taskfile import read_task
from gitticks.errors import GitticksError, RefusedError
from gitticks.git.log import author_of
from gitticks.git.objects import Objects, object_places
from gitticks.git.refs import is_nothing, is_object_id, name_behind, nothing_like, read_symbolic_ref
from gitticks.git.staged import is_in_series, is_made_again
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path
from gitticks.model.status import ActorKind
from gitticks.model.task import Task
from gitticks.store.hand_edits import FREE_FIELDS
from gitticks.store.hook_files import HooksState
from gitticks.store.layout import STATE_BRANCH, STATE_REF, history_path, task_around
from gitticks.store.transaction import Transaction

_FIELDS_OF_PUSH, _FIELDS_OF_RECEIVE = 4, 3
_LOOKED_BACK = 200
_NO_MOVE = "a revert cannot move tasks, so its status was restored"
_NO_REMOVAL = "a revert cannot remove tasks, so it was restored; `gt cancel` closes it"
_NO_LOSS = "a revert cannot remove lines of a history, so they were restored"

Versions = Mapping[str, tuple[bytes | None, bytes | None]]
"""What a commit changed: old and new bytes by path."""


def check_pick(context: Context) -> tuple[Problem, ...]:
    """Returns what is illegal in the commit that a cherry-pick or revert has just made; nothing after any other.

    Some commits before it are judged with it: what takes a mistake back is none itself.
    """
    if not _is_made_again(context):
        return ()
    from gitticks.actions.doctor.diagnosis import diagnose_range

    tip = context.store.tip()
    found = diagnose_range(context, _with_some_before(context.store.objects, tip, tip)).findings
    return tuple(Problem("", one.what, one.fix) for one in found if one.commit == tip)


def _with_some_before(objects: Objects, commit: str, tip: str) -> str:
    """Returns the range up to `tip` that begins some commits before a commit of its line."""
    first: str | None = commit
    for _ in range(_LOOKED_BACK):
        first = None if first is None else next(iter(objects.parents_of(first)), None)
    return tip if first is None else f"{first}..{tip}"


def _is_made_again(context: Context) -> bool:
    git_dir = context.repository.git_dir
    return read_symbolic_ref(git_dir, "HEAD") == STATE_REF and is_made_again(git_dir)


def put_back_reverted(context: Context) -> tuple[FollowedUp, ...]:
    """Puts back what a revert, which git has just made by itself, may not take away; nothing after any other commit."""
    if not _is_made_again(context) or is_in_series(context.repository.git_dir):
        return ()
    commit, parent = own_commit(context)
    if parent is None:
        return ()
    lost = _losing_history(context, parent, commit)
    if not lost:
        return ()
    actor = Actor(ActorKind.HUMAN, author_of(context.repository, commit).name)

    def put_back(transaction: Transaction) -> tuple[FollowedUp, ...]:
        return tuple(_put_back(context, actor, *one, transaction) for one in lost.items())

    return context.store.transact(put_back, author=context.author)


def _losing_history(context: Context, old: str, new: str) -> Mapping[TaskId, Versions]:
    """Returns what was changed of the tasks of whose history lines are gone."""
    objects = context.store.objects
    found: dict[TaskId, dict[str, tuple[bytes | None, bytes | None]]] = {}
    for change in objects.changed_files(objects.tree_of(old), objects.tree_of(new)):
        task_id = task_around(change.path)
        if task_id is not None:
            before, after = (
                None if one is None else objects.read_blob(one) for one in (change.old, change.new)
            )
            found.setdefault(task_id, {})[change.path] = (before, after)
    return {
        task_id: versions
        for task_id, versions in found.items()
        if _is_losing(versions.get(history_path(task_id)))
    }


def _is_losing(history: tuple[bytes | None, bytes | None] | None) -> bool:
    if history is None:
        return False
    before, after = ((one or b"").splitlines() for one in history)
    return not set(before) <= set(after)


def _put_back(
    context: Context, actor: Actor, task_id: TaskId, versions: Versions, transaction: Transaction
) -> FollowedUp:
    place = history_path(task_id)
    before = (versions[place][0] or b"").splitlines(keepends=True)
    later = [
        line for line in (transaction.read(place) or b"").splitlines(keepends=True) if line not in before
    ]
    # What no person writes was changed, so that the text that belongs to it cannot stand either.
    texts = versions.get(task_path(task_id), (None, None))
    is_move = len({tuple(_state(task_id, data)) for data in texts}) > 1
    if is_move:
        for path, (old, new) in versions.items():
            if path != place and transaction.read(path) == new:
                transaction.remove(path) if old is None else transaction.write(path, old)
    transaction.write(place, b"".join([*before, *later]))
    task = transaction.task_file(task_id).task
    reason = _NO_LOSS
    if is_move:
        reason = _NO_REMOVAL if texts[1] is None else _NO_MOVE
    warned = Event(EventType.WARNED, context.now, actor, reason=reason)
    record(transaction, task_id, "restore what a revert removed", warned)
    return FollowedUp(task, task, actor.name, reason)


def _state(task_id: TaskId, data: bytes | None) -> Iterator[object]:
    if data is None:
        return
    try:
        task = read_task(data, task_path(task_id))
    except GitticksError:
        yield data
        return
    names = (
        field.name for field in fields(Task) if field.name not in FREE_FIELDS and field.name != "updated"
    )
    yield from (repr(getattr(task, name)) for name in names)


def check_push(context: Context, lines: bytes) -> tuple[Problem, ...]:
    """Returns what speaks against a push; `lines` are what git gives `pre-push` on its stdin."""
    return tuple(
        problem
        for _, new, ref, old in _split(lines, _FIELDS_OF_PUSH)
        if ref == STATE_REF
        for problem in _check(context, old, new)
    )


def refuse_push(context: Context, remote: str, new: str, old: str | None) -> None:
    """Refuses to push what `pre-push` would refuse where a person has it: pushes of gitticks' own run no hooks."""
    repository = context.repository
    if repository.main_worktree is None or checkout_hooks_state(repository) is HooksState.ABSENT:
        return
    line = f"{STATE_REF} {new} {STATE_REF} {old or nothing_like(new)}"
    for problem in check_push(context, line.encode()):
        raise RefusedError(f"nothing was pushed to `{remote}`: {problem.message}", hint=problem.hint)


def check_receive(context: Context, lines: bytes) -> tuple[Problem, ...]:
    """Returns what speaks against letting a push in; `lines` are what git gives `pre-receive` on its stdin.

    A symbolic ref of the server that leads to the state branch is another name of it.
    """
    here = context.repository.common_place
    return tuple(
        problem
        for old, new, ref in _split(lines, _FIELDS_OF_RECEIVE)
        if name_behind(here, ref) == STATE_REF
        for problem in _check(context, old, new)
    )


def _split(lines: bytes, count: int) -> Iterator[list[str]]:
    """Yields the fields of each line; the local side of a push may be any words, so they count from the end."""
    for line in lines.decode("utf-8", "surrogateescape").split("\n"):
        parts = line.rsplit(" ", count - 1)
        if len(parts) == count:
            yield parts


def _check(context: Context, old: str, new: str) -> Iterator[Problem]:
    """Yields what is wrong: commits that nobody was allowed to make, and whatever would be lost."""
    from gitticks.actions.doctor.diagnosis import diagnose_range

    if not is_object_id(old) or not is_object_id(new):
        yield Problem("", f"`{old}` and `{new}` are not commits", "`git push` again")
        return
    objects = object_places(context.world.environment, context.directory).open(context.repository)
    if not is_nothing(old) and not objects.has(old):
        yield Problem(
            "",
            f"the remote's `{STATE_BRANCH}` has commits that you do not have",
            f"`git -C {BOARD_FOLDER} pull --no-rebase origin {STATE_BRANCH}`, then push again",
        )
        return
    found = diagnose_range(context, f"{old}..{new}").findings
    made = {one.commit for one in found if one.commit and objects.is_ancestor(one.commit, new)}
    if made and not is_nothing(old):
        # What takes back a mistake that the remote has already is none itself.
        with_before = diagnose_range(context, _with_some_before(objects, old, new)).findings
        standing = {(one.commit, one.what) for one in with_before}
        found = tuple(one for one in found if one.commit not in made or (one.commit, one.what) in standing)
    # That a push would leave commits behind is worth a warning in a look at any range; here it would lose them.
    for finding in found:
        yield Problem("", finding.what, finding.fix)
