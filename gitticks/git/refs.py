"""Reads refs as files, without pygit2 or a process; what it finds odd is an error, never a guess."""

from __future__ import annotations

import re
from pathlib import Path

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.repository import Repository

BRANCHES = "refs/heads/"
OWN_BRANCHES = "gitticks/"
_DEEPEST_CHAIN = 5
_OBJECT_ID = re.compile(r"[0-9a-f]{40}")
_REF_NAME = re.compile(
    r"(?!.*(?:\.\.|//|/\.|\.lock(?:/|$)|@\{))[^\x00-\x20~^:?*\[\\\x7f./][^\x00-\x20~^:?*\[\\\x7f]*(?<![./])"
)


def is_object_id(text: str) -> bool:
    """True for a whole object id: 40 lower-case hexadecimal digits."""
    return _OBJECT_ID.fullmatch(text) is not None


def is_valid_ref_name(name: str) -> bool:
    """True if git would accept `name` as a ref or a branch; an option (`-x`) is refused too."""
    return _REF_NAME.fullmatch(name) is not None and not name.startswith("-")


def read_ref(common_dir: Path, name: str) -> str | None:
    """Returns the object id that the ref `name` (`HEAD`, `refs/…`) stands for; None if it does not exist.

    Raises:
        GitticksError: the ref is broken, or no possible name.
    """
    for _ in range(_DEEPEST_CHAIN):
        value = _read_once(common_dir, name)
        if value is None or is_object_id(value):
            return value
        name = value.removeprefix("ref:").strip()
    raise GitticksError(
        f"the ref `{name}` is symbolic, and too deep", hint="`git symbolic-ref` shows where it leads"
    )


def read_symbolic_ref(git_dir: Path, name: str) -> str | None:
    """Returns the ref that `name` points to; None if it holds an object id or does not exist."""
    try:
        text = (git_dir / name).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    return text.removeprefix("ref:").strip() if text.startswith("ref:") else None


def head_branch(repository: Repository) -> str | None:
    """Returns the branch that is checked out here (also one without commits); None if HEAD is detached."""
    return _branch_of_head(repository.git_dir)


def branch_exists(repository: Repository, branch: str) -> bool:
    """True if the local branch has at least one commit."""
    return read_ref(repository.common_dir, BRANCHES + branch) is not None


def has_commits(repository: Repository) -> bool:
    """True if HEAD names a commit here; False on an unborn branch."""
    target = read_symbolic_ref(repository.git_dir, "HEAD")
    if target is None:
        return read_ref(repository.git_dir, "HEAD") is not None
    return read_ref(repository.common_dir, target) is not None


def default_base(repository: Repository) -> str | None:
    """Returns the branch that work is merged into when nobody said which; None if HEAD is detached everywhere.

    That is what `origin/HEAD` names, else the branch checked out here, else (on a branch of gitticks' own) the one
    of the main worktree.
    """
    remote = "refs/remotes/origin/"
    named = read_symbolic_ref(repository.common_dir, f"{remote}HEAD")
    if named is not None and named.startswith(remote):
        return named.removeprefix(remote)
    for git_dir in (repository.git_dir, repository.common_dir):
        branch = _branch_of_head(git_dir)
        if branch is not None and not branch.startswith(OWN_BRANCHES):
            return branch
    return None


def resolve(repository: Repository, revision: str) -> str:
    """Returns the id of the commit that `revision` names, in any form that git knows.

    Raises:
        NotFoundError: it names none.
    """
    if is_object_id(revision):
        return revision
    from gitticks.git.process import run_git

    asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    found = run_git(asked, repository_dir=repository.git_dir, check=False)
    if found.code != 0 or not is_object_id(found.text):
        raise NotFoundError(
            f"`{ascii(revision)[1:-1]}` names no commit here", hint="`git branch -a` shows the branches"
        )
    return found.text


def _branch_of_head(git_dir: Path) -> str | None:
    target = read_symbolic_ref(git_dir, "HEAD")
    if target is None or not target.startswith(BRANCHES):
        return None
    return target.removeprefix(BRANCHES)


def _read_once(common_dir: Path, name: str) -> str | None:
    """Returns the object id or the `ref: …` that stands for `name`.

    The loose file comes first: `git pack-refs` writes the packed value before it removes the loose one.
    """
    if not is_valid_ref_name(name):
        raise GitticksError(f"`{ascii(name)[1:-1]}` is not the name of a ref")
    try:
        text = (common_dir / name).read_text(encoding="utf-8", errors="surrogateescape").strip()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return _read_packed(common_dir, name)
    if is_object_id(text) or text.startswith("ref:"):
        return text
    raise GitticksError(
        f"the ref `{name}` is broken: its file holds no object id",
        hint=f"`git reflog {name}` shows where it stood",
    )


def _read_packed(common_dir: Path, name: str) -> str | None:
    try:
        content = (common_dir / "packed-refs").read_bytes()
    except FileNotFoundError:
        return None
    end = content.find(b" " + name.encode("utf-8", "surrogateescape") + b"\n")
    if end < 0:
        return None
    value = content[max(end - 40, 0) : end].decode("ascii", "replace")
    return value if is_object_id(value) else None
