"""Pushes approved work as pull requests, and applies what happens to them."""

from __future__ import annotations

import re
import threading

from gitticks.agents.base import neutral_environment
from gitticks.agents.process import StopRequest
from gitticks.bugs import failure_of_task
from gitticks.document.taskfile import TaskFile
from gitticks.errors import RefusedError
from gitticks.forge import Forge, ForgeError, UnavailableError, forge_of
from gitticks.git.large_files import push_large_files
from gitticks.git.locks import hold_lock
from gitticks.git.merges.commits import has_work
from gitticks.git.merges.history import is_ancestor
from gitticks.git.process import GitError, run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.remote_refs import LeasedMove, push_leased, remote_refs
from gitticks.git.sharing import Pushed, address_of, push, remote_of_branch
from gitticks.model.event import Actor, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.pull_request import PullRequest, PullState
from gitticks.model.settings import MergeMode
from gitticks.model.status import ActorKind, Status
from gitticks.model.task import Task
from gitticks.runner import workspaces
from gitticks.runner.context import RunContext
from gitticks.runner.events import Warned
from gitticks.runner.liveness import live_tasks
from gitticks.runner.shared_base import LONGEST_MERGE_SECONDS, MERGE_LOCK, BaseNotSharedError, catch_up
from gitticks.runner.workspace_removal import remove_merged, tidy_up
from gitticks.store.approvals import why_unproven
from gitticks.store.branch import Store
from gitticks.store.settings import load_settings
from gitticks.workflow.artifacts import checks_of
from gitticks.workflow.pull_requests import opened_in
from gitticks.workflow.triggers import MergeFound, PullRequestSeen, Trigger

_LONGEST_TEXT = 60_000
_LONGEST_TITLE = 200
_CALLS = re.compile(
    r"(?mi)(?<![\w`/])@(?=\w)|(?<!`)[#!](?=\d)|^\s*/(?=\w)"
    r"|\b(?:clos|fix|resolv|implement)(?=\w{0,3}:?\s+(?:issues?\s+)?<?(?:https?://|[a-z]+-\d))"
)
"""What a forge acts on in a text: names that it notifies, issues that it closes, by address too, GitLab's commands."""
_SECONDS_EACH = 9.0
"""How long each open pull request keeps the next look away: it takes six calls, and GitHub allows 5,000 an hour."""


class PullRequests:
    """The pull requests of one clone; not to be shared between threads, but for `stop`, which ends what is under way."""

    def __init__(self, run: RunContext) -> None:
        self.run = run
        self.repository = run.repository
        self.stop = StopRequest()
        self._warned: set[Warned] = set()
        self._warns: set[Warned] = set()

    def offer(self, store: Store, task: Task, base: str) -> str:
        """Pushes the approved head and returns the address of the pull request that asks for its merge.

        Raises:
            GitticksError: the remote or the forge did not do it; nothing is lost, and it may be tried again.
        """
        branch = str(task.branch)
        remote, forge = self._forge(base)
        found = forge.find(branch)  # first, since where the forge cannot be asked nothing is to be pushed
        self._push(store, remote, task, branch)
        if found is not None:
            return found
        file = store.task_file(task.id)
        title = " ".join(task.title.split())[:_LONGEST_TITLE]
        return forge.open(branch, base, title, self._text(store, file))

    def _forge(self, base: str) -> tuple[str, Forge]:
        remote = remote_of_branch(self.repository, base)
        if remote is None:
            raise ForgeError(
                f"`merge.mode` is `pull-request`, and `{base}` has no remote",
                hint="`git remote add origin URL`, or `gt config merge.mode queue`",
            )
        asked = ["remote", "get-url", "--push", "--", remote]
        resolved = run_git(asked, repository_dir=self.repository.common_dir, check=False).text
        addresses = [resolved.strip(), address_of(self.repository, remote)]
        environment = neutral_environment(self.run.world.environment)
        return remote, forge_of(remote, addresses, self.run.settings.merge.forge, environment, self.stop)

    def _push(self, store: Store, remote: str, task: Task, branch: str) -> None:
        head = str(task.end_sha)
        try:
            push_large_files(self.repository, remote, head)
        except GitError as error:
            raise ForgeError(error.message, hint=error.hint) from error
        pushed = push(self.repository, remote, head, branch)
        if pushed.outcome is Pushed.DONE:
            return
        if pushed.outcome is not Pushed.LATE:
            how = "refused" if pushed.outcome is Pushed.REFUSED else "did not say whether it accepted"
            raise ForgeError(
                f"`{remote}` {how} `{branch}`: {pushed.words}", hint=f"`git push {remote} {branch}` shows why"
            )
        # The agent rewrote its branch, or somebody else pushed to it: only what we pushed ourselves is replaced.
        ref = BRANCHES + branch
        there = remote_refs(self.repository, remote, ref).get(ref)
        ours = {
            event.data.get("head") for event in store.history(task.id) if event.type is EventType.AWAITING_SET
        }
        if there in ours and push_leased(self.repository, remote, [LeasedMove(ref, there, head)]):
            return
        raise ForgeError(
            f"somebody else pushed to `{branch}` on `{remote}`, and their commits are not overwritten",
            hint=f"`git -C {self.run.settings.workspace.dir}/{task.id} pull --no-rebase {remote} {branch}` takes them in, "
            f"then `gt merge {task.id}`",
        )

    def _text(self, store: Store, file: TaskFile) -> str:
        """Returns what a reviewer wants to know; nothing in it calls anybody or anything on the forge."""
        checks = checks_of(store.history(file.task.id), file.task.end_sha)
        parts = [
            ("", file.summary),
            ("## Acceptance criteria\n\n", file.section(Section.ACCEPTANCE)),
            ("## Hand-off\n\n", file.section(Section.HANDOFF)),
            ("## Review\n\n", file.section(Section.REVIEW)),
            ("## Checks\n\n", checks),
        ]
        text = "\n\n".join(f"{heading}{part.strip()}" for heading, part in parts if part and part.strip())
        safe = _CALLS.sub("\\g<0>\u200b", text)
        return f"{safe[:_LONGEST_TEXT]}\n\n---\nTask: {file.task.id}\n"

    def look(self) -> int:
        """Asks the forge about each pull request that gitticks opened, and notifies the listener of what moved a task.

        Of a task that was sent back, and that nobody works on at this moment, only the merge of its pull request
        counts. What cannot be told of one task is warned of, and the others are looked at. Returns how many were
        asked about.

        Raises:
            ForgeError: the forge cannot be asked; what was asked for before that is done.
        """
        if self.run.settings.merge.mode is not MergeMode.PULL_REQUEST:
            return 0
        store = self.run.open_store()
        live = live_tasks(self.repository.own_place)
        tasks = store.snapshot().all_tasks().values()
        asked = [one for one in tasks if one.pr and one.is_open and (one.is_offered or one.id not in live)]
        count = 0
        for task in sorted(asked, key=lambda one: one.id):
            try:
                count += self._look_at(store, task)
            except UnavailableError:
                raise
            except Exception as error:
                if self.stop.is_requested:
                    raise
                failure = failure_of_task(error, f"gt run {task.id}")
                hint = failure.hint or f"`gt close {task.id}` closes it without the forge"
                self.warn(task.id, f"its pull request was not checked: {failure.message}", hint)
        return count

    def _look_at(self, store: Store, task: Task) -> bool:
        """Takes in what the forge says of one task; False if it was not asked."""
        url = task.pr if task.is_offered else opened_in(store.history(task.id))
        if url is None:
            if task.status is Status.REVIEWING and not task.is_merging:
                words = f"gitticks did not open {task.pr}, and does not follow it"
                self.warn(task.id, words, f"`gt approve {task.id}` opens a pull request")
            return False
        base = workspaces.base_of(task, self.run.settings, self.repository)
        _, forge = self._forge(base)
        # A project that was renamed or moved has it under another address.
        here = url if forge.number_of(url) is not None else forge.find(str(task.branch)) or url
        pull = forge.look(here)._replace(url=url)
        if task.is_offered:
            pull = self._with_logs(forge, pull)
        elif pull.state is not PullState.MERGED or pull.merged_as == task.merged_sha:
            return True
        trigger = self._trigger(store, task, base, pull)
        if trigger is not None:
            self._decide(store, task, trigger)
        return True

    def _with_logs(self, forge: Forge, pull: PullRequest) -> PullRequest:
        if any(one.is_running for one in pull.checks):
            return pull
        checks = [one._replace(log=forge.log_of(one)) if one.is_red else one for one in pull.checks]
        return pull._replace(checks=tuple(checks))

    def _trigger(self, store: Store, task: Task, base: str, pull: PullRequest) -> Trigger | None:
        """Returns what follows for a task; a merge counts once this clone's base has it, which is brought up to date."""
        if pull.state is not PullState.MERGED or pull.base != base or pull.merged_as is None:
            return PullRequestSeen(pull)
        try:
            if not self._has(base, pull.merged_as):
                with hold_lock(self.repository.own_file(MERGE_LOCK), wait_seconds=LONGEST_MERGE_SECONDS):
                    catch_up(self.repository, base)
            if self._has(base, pull.merged_as):
                tip = str(read_ref(self.repository.common_dir, BRANCHES + base))
                # Whoever merged it may not have had the rework, which still waits for a person.
                is_whole = pull.head == task.end_sha or has_work(self.repository, tip, task.id, task.end_sha)
                doubt = None if is_whole else "without its last commits"
                resolved = load_settings(self.repository, self.run.world.environment, {})
                history = store.history(task.id)
                doubt = doubt or why_unproven(self.repository, resolved, task, history, self.run.now)
                return MergeFound(Actor(ActorKind.HUMAN, pull.merged_by), pull.merged_as, doubt)
        except BaseNotSharedError as error:
            self.warn(task.id, f"its pull request is merged; {error.message}", error.hint)
            return None
        self.warn(
            task.id,
            f"its pull request is merged as {pull.merged_as[:7]}, which `{base}` does not have",
            "`gt sync`",
        )
        return None

    def _has(self, base: str, commit: str) -> bool:
        tip = read_ref(self.repository.common_dir, BRANCHES + base)
        is_here = self.run.open_store().objects.has(commit)
        return tip is not None and is_here and is_ancestor(self.repository, commit, tip)

    def _decide(self, store: Store, task: Task, trigger: Trigger) -> None:
        try:
            decision = self.run.decide(store, task, trigger)
        except RefusedError:
            return  # a person was faster
        if isinstance(trigger, MergeFound) and not decision.task.is_open:
            remove_merged(self.run, decision.task)
            tidy_up(self.repository)  # the end of the run may be days away

    def warn(self, task_id: TaskId | None, message: str, hint: str | None = None) -> None:
        """Warns, unless the look before has done so in the same words."""
        warning = Warned(task_id, f"{message}; {hint}" if hint else message)
        if warning not in self._warned:
            self.run.emit(warning)
        self._warns.add(warning)

    def follow(self, over: threading.Event, every_seconds: float) -> None:
        """Looks again and again until `over` is set; what goes wrong is warned of, and rests the looking."""
        rest = every_seconds
        while not over.wait(rest):
            rest = max(every_seconds, self.look_once())

    def look_once(self) -> float:
        """Looks, warns of what goes wrong, and returns for how many seconds the forge is to be left alone then."""
        self._warned, self._warns = self._warns, set()
        try:
            return self.look() * _SECONDS_EACH
        except Exception as error:  # noqa: BLE001 - this thread follows pull requests as long as the run lasts
            if self.stop.is_requested:
                return 0.0
            failure = failure_of_task(error, "gt sync")
            self.warn(None, f"pull requests: {failure.message}", failure.hint)
            return failure.rest_seconds if isinstance(failure, ForgeError) else ForgeError.rest_seconds
