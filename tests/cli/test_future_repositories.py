"""Repositories of kinds that cannot be read yet are refused by every command, and nothing is made in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import Exit
from tests.cli.support import gt
from tests.cli.test_everywhere import CALLS
from tests.support.repositories import add_linked_worktree, commit_file, git, make_repository

NEEDS_NONE = {"version", "completion", "help", "skill"}
WORDS = {
    "sha256": "stores its objects as sha256, and gitticks' git library reads SHA-1 alone",
    "reftable": "stores its refs as reftable, and gitticks' git library reads refs in files alone",
}
HINTS = {
    "sha256": "bring the files into a repository made by `git init --object-format=sha1`",
    "reftable": "`git refs migrate --ref-format=files` converts it (git 2.46 or newer)",
}
RUN_WITHOUT_REPOSITORY = 64


def make_future(path: Path, kind: str) -> Path:
    """Makes a repository of that kind with a commit; where git itself is too old for it, by its configuration."""
    if kind == "sha256":
        path.mkdir()
        git("init", "--quiet", "--object-format=sha256", at=path)
        commit_file(path, "README.md", "hello\n")
        return path
    make_repository(path)
    git("config", "core.repositoryFormatVersion", "1", at=path)
    git("config", "extensions.refStorage", "reftable", at=path)
    return path


def everything_in(path: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() if one.is_file() else b"" for one in path.rglob("*")}


@pytest.mark.parametrize("kind", WORDS)
def test_every_command_refuses_and_changes_nothing(kind: str, tmp_path: Path) -> None:
    top = make_future(tmp_path / "top", kind)
    before = everything_in(top)
    for name, words in {**CALLS, "hook": ("hook", "pre-commit")}.items():
        ran = gt(*words, at=top, environment={"GIT_EDITOR": "true"})
        if name in NEEDS_NONE:
            assert ran.code == Exit.DONE, (name, ran.seen)
            continue
        assert ran.code == (RUN_WITHOUT_REPOSITORY if name == "run" else Exit.FAILED), (name, ran.seen)
        if name == "doctor":
            assert f"error    `{top}/.git` {WORDS[kind]}\n           {HINTS[kind]}\n" in ran.out
        else:
            assert (
                ran.seen == f"--- {ran.code}\nerror: `{top}/.git` {WORDS[kind]}\n\nhint: {HINTS[kind]}\n"
            ), name
    assert everything_in(top) == before


@pytest.mark.parametrize("words", [("init",), ("list",), ("doctor",), ("doctor", "--range", "main")])
def test_from_every_place(words: tuple[str, ...], tmp_path: Path) -> None:
    top = make_future(tmp_path / "top", "sha256")
    linked = add_linked_worktree(top, tmp_path / "linked", "side")
    inside = top / "some" / "where"
    inside.mkdir(parents=True)
    bare = tmp_path / "bare"
    git("clone", "--quiet", "--bare", str(top), str(bare), at=tmp_path)
    outer = make_repository(tmp_path / "outer", commits=0)
    git("clone", "--quiet", f"--separate-git-dir={tmp_path / 'kept'}", str(top), "inner", at=outer)
    for place in (linked, inside, top / ".git", bare, outer / "inner"):
        ran = gt(*words, at=place)
        assert ran.code == Exit.FAILED, (place, ran.seen)
        assert WORDS["sha256"] in ran.out + ran.err


def test_json_tells_it_too(tmp_path: Path) -> None:
    top = make_future(tmp_path / "top", "reftable")
    ran = gt("list", "--json", at=top)
    assert ran.out == ""
    assert f'"message": "`{top}/.git` {WORDS["reftable"]}"' in ran.err


def test_where_the_configuration_is_not_plain(tmp_path: Path) -> None:
    top = make_future(tmp_path / "top", "sha256")
    git("config", "include.path", "other", at=top)
    ran = gt("list", at=top)
    assert ran.code == Exit.FAILED
    assert WORDS["sha256"] in ran.err
