"""Creates merge commits through git as the user, in a separate checkout in which their hooks may run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout
from gitticks.git.config import find_own_hooks
from gitticks.git.config_entries import read_all
from gitticks.git.identity import Identity
from gitticks.git.process import printable, run_git
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import fence_programs

_TRAILER = re.compile(r"[A-Za-z0-9-]+: \S.*")
_MESSAGE_HOOKS = ("prepare-commit-msg", "commit-msg")


def fill_with(checkout: Checkout, tree: str) -> None:
    """Makes index and files of a checkout nobody works in those of `tree`; HEAD stays where it is."""
    checkout.git(["read-tree", "--reset", "-u", "--end-of-options", tree], fenced=True, trusted=True)


def store_commit(
    repository: Repository, tree: str, parents: Sequence[str], message: str, identity: Mapping[str, str]
) -> str:
    """Stores a commit that no ref names yet and returns its id; it is signed if `commit.gpgSign` says so.

    The signing program is the person's own, whatever the repository's configuration names.
    """
    words = ["-S"] if _is_to_sign(repository) else []
    words += [word for parent in parents for word in ("-p", parent)]
    return run_git(
        ["-c", "i18n.commitEncoding=UTF-8", "-c", "core.fsync=all", "commit-tree", *words, tree],
        repository_dir=repository.common_dir,
        input=os.fsencode(message),
        extra_environment={**fence_programs(repository.common_dir).variables, **identity},
        trusted=True,
    ).text


def _is_to_sign(repository: Repository) -> bool:
    if all(key != "commit.gpgsign" for _, key, _ in read_all(repository.common_dir)):
        return False
    asked = ["config", "--type=bool", "--get", "commit.gpgSign"]
    return run_git(asked, repository_dir=repository.common_dir, check=False, trusted=True).text == "true"


def add_trailers(message: str, trailers: str) -> str:
    """Returns the message with the lines of `trailers` in its last block, each once.

    Done here because git's own way runs commands that a repository's configuration can name.
    """
    text = message.rstrip()
    paragraphs = text.split("\n\n")
    present = paragraphs[-1].splitlines() if len(paragraphs) > 1 else []
    has_block = bool(present) and all(_TRAILER.fullmatch(line) for line in present)
    missing = [line for line in trailers.splitlines() if not (has_block and line in present)]
    if not missing:
        return message
    return "\n".join([text, *([] if has_block else [""]), *missing, ""])


class HookRefusedError(GitticksError):
    """A hook of the person's refused the commit."""


def commit_merge(
    repository: Repository,
    tree: str,
    parents: Sequence[str],
    message: str,
    *,
    author: Identity,
    aside: Callable[[str], AbstractContextManager[Checkout]],
) -> str:
    """Stores the commit of a merge (one parent: of a squash) and returns its id; no ref moves.

    The person's `pre-merge-commit` (`pre-commit` for a squash), `prepare-commit-msg` and `commit-msg` run as `git
    merge` would run them, in a checkout that `aside` gives; what they stage or write into the message is taken.

    Raises:
        HookRefusedError: one of them failed; the message holds its words.
    """
    kind = "merge" if len(parents) > 1 else "squash"
    check = "pre-merge-commit" if kind == "merge" else "pre-commit"
    hooks = find_own_hooks(repository).folder
    if any(
        (hooks / name).is_file() and os.access(hooks / name, os.X_OK) for name in (check, *_MESSAGE_HOOKS)
    ):
        with aside(parents[0]) as checkout:
            fill_with(checkout, tree)
            _run_hook(checkout, hooks, check)
            tree = run_git(["write-tree"], repository_dir=checkout.git_dir).text
            file = checkout.git_dir / "MERGE_MSG"
            file.write_bytes(os.fsencode(message))
            _run_hook(checkout, hooks, "prepare-commit-msg", str(file), kind)
            _run_hook(checkout, hooks, "commit-msg", str(file))
            message = os.fsdecode(file.read_bytes())
    return store_commit(repository, tree, parents, message, author.variables())


def _run_hook(checkout: Checkout, hooks: Path, name: str, *words: str) -> None:
    result = run_git(
        ["-c", f"core.hooksPath={hooks}", "hook", "run", "--ignore-missing", name, "--", *words],
        directory=checkout.path,
        check=False,
        trusted=True,
    )
    if result.code != 0:
        raise HookRefusedError(
            f"the hook `{name}` refused the merge: {printable(result.stderr) or f'exit code {result.code}'}",
            hint=f"`{hooks / name}` says why",
        )
