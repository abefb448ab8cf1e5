"""The merge queue: merges approved work in memory, tests it in a separate checkout, then moves the base."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple, assert_never

from gitticks.agents.process import StopRequest
from gitticks.errors import GitticksError, RefusedError, first_of
from gitticks.forge import ForgeError
from gitticks.git.identity import Identity, identity
from gitticks.git.locks import hold_lock
from gitticks.git.merges.asides import PooledAside, checkout_aside
from gitticks.git.merges.base import BaseHeld, BaseMoved, CheckoutOverlaps, Moved, finish_checkout, move_base
from gitticks.git.merges.commits import (
    Conflict,
    HookRefusedError,
    merge_in_memory,
    runs_programs,
    throwaway_commit,
    why_in_doubt,
)
from gitticks.git.merges.history import find_merge
from gitticks.git.refs import read_ref
from gitticks.model.event import ENGINE
from gitticks.model.ids import TaskId
from gitticks.model.settings import MergeMode
from gitticks.model.status import Status
from gitticks.model.task import Task
from gitticks.runner import workspaces
from gitticks.runner.checkpoints import keep_before_merge
from gitticks.runner.commit_checks import judge_commits
from gitticks.runner.context import RunContext
from gitticks.runner.events import ChecksEnded, TaskMerged, Warned
from gitticks.runner.liveness import live_tasks
from gitticks.runner.merge_ahead import (
    ChecksAhead,
    PassedCheck,
    build_merge,
    check_merge,
    checked_merge,
    make_merge,
)
from gitticks.runner.needed_code import require_head, why_lacking
from gitticks.runner.overlaps import in_merge_order
from gitticks.runner.pull_requests import PullRequests
from gitticks.runner.shared_base import (
    LONGEST_MERGE_SECONDS,
    MERGE_LOCK,
    BaseNotSharedError,
    Published,
    catch_up,
    closed_at_remote,
    publish_closed,
)
from gitticks.runner.verifiers import has_commands, judge_tree
from gitticks.runner.workspace_plan import base_tip
from gitticks.runner.workspace_removal import Removals, remove_merged
from gitticks.store.approvals import why_not_carrying
from gitticks.store.decisions import open_children
from gitticks.store.left_behind import left_behind, why_held
from gitticks.store.settings import load_settings
from gitticks.workflow.decision import Decision
from gitticks.workflow.merge_ahead import may_stand_for
from gitticks.workflow.merging import refuse_unapproved
from gitticks.workflow.triggers import (
    ApprovalVoided,
    HeadMoved,
    Merged,
    MergeFailed,
    MergeFound,
    PullRequestOpened,
    Trigger,
)

_TRIES = 5
_SHOWN_PATHS = 5

AGAIN_SECONDS = 5.0
"""How soon a merge is tried again that waits for what is cheap to see and no event tells of, such as a clean checkout."""


class MergeResult(NamedTuple):
    """The result of one merge: a decision, or why it waits with nothing changed.

    `sha` is the commit by which the base has the work. `tested` says in words what the quality gates found. `offered` is
    the pull request that asks for the merge. One that waits is tried again after `again_seconds`; None: ever more rarely.
    """

    decision: Decision | None = None
    waits: str | None = None
    sha: str | None = None
    tested: str = ""
    offered: str | None = None
    again_seconds: float | None = None

    @property
    def is_done(self) -> bool:
        """True if the task is closed; a merge of nothing closes it too."""
        return self.decision is not None and self.decision.task.status is Status.DONE


def _waits_here(words: str) -> MergeResult:
    return MergeResult(waits=words, again_seconds=AGAIN_SECONDS)


def _waits_for_checkout(held: CheckoutOverlaps | BaseHeld) -> MergeResult:
    is_costly = isinstance(held, BaseHeld) and held.is_costly
    return MergeResult(waits=held.words) if is_costly else _waits_here(held.words)


class MergeQueue:
    """The merge queue of one clone.

    `merger` is who the merge commits are by, `stop` ends the tests of a merge. Several merges share a checkout, the removal
    of workspaces, checks made before their turn, and those that passed before a merge had to wait; without these each
    merge does that itself.
    """

    def __init__(
        self,
        run: RunContext,
        merger: Identity | None = None,
        stop: StopRequest | None = None,
        *,
        pool: PooledAside | None = None,
        removals: Removals | None = None,
        ahead: ChecksAhead | None = None,
        passed: dict[TaskId, PassedCheck] | None = None,
    ) -> None:
        self.run = run
        self.repository = run.repository
        self.store = run.open_store()
        self._merger = merger
        self._stop = stop or StopRequest()
        self._ahead = ahead
        self._passed = {} if passed is None else passed
        self._remove = removals.begin if removals else partial(remove_merged, run)
        self._aside = pool.at if pool else partial(checkout_aside, run.repository)

    def waiting(self) -> list[Task]:
        """Returns the approved tasks, in the order in which they are merged."""
        return in_merge_order(self.repository, self.store.snapshot().all_tasks().values())

    def try_out(self, task_ids: Iterable[TaskId]) -> dict[TaskId, tuple[str, ...]]:
        """Returns the paths in which each task's head would conflict with its base and the merges before it.

        No branch is moved.
        """
        found: dict[TaskId, tuple[str, ...]] = {}
        tips: dict[str, str] = {}
        for task_id in task_ids:
            task = self.store.task_file(task_id).task
            if task.end_sha is None:
                raise RefusedError(f"`{task_id}` has nothing to merge", hint=f"`gt show {task_id}`")
            if (epic := task.sharing_epic) is not None:
                raise RefusedError(
                    f"`{task_id}` is not merged by itself: its work is on the branch of the epic `{epic}`",
                    hint=f"`gt conflicts {epic}`",
                )
            base = workspaces.base_of(task, self.run.settings, self.repository)
            tip = tips.get(base) or base_tip(task, base, self.run.settings, self.repository)
            merged = merge_in_memory(self.repository, tip, task.end_sha)
            if isinstance(merged, Conflict):
                found[task_id] = merged.paths
                continue
            found[task_id] = ()
            tips[base] = throwaway_commit(self.repository, merged.tree, tip, task.end_sha)
        return found

    def merge(self, task_id: TaskId) -> MergeResult:
        """Merges one approved task, or sends it back, or says why it waits (of which the listener is not notified).

        Raises:
            RefusedError: the task is not approved, or no longer.
            GitticksError: the merge cannot be tried; nothing was changed.
        """
        with hold_lock(self.repository.own_file(MERGE_LOCK), wait_seconds=LONGEST_MERGE_SECONDS):
            for fixed in finish_checkout(self.repository):
                self.run.emit(Warned(None, fixed.words))
            task = self.store.task_file(task_id).task
            if task.merged_sha is not None and task.is_landed:  # by whoever held the lock
                return MergeResult(Decision(task), sha=task.merged_sha if task.has_merge else None)
            try:
                results = (self._try(task_id) for _ in range(_TRIES))
                result = next((one for one in results if one is not None), None)
            except BaseNotSharedError as error:
                result = MergeResult(waits=error.in_one_line)
        if result is not None and result.decision is not None and result.decision.task.is_landed:
            self._remove(result.decision.task)
        return result or MergeResult(waits="its base branch kept moving")

    def _try(self, task_id: TaskId) -> MergeResult | None:
        task = self._approved(task_id)
        require_head(self.repository, task)
        at_work = self._at_work_on(task)
        if at_work is not None:
            return _waits_here(f"an agent is at work on `{at_work}` in its workspace")
        if (lacking := self._lacking(task)) is not None:
            return lacking
        self.run.tell_checkpoint(keep_before_merge(self.store, task))
        held = left_behind(self.repository)
        if held:
            return _waits_here(f"{why_held(held)}: `gt trust` shows it, and asks")
        base = workspaces.base_of(task, self.run.settings, self.repository)
        if (unapproved := self._unapproved(task, base)) is not None:
            return unapproved
        if self.run.settings.merge.push:
            catch_up(self.repository, base)
        head, tip = str(task.end_sha), base_tip(task, base, self.run.settings, self.repository)
        branch_head = (
            read_ref(self.repository.common_dir, f"refs/heads/{task.branch}") if task.branch else head
        )
        if branch_head not in (None, head):
            return MergeResult(self._decide(task, HeadMoved(str(branch_head))))
        found = find_merge(self.repository, tip, task_id, head)
        if found is not None:
            return self._close_found(task, base, tip, found)
        refused = judge_tree(self.repository, tip, head) or judge_commits(
            self.store, task_id, tip, head, self.run.world.environment
        )
        if refused is not None:
            return MergeResult(self._decide(task, MergeFailed(refused)))
        if self.run.settings.merge.mode is MergeMode.PULL_REQUEST:
            return self._offer(task, base, tip)
        return self._make(task, base, tip)

    def _at_work_on(self, task: Task) -> TaskId | None:
        """Returns a task whose agent is still in an epic's workspace: it left the epic, or was cancelled under its agent."""
        live = live_tasks(self.repository.own_place) if task.is_epic else frozenset()
        tasks = self.store.snapshot().all_tasks() if live else {}
        there = (tasks[one] for one in live & tasks.keys() if tasks[one].sharing_epic == task.id)
        return next((one.id for one in there if one.status is not Status.DONE), None)  # that one only ends

    def _lacking(self, task: Task) -> MergeResult | None:
        """Sends an epic back whose branch lacks the code of a task that another clone did on a branch of its own."""
        if not task.is_epic:
            return None
        reason = why_lacking(self.repository, self.store.snapshot().all_tasks().values(), task)
        return None if reason is None else MergeResult(self._decide(task, MergeFailed(reason)))

    def _make(self, task: Task, base: str, tip: str) -> MergeResult | None:
        if has_commands(self.run.settings) or runs_programs(self.repository):
            # First without all these, which would be repeated for as long as a checkout is in the way.
            tried = build_merge(self.repository, task, tip, self.run.settings.merge.strategy)
            if isinstance(tried, str) and (held := self._held(base, tip, tried)) is not None:
                return held
        try:
            commit = make_merge(self.run, task, tip, (self._identity(), self._aside), self._stop)
        except HookRefusedError as error:
            if error.is_about_message:  # which no agent wrote
                return MergeResult(waits=error.in_one_line)
            return MergeResult(self._decide(task, MergeFailed(error.message)))
        if isinstance(commit, Conflict):
            return self._refuse(task, base, commit)
        if commit is None:
            return MergeResult(self._decide(task, Merged(tip, was_there=True)))
        return self._land(task, base, tip, commit)

    def _held(self, base: str, tip: str, commit: str) -> MergeResult | None:
        """Returns what is in the way in a checkout of the base, if anything is."""
        rehearsed = move_base(self.repository, base, tip, commit, "", is_rehearsal=True)
        if isinstance(rehearsed, CheckoutOverlaps | BaseHeld):
            return _waits_for_checkout(rehearsed)
        return None

    def _refuse(self, task: Task, base: str, conflict: Conflict) -> MergeResult:
        reason = f"conflicts with {base} in {first_of(conflict.paths, _SHOWN_PATHS)}"
        if conflict.is_unrelated:
            onto = f"`git rebase --onto {base} {str(task.start_sha)[:10]}` on its branch puts it there"
            reason = f"{base} was rewritten and has no commit in common with it: {onto}"
        return MergeResult(self._decide(task, MergeFailed(reason, conflict.paths)))

    def _offer(self, task: Task, base: str, tip: str) -> MergeResult:
        """Leaves the merge to a forge: what conflicts with the base goes back at once."""
        merged = merge_in_memory(self.repository, tip, str(task.end_sha))
        if isinstance(merged, Conflict):
            return self._refuse(task, base, merged)
        self.run.claims.confirm(task.id)
        try:
            url = PullRequests(self.run).offer(self.store, task, base)
        except ForgeError as error:
            return MergeResult(waits=error.in_one_line, again_seconds=error.rest_seconds)
        return MergeResult(self._decide(task, PullRequestOpened(url)), offered=url)

    def _land(self, task: Task, base: str, tip: str, commit: str) -> MergeResult | None:
        failure, tested = self._verify(task, base, tip, commit)
        if failure is not None:
            return MergeResult(self._decide(task, MergeFailed(failure)), tested=tested)
        self.run.claims.confirm(task.id)
        # A person who took the task back while the tests ran wins over a base that has not moved yet.
        if (unapproved := self._unapproved(self._approved(task.id), base)) is not None:
            return unapproved
        if self._approved(task.id).end_sha != task.end_sha:
            return None
        published: Published | MergeResult | None = Published()
        if self.run.settings.merge.push:
            published = self._publish(task, base, tip, commit, tested)
        if not isinstance(published, Published):
            return published
        moved = move_base(self.repository, base, tip, commit, f"gitticks: merge {task.id}")
        match moved:
            case BaseMoved():
                return None
            case CheckoutOverlaps() | BaseHeld():
                return _waits_for_checkout(moved)
            case Moved():
                for fixed in moved.fixed:
                    self.run.emit(Warned(None, fixed.words))
                with self._saying_merged(task, base, commit):
                    return self._close(task, base, commit, tested, published.settle(self.store))
        assert_never(moved)

    @contextlib.contextmanager
    def _saying_merged(self, task: Task, base: str, commit: str) -> Iterator[None]:
        """Says that the base has the work where the task is taken back in the moment in which it moved."""
        try:
            yield
        except RefusedError:
            self.run.emit(Warned(task.id, f"its work is in `{base}` all the same, as {commit[:10]}"))
            raise

    def _publish(
        self, task: Task, base: str, tip: str, commit: str, tested: str
    ) -> Published | MergeResult | None:
        """Takes a merge to the base's remote, unless a checkout here could not follow."""
        if (held := self._held(base, tip, commit)) is not None:
            return held
        try:
            return publish_closed(self.run, self.store, task, base, commit)
        except BaseNotSharedError as error:
            return MergeResult(waits=error.in_one_line, tested=tested)

    def _approved(self, task_id: TaskId) -> Task:
        task = self.store.task_file(task_id).task
        children = () if task.is_merging else open_children(self.store.snapshot(), task)
        refuse_unapproved(task, self.run.settings.merge.mode, children)
        return task

    def _unapproved(self, task: Task, base: str) -> MergeResult | None:
        """Voids an approval that is not sufficient under the current settings and history."""
        resolved = load_settings(self.repository, self.run.world.environment, {})
        history = self.store.history(task.id)
        try:
            void = why_not_carrying(self.repository, resolved, task, history, base=base, now=self.run.now)
        except GitticksError as error:  # this clone does not know whose signatures count
            return MergeResult(waits=error.in_one_line)
        if void is None:
            return None
        return MergeResult(self._decide(task, ApprovalVoided(f"its approval is not valid: {void}")))

    def _identity(self) -> Identity:
        if self._merger is None:
            self._merger = identity(self.repository, self.run.world.environment)
        return self._merger

    def _verify(self, task: Task, base: str, tip: str, commit: str) -> tuple[str | None, str]:
        if not has_commands(self.run.settings):
            return None, ""
        asked, passed = checked_merge(self.run, task, tip, commit), self._passed.get(task.id)
        if self._ahead is not None:
            self._ahead.suppose(base, commit)
        if passed is not None and may_stand_for(passed.merge, asked, passed=True):
            return None, passed.tested
        report = None if self._ahead is None else self._ahead.take(asked, self._stop)
        if report is None:
            report = check_merge(self.run, self._aside, commit, self._stop)
        if report.is_stopped:
            raise GitticksError(
                "it was stopped while its tests ran", hint=f"`gt merge {task.id}` merges it now"
            )
        tested = "; ".join(report.lines)
        self.run.emit(ChecksEnded(task.id, tested, report.failure))
        if report.failure is None:
            self._passed[task.id] = PassedCheck(asked, tested)
        return report.failure, tested

    def _close_found(self, task: Task, base: str, tip: str, sha: str) -> MergeResult:
        """Closes a task whose merge a kill left unrecorded; one whose work came otherwise is asked about once."""
        doubt = why_in_doubt(self.repository, tip, task.id, (task.start_sha, str(task.end_sha)), sha)
        if doubt is not None and task.merged_sha != sha:
            return MergeResult(self._decide(task, MergeFound(ENGINE, sha, doubt)))
        # One that was pushed before a kill is closed at the remote.
        is_shared = self.run.settings.merge.push
        closed = closed_at_remote(self.run, self.store, task, base) if is_shared else None
        return self._close(task, base, sha, "", closed)

    def _close(self, task: Task, base: str, sha: str, tested: str, closed: Decision | None) -> MergeResult:
        self.run.emit(TaskMerged(task.id, base, sha, tested))
        if closed is None:
            closed = self._decide(task, Merged(sha))
        else:
            self.run.tell(task, closed)
        return MergeResult(closed, sha=sha, tested=tested)

    def _decide(self, task: Task, trigger: Trigger) -> Decision:
        return self.run.decide(self.store, task, trigger)
