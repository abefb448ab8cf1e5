"""History is looked through: what people and gitticks do is legal, what goes past both is found and can be settled."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from gitticks.actions.doctor.trail import checks
from gitticks.actions.doctor.trail.remembered import Remembered, load_remembered
from gitticks.model.ids import TaskId, task_folder
from gitticks.model.status import Status
from gitticks.store.layout import history_path
from tests.cli.support import Ran, command, gt
from tests.support.projects import SESSION, Project, make_project, make_reviewing, make_working
from tests.support.repositories import clone, git, make_repository, run_git_command
from tests.support.stores import make_task

UNHOOKED = ("-c", "core.hooksPath=/dev/null")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def problems(project: Project, words: str | None = None) -> list[str]:
    """Returns the history's findings, without the commits that they begin with."""
    options = [] if words is None else ["--range", words]
    found = json.loads(project.gt("doctor", "--json", *options).out)["findings"]
    return [re.sub(r"^in [0-9a-f]{10} ", "", one["what"]) for one in found if one["topic"] == "history"]


def mend_of(project: Project) -> str:
    found = json.loads(project.gt("doctor", "--json").out)["findings"]
    told: str = next(one["mend"] for one in found if one["topic"] == "history")
    return told


def commit_by_hand(project: Project, task_id: str, old: str, new: str, *, name: str = "TASK.md") -> str:
    """Commits an edit past every hook, as a tool does that knows none, and returns the commit."""
    file = project.board / task_folder(TaskId(task_id)) / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    git(*UNHOOKED, "commit", "--quiet", "-am", f"{task_id} by hand", at=project.board)
    project.ok("status")
    return git("rev-parse", "HEAD", at=project.board)


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


def test_an_edit_by_hand_is_settled_by_what_follows_it(project: Project) -> None:
    task_id = project.create()
    file = project.board_file(task_id)
    file.write_text(file.read_text().replace("status: pending", "status: working"))
    git("commit", "--quiet", "-am", "begin", at=project.board)
    assert project.task(task_id).status is Status.WORKING
    assert [event.to_status for event in project.events(task_id)][-1] is Status.WORKING
    assert problems(project) == []


class TestByHand:
    """What is committed past every hook is found, named, and can be taken back or settled."""

    def test_a_status_that_nobody_decided_about(self, project: Project) -> None:
        task_id = project.create()
        commit = commit_by_hand(project, task_id, "status: pending", "status: done")
        assert problems(project) == [f"`{task_id}` went from pending to done, and no event says so"]
        assert project.gt("doctor").code == 1
        self.take_back(project, commit)

    def test_a_verdict_that_was_not_carried_out(self, project: Project) -> None:
        make_reviewing(project)
        project.ok("doctor")
        commit = commit_by_hand(project, "k7f2", "awaiting: review", "awaiting: review\nverdict: approved")
        assert problems(project) == ["`k7f2` has the verdict approved, which was not carried out"]
        self.take_back(project, commit)

    def test_an_awaiting_that_was_taken_away(self, project: Project) -> None:
        make_reviewing(project)
        commit = commit_by_hand(project, "k7f2", "awaiting: review\n", "")
        assert problems(project) == ["`k7f2` awaited review and then nobody, and no event says so"]
        self.take_back(project, commit)

    def test_a_field_that_gitticks_writes(self, project: Project) -> None:
        task_id = project.create()
        commit = commit_by_hand(project, task_id, "status: pending", "status: pending\nbase: elsewhere")
        assert problems(project) == [f"`{task_id}` had `base` changed, which gitticks alone writes"]
        self.take_back(project, commit)

    def test_a_birthday(self, project: Project) -> None:
        task_id = project.create()
        commit = commit_by_hand(project, task_id, "created: 20", "created: 19")
        assert problems(project) == [f"`{task_id}` had its `created` changed, which it keeps for good"]
        self.take_back(project, commit)

    def test_a_history_that_was_changed(self, project: Project) -> None:
        task_id = project.create()
        commit = commit_by_hand(project, task_id, "Ada", "Eve", name="history.jsonl")
        assert problems(project) == [
            f"`{task_id}` had its history.jsonl changed, to which lines are only added"
        ]
        self.take_back(project, commit)

    def test_a_history_that_was_added_to(self, project: Project) -> None:
        task_id = project.create()
        file = project.board / history_path(TaskId(task_id))
        with file.open("a") as history:
            history.write(
                '{"type":"verdict.given","at":"2026-01-01T00:00:00Z",'
                '"actor":{"kind":"human","name":"Ada"},"verdict":"approved"}\n'
            )
        git(*UNHOOKED, "commit", "--quiet", "-am", "x", at=project.board)
        commit = git("rev-parse", "HEAD", at=project.board)
        assert problems(project) == [
            f"`{task_id}` had its history.jsonl written by hand, which gitticks alone does"
        ]
        self.take_back(project, commit)

    def test_a_task_that_was_removed(self, project: Project) -> None:
        task_id = project.create()
        git("rm", "-rq", task_folder(TaskId(task_id)), at=project.board)
        git(*UNHOOKED, "commit", "--quiet", "-m", "x", at=project.board)
        commit = git("rev-parse", "HEAD", at=project.board)
        assert problems(project) == [f"`{task_id}` was removed, and tasks are only cancelled"]
        self.take_back(project, commit)

    def test_a_new_task_that_is_done(self, project: Project) -> None:
        folder = project.board / "tasks/xq/m3xq"
        folder.mkdir(parents=True)
        (folder / "TASK.md").write_text("---\nid: m3xq\ntitle: x\nstatus: done\n---\n")
        git("add", ".", at=project.board)
        git(*UNHOOKED, "commit", "--quiet", "-m", "x", at=project.board)
        assert problems(project) == ["`m3xq` went from pending to done, and no event says so"]
        self.take_back(project, git("rev-parse", "HEAD", at=project.board))

    def test_a_file_that_cannot_be_read(self, project: Project) -> None:
        task_id = project.create()
        commit_by_hand(project, task_id, "status: pending", "status: odd")
        assert problems(project) == []  # said once, among the files
        (what,) = problems(project, "gitticks/state")
        assert what.startswith(f"`{task_id}` cannot be read: tasks/")
        project.ok("config", "review", "none")
        commit_by_hand(project, task_id, "status: odd", "status: working")
        assert problems(project) == [
            f"`{task_id}` cannot be read: tasks/{task_id[-2:]}/{task_id}/TASK.md:4:9: "
            + what.partition("4:9: ")[2]
        ]
        commit_by_hand(project, task_id, "status: working", "status: pending")
        assert problems(project) == []

    @staticmethod
    def take_back(project: Project, commit: str) -> None:
        """Types the mend, and looks whether the finding is gone."""
        told = mend_of(project)
        assert commit in told
        typed = told.split("`")[1]
        subprocess.run(["sh", "-ec", typed], cwd=project.path, check=True, capture_output=True)
        project.ok("status")
        assert problems(project) == []
        assert problems(project, "gitticks/state") == []


def test_a_persons_decision_settles_what_was_built_upon(project: Project) -> None:
    task_id = project.create()
    commit_by_hand(project, task_id, "status: pending", "status: done")
    project.ok("note", task_id, "who closed this?")
    assert problems(project) == [f"`{task_id}` went from pending to done, and no event says so"]
    assert mend_of(project).startswith(f"`gt show {task_id}`; what you decide about it ")
    project.ok("reopen", task_id)
    assert problems(project) == []


def test_a_decision_does_not_cover_a_history_that_was_changed(project: Project) -> None:
    task_id = project.create()
    commit_by_hand(project, task_id, "Ada", "Eve", name="history.jsonl")
    project.ok("cancel", task_id)
    assert problems(project) == [f"`{task_id}` had its history.jsonl changed, to which lines are only added"]


def test_an_agent_speaks_for_no_person(project: Project) -> None:
    """A tool of an agent writes what `gt approve` would have written, trailers included."""
    make_reviewing(project)
    file, history = project.board_file("k7f2"), project.board / history_path(TaskId("k7f2"))
    file.write_text(
        file.read_text().replace("status: reviewing", "status: done").replace("awaiting: review\n", "")
    )
    with history.open("a") as lines:
        for kind, more in (
            ("verdict.given", '"awaiting":"review","verdict":"approved"'),
            ("auto.advanced", '"from":"reviewing","to":"done"'),
        ):
            actor = (
                '{"kind":"human","name":"Ada"}'
                if more.startswith('"aw')
                else '{"kind":"engine","name":"gitticks"}'
            )
            lines.write(f'{{"type":"{kind}","at":"2026-01-01T00:00:00Z","actor":{actor},{more}}}\n')
    agent = {"GIT_AUTHOR_NAME": "claude (gitticks agent)", "GIT_AUTHOR_EMAIL": "claude@gitticks.localhost"}
    message = "k7f2: reviewing → done\n\nTask: k7f2\nActor: agent claude"
    git(*UNHOOKED, "commit", "--quiet", "-am", message, at=project.board, environment=agent)
    assert problems(project) == ["`k7f2` has an event by Ada in a commit that an agent made"]
    git(*UNHOOKED, "commit", "--quiet", "--amend", "--reset-author", "--no-edit", at=project.board)
    assert problems(project) == ["`k7f2` has an event by Ada in a commit of `Actor: agent claude`"]


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


class TestRanges:
    """`--range` is what a server and CI call."""

    def test_only_the_range_counts(self, project: Project) -> None:
        task_id = project.create()
        commit_by_hand(project, task_id, "status: pending", "status: done")
        after = project.tip()
        project.ok("note", task_id, "x")
        assert project.gt("doctor", "--range", f"{after}..gitticks/state").seen == "all is well\n--- 0\n"
        assert project.gt("doctor", "--range", f"{after}^..").code == 1
        assert project.gt("doctor", "--range", "0" * 40 + "..gitticks/state").code == 1
        assert project.gt("doctor", "--range", "gitticks/state").code == 1

    def test_what_it_says(self, project: Project) -> None:
        task_id = project.create()
        commit = commit_by_hand(project, task_id, "status: pending", "status: done")
        assert project.gt("doctor", "--range", "gitticks/state").seen == (
            "history\n"
            f"  error    in {commit[:10]} `{task_id}` went from pending to done, and no event says so\n"
            f"           `git -C .gitticks -c core.hooksPath=/dev/null revert --no-edit {commit}` takes it back\n"
            "\n1 error\n--- 1\n"
        )

    @pytest.mark.parametrize(("words", "code"), [("a...b", 2), ("", 2), ("nowhere..gitticks/state", 1)])
    def test_no_range(self, project: Project, words: str, code: int) -> None:
        assert project.gt("doctor", "--range", words).code == code

    def test_the_end_of_the_branch(self, project: Project) -> None:
        ran = project.gt("doctor", "--range", f"gitticks/state..{'0' * 40}")
        assert "the state branch would be removed, with every task on it" in ran.out
        assert ran.code == 1

    def test_what_would_be_left_behind(self, project: Project) -> None:
        before = project.tip()
        project.create()
        ran = project.gt("doctor", "--range", f"gitticks/state..{before}")
        assert f"{before[:10]} leaves 1 commit behind that {project.tip()[:10]} has" in ran.out
        assert ran.code == 0

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
        typed = mend_of(project).split("`")[1]
        subprocess.run(["sh", "-ec", typed], cwd=project.path, check=True, capture_output=True)
        assert self.push(project).code == 0

    def test_the_branch_cannot_be_removed(self, project: Project, server: Path) -> None:
        assert self.push(project).code == 0
        done = run_git_command("push", "--delete", "origin", "gitticks/state", at=project.path)
        assert done.returncode == 1
        assert git("rev-parse", "gitticks/state", at=server) == project.tip()


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
        monkeypatch.setattr(checks, "MOST_COMMITS", 3)
        assert problems(project) == ["only the newest 3 commits were looked at for illegal steps"]
        assert problems(project, "gitticks/state") == [
            f"`{task_id}` went from pending to done, and no event says so"
        ]
        project.ok("reopen", task_id)
        assert project.ok("doctor", "--range", "gitticks/state") == "all is well\n"
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
