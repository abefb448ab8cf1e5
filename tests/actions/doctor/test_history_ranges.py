"""A range of commits is judged alone, as a server and CI do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.support import Ran, command, gt
from tests.support.clones import make_two_clones
from tests.support.histories import commit_by_hand, fix_of, problems, project
from tests.support.projects import Project
from tests.support.repositories import clone, git, make_repository, run_git_command

__all__ = ["project"]


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
