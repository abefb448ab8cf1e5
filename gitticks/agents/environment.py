"""What of the environment of gitticks other programs get to see."""

from __future__ import annotations

from collections.abc import Mapping

from gitticks.agents.base import AgentKind

_COMMON = frozenset(
    {
        "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ", "USER",
        "SSL_CERT_DIR", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS",
        "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "all_proxy", "https_proxy", "http_proxy", "no_proxy",
    }
)  # fmt: skip
_COMMON_PREFIXES = ("LC_", "XDG_")
_WHOLE = frozenset({AgentKind.COMMAND, AgentKind.SCRIPT})
_NEVER = ("GIT_", "GITTICKS_")


def neutral_environment(outer: Mapping[str, str]) -> dict[str, str]:
    """Returns what commands and checks see: all but git's and gitticks' own variables.

    Those would point a program at another repository, or at another session.
    """
    return {name: value for name, value in outer.items() if not name.startswith(_NEVER)}


def agent_environment(
    kind: AgentKind, variables: tuple[str, ...], outer: Mapping[str, str], additions: Mapping[str, str]
) -> dict[str, str]:
    """Returns the environment of an agent's process.

    A known client gets the common variables and its own; a command or a script gets the neutral ones.

    Args:
        kind: which agent it is.
        variables: the prefixes of the client's own variables.
        outer: the runner's environment.
        additions: what is set in any case and wins.
    """
    kept = {
        name: value
        for name, value in neutral_environment(outer).items()
        if kind in _WHOLE or name in _COMMON or name.startswith((*_COMMON_PREFIXES, *variables))
    }
    return {**kept, **additions}
