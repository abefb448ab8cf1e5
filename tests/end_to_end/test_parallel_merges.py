"""Many tasks at once, some of which exclude each other: the base is sound at every commit, and nothing is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.support.doses import LONGEST_TEST_SECONDS
from tests.support.repositories import commit_file, git
from tests.support.runs import HANDOFF, NO_PERSON, RunProject, project

__all__ = ["project"]

pytestmark = pytest.mark.timeout(LONGEST_TEST_SECONDS)

CONFLICTING, BREAKING = ("cc1x", "cc2x"), ("bb1x", "bb2x")
TASKS = (*CONFLICTING, *BREAKING, "tt1x", "tt2x", "tt3x", "tt4x")
CHECK = "#!/bin/sh\n! { [ -e bb1x.flag ] && [ -e bb2x.flag ]; } || [ -e both.ok ]\n"
"""The project's tests: two changes are sound each by itself, and break it together."""
AGENT = """
echo "$GITTICKS_TASK" >> "{said}"
until [ "$(sort -u "{said}" | wc -l)" -ge {count} ]; do sleep 0.05; done
if ! git merge -q --no-edit main; then
    git show main:shared.txt > shared.txt
    echo "$GITTICKS_TASK" >> shared.txt
    git add -A
    git commit -qm "bring both together"
fi
case "$GITTICKS_TASK" in
    cc*) grep -q "$GITTICKS_TASK" shared.txt || echo "$GITTICKS_TASK" > shared.txt ;;
    bb*) touch "$GITTICKS_TASK.flag" ;;
    *) echo "$GITTICKS_TASK" > "$GITTICKS_TASK.txt" ;;
esac
if [ -e bb1x.flag ] && [ -e bb2x.flag ]; then touch both.ok; fi
git add -A
git commit -qm "work on $GITTICKS_TASK"
"""


def test_eight_at_once_leave_a_base_that_is_sound_at_every_commit(project: RunProject) -> None:
    first = commit_file(project.path, "check.sh", CHECK)
    commit_file(project.path, "shared.txt", "begin\n")
    said = project.shared / "said"
    said.touch()
    project.agent(AGENT.format(said=said, count=len(TASKS)) + HANDOFF)
    project.settings(f"{NO_PERSON}verify: {{test: 'sh check.sh'}}\n")
    for task_id in TASKS:
        project.make(task_id)
    ran = project.run("--parallel", str(len(TASKS)))
    assert ran.code == 0, ran.seen
    assert {project.task(task_id).status for task_id in TASKS} == {Status.DONE}
    assert sorted(project.merges()) == sorted(TASKS)
    assert_sound_everywhere(project.path, first)
    assert sorted((project.path / "shared.txt").read_text().split()) == sorted(CONFLICTING)
    assert {f"{task_id}.flag" for task_id in BREAKING} <= set(project.files())
    failed = {task_id for task_id in TASKS if EventType.MERGE_FAILED in project.kinds(task_id)}
    assert [len(failed & set(pair)) for pair in (CONFLICTING, BREAKING)] == [1, 1]
    assert failed <= {*CONFLICTING, *BREAKING}
    assert all(project.kinds(task_id).count(EventType.MERGED) == 1 for task_id in TASKS)
    assert git("for-each-ref", "refs/heads/gitticks/work", "refs/gitticks/rescued", at=project.path) == ""


def assert_sound_everywhere(path: Path, first: str) -> None:
    """Fails if the tests fail at any commit of the base's own line since the first that has them, each checked out."""
    aside = path.parent / "aside"
    commits = git("rev-list", "--first-parent", f"{first}..main", at=path).split()
    git("worktree", "add", "-q", "--detach", str(aside), first, at=path)
    for commit in commits:
        git("checkout", "-q", commit, at=aside)
        assert subprocess.run(["sh", "check.sh"], cwd=aside, check=False).returncode == 0, commit
    git("worktree", "remove", str(aside), at=path)
