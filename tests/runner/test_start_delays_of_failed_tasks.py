"""Tasks that a run leaves alone until somebody changes them."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from gitticks.actions.context import Context
from gitticks.actions.run import run_context
from gitticks.errors import GitticksError, RefusedError
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.settings import PermissionMode
from gitticks.model.status import Status
from gitticks.runner.events import RunEvent, Warned
from gitticks.runner.outcome import RunExit
from gitticks.runner.permissions import with_present_mode
from gitticks.runner.records import UnderWayError
from gitticks.runner.start_delays import LeftAlone
from gitticks.store.permissions import policy_layers
from gitticks.store.settings import keeping_team_settings
from tests.runner.test_start_delays import Clock
from tests.support.repositories import git
from tests.support.runs import DONE, NO_PERSON, PASS, RunProject, allow_shared, project
from tests.support.tasks import CREATED, write_files
from tests.support.waiting import until

__all__ = ["project"]


def test_without_isolation_a_dirty_checkout_is_left_alone(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}isolation: none\n")
    (project.path / "README.md").write_text("mine\n")
    project.make()
    ran = project.run()
    assert ran.code == RunExit.LIMIT
    assert "while it has uncommitted changes" in ran.err
    assert project.stands() == (Status.PENDING, None)
    assert (project.path / "README.md").read_text() == "mine\n"
    assert "not started\n  k7f2  in the last run: " in project.ok("status")
    project.ok("update", "k7f2", "-p", "1")
    assert "ready\n  k7f2  " in project.ok("status")


def test_a_task_begins_once_its_base_has_the_first_commit(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.make()
    git("checkout", "-q", "--orphan", "new", at=project.path)
    with project.running("--auto", "--all", "--poll", "1s") as process:
        wait_for_words(process, "skipped in this run")
        git("commit", "-q", "--allow-empty", "-m", "first", at=project.path)
        until(lambda: project.stands()[0] is Status.DONE, "the work after the first commit")
        project.interrupt(process)
        process.wait()


def test_what_is_added_to_the_run_is_tried_again(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}isolation: none\n")
    (project.path / "README.md").write_text("mine\n")
    project.make()
    with project.running("--auto", "--all", "--poll", "10m") as process:
        wait_for_words(process, "skipped in this run")
        until(
            lambda: "not started\n  k7f2  no agent can work" in project.ok("status"),
            "the reason in the status",
        )
        git("checkout", "-q", "README.md", at=project.path)
        project.ok("run", "--add", "k7f2")
        until(lambda: project.stands()[0] is Status.DONE, "the work that was asked for")
        project.interrupt(process)
        process.wait()


def wait_for_words(process: subprocess.Popen[str], words: str) -> None:
    """Reads what a run says up to some words."""
    assert process.stdout is not None
    assert any(words in line for line in process.stdout)


@pytest.mark.parametrize("role", ["worker", "reviewer"])
def test_a_set_up_that_fails_for_a_while_makes_no_task_stuck(project: RunProject, role: str) -> None:
    up = project.shared / "registry-is-up"
    project.settings(f"human: when-required\nlimits: {{rest: 1s}}\nsetup: {{run: 'test -e {up}'}}\n")
    goes = f"rm -f {up}\n" if role == "reviewer" else ""
    project.agent(f'if [ "$GITTICKS_ROLE" = reviewer ]; then\n{PASS}else\n{goes}{DONE}fi')
    if goes:
        up.touch()
    project.make("aaaa")
    project.make("bbbb")
    with project.running("--auto", "--all", "--poll", "1s") as process:
        for _ in range(6):  # three for each
            wait_for_words(process, "tried again in 1 s: the set-up command `test -e ")
        project.agent(f'if [ "$GITTICKS_ROLE" = reviewer ]; then\n{PASS}else\n{DONE}fi')
        up.touch()
        until(
            lambda: {project.stands(name)[0] for name in ("aaaa", "bbbb")} == {Status.DONE},
            "the work after it",
        )
        project.interrupt(process)
        process.wait()
    assert EventType.START_FAILED not in project.kinds("aaaa")


def test_a_set_up_that_is_wrong_is_named_and_the_task_goes_on_once_it_is_changed(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.ok("config", "setup.run", "exit 4")
    project.make()
    for _ in range(3):
        ran = project.run()
        assert ran.code == RunExit.LIMIT
        assert "skipped in this run: the set-up command `exit 4` failed (exit code 4)" in ran.err
    assert project.stands() == (Status.WORKING, None)
    assert "not started\n  k7f2  in the last run: the set-up command" in project.ok("status")
    project.ok("config", "setup.run", "true")
    assert project.run().code == RunExit.DONE


def test_what_was_mended_while_it_failed_is_tried_again(project: RunProject) -> None:
    project.make()
    run = run_context(Context(directory=project.path), lambda _: None)
    alone, task = LeftAlone(run), project.task("k7f2")
    alone.note_start(task.id)
    run.rules = ("mended",)
    alone.note_failure(task.id, GitticksError("the prompt template is broken"))
    alone.forget_changed({task.id: task})
    assert not alone.ids
    alone.note_start(task.id)
    alone.note_failure(task.id, GitticksError("the prompt template is broken"))
    alone.forget_changed({task.id: task})
    assert set(alone.ids) == {"k7f2"}
    run.rules = ("an agent is gone",)  # what no job began with
    alone.forget_changed({task.id: task})
    alone.add(task.id, GitticksError("there is no agent `mine`"))
    alone.forget_changed({task.id: task})
    assert set(alone.ids) == {"k7f2"}


def test_a_run_that_reached_its_limit_ends_well_where_a_ready_task_has_no_agent(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(DONE)
    project.make()
    project.make("m3xq", agent="ghost", priority=4)
    ran = project.run("--max-iterations", "1")
    assert ran.code == RunExit.LIMIT, ran
    assert "`gt run` continues" in ran.seen


def test_what_was_refused_once_is_tried_again_and_what_failed_is_once_somebody_changed_it(
    project: RunProject,
) -> None:
    project.make()
    said: list[RunEvent] = []
    alone = LeftAlone(run_context(Context(directory=project.path), said.append))
    task = project.task("k7f2")
    alone.note_failure(task.id, RefusedError("somebody moved it"))
    assert not alone.ids
    alone.note_end(task.id)
    alone.note_failure(task.id, RefusedError("somebody moved it"))
    assert not alone.ids
    alone.note_failure(task.id, RefusedError("somebody moved it"))
    alone.add(TaskId("gone"), GitticksError("it is gone"))
    assert [type(one) for one in said] == [Warned, Warned]
    assert set(alone.ids) == {"k7f2", "gone"}
    alone.forget_changed({task.id: task})
    assert set(alone.ids) == {"k7f2"}
    alone.forget_changed({task.id: replace(task, updated=CREATED.replace(year=2030))})
    assert not alone.ids


def test_what_another_command_is_starting_is_looked_at_again_and_said_once(project: RunProject) -> None:
    project.make()
    said: list[RunEvent] = []
    run, clock = run_context(Context(directory=project.path), said.append), Clock()
    run.world = clock
    alone = LeftAlone(run)
    task = project.task("k7f2")
    alone.note_failure(task.id, UnderWayError(task.id))  # which every task is looked at once more after
    for _ in range(2):
        alone.note_failure(task.id, UnderWayError(task.id))
        alone.forget_changed({task.id: task})
        assert set(alone.ids) == {"k7f2"}
        clock.at += 5
        alone.forget_changed({task.id: task})
        assert not alone.ids
    assert len(said) == 1, said


def test_what_a_template_failed_is_tried_again_once_that_is_changed(project: RunProject) -> None:
    project.settings(NO_PERSON)
    with project.running("--auto", "--all", "--poll", "1s") as process:
        wait_for_words(process, "nothing is ready")
        write_files(project.store, {"prompts/worker.md": b"{% if %}"})
        project.make()
        wait_for_words(process, "skipped in this run: the prompt template `worker.md:1` is broken")
        write_files(project.store, {"prompts/worker.md": b"Do it. {{ task.title }}"})
        until(lambda: project.stands()[0] is Status.DONE, "the work after the template was mended")
        project.interrupt(process)
        process.wait()


def test_a_run_goes_on_with_its_settings_while_config_yaml_cannot_be_read(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_shared(project.shared, monkeypatch)
    project.settings(NO_PERSON)
    project.agent(f"until [ -e '{project.shared}/go' ]; do sleep 0.1; done\n{DONE}")
    project.make()
    sound = project.store.read("config.yaml") or b""
    with project.running("--auto", "--all", "--poll", "1s") as process:
        wait_for_words(process, "started")
        write_files(project.store, {"config.yaml": sound + b"newkey: 5\n"})
        wait_for_words(process, "no setting `newkey`; the run keeps the settings that it has")
        why = "config.yaml:7:1: there is no setting `newkey`"
        assert f"warning: the settings cannot be read: {why}\n" in project.gt("status").err
        (project.shared / "go").touch()
        until(lambda: project.stands()[0] is Status.DONE, "the work that ended meanwhile")
        project.make("m3xq")
        until(lambda: project.stands("m3xq")[0] is Status.DONE, "work that is new")
        project.interrupt(process)
        rest = process.communicate()[0]
    assert "newkey" not in rest


def test_an_agent_that_is_defined_while_a_run_is_active_works_in_it_once_it_is_trusted(
    project: RunProject,
) -> None:
    project.settings(NO_PERSON)
    with project.running("--auto", "--all", "--poll", "1s") as process:
        wait_for_words(process, "nothing is ready")
        project.make(agent="other")
        wait_for_words(process, "skipped in this run: there is no agent `other`")
        project.ok("config", "agents.other.argv", f'["{project.agent_file}"]')
        until(lambda: project.stands()[0] is Status.DONE, "the work of an agent that is new")
        text = (project.board / "config.yaml").read_text()
        arrive(project, text.replace("  other:", "  another:"))
        names = "`agents.another.argv`, `agents.other.argv`"  # the other one is gone
        wait_for_words(process, f"{names} came from elsewhere, and nobody has trusted them here")
        project.make("m3xq", agent="another")
        wait_for_words(process, "skipped in this run: there is no agent `another`")
        project.ok("trust", "--yes")
        until(lambda: project.stands("m3xq")[0] is Status.DONE, "the work of an agent that is trusted")
        project.interrupt(process)
        process.wait()


def arrive(project: RunProject, settings: str) -> None:
    """Makes a colleague's settings the team's, as a fetch does."""
    (project.board / "config.yaml").write_text(settings)
    git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "from elsewhere", at=project.board)


def test_what_arrives_during_a_run_waits_for_trust_and_what_tightens_counts_at_once(
    project: RunProject,
) -> None:
    project.settings(NO_PERSON)
    before = (project.store.read("config.yaml") or b"").decode()
    with project.running("--auto", "--all", "--poll", "1s") as process:
        wait_for_words(process, "nothing is ready")
        arrive(project, f"{before}permissions: {{mode: auto-all, default: deny}}\nlimits: {{idle: 1m}}\n")
        wait_for_words(process, "changed settings are taken up: `permissions.default`, `limits.idle`")
        wait_for_words(
            process,
            "`permissions.mode` came from elsewhere, and nobody has trusted it here yet; "
            "the run keeps what it has (`gt trust` shows what is waiting, and asks)",
        )
        project.ok("trust", "--yes")
        wait_for_words(process, "changed settings are taken up: `permissions.mode`")
        project.interrupt(process)
        rest = process.communicate()[0]
    assert "came from elsewhere" not in rest


def test_what_tightened_during_a_run_is_what_later_settings_are_measured_by(project: RunProject) -> None:
    project.settings("budget: {run: {cost: 9}}\n")
    before = (project.store.read("config.yaml") or b"").decode()
    run = run_context(Context(directory=project.path), lambda _: None)

    def cost() -> float | None:
        run.renew_settings()
        return run.settings.budget.run.cost

    with keeping_team_settings(run.repository):
        arrive(project, before.replace("cost: 9", "cost: 5"))
        assert cost() == 5
        arrive(project, before)
        assert cost() == 5
    assert project.gt("run").code == 3


def test_what_a_person_commits_on_the_board_during_a_run_is_theirs_at_once(project: RunProject) -> None:
    project.settings(NO_PERSON)
    with project.running("--auto", "--all", "--poll", "1s") as process:
        wait_for_words(process, "nothing is ready")
        for mine in ("budget: {run: {cost: 50}}\n", "parallel: 4\n"):
            with (project.board / "config.yaml").open("a") as file:
                file.write(mine)
            git("commit", "-qam", "mine", at=project.board)
            told = next(line for line in process.stdout or () if "setting" in line or "elsewhere" in line)
            assert "changed settings" in told
        project.interrupt(process)
        process.wait()


def test_a_look_between_the_hook_and_the_commit_takes_no_trust_from_what_a_person_commits(
    project: RunProject,
) -> None:
    project.settings(NO_PERSON)
    run = run_context(Context(directory=project.path), lambda _: None)
    with keeping_team_settings(run.repository):
        run.renew_settings()
        with (project.board / "config.yaml").open("a") as file:
            file.write("budget: {run: {cost: 50}}\n")
        git("add", "config.yaml", at=project.board)
        git("hook", "run", "pre-commit", at=project.board)
        run.renew_settings()
        git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "mine", at=project.board)
        run.renew_settings()
    assert run.settings.budget.run.cost == 50


def test_each_session_of_a_run_goes_by_what_somebody_here_has_trusted(project: RunProject) -> None:
    rule = "{operation: shell, commands: [rm]}"
    ours = "permissions:\n  deny: [{operation: network}]\n"
    project.settings(ours)
    before = (project.store.read("config.yaml") or b"").decode()
    run = run_context(Context(directory=project.path), lambda _: None)

    def in_effect() -> tuple[object, ...]:
        run.renew_settings()
        team, *_ = policy_layers(run.repository, {}, {})
        modes = [with_present_mode(run.registry.spec(name), run).mode for name in run.settings.agents]
        return [one.operation for one in team.deny], [one.operation for one in team.allow], modes

    with keeping_team_settings(run.repository):
        theirs = f"permissions:\n  deny: [{rule}, {{operation: network}}]\n  allow: [{rule}]\n  mode: yolo\n"
        arrive(project, before.replace(ours, theirs))
        assert in_effect() == (["shell", "network"], [], [PermissionMode.AUTO_EDIT])
        arrive(project, before.replace(ours, theirs) + "newkey: 1\n")
        assert in_effect() == (["shell", "network"], [], [PermissionMode.AUTO_EDIT])
        arrive(project, before.replace(ours, "permissions: {default: allow}\n"))
        assert in_effect() == (["shell", "network"], [], [PermissionMode.AUTO_EDIT])
        arrive(project, before.replace(ours, theirs))
        project.ok("trust", "--yes")
        assert in_effect() == (["shell", "network"], ["shell"], [PermissionMode.AUTO_ALL])


def test_no_run_begins_with_what_arrived_since_it_was_looked_at(project: RunProject) -> None:
    before = (project.store.read("config.yaml") or b"").decode()
    run = run_context(Context(directory=project.path), lambda _: None)
    arrive(project, f"{before}permissions: {{default: allow}}\n")
    with (
        pytest.raises(RefusedError, match=r"`permissions\.default` came from elsewhere"),
        keeping_team_settings(run.repository),
    ):
        pass


def test_settings_that_change_while_a_run_is_active_are_named_once(project: RunProject) -> None:
    said: list[RunEvent] = []
    run = run_context(Context(directory=project.path), said.append)
    run.renew_settings()
    project.settings("limits: {idle: 1m}\npermissions: {default: deny}\nreview_limit: 3\n")
    run.renew_settings()
    run.renew_settings()
    assert [one.message for one in said if isinstance(one, Warned)] == [
        "changed settings are taken up: `permissions.default`, `limits.idle`",
        "changed settings hold from the next run on: `review_limit`",
    ]


def test_an_agent_gets_no_looser_mode_by_a_new_entry_than_a_person_has_confirmed(project: RunProject) -> None:
    project.settings("sandbox: {preset: none}\n")
    run = run_context(Context(directory=project.path), lambda _: None)
    project.ok("config", "agents.mine.mode", "yolo")
    project.ok("config", "agents.new.type", "claude")
    project.ok("config", "agents.new.mode", "yolo")
    run.renew_settings()
    modes = {name: with_present_mode(run.registry.spec(name), run).mode for name in ("mine", "new")}
    assert modes == {"mine": PermissionMode.AUTO_ALL, "new": PermissionMode.AUTO_ALL}
