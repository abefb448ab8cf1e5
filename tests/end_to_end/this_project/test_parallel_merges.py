"""Many tasks at once on a real project, this one, some of which exclude each other.

The base passes its tests at every commit, and nothing is lost.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.end_to_end.this_project.test_real_project import clone_this_project
from tests.support.doses import LONGEST_TEST_SECONDS
from tests.support.repositories import fsck_problems, git
from tests.support.runs import NO_PERSON, RunProject, allow_shared, assert_sound
from tests.support.tasks import write_files

pytestmark = pytest.mark.timeout(LONGEST_TEST_SECONDS)

CONFLICTING, BREAKING = ("cc1x", "cc2x"), ("bb1x", "bb2x")
TASKS = (*CONFLICTING, *BREAKING, "tt1x", "tt2x", "tt3x", "tt4x")
CASES = "tests/model/test_added_cases.py"
TESTS = (
    f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:xdist -p no:hypothesispytest --noconftest "
    "tests/model/test_status.py $(ls tests/model/test_added_*.py 2>/dev/null)"
)
"""Some quick tests of the project, and what the tasks add to them."""

AGENT = '''\
"""Stands in for a coding agent, which begins once all are at work: edits real files, commits, and hands off."""

import os
import pathlib
import re
import subprocess
import time

said, count = pathlib.Path({said!r}), {count}
task, mailbox = os.environ["GITTICKS_TASK"], pathlib.Path(os.environ["GITTICKS_MAILBOX"])
ids, cases = pathlib.Path("gitticks/model/ids.py"), pathlib.Path({cases!r})


def commit(message):
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", message], check=True)


if subprocess.run(["git", "merge", "-q", "--no-edit", "main"]).returncode:
    marks = ("<<<<<<<", "=======", ">>>>>>>")
    lines = cases.read_text().splitlines(keepends=True)
    cases.write_text("".join(line for line in lines if not line.startswith(marks)))
    commit("Bring both together")
(said / task).touch()
while len(list(said.iterdir())) < count:
    time.sleep(0.05)

added = pathlib.Path(f"tests/model/test_added_{{task}}.py")
if task.startswith("cc") and not cases.exists():
    cases.write_text(
        "from gitticks.model.ids import is_valid_id\\n\\n\\n"
        f'def test_{{task}}() -> None:\\n    assert is_valid_id("{{task}}")\\n'
    )
elif task == "bb1x" and "SHORTEST_ID" not in ids.read_text():
    ids.write_text(re.sub(r"\\bSHORTEST\\b", "SHORTEST_ID", ids.read_text()))
elif task == "bb2x" and not added.exists():
    added.write_text(
        "from gitticks.model.ids import SHORTEST, id_length\\n\\n\\n"
        "def test_the_first_id_is_short() -> None:\\n    assert id_length(0) == SHORTEST\\n"
    )
elif task.startswith("tt"):
    added.write_text(
        "from gitticks.model.ids import task_path\\n\\n\\n"
        f'def test_{{task}} -> None:\\n    assert "{{task}}" in task_path("{{task}}")\\n'.replace(" ->", "() ->", 1)
    )
if "SHORTEST_ID" in ids.read_text():
    for path in pathlib.Path("tests/model").glob("test_added_*.py"):
        path.write_text(re.sub(r"\\bSHORTEST\\b", "SHORTEST_ID", path.read_text()))
commit(f"Work on {{task}}")
with (mailbox / "TASK.md").open("a") as file:
    file.write("\\n## Handoff\\n\\n- DONE: it\\n")
print("<promise>" + "COMPLETE" + "</promise>")
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunProject]:
    """Clones this project and makes eight tasks for it."""
    mark = f"mark-{secrets.token_hex(8)}"
    monkeypatch.setenv("RUN_MARK", mark)
    project = RunProject(clone_this_project(tmp_path / "project"), mark)
    said, agent = project.shared / "said", project.shared / "agent.py"
    said.mkdir(parents=True)
    allow_shared(project.shared, monkeypatch)
    agent.write_text(AGENT.format(said=str(said), count=len(TASKS), cases=CASES))
    project.agent(f'exec "{sys.executable}" "{agent}"')
    argv = f"agents: {{mine: {{type: command, argv: ['{project.agent_file}']}}}}\n"
    text = f"version: 1\nagent: mine\n{argv}{NO_PERSON}verify: {{test: '{TESTS}'}}\nlimits: {{gate: 1h}}\n"
    write_files(project.store, {"config.yaml": text.encode()})
    for task_id in TASKS:
        project.make(task_id)
    yield project
    assert_sound(project)


def test_eight_at_once_leave_a_base_that_is_sound_at_every_commit(project: RunProject) -> None:
    first = git("rev-parse", "main", at=project.path)
    ran = project.run("--parallel", str(len(TASKS)))
    assert ran.code == 0, ran.seen
    assert {project.task(task_id).status for task_id in TASKS} == {Status.DONE}
    commits = git("rev-list", "--first-parent", f"{first}..main", at=project.path).split()
    merged = git(
        "log", "--first-parent", "--format=%(trailers:key=Task,valueonly)", f"{first}..main", at=project.path
    )
    assert sorted(merged.split()) == sorted(TASKS)
    assert len(commits) == len(TASKS)
    for commit in (first, *commits):
        assert_tests_pass(project.path, commit)
    cases = (project.path / CASES).read_text()
    assert all(f"def test_{task_id}()" in cases for task_id in CONFLICTING)
    assert "SHORTEST_ID = 4" in (project.path / "gitticks/model/ids.py").read_text()
    added = {
        f"tests/model/test_added_{task_id}.py" for task_id in TASKS if task_id not in (*CONFLICTING, "bb1x")
    }
    assert added <= set(project.files())
    failed = {task_id for task_id in TASKS if EventType.MERGE_FAILED in project.kinds(task_id)}
    assert [len(failed & set(pair)) for pair in (CONFLICTING, BREAKING)] == [1, 1]
    assert failed <= {*CONFLICTING, *BREAKING}
    assert all(project.kinds(task_id).count(EventType.MERGED) == 1 for task_id in TASKS)
    assert git("for-each-ref", "refs/heads/gitticks/work", "refs/gitticks/rescued", at=project.path) == ""
    assert git("status", "--porcelain", at=project.path) == ""
    assert fsck_problems(project.path) == ""


def assert_tests_pass(path: Path, commit: str) -> None:
    """Fails if the project's tests do at a commit, checked out."""
    aside = path.parent / "aside"
    git("worktree", "add", "-q", "--detach", str(aside), commit, at=path)
    done = subprocess.run(["/bin/sh", "-c", TESTS], cwd=aside, check=False, capture_output=True, text=True)
    assert done.returncode == 0, (commit, done.stdout)
    git("worktree", "remove", "--force", str(aside), at=path)
