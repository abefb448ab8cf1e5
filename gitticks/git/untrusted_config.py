"""Disables programs named in a repository's own configuration when gitticks fills or reads a checkout.

Filling a checkout needs the person's filters (large files, encryption), and those are programs. What the person's own
configuration names is theirs. What the repository's configuration names may have been written by an agent that ran
without a sandbox, so it is replaced by the person's value, or by one that runs nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.config_entries import read_all

_REPOSITORY_SCOPES = frozenset({"local", "worktree"})
_TEXT_MERGE = "git merge-file --quiet %A %O %B"
_HARMLESS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"filter\..+\.(clean|smudge|process)", re.DOTALL), ""),
    (re.compile(r"filter\..+\.required", re.DOTALL), "false"),
    (re.compile(r"merge\..+\.driver", re.DOTALL), _TEXT_MERGE),
    (re.compile(r"core\.sshcommand"), "ssh"),
    (re.compile(r"core\.(askpass|alternaterefscommand)"), ""),
    (re.compile(r"gpg\.(openpgp\.)?program"), "gpg"),
    (re.compile(r"gpg\.x509\.program"), "gpgsm"),
    (re.compile(r"gpg\.ssh\.program"), "ssh-keygen"),
    (re.compile(r"gpg\.ssh\.defaultkeycommand"), ""),
)
"""Which settings run a program, and the value that stands in for one that the repository set."""

_OF_REMOTES = re.compile(r"remote\..+\.(uploadpack|receivepack)", re.DOTALL)
"""Of these git takes the first value that it reads, so nothing can be laid over them."""

_HELPERS = re.compile(r"credential\.(.+\.)?helper", re.DOTALL)
"""Git asks all of these in turn, until an empty one makes it forget those before."""

_PROXY, _PROXY_VARIABLE = "core.gitproxy", "GIT_PROXY_COMMAND"
"""Of this one too the first value counts, but a variable is above it."""

_ALWAYS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "submodule.recurse": "false",
    "gc.auto": "0",  # housekeeping may be told to run programs as well
    "maintenance.auto": "false",
}


@dataclass(frozen=True, slots=True)
class Fence:
    """The settings that keep one repository's own programs out.

    Attributes:
        variables: the environment that lays them over every call of git, and over what git starts.
        filters: the names of the filters that were left out, sorted.
        remotes: the settings of the repository that name programs for its remotes, sorted: they cannot be left out,
            so that git must not be let talk to a remote.
    """

    variables: Mapping[str, str]
    filters: tuple[str, ...]
    remotes: tuple[str, ...] = ()


def fence_programs(git_dir: Path, settings: Mapping[str, str] | None = None) -> Fence:
    """Returns the fence for the repository that `git_dir` belongs to, as its configuration is now.

    For calls that are `trusted` because they need the person's filters: hooks are off in them too. `settings` are
    laid over the configuration as well.
    """
    trusted: dict[str, str] = {}
    foreign: dict[str, str] = {}
    named: set[str] = set()
    helpers: list[tuple[str, str]] = []
    for scope, key, value in read_all(git_dir):
        is_foreign = scope in _REPOSITORY_SCOPES
        if is_foreign:
            named.add(key)
        elif _HELPERS.fullmatch(key):
            helpers.append((key, value))
        harmless = next((value for pattern, value in _HARMLESS if pattern.fullmatch(key)), None)
        if harmless is not None and is_foreign:
            foreign[key] = harmless
        elif harmless is not None:
            trusted[key] = value
    replaced = [*_ALWAYS.items(), *(settings or {}).items()]
    replaced += [(key, trusted.get(key, harmless)) for key, harmless in foreign.items()]
    if any(map(_HELPERS.fullmatch, named)):
        replaced += [("credential.helper", ""), *helpers]
    filters = {
        key.split(".", 1)[1].rpartition(".")[0]
        for key in foreign.keys() - trusted.keys()
        if key.startswith("filter.")
    }
    proxy = {_PROXY_VARIABLE: os.environ.get(_PROXY_VARIABLE, "")} if _PROXY in named else {}
    remotes = sorted(filter(_OF_REMOTES.fullmatch, named))
    return Fence(_as_variables(replaced) | proxy, tuple(sorted(filters)), tuple(remotes))


def _as_variables(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Returns `settings` as environment; as `-c` options a name that holds `=` would be cut there."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings)), "GIT_ALLOW_PROTOCOL": "file:http:https:ssh"}
    for number, (key, value) in enumerate(settings):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables
