from __future__ import annotations

from pathlib import Path

from gitticks.git.log import read_trail
from gitticks.git.objects import ObjectPlaces, alternates, object_places
from gitticks.git.repository import discover
from tests.support.repositories import commit_file, git, make_repository


def test_folders_that_objects_are_borrowed_from(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source")
    git("clone", "--quiet", "--shared", str(source), str(tmp_path / "shared"), at=tmp_path)
    assert alternates(discover(source)) == ()
    assert alternates(discover(tmp_path / "shared")) == (source / ".git" / "objects",)


def test_what_lies_apart_is_seen(tmp_path: Path) -> None:
    bare = make_repository(tmp_path / "bare", bare=True)
    incoming = bare / "objects" / "incoming"
    other = make_repository(tmp_path / "other")
    commit = commit_file(other, "new.txt", "new\n")
    (other / ".git" / "objects").rename(incoming)
    repository = discover(bare)
    environment = {
        "GIT_OBJECT_DIRECTORY": "./objects/incoming",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(bare / "objects"),
        "GIT_DIR": ".",
    }
    places = object_places(environment, bare)
    assert places.folders == (incoming, bare / "objects")
    assert places.variables["GIT_OBJECT_DIRECTORY"] == str(incoming)
    objects = places.open(repository)
    tree = objects.tree_of(commit)
    entry = objects.find(tree, "new.txt")
    assert entry is not None
    assert objects.read_blob(entry.object_id) == b"new\n"
    assert objects.tree_of(git("rev-parse", "main", at=bare))
    trail = read_trail(repository, commit, variables=places.variables)
    assert [one.commit for one in trail][-1] == commit
    assert not object_places({}, bare).open(repository).has(commit)


def test_without_a_hook_there_is_nothing_apart(tmp_path: Path) -> None:
    assert object_places({"GIT_DIR": "x"}, tmp_path) == ObjectPlaces({}, ())
    assert object_places({"GIT_OBJECT_DIRECTORY": "gone"}, tmp_path).folders == ()
