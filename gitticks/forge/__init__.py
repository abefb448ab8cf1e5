"""The forges that take pull requests, each through its own command-line tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitticks.agents.process import StopRequest
from gitticks.forge.base import Forge, ForgeError, Project, UnavailableError
from gitticks.forge.github import GitHub
from gitticks.forge.gitlab import GitLab
from gitticks.model.settings import ForgeKind

__all__ = ["Forge", "ForgeError", "UnavailableError", "forge_of"]


def forge_of(
    remote: str,
    addresses: Iterable[str],
    kind: ForgeKind,
    environment: Mapping[str, str],
    stop: StopRequest,
) -> Forge:
    """Returns the project on a forge that a remote's addresses name, the first that names one.

    Raises:
        ForgeError: none does.
    """
    project = next(filter(None, map(Project.of_address, addresses)), None)
    if project is None:
        raise ForgeError(
            f"`{remote}` is not a project on a forge, so there is nowhere to open a pull request",
            hint=f"`git remote set-url {remote} https://github.com/OWNER/NAME.git`, or `gt config merge.mode queue`",
        )
    if kind is ForgeKind.AUTO:
        kind = ForgeKind.GITLAB if "gitlab" in project.host else ForgeKind.GITHUB
    return (GitLab if kind is ForgeKind.GITLAB else GitHub)(project, environment, stop)
