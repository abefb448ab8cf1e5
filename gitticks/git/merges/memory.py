"""Merges commits without a checkout: nothing that a person sees moves, whatever comes of it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.process import TIME_LIMIT_SECONDS, GitError, printable, run_git
from gitticks.git.refs import is_object_id
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import fence_programs

_CONFLICT = 1


@dataclass(frozen=True, slots=True)
class CleanMerge:
    """The two sides go together; `tree` holds the result."""

    tree: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """The two sides exclude each other at `paths`, sorted."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergeRules:
    """How files are merged: by the attributes in `folder`, with the programs that `variables` leave in."""

    folder: Path
    variables: Mapping[str, str]


def merge_in_memory(
    repository: Repository, ours: str, theirs: str, *, timeout_seconds: float = TIME_LIMIT_SECONDS
) -> CleanMerge | Conflict:
    """Merges two commits and returns the tree or the conflicting paths.

    The attributes of `ours` say how. Merge drivers of the person's own configuration are used, those of the
    repository's are not.

    Raises:
        GitError: they have no common history, one is no commit, or git took longer than it may.
    """
    with merge_rules(repository, ours) as rules:
        return merge_by(rules, repository, ours, theirs, timeout_seconds=timeout_seconds)


@contextlib.contextmanager
def merge_rules(repository: Repository, commit: str) -> Iterator[MergeRules]:
    """Gives the rules that hold on `commit`.

    Git 2.39 reads attributes from a work tree only, so they are laid out in one that holds nothing else.
    """
    with tempfile.TemporaryDirectory(prefix="gitticks-") as name:
        for path, object_id in _attribute_files(repository, commit):
            file = Path(name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            asked = ["cat-file", "blob", object_id]
            file.write_bytes(run_git(asked, repository_dir=repository.common_dir).stdout)
        yield MergeRules(Path(name), fence_programs(repository.common_dir).variables)


def merge_by(
    rules: MergeRules,
    repository: Repository,
    ours: str,
    theirs: str,
    *,
    timeout_seconds: float = TIME_LIMIT_SECONDS,
) -> CleanMerge | Conflict:
    """Merges two commits by `rules`.

    Raises:
        GitError: they have no common history, one is no commit, or git took longer than it may.
    """
    options = ["--write-tree", "-z", "--name-only", "--no-messages"]
    result = run_git(
        ["-c", "core.fsync=all", "merge-tree", *options, "--end-of-options", ours, theirs],
        repository_dir=repository.common_dir,
        work_tree=rules.folder,
        directory=rules.folder,
        extra_environment=rules.variables,
        check=False,
        timeout_seconds=timeout_seconds,
        trusted=True,
    )
    tree, *paths = os.fsdecode(result.stdout).split("\0")
    if result.code not in (0, _CONFLICT) or not is_object_id(tree):
        raise GitError(f"`git merge-tree` failed: {printable(result.stderr)}", code=result.code)
    return Conflict(tuple(sorted({path for path in paths if path}))) if result.code else CleanMerge(tree)


def _attribute_files(repository: Repository, commit: str) -> Iterator[tuple[str, str]]:
    """Yields path and object id of every `.gitattributes`; a symbolic link is none, as git has it.

    A hostile tree can hold folders named `..`, or a `/` within a name: git itself would never write what is in them.
    """
    asked = ["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit]
    listed = os.fsdecode(run_git(asked, repository_dir=repository.common_dir).stdout)
    for line in listed.split("\0")[:-1]:
        words, _, path = line.partition("\t")
        *folders, name = path.split("/")
        if name == ".gitattributes" and words.startswith("100") and {"", ".", ".."}.isdisjoint(folders):
            yield path, words.split(" ")[2]
