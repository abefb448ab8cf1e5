"""What holds where nobody chose a sandbox: `permissive` if it stands here, else none, which is said; never by a task's word."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gitticks.model.status import Status
from tests.support.agents import write_program
from tests.support.repositories import git
from tests.support.runs import COMMIT, DONE, NO_PERSON, RunProject, project

pytestmark = pytest.mark.debian("bubblewrap", program="bwrap")
__all__ = ["project"]

SHOW = "echo ${GITTICKS_SANDBOX:-none} > walls.txt\n"


@pytest.fixture(autouse=True)
def _nothing_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITTICKS_CONFIG_SANDBOX_PRESET")


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = write_program(tmp_path / "broken/bwrap", "echo 'bwrap: no such luck' >&2; exit 1\n")
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


def walls_of(project: RunProject) -> str:
    return git("show", "main:walls.txt", at=project.path)


def test_walls_stand_without_a_word(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}verify: {{test: 'test $GITTICKS_SANDBOX = permissive'}}\n")
    project.agent(f"{SHOW}{DONE}")
    project.make()
    ran = project.run()
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert walls_of(project) == "permissive"
    assert "sandbox" not in ran.seen


@pytest.mark.usefixtures("broken")
def test_where_none_can_stand_it_is_said_at_each_start(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(f"{SHOW}{DONE}")
    project.make()
    ran = project.run()
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert walls_of(project) == "none"
    said = "no sandbox, so agents can do anything you can: bwrap: no such luck"
    assert said in ran.err
    assert said in project.run().err
    assert "agents run without a sandbox here: bwrap: no such luck" in project.gt("doctor").out
    assert said in project.gt("demo", "--dir", str(project.path.parent / "demo")).err


def test_work_goes_on_where_walls_stand_no_more(
    project: RunProject, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    project.settings(NO_PERSON)
    project.agent(COMMIT)
    project.make()
    project.run("--max-iterations", "1")
    first = git("rev-parse", "gitticks/work/k7f2", at=project.path)
    request.getfixturevalue("broken")
    project.agent(f"{SHOW}{DONE}")
    ran = project.run()
    assert "what was committed in a sandbox earlier is not taken: bwrap: no such luck" in ran.seen
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert walls_of(project) == "none"
    assert first in git("rev-list", "main", at=project.path).split()


@pytest.mark.usefixtures("broken")
def test_without_walls_yolo_is_asked_about_as_ever(project: RunProject) -> None:
    assert "`yolo` without a sandbox" in project.run("--permission", "yolo").err


def test_the_own_checkout_has_none_only_by_the_person_s_word(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(f"{SHOW}{DONE}")
    project.make()
    ran = project.run("--isolation", "none")
    assert "no sandbox, so agents can do anything you can: `isolation: none`" in ran.err
    assert walls_of(project) == "none"
    project.make("m3xq", isolation="none")
    ran = project.run()
    assert "cannot be used in your own checkout" in ran.seen
    assert "rests" not in ran.seen
    assert project.task("m3xq").status is Status.PENDING


def test_what_real_clients_need_is_there(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    with TemporaryDirectory(dir="/var/tmp") as home:  # /tmp is empty behind walls
        tool, login, key = (Path(home, name) for name in (".local/bin/tool", ".config/tool/login", ".ssh/id"))
        write_program(tool, 'cat "$HOME/.config/tool/login"')
        for file in (login, key):
            file.parent.mkdir(parents=True)
            file.write_text("who I am")
        monkeypatch.setenv("HOME", home)
        monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
        project.settings(
            f"{NO_PERSON}setup: {{run: 'mkdir -p node_modules/.bin && cp /bin/echo node_modules/.bin/'}}\n"
        )
        git("config", "core.excludesFile", str(project.path / ".git/info/exclude"), at=project.path)
        (project.path / ".git/info/exclude").write_text("node_modules\n")
        project.agent(
            "{ tool; node_modules/.bin/echo '' by node; cat ~/.ssh/id || echo hidden; touch ~/new || echo read-only;"
            f" ls /sys/class/net | wc -w; }} > walls.txt 2>/dev/null\n{DONE}"
        )
        project.make()
        ran = project.run()
        assert project.task("k7f2").status is Status.DONE, ran.seen
        devices = len(list(Path("/sys/class/net").iterdir()))
        assert walls_of(project).splitlines() == ["who I am by node", "hidden", "read-only", str(devices)]
