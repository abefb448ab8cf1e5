"""The loop: what runs side by side, what wakes it, what ends it, and what it leaves alone."""

from __future__ import annotations

import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gitticks.actions.context import Context
from gitticks.actions.run import run_context
from gitticks.agents.base import AgentReport
from gitticks.agents.process import StopRequest
from gitticks.git.repository import discover
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Isolation, Role, Status, TaskType
from gitticks.model.task import Approval, Ending
from gitticks.runner.events import RunEvent, RunWaits
from gitticks.runner.liveness import is_run_alive_at
from gitticks.runner.loop import Loop
from gitticks.runner.mergequeue import MergeQueue, MergeResult
from gitticks.runner.outcome import RunExit
from gitticks.runner.session import SessionRun
from tests.support.repositories import git
from tests.support.runs import COMMIT, DONE, HANDOFF, NO_PERSON, NO_REVIEW, TO_REVIEW, RunProject, project
from tests.support.tasks import CREATED, task_ids
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

HANG = 'touch "{here}/up.$GITTICKS_TASK"; sleep 600\n'


def hang(project: RunProject) -> str:
    """Returns the body of an agent that says that it is up and never ends."""
    return HANG.format(here=project.path.parent)


def is_up(project: RunProject, task_id: str = "k7f2") -> bool:
    return (project.path.parent / f"up.{task_id}").exists()


def read_until(process: subprocess.Popen[str], words: str) -> None:
    """Reads what a run prints until a line holds `words`."""
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return
    raise AssertionError(f"`{words}` never came")


def test_a_merge_waits_until_its_session_was_looked_at(project: RunProject) -> None:
    head = git("rev-parse", "main", at=project.path)
    approval = Approval("Ada", CREATED, head)
    project.make(status=Status.REVIEWING, approval=approval, end_sha=head, start_sha="a" * 40)
    context = Context(directory=project.path)
    loop = Loop(run_context(context, lambda _: None))
    with ThreadPoolExecutor(1) as pool:
        loop._jobs.start(pool, project.task("k7f2"), Role.WORKER, "k7f2", lambda _: None)
        loop._start_merge(pool)
        assert not loop._jobs.is_merging
        assert [job.role for job in loop._jobs] == [Role.WORKER]


def test_a_merge_that_is_tried_again_repeats_not_what_the_run_waits_for(project: RunProject) -> None:
    told: list[RunEvent] = []
    loop, over = Loop(run_context(Context(directory=project.path), told.append)), threading.Event()

    def merge(_: StopRequest) -> None:
        over.wait()

    project.make(status=Status.REVIEWING)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            loop._tell_waiting("nothing is ready")
            loop._jobs.start(pool, project.task("k7f2"), None, None, merge)
            loop._go_on(pool)
            over.set()
            loop._jobs.wait(LONGEST_SECONDS)
            loop._reap()
    assert [event.reason for event in told if isinstance(event, RunWaits)] == ["nothing is ready"]


def test_a_set_up_that_fails_a_reviewer_of_approved_work_keeps_no_merge_from_the_run(
    project: RunProject,
) -> None:
    head = git("rev-parse", "main", at=project.path)
    approval = Approval("Ada", CREATED, head)
    project.make(status=Status.REVIEWING, approval=approval, end_sha=head, start_sha="a" * 40)
    loop = Loop(run_context(Context(directory=project.path), lambda _: None))
    session = SessionRun(loop.run, TaskId("k7f2"), Role.REVIEWER, StopRequest())
    session.report = AgentReport(Ending.SANDBOX_FAILED, detail="no network")
    with ThreadPoolExecutor(1) as pool:
        loop._jobs.start(pool, project.task("k7f2"), Role.REVIEWER, "k7f2", lambda _: session)
    loop._reap()
    assert not loop._left_alone.ids


def test_a_bug_in_one_merge_is_reported_once_and_keeps_no_other_from_its_turn(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(NO_PERSON)
    project.make("k7f2")
    project.make("m3q8")
    real = MergeQueue.merge

    def fail(queue: MergeQueue, task_id: TaskId) -> MergeResult:
        if task_id == "k7f2":
            raise KeyError("odd")
        return real(queue, task_id)

    with monkeypatch.context() as patched:
        patched.setattr(MergeQueue, "merge", fail)
        ran = project.run()
    assert (ran.code, project.merges()) == (RunExit.LIMIT, ["m3q8"]), ran
    assert ran.seen.count("k7f2: skipped in this run: this is a bug in gitticks: KeyError") == 1
    assert (project.run().code, project.merges()) == (RunExit.DONE, ["k7f2", "m3q8"])


class TestManyTasks:
    def test_three_agents_work_side_by_side(self, project: RunProject) -> None:
        project.settings(NO_REVIEW)
        here = project.path.parent
        project.agent(
            f'touch "{here}/at.$GITTICKS_TASK"\n'
            f'while [ "$(ls "{here}" | grep -c ^at)" -lt 3 ]; do sleep 0.05; done\n{DONE}'
        )
        names = ("aaaa", "bbbb", "cccc")
        for name in names:
            project.make(name)
        project.run("--parallel", "3")
        assert [project.stands(name) for name in names] == [TO_REVIEW] * 3

    def test_a_blocker_is_merged_before_what_waits_for_it_starts(self, project: RunProject) -> None:
        project.settings(NO_PERSON)
        project.agent(f"[ $GITTICKS_TASK = bbbb ] && [ ! -e aaaa.txt ] && exit 9\n{DONE}")
        project.make("aaaa", priority=4)
        project.make("bbbb", priority=0, blocked_by=("aaaa",))
        assert project.run("--parallel", "2").code == RunExit.DONE
        assert project.merges() == ["bbbb", "aaaa"]

    def test_what_is_approved_is_merged_whatever_the_run_is_for(self, project: RunProject) -> None:
        project.settings(NO_REVIEW)
        for name in ("aaaa", "bbbb", "cccc"):
            project.make(name)
        project.run("aaaa")
        project.agent(hang(project))
        with project.running("bbbb") as process:
            until(lambda: is_up(project, "bbbb"))
            assert "approved; merging" in project.ok("approve", "aaaa")
            until(lambda: project.stands("aaaa") == (Status.DONE, None))
            project.ok("stop", "bbbb")
            process.wait(LONGEST_SECONDS)
        assert project.merges() == ["aaaa"]
        assert project.stands("cccc") == (Status.PENDING, None)

    def test_above_the_limit_of_reviews_only_returned_work_is_taken(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}limits: {{in_review: 2}}\n")
        for name in ("aaaa", "bbbb", "cccc"):
            project.make(name)
        assert project.run("--parallel", "1").code == RunExit.WAITS
        assert project.stands("cccc") == (Status.PENDING, None)
        project.ok("reject", "aaaa", "again")
        project.run("--parallel", "1")
        assert project.stands("aaaa") == TO_REVIEW
        assert project.task("aaaa").review_round == 2
        assert project.stands("cccc") == (Status.PENDING, None)

    def test_tasks_of_one_epic_take_turns_in_its_workspace(self, project: RunProject) -> None:
        project.settings(f"{NO_PERSON}isolation: epic\n")
        lock = project.path.parent / "lock"
        project.agent(f'mkdir "{lock}" || exit 9\nsleep 0.3\n{DONE}rmdir "{lock}"')
        project.make("epic", type=TaskType.EPIC)
        for name in ("aaaa", "bbbb"):
            project.make(name, parent="epic")
        assert project.run("--parallel", "3").code == RunExit.DONE
        assert [project.stands(name)[0] for name in ("aaaa", "bbbb", "epic")] == [Status.DONE] * 3
        assert project.merges() == ["epic"]
        assert {"aaaa.txt", "bbbb.txt"} <= set(project.files())

    def test_an_epic_of_separate_tasks_closes_with_the_last(self, project: RunProject) -> None:
        project.settings(NO_PERSON)
        project.make("epic", type=TaskType.EPIC)
        for name in ("aaaa", "bbbb"):
            project.make(name, parent="epic")
        assert project.run("epic", "--parallel", "2").code == RunExit.DONE
        assert project.stands("epic") == (Status.DONE, None)
        assert sorted(project.merges()) == ["aaaa", "bbbb"]

    def test_an_epics_isolation_counts_for_its_tasks(self, project: RunProject) -> None:
        project.settings(NO_PERSON)
        project.make("epic", type=TaskType.EPIC, isolation=Isolation.EPIC)
        for name in ("aaaa", "bbbb"):
            project.make(name, parent="epic")
        project.make("cccc", parent="epic", isolation=Isolation.TASK)
        assert project.run("--parallel", "3").code == RunExit.DONE
        assert sorted(project.merges()) == ["cccc", "epic"]
        assert project.task("aaaa").branch == project.task("bbbb").branch == "gitticks/work/epic"

    def test_an_epic_that_is_sent_back_gets_a_child_that_carries_the_feedback(
        self, project: RunProject
    ) -> None:
        project.settings(f"{NO_REVIEW}isolation: epic\n")
        project.make("epic", type=TaskType.EPIC)
        project.make("aaaa", parent="epic")
        project.run()
        project.ok("approve", "aaaa")
        assert project.stands("epic") == TO_REVIEW
        said = project.ok("reject", "epic", "The border is missing.")
        child = next(one for one in task_ids(project.store) if one not in ("epic", "aaaa"))
        assert said.startswith(f"epic  rejected; its new task {child} has your feedback")
        assert project.task(child).title == "Rework: Login loses the return URL"
        assert "The border is missing." in project.file(child).summary
        project.run()
        project.ok("approve", child)
        project.ok("approve", "epic")
        assert project.merges() == ["epic"]

    def test_without_isolation_work_happens_where_the_user_is(self, project: RunProject) -> None:
        project.settings(f"{NO_PERSON}isolation: none\n")
        project.make("aaaa")
        project.make("bbbb")
        assert project.run("--parallel", "2").code == RunExit.DONE
        assert {"aaaa.txt", "bbbb.txt"} <= set(project.files())
        assert git("status", "--porcelain", at=project.path) == ""

    def test_only_what_is_named_is_taken(self, project: RunProject) -> None:
        project.settings(NO_REVIEW)
        project.make("aaaa")
        project.make("bbbb")
        project.run("bbbb")
        assert project.stands("aaaa") == (Status.PENDING, None)
        assert project.stands("bbbb") == TO_REVIEW


class TestAuto:
    def test_it_wakes_for_a_new_task_and_ends_at_ctrl_c(self, project: RunProject) -> None:
        project.settings(NO_REVIEW)
        with project.running("--auto", "--all") as process:
            until(lambda: is_run_alive_at(discover(project.path).own_place))
            task_id = project.create("Say hello")
            until(lambda: project.stands(task_id) == TO_REVIEW)
            project.interrupt(process)
            assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED

    def test_it_says_that_it_waits_for_reviews_and_goes_on_after_one(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}limits: {{in_review: 1}}\n")
        project.make("k7f2", priority=0)
        project.make("m3xq")
        with project.running("--auto", "--all", "--parallel", "1") as process:
            read_until(process, "1 ready task waits: 1 task in review, and `limits.in_review` is 1")
            assert "  1 ready task waits: 1 task in review, and" in project.ok("status")
            project.ok("approve", "k7f2", "--no-wait")
            until(lambda: project.stands("m3xq") == TO_REVIEW)
            project.interrupt(process)
            assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED

    def test_it_takes_up_a_limit_and_a_budget_that_are_changed_meanwhile(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}limits: {{in_review: 1}}\n")
        project.make("k7f2", priority=0)
        project.make("m3xq")
        with project.running("--auto", "--all", "--parallel", "1") as process:
            read_until(process, "1 ready task waits: 1 task in review, and `limits.in_review` is 1")
            project.ok("config", "limits.in_review", "5")
            until(lambda: project.stands("m3xq") == TO_REVIEW)
            project.ok("config", "budget.run.iterations", "2")
            assert process.wait(LONGEST_SECONDS) == RunExit.LIMIT
            read_until(process, "the limit of 2 iterations is reached")

    def test_it_leaves_standalone_tasks_out_and_names_them(self, project: RunProject) -> None:
        project.make()
        with project.running("--auto") as process:
            read_until(process, "ready, but not in this run")
            project.interrupt(process)
            assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED
        assert project.stands() == (Status.PENDING, None)

    def test_it_ends_when_its_time_is_up(self, project: RunProject) -> None:
        assert project.run("--auto", "--timeout", "1s").code == RunExit.LIMIT

    def test_it_ends_when_somebody_stops_it(self, project: RunProject) -> None:
        project.agent("echo")
        project.make()
        with project.running("--auto", "--all", "--task-iterations", "2") as process:
            until(lambda: project.stands()[0] is Status.STUCK)
            project.ok("stop")
            assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED

    @pytest.mark.parametrize("how", ["gt stop", "Ctrl-C"])
    def test_until_it_has_ended_it_is_said_that_it_will(self, project: RunProject, how: str) -> None:
        up = project.shared / "up"
        project.agent(f'touch "{up}"; while [ -e "{up}" ]; do sleep 0.05; done')
        project.make()
        project.make("m3xq")
        with project.running("k7f2") as process:
            until(up.exists)
            if how == "gt stop":
                project.ok("stop")
            else:
                project.interrupt(process)
            until(lambda: ", ends after its current iterations\n" in project.ok("status"))
            assert "the run ends and takes nothing more" in project.gt("run", "--add", "m3xq").err
            up.unlink()
            assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED
        status = project.ok("status")
        assert "current iterations" not in status
        assert f": interrupted by {how if how == 'Ctrl-C' else f'`{how}`'}\n" in status


class TestInterrupts:
    def test_ctrl_c_lets_the_iteration_end(self, project: RunProject) -> None:
        project.settings(NO_REVIEW)
        here = project.path.parent
        project.agent(
            f'touch "{here}/up.$GITTICKS_TASK"; while [ ! -e "{here}/go" ]; do sleep 0.05; done\n{DONE}'
        )
        project.make("aaaa")
        project.make("bbbb")
        with project.running("--parallel", "1") as process:
            until(lambda: is_up(project, "aaaa"))
            project.interrupt(process)
            read_until(process, "Ctrl-C again")
            (here / "go").touch()
            assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED
        assert project.stands("aaaa") == TO_REVIEW
        assert project.stands("bbbb") == (Status.PENDING, None)

    def test_ctrl_c_twice_stops_agents_and_counts_nothing(self, project: RunProject) -> None:
        project.agent("echo x > left.txt\n" + hang(project))
        project.make("aaaa")
        project.make("bbbb")
        with project.running("--parallel", "2") as process:
            until(lambda: is_up(project, "aaaa") and is_up(project, "bbbb"))
            project.interrupt(process)
            read_until(process, "Ctrl-C again")
            project.interrupt(process)
            assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED
        for name in ("aaaa", "bbbb"):
            task = project.task(name)
            assert (task.status, task.crash_count) == (Status.WORKING, 0)
            assert project.last(EventType.SESSION_ENDED, name).data["ending"] == "stopped"
            assert (project.workspace(name) / "left.txt").exists()

    def test_ctrl_c_twice_ends_the_tests_of_a_merge(self, project: RunProject) -> None:
        here = project.path.parent
        test = f'if [ -e "{here}/tested" ]; then touch "{here}/up.k7f2"; sleep 600; fi; touch "{here}/tested"'
        project.settings(f"{NO_PERSON}verify: {{test: '{test}'}}\n")
        project.make()
        before = git("rev-parse", "main", at=project.path)
        with project.running() as process:
            until(lambda: is_up(project))
            project.interrupt(process)
            read_until(process, "Ctrl-C again")
            project.interrupt(process)
            assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED
        assert project.task("k7f2").is_merging
        assert git("rev-parse", "main", at=project.path) == before


class TestPeople:
    @pytest.mark.parametrize(
        ("arguments", "stands"),
        [
            (("cancel", "k7f2"), (Status.CANCELLED, None)),
            (("update", "k7f2", "--status", "stuck"), (Status.STUCK, Awaiting.ESCALATION)),
            (("update", "k7f2", "--awaiting", "work"), (Status.WORKING, Awaiting.WORK)),
        ],
    )
    def test_who_takes_a_task_away_stops_its_agent_and_nothing_advances(
        self,
        project: RunProject,
        arguments: tuple[str, ...],
        stands: tuple[Status, Awaiting | None],
    ) -> None:
        project.agent(f"{COMMIT}{HANDOFF}echo '<promise>COMPLETE</promise>'\n{hang(project)}")
        project.make()
        with project.running() as process:
            until(lambda: is_up(project))
            project.ok(*arguments)
            assert process.wait(LONGEST_SECONDS) != RunExit.INTERRUPTED
        assert project.stands() == stands
        assert project.last(EventType.SESSION_ENDED).data["ending"] == "stopped"
        assert "k7f2.txt" in project.files("gitticks/work/k7f2")

    def test_a_task_begun_by_hand_is_left_alone(self, project: RunProject) -> None:
        project.make()
        project.ok("start", "k7f2")
        assert project.run().code == RunExit.DONE
        assert EventType.SESSION_ENDED not in project.kinds()

    def test_no_task_s_file_puts_an_agent_into_the_checkout(self, project: RunProject) -> None:
        project.settings(NO_PERSON)
        project.make(isolation=Isolation.NONE)
        project.make("m3xq", start_sha=git("rev-parse", "HEAD", at=project.path))  # as if it were begun there
        base = git("rev-parse", "main", at=project.path)
        ran = project.run()
        for task in ("k7f2", "m3xq"):
            assert f"`{task}` is to be worked on in your own checkout, which a task's file alone" in ran.seen
            assert f"`gt run --isolation none {task}`" in ran.seen
        assert git("rev-parse", "main", at=project.path) == base
        assert project.run("--isolation", "none", "k7f2").code == RunExit.DONE
        assert not project.workspace().exists()
        assert project.stands()[0] is Status.DONE
