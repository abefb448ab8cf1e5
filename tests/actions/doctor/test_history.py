"""History is looked through: what people and gitticks do is legal, and is not looked at again; a range alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitticks.actions.doctor import history
from gitticks.actions.doctor.repository import Remembered, load_remembered
from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.store.layout import history_path
from tests.cli.support import Ran, command, gt
from tests.support.clones import make_two_clones
from tests.support.histories import UNHOOKED, commit_by_hand, fix_of, problems, project
from tests.support.projects import SESSION, Project, make_working
from tests.support.repositories import clone, git, make_repository, run_git_command
from tests.support.stores import make_task

__all__ = ["project"]


def test_everything_that_people_do_is_legal(project: Project) -> None:
    task_id = project.create("Login", "-p", "1", "-l", "auth")
    project.ok("update", task_id, "--status", "working")
    project.ok("ask", task_id, "Which one?")
    project.ok("respond", task_id, "This one.")
    project.ok("handoff", task_id, "DONE: all", environment=SESSION)
    project.ok("complete", task_id, environment=SESSION)
    project.ok("review", task_id, "--reject", "not yet", "--no-resume")
    project.ok("handoff", task_id, "DONE: really", environment=SESSION)
    project.ok("complete", task_id)
    project.ok("update", task_id, "--awaiting", "approval")
    project.ok("approve", task_id)
    project.ok("reopen", task_id)
    project.ok("cancel", task_id)
    epic = project.create("Accounts", "-t", "epic")
    child = project.create("Delete", "--parent", epic)
    project.ok("close", child)
    project.ok("config", "review", "none")
    assert problems(project) == []
    assert problems(project, "gitticks/state") == []
    assert project.gt("doctor").code == 0


def test_a_merge_is_legal(project: Project) -> None:
    make_working(project, body="## Handoff\n\nDONE: all\n")
    project.ok("complete", "k7f2")
    project.ok("update", "k7f2", "--awaiting", "review")
    project.ok("approve", "k7f2")
    assert project.task("k7f2").status is Status.DONE
    assert problems(project) == []


def test_an_epic_that_gets_its_branch_while_it_is_under_way_is_legal(project: Project) -> None:
    epic = project.create("Accounts", "-t", "epic")
    project.ok("update", project.create("Delete", "--parent", epic), "--status", "working")
    assert project.task(epic).status is Status.WORKING
    project.ok("start", project.create("Export", "--parent", epic, "--isolation", "epic"))
    assert project.task(epic).branch == f"gitticks/work/{epic}"
    assert problems(project) == []
    commit_by_hand(project, epic, "start_sha: ", "end_sha: ")
    assert problems(project) != []


def test_an_edit_by_hand_is_settled_by_what_follows_it(project: Project) -> None:
    task_id = project.create()
    file = project.board_file(task_id)
    file.write_text(file.read_text().replace("status: pending", "status: working"))
    git("commit", "--quiet", "-am", "begin", at=project.board)
    assert project.task(task_id).status is Status.WORKING
    assert [event.to_status for event in project.events(task_id)][-1] is Status.WORKING
    assert problems(project) == []


class TestMerges:
    """A merge is judged as one: it takes a state from one side and keeps the history of both."""

    def fork(self, project: Project) -> str:
        """Makes a task, lets it be changed on a branch aside and on the state branch, and returns its id."""
        task_id = project.create()
        git("branch", "side", "gitticks/state", at=project.path)
        project.ok("update", task_id, "--status", "working")
        git("switch", "--quiet", "side", at=project.board)
        git(*UNHOOKED, "commit", "--quiet", "--allow-empty", "-m", "aside", at=project.board)
        return task_id

    def merge(self, project: Project, *options: str) -> None:
        git("switch", "--quiet", "gitticks/state", at=project.board)
        git(*UNHOOKED, "merge", "--quiet", "--no-edit", *options, "side", at=project.board)
        project.ok("status")

    def test_of_different_tasks(self, project: Project) -> None:
        self.fork(project)
        self.merge(project)
        assert problems(project) == []

    def test_that_decides_something(self, project: Project) -> None:
        task_id = self.fork(project)
        self.merge(project, "--no-commit")
        file = project.board_file(task_id)
        file.write_text(file.read_text().replace("status: working", "status: stuck"))
        git(*UNHOOKED, "commit", "--quiet", "-am", "merge", at=project.board)
        assert problems(project) == [
            f"`{task_id}` was merged from working and pending into a stuck that neither side had"
        ]

    def test_that_loses_history(self, project: Project) -> None:
        task_id = self.fork(project)
        self.merge(project, "--no-commit")
        (project.board / history_path(TaskId(task_id))).write_text("")
        git(*UNHOOKED, "commit", "--quiet", "-am", "merge", at=project.board)
        assert problems(project) == [f"`{task_id}` lost lines of its history.jsonl in a merge"]

    def test_of_a_side_that_is_illegal(self, project: Project) -> None:
        other = project.create("Other")
        self.fork(project)
        commit_by_hand(project, other, "status: pending", "status: done")
        self.merge(project)
        assert problems(project) == [f"`{other}` went from pending to done, and no event says so"]


class TestRemembered:
    """What was found legal is not looked at again."""

    def test_the_tip_is_kept(self, project: Project) -> None:
        project.create()
        assert problems(project) == []
        assert load_remembered(project.store.repository) == Remembered(project.tip(), project.tip())

    def test_what_is_illegal_is_found_each_time(self, project: Project) -> None:
        before = project.tip()
        task_id = project.create()
        commit_by_hand(project, task_id, "status: pending", "status: done")
        assert len(problems(project)) == len(problems(project)) == 1
        assert load_remembered(project.store.repository).legal in (None, before)

    @pytest.mark.parametrize("content", ["", "{}", '{"legal": 3, "seen": "x", "rules": 1}', "[]"])
    def test_a_damaged_memory_is_none(self, project: Project, content: str) -> None:
        project.create()
        (project.store.repository.own_dir / "doctor.json").write_text(content)
        assert load_remembered(project.store.repository) == Remembered()
        assert problems(project) == []

    def test_only_so_many_are_looked_at_unasked(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        task_id = project.create()
        commit_by_hand(project, task_id, "status: pending", "status: done")
        for number in range(5):
            project.ok("note", task_id, str(number))
        monkeypatch.setattr(history, "MOST_COMMITS", 3)
        assert problems(project) == ["only the newest 3 commits were checked for illegal steps"]
        assert "  note     only the newest 3 commits" in project.ok("doctor")
        assert problems(project, "gitticks/state") == [
            f"`{task_id}` went from pending to done, and no event says so"
        ]
        project.ok("reopen", task_id)
        assert project.ok("doctor", "--range", "gitticks/state") == "no problems found\n"
        assert problems(project) == []


def test_a_shallow_clone_is_judged_from_its_edge(project: Project, tmp_path: Path) -> None:
    task_id = project.create()
    project.ok("update", task_id, "--status", "working")
    bare = make_repository(tmp_path / "bare", bare=True, commits=0)
    git("push", "--quiet", str(bare), "gitticks/state", "main", at=project.path)
    git("symbolic-ref", "HEAD", "refs/heads/main", at=bare)
    shallow = Project(clone(bare, tmp_path / "shallow", "--depth=1", "--no-single-branch"))
    shallow.ok("init")
    assert problems(shallow) == []


def test_a_task_that_comes_with_events_of_its_own(project: Project) -> None:
    """As when a folder is brought from another repository by gitticks itself."""
    make_task(project.store, id="m3xq", status=Status.CANCELLED)
    assert problems(project) == []


class TestRanges:
    """`--range` is what a server and CI call."""

    def test_only_the_range_counts(self, project: Project) -> None:
        task_id = project.create()
        commit_by_hand(project, task_id, "status: pending", "status: done")
        after = project.tip()
        project.ok("note", task_id, "x")
        assert (
            project.gt("doctor", "--range", f"{after}..gitticks/state").seen == "no problems found\n--- 0\n"
        )
        assert project.gt("doctor", "--range", f"{after}^..").code == 1
        assert project.gt("doctor", "--range", "0" * 40 + "..gitticks/state").code == 1
        assert project.gt("doctor", "--range", "gitticks/state").code == 1

    def test_what_it_says(self, project: Project) -> None:
        task_id = project.create()
        commit = commit_by_hand(project, task_id, "status: pending", "status: done")
        assert project.gt("doctor", "--range", "gitticks/state").seen == (
            "history\n"
            f"  error    in {commit[:10]} `{task_id}` went from pending to done, and no event says so\n"
            f"           `git -C .gitticks -c core.hooksPath=/dev/null revert --no-edit {commit}` reverts it\n"
            "\n1 error\n--- 1\n"
        )

    @pytest.mark.parametrize(("words", "code"), [("a...b", 2), ("", 2), ("nowhere..gitticks/state", 1)])
    def test_no_range(self, project: Project, words: str, code: int) -> None:
        assert project.gt("doctor", "--range", words).code == code

    def test_the_end_of_the_branch(self, project: Project) -> None:
        ran = project.gt("doctor", "--range", f"gitticks/state..{'0' * 40}")
        assert "the push would delete the state branch, with every task on it" in ran.out
        assert ran.code == 1

    def test_the_code_is_no_state_branch(self, project: Project) -> None:
        ran = project.gt("doctor", "--range", "HEAD")
        assert "is not a commit of a state branch: it has neither `tasks/` nor `config.yaml`" in ran.out
        assert "`gitticks/state`" in ran.out
        assert ran.code == 1

    def test_what_would_be_left_behind(self, project: Project) -> None:
        before = project.tip()
        project.create()
        ran = project.gt("doctor", "--range", f"gitticks/state..{before}")
        assert f"{before[:10]} leaves 1 commit behind that {project.tip()[:10]} has" in ran.out
        assert ran.code == 0

    def test_the_oldest_commits_of_a_shallow_clone_are_not_judged(self, tmp_path: Path) -> None:
        """They seem to have made all that they hold, such as a merge of a start and a cancellation."""
        ours, theirs = make_two_clones(tmp_path)
        task_id = ours.create()
        ours.ok("sync")
        theirs.ok("sync")
        theirs.ok("update", task_id, "--status", "working")
        ours.ok("cancel", task_id)
        ours.ok("sync")
        theirs.ok("sync")
        shallow = Project(
            clone(tmp_path / "remote.git", tmp_path / "shallow", "--depth=1", "--no-single-branch")
        )
        ran = shallow.gt("doctor", "--range", "origin/gitticks/state")
        assert (ran.code, "1 warning" in ran.out, "revert" in ran.out) == (0, True, False), ran.seen
        shallow.ok("init")
        assert problems(shallow) == []
        git("fetch", "--quiet", "--unshallow", at=shallow.path)
        assert shallow.ok("doctor", "--range", "origin/gitticks/state") == "no problems found\n"

    def test_in_a_bare_repository_without_a_person(
        self, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        task_id = project.create()
        commit_by_hand(project, task_id, "status: pending", "status: done")
        bare = make_repository(tmp_path / "bare", bare=True, commits=0)
        git("push", "--quiet", str(bare), "gitticks/state", at=project.path)
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        ran = gt("doctor", "--range", "gitticks/state", at=bare)
        assert f"`{task_id}` went from pending to done" in ran.out
        assert ran.code == 1


class TestServer:
    """A hook on a server refuses a push whose commits nobody was allowed to make."""

    @pytest.fixture
    def server(self, project: Project, tmp_path: Path) -> Path:
        bare = make_repository(tmp_path / "server.git", bare=True, commits=0)
        start = " ".join(f"'{word}'" for word in command())
        hook = bare / "hooks" / "pre-receive"
        hook.write_text(
            "#!/bin/sh\nwhile read -r old new ref; do\n"
            '  test "$ref" = refs/heads/gitticks/state || continue\n'
            f'  {start} doctor --range "$old..$new" || exit 1\ndone\n'
        )
        hook.chmod(0o755)
        git("remote", "add", "origin", str(bare), at=project.path)
        return bare

    def push(self, project: Project) -> Ran:
        done = run_git_command("push", "origin", "gitticks/state", at=project.path)
        return Ran(done.returncode, done.stdout, done.stderr)

    def test_a_push_is_looked_at_before_it_is_in(self, project: Project, server: Path) -> None:
        task_id = project.create()
        assert self.push(project).code == 0
        assert git("rev-parse", "gitticks/state", at=server) == project.tip()
        project.ok("update", task_id, "--status", "working")
        assert self.push(project).code == 0
        accepted = project.tip()
        commit_by_hand(project, task_id, "status: working", "status: done")
        ran = self.push(project)
        assert ran.code == 1
        assert f"`{task_id}` went from working to done, and no event says so" in ran.err
        assert git("rev-parse", "gitticks/state", at=server) == accepted
        typed = fix_of(project).split("`")[1]
        subprocess.run(["sh", "-ec", typed], cwd=project.path, check=True, capture_output=True)
        assert self.push(project).code == 0

    def test_the_branch_cannot_be_removed(self, project: Project, server: Path) -> None:
        assert self.push(project).code == 0
        done = run_git_command("push", "--delete", "origin", "gitticks/state", at=project.path)
        assert done.returncode == 1
        assert git("rev-parse", "gitticks/state", at=server) == project.tip()
