"""Stores commits through git, which signs them where the person's configuration wants that; libgit2 does not."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from gitticks.git.fence import fence_programs
from gitticks.git.process import run_git
from gitticks.git.repository import Repository

_TRAILER = re.compile(r"[A-Za-z0-9-]+: \S.*")


def store_commit(
    repository: Repository, tree: str, parents: Sequence[str], message: str, identity: Mapping[str, str]
) -> str:
    """Stores a commit that no ref names yet and returns its id; it is signed if `commit.gpgSign` says so.

    The signing program is the person's own, whatever the repository's configuration names.
    """
    sign = ["-S"] if _wants_signature(repository) else []
    return run_git(
        [
            "-c",
            "i18n.commitEncoding=UTF-8",
            "-c",
            "core.fsync=all",
            "commit-tree",
            *sign,
            tree,
            *_parent_words(parents),
        ],
        repository_dir=repository.common_dir,
        input=os.fsencode(message),
        extra_environment={**fence_programs(repository.common_dir).variables, **identity},
        trusted=True,
    ).text


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


def _wants_signature(repository: Repository) -> bool:
    asked = ["config", "--type=bool", "--get", "commit.gpgSign"]
    return run_git(asked, repository_dir=repository.common_dir, check=False, trusted=True).text == "true"


def _parent_words(parents: Sequence[str]) -> list[str]:
    return [word for parent in parents for word in ("-p", parent)]
