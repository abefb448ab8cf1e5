"""The whole job on a real project: this one, cloned, with its own tests as the gate and an agent that edits its files."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.support import gt_process
from tests.conftest import ROOT
from tests.support.repositories import fsck_problems, git

GATE = (
    f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:xdist --noconftest tests/model/test_ids.py "
    "tests/model/test_status.py $(ls tests/model/test_longest.py 2>/dev/null) -k 'not place and not length'"
)
"""Real tests of the project, the quick ones of the package that the tasks change (none that draws hundreds of
examples): they run nine times."""

AGENT = '''\
"""Stands in for a coding agent: reads its prompt, edits real files, commits, writes its artifact and signals."""

import os
import pathlib
import subprocess
import sys

prompt = sys.stdin.read()
mailbox = pathlib.Path(os.environ["GITTICKS_MAILBOX"])
task, role, round_number = (os.environ["GITTICKS_" + name] for name in ("TASK", "ROLE", "ROUND"))
title = next(line for line in (mailbox / "TASK.md").read_text().splitlines() if line.startswith("title:"))
kind = title.split()[1]


def add_section(name, text):
    with (mailbox / "TASK.md").open("a") as file:
        file.write(f"\\n## {name}\\n\\n{text}\\n")


def commit(message, *paths):
    subprocess.run(["git", "add", *paths], check=True)
    subprocess.run(["git", "commit", "-q", "-m", message], check=True)


def edit(name, old, new):
    path = pathlib.Path(name)
    text = path.read_text()
    assert old in text, (name, old)
    path.write_text(text.replace(old, new, 1))


if role == "reviewer":
    explained = kind != "count" or "Returns how many" in pathlib.Path("gitticks/model/counting.py").read_text()
    add_section("Review", "PASS: reads well." if explained else "FAIL: the function has no docstring.")
    sys.exit()

if kind == "constant":
    edit("gitticks/model/ids.py", "SHORTEST = 4", "SHORTEST = 4\\nLONGEST = 64")
    pathlib.Path("tests/model").mkdir(exist_ok=True)
    pathlib.Path("tests/model/test_longest.py").write_text(
        "from gitticks.model.ids import LONGEST, is_valid_id\\n\\n\\n"
        "def test_the_longest_id_is_valid() -> None:\\n"
        '    assert is_valid_id("a" * LONGEST)\\n'
        '    assert not is_valid_id("a" * (LONGEST + 1))\\n'
    )
    commit("Name the longest id", "gitticks", "tests")
elif kind == "count":
    doc = "" if round_number == "1" else '    """Returns how many of the tasks are open."""\\n'
    pathlib.Path("gitticks/model/counting.py").write_text(
        '"""Counts tasks."""\\n\\n\\ndef count_open(tasks):\\n' + doc + "    return sum(task.is_open for task in tasks)\\n"
    )
    commit(f"Count open tasks, round {round_number}", "gitticks")
else:
    text = pathlib.Path("CONTRIBUTING.md").read_text()
    line = "Be kind in reviews.\\n" if "be kinder" in prompt else "Reviews are strict.\\n"
    pathlib.Path("CONTRIBUTING.md").write_text(text.replace("Reviews are strict.\\n", "") + "\\n" + line)
    commit("Say how reviews are", "CONTRIBUTING.md")

add_section("Handoff", f"DONE: {kind}\\nREMAINING: nothing\\nDECISIONS: none\\nUNCERTAIN: nothing")
print("<promise>" + "COMPLETE" + "</promise>")
'''


def clone_this_project(place: Path) -> Path:
    """Clones this project (or copies it, where it came as an archive), and makes it one of gitticks."""
    if (ROOT / ".git").exists():
        git("clone", "--quiet", "--depth=1", f"file://{ROOT}", str(place), at=place.parent)
        git("checkout", "--quiet", "-B", "main", at=place)
    else:
        shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(".venv", ".git*", "__pycache__"))
        git("init", "--quiet", "--initial-branch=main", at=place)
        git("add", "--all", at=place)
        git("commit", "--quiet", "-m", "begin", at=place)
    done = gt_process("init", "--base", "main", at=place)
    assert done.code == 0, done.seen
    return place


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Sets this project up with the agent and the gate."""
    place = clone_this_project(tmp_path / "project")
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    argv = json.dumps([sys.executable, str(agent)])
    for arguments in (
        ("config", "agents.editor.type", "command"),
        ("config", "agents.editor.argv", argv),
        ("config", "agent", "editor"),
        ("config", "verify.test", GATE),
        ("config", "limits.gate", "1h"),
    ):
        done = gt_process(*arguments, at=place)
        assert done.code == 0, done.seen
    return place


def status_of(project: Path, task_id: str) -> tuple[str, str | None]:
    """Returns status and awaiting of a task."""
    task = json.loads(gt_process("show", task_id, "--json", at=project).out)["task"]
    return task["status"], task["awaiting"]


def run(project: Path) -> int:
    """Runs what is ready, side by side, and returns the exit code."""
    ran = gt_process("run", "--headless", "--debounce", "0", "--parallel", "2", at=project)
    assert "bug" not in ran.err, ran.seen
    return ran.code


def test_three_tasks_of_this_project_are_merged(project: Path) -> None:
    tip = git("rev-parse", "main", at=project)
    titles = ("constant for the longest id", "count open tasks", "rules for reviews")
    ids = {title.split()[0]: gt_process("create", title, at=project).out.strip() for title in titles}

    assert run(project) == 3
    assert {name: status_of(project, one) for name, one in ids.items()} == dict.fromkeys(
        ids, ("reviewing", "review")
    )
    history = gt_process("log", ids["count"], "--json", at=project).out
    assert "FAIL" in history, "the reviewing agent sent it back once"

    rejected = gt_process("reject", ids["rules"], "too harsh: be kinder", at=project)
    assert rejected.code == 0, rejected.seen
    assert run(project) == 3
    assert status_of(project, ids["rules"]) == ("reviewing", "review")

    for one in ids.values():
        approved = gt_process("approve", one, at=project)
        assert approved.code == 0, approved.seen
        assert "tests pass" in approved.out
    assert {status_of(project, one)[0] for one in ids.values()} == {"done"}

    merges = git(
        "log", "--merges", "--format=%(trailers:key=Task,valueonly)", f"{tip}..main", at=project
    ).split()
    assert sorted(merges) == sorted(ids.values())
    assert "Be kind in reviews." in (project / "CONTRIBUTING.md").read_text()
    assert "Reviews are strict." not in (project / "CONTRIBUTING.md").read_text()
    assert (project / "gitticks/model/counting.py").read_text().count("Returns how many") == 1
    assert git("status", "--porcelain", at=project) == ""
    assert list(project.glob(".gitticks-work/*")) == []
    assert gt_process("run", "--debounce", "0", at=project).code == 0
    assert fsck_problems(project) == ""
