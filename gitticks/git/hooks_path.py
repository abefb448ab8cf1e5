"""Where a person's own hooks lie, whatever gitticks' hooks stand in front of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.process import run_git
from gitticks.git.repository import Repository

HOOKS_PATH = "core.hooksPath"
HIDDEN_HOOKS_PATH = "gitticks.hiddenHooksPath"
"""Where a worktree's own `core.hooksPath` is kept while ours stands in its place."""

CHECKOUT_FOLDER = "checkout-hooks"
"""Our folder of hooks that the main worktree names; git copies that word into each worktree that it adds."""

_ASKED = r"^(core\.hookspath|gitticks\.hiddenhookspath)$"


@dataclass(frozen=True, slots=True)
class OwnHooks:
    """The folder of the person's hooks; `named` is what `core.hooksPath` says, None where that is not set."""

    folder: Path
    named: str | None

    @property
    def is_missing(self) -> bool:
        """True if a path is named and nothing is there, so that none of the person's hooks runs."""
        return self.named is not None and not self.folder.is_dir() and not self.are_off

    @property
    def are_off(self) -> bool:
        """True if the person has switched their hooks off, as people do by naming `/dev/null`."""
        return self.named == os.devnull


def find_own_hooks(repository: Repository) -> OwnHooks:
    """Returns where the main worktree's hooks are; a relative path counts from its top, as with git."""
    listed = run_git(
        ["config", "--null", "--show-scope", "--type=path", "--get-regexp", _ASKED],
        repository_dir=repository.common_dir,
        check=False,
        trusted=True,
    ).text
    words = listed.split("\0")[1::2]
    found = [tuple(word.split("\n", 1)) for word in words if "\n" in word]
    hidden = [value for key, value in found if key == HIDDEN_HOOKS_PATH.lower() and value]
    top = repository.main_worktree or repository.common_dir
    usual = [
        value
        for key, value in found
        if key == HOOKS_PATH.lower() and value and not is_of_ours(repository, top / value)
    ]
    named = next(reversed(hidden or usual), None)
    return OwnHooks(repository.common_dir / "hooks" if named is None else top / named, named)


def is_of_ours(repository: Repository, path: Path) -> bool:
    """True for a folder of hooks of ours, also where it was before the repository moved."""
    is_here = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(repository.own_dir))
    return is_here or path.parts[-2:] == (repository.own_dir.name, CHECKOUT_FOLDER)
