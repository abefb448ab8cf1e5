"""Which editor a person uses, by git's own order of asking."""

from __future__ import annotations

from collections.abc import Mapping

from gitticks.errors import GitticksError
from gitticks.git.process import run_git
from gitticks.git.repository import Repository

_VARIABLES = ("VISUAL", "EDITOR")


def editor_command(repository: Repository, environment: Mapping[str, str]) -> str:
    """Returns the command line of the editor: `GIT_EDITOR`, `core.editor`, `VISUAL`, `EDITOR`, else git's own choice.

    A `core.editor` of the repository's own configuration does not count: an agent could have written it.

    Raises:
        GitticksError: git knows none.
    """
    own = environment.get("GIT_EDITOR") or _configured(repository)
    if own:
        return own
    for name in _VARIABLES:
        if environment.get(name):
            return environment[name]
    found = run_git(["var", "GIT_EDITOR"], directory=repository.common_dir, check=False)
    if found.code == 0 and found.text:
        return found.text
    raise GitticksError("no editor is set", hint="`git config --global core.editor nano`, or set EDITOR")


def _configured(repository: Repository) -> str:
    """Returns the editor of the person's own configuration, empty if none is set there."""
    for scope in ("--global", "--system"):
        asked = ["config", scope, "--includes", "core.editor"]
        found = run_git(asked, repository_dir=repository.common_dir, check=False).text
        if found:
            return found
    return ""
