"""Ports of their own for workspaces, and a folder for temporary files for each session."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from gitticks.git.checkouts import checkout_at
from gitticks.git.repository import Repository, discover
from gitticks.git.worktrees import add_worktree, remove_worktree
from gitticks.runner.workspace_environment import PORT_BASE, PORTS_EACH, port_variables, temporary_folder
from tests.support.repositories import git, make_repository
from tests.support.runs import DONE, NO_PERSON, RunProject, allow_shared, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Gives a repository with one commit."""
    return discover(make_repository(tmp_path / "repo"))


def test_each_checkout_keeps_ports_of_its_own_while_it_is_there(
    repository: Repository, tmp_path: Path
) -> None:
    tip = git("rev-parse", "HEAD", at=repository.common_dir).strip()
    checkouts = [add_worktree(repository, tmp_path / f"w{one}", commit=tip) for one in range(4)]
    main = checkout_at(repository, tmp_path / "repo")
    ports = [int(port_variables(repository, one)[PORT_BASE]) for one in (main, *checkouts)]
    assert len(set(ports)) == 5
    assert all(20_000 <= port < 32_000 and port % PORTS_EACH == 0 for port in ports)
    assert [int(port_variables(repository, one)[PORT_BASE]) for one in (main, *checkouts)] == ports
    remove_worktree(repository, checkouts[0].path)
    again = add_worktree(repository, tmp_path / "new", commit=tip)
    assert int(port_variables(repository, again)[PORT_BASE]) == ports[1]


def test_a_folder_for_temporary_files_goes_with_read_only_folders_in_it(repository: Repository) -> None:
    main = checkout_at(repository, repository.common_dir.parent)
    with temporary_folder(repository, main) as variables:
        folder = Path(variables["TMPDIR"])
        (folder / "cache").mkdir()
        (folder / "cache/one").touch()
        (folder / "cache").chmod(0o500)
    assert not folder.exists()


def test_what_a_killed_session_left_goes_with_the_next_and_nothing_else(
    repository: Repository, tmp_path: Path
) -> None:
    main = checkout_at(repository, repository.common_dir.parent)
    note = repository.own_dir / "gitticks-tmp"
    note.parent.mkdir(parents=True, exist_ok=True)
    left = Path(tempfile.mkdtemp(prefix="gt-"))
    note.write_text(str(left))
    with temporary_folder(repository, main):
        assert not left.exists()
    mine = tmp_path / "gt-mine"
    mine.mkdir()
    note.write_text(str(mine))
    with temporary_folder(repository, main):
        pass
    assert mine.is_dir()


def test_agents_side_by_side_and_their_checks_share_neither_ports_nor_folders(project: RunProject) -> None:
    folder = project.path.parent
    project.settings(
        f"{NO_PERSON}setup: {{run: 'echo $GITTICKS_PORT_BASE > .setup'}}\n"
        f"verify: {{test: 'echo $GITTICKS_PORT_BASE $TMPDIR >> {folder}/checks', committed: false}}\n"
    )
    project.agent(
        f'echo "$GITTICKS_PORT_BASE" "$TMPDIR" > "{folder}/of-$GITTICKS_TASK"; touch "$TMPDIR/mine"\n'
        f'until [ -e "{folder}/of-aaaa" ] && [ -e "{folder}/of-bbbb" ]; do sleep 0.05; done\n'
        'test "$(cat .setup)" = "$GITTICKS_PORT_BASE" || exit 9; rm .setup\n' + DONE
    )
    project.make("aaaa")
    project.make("bbbb")
    assert project.run("--parallel", "2").code == 0
    seen = [(folder / f"of-{one}").read_text() for one in ("aaaa", "bbbb")]
    (port, place), (other_port, other_place) = (line.split() for line in seen)
    assert port != other_port
    assert place != other_place
    assert not Path(place).exists()
    assert set(seen) <= set((folder / "checks").read_text().splitlines(keepends=True))


@pytest.mark.parametrize("preset", ["none", "permissive"])
def test_a_killed_run_leaves_nothing_among_the_temporary_files(
    project: RunProject, monkeypatch: pytest.MonkeyPatch, preset: str
) -> None:
    temporary = project.path.parent / "t"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("GITTICKS_CONFIG_SANDBOX_PRESET", preset)
    allow_shared(project.shared, monkeypatch)
    project.settings(NO_PERSON)
    project.agent(f'touch "{project.shared}/up"; sleep 600')
    project.make()
    with project.running() as process:
        until((project.shared / "up").exists, "the agent")
        process.kill()
        process.wait(LONGEST_SECONDS)
    assert any(temporary.iterdir())
    until(lambda: project.gt("health").code == 0 and not any(temporary.iterdir()), "its removal")
