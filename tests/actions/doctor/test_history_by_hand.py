"""What is committed past every hook is found, and can be taken back or settled."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime

import pytest

from gitticks.model.ids import TaskId, task_folder
from gitticks.store.layout import history_path
from tests.support.histories import UNHOOKED, commit_by_hand, fix_of, problems, project
from tests.support.projects import Project, make_reviewing
from tests.support.repositories import git

__all__ = ["project"]

LATER = datetime(2030, 1, 1, tzinfo=UTC)
VERDICT = (
    '{"type":"verdict.given","at":"2026-01-01T00:00:00Z",'
    '"actor":{"kind":"human","name":"Ada"},"verdict":"approved"}'
)


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
        assert problems(project) == [f"`{task_id}` had `base` changed, which only gitticks writes"]
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
            f"`{task_id}` had lines of its history.jsonl changed, which is append-only"
        ]
        self.take_back(project, commit)

    @pytest.mark.parametrize("kept", [0, 1])
    def test_a_history_that_went_on_without_some_lines(self, project: Project, kept: int) -> None:
        """The revert brings them back behind what came since."""
        task_id = project.create()
        project.ok("note", task_id, "x")
        commit = self.drop_lines(project, task_id, kept)
        project.ok("update", task_id, "--status", "working", now=LATER)
        assert problems(project) == [
            f"`{task_id}` had lines of its history.jsonl changed, which is append-only"
        ]
        self.take_back(project, commit)
        assert [event["type"] for event in json.loads(project.ok("log", task_id, "--json"))["events"]] == [
            "task.created",
            "note.added",
            "status.changed",
        ]

    def test_a_history_of_which_lines_were_both_taken_and_added(self, project: Project) -> None:
        """Reverting the one mistake makes the other none the better."""
        task_id = project.create()
        commit = self.drop_lines(project, task_id, 0)
        project.ok("note", task_id, "x")
        last = (project.board / history_path(TaskId(task_id))).read_text()
        added = commit_by_hand(project, task_id, last, f"{last}{VERDICT}\n", name="history.jsonl")
        git(*UNHOOKED, "revert", "--no-edit", commit, at=project.board)
        assert len(problems(project)) == 3
        self.take_back(project, added)

    @staticmethod
    def drop_lines(project: Project, task_id: str, kept: int) -> str:
        """Commits a history of which only so many lines are left, and returns the commit."""
        file = project.board / history_path(TaskId(task_id))
        lines = file.read_text().splitlines(keepends=True)
        return commit_by_hand(project, task_id, "".join(lines[kept:]), "", name=file.name)

    def test_a_history_that_was_added_to(self, project: Project) -> None:
        task_id = project.create()
        file = project.board / history_path(TaskId(task_id))
        with file.open("a") as history:
            history.write(VERDICT + "\n")
        git(*UNHOOKED, "commit", "--quiet", "-am", "x", at=project.board)
        commit = git("rev-parse", "HEAD", at=project.board)
        assert problems(project) == [
            f"`{task_id}` had its history.jsonl edited by hand, which only gitticks may write"
        ]
        self.take_back(project, commit)

    def test_a_task_that_was_removed(self, project: Project) -> None:
        task_id = project.create()
        git("rm", "-rq", task_folder(TaskId(task_id)), at=project.board)
        git(*UNHOOKED, "commit", "--quiet", "-m", "x", at=project.board)
        commit = git("rev-parse", "HEAD", at=project.board)
        assert problems(project) == [f"`{task_id}` was deleted, but tasks can only be cancelled"]
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
        """Types the fix, and looks whether the finding is gone."""
        told = fix_of(project)
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
    assert fix_of(project).startswith(f"`gt show {task_id}`; your decision about it ")
    project.ok("reopen", task_id)
    assert problems(project) == []


def test_a_decision_does_not_cover_a_history_that_was_changed(project: Project) -> None:
    task_id = project.create()
    commit_by_hand(project, task_id, "Ada", "Eve", name="history.jsonl")
    project.ok("cancel", task_id)
    assert problems(project) == [f"`{task_id}` had lines of its history.jsonl changed, which is append-only"]


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
