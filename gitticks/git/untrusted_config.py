"""Reads git's configuration, and disables the programs that a repository's own names where gitticks works with files.

Only git reads these files, since an agent may have written them: what another reader understood otherwise would pass
unseen. What it says is remembered, for one session of an agent asks a dozen times.

Filling a checkout needs the person's filters (large files, encryption), and those are programs. What the person's own
configuration names is theirs. What the repository's configuration names may have been written by an agent that ran
without a sandbox, so it is replaced by the person's value, or by one that runs nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gitticks.git.process import HOOKS_OFF, run_git
from gitticks.safe_read import read_plain_file, read_plain_text

REPOSITORY_SCOPES = frozenset({"local", "worktree"})
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

_TO_REMOTES = ("core.askpass", "core.sshcommand")
_HOOK = re.compile(r"hook\.(.+)\.(?:command|event)", re.DOTALL)
_HOOK_EVENT = re.compile(r"hook\.(.+)\.event", re.DOTALL)
_ALWAYS = {
    **HOOKS_OFF,
    "core.fsmonitor": "false",
    "submodule.recurse": "false",
    "gc.auto": "0",  # housekeeping may be told to run programs as well
    "maintenance.auto": "false",
}
CONFIG_FILE = "config.worktree"
"""A worktree's own configuration, in its git directory."""
_OWN_FILES, _FALSE = "extensions.worktreeconfig", frozenset({"false", "no", "off", "0"})
MOST_BYTES = 4_000_000
Entry = tuple[str, str, str]
"""Scope, key and value of a setting; sections and keys are in lower case, and the value is empty where there is none."""
_WORKTREE, _COMMAND = "worktree", "command"
_OF_OUR_CALL = "command line:"
_MOST_KNOWN = 100
_known: dict[tuple[str, ...], tuple[list[tuple[int, ...] | None], tuple[Entry, ...]]] = {}
"""By where git looks for them: the settings that all worktrees share, as of these stamps of the files."""
_of_files: dict[bytes, bytes] = {}
"""By the bytes of a configuration file that includes no other: what git reads of it."""


class Fence(NamedTuple):
    """The settings that keep one repository's own programs out.

    Attributes:
        variables: the environment that lays them over every call of git, and over what git starts.
        filters: the names of the filters that were left out, sorted.
        remotes: the settings of the repository that name programs for its remotes, sorted: they cannot be left out,
            so that git must not be let talk to a remote.
        unused: the settings of the repository by which git would reach a remote, and which were left out, sorted.
    """

    variables: Mapping[str, str]
    filters: tuple[str, ...]
    remotes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


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
        is_foreign = scope in REPOSITORY_SCOPES
        if is_foreign:
            named.add(key)
        elif _HELPERS.fullmatch(key):
            helpers.append((key, value))
        harmless = next((value for pattern, value in _HARMLESS if pattern.fullmatch(key)), None)
        if harmless is not None and is_foreign:
            foreign[key] = harmless
        elif harmless is not None and scope != _COMMAND:
            trusted[key] = value
    replaced = [*_ALWAYS.items(), *(settings or {}).items()]
    replaced += [(key, trusted.get(key, harmless)) for key, harmless in foreign.items()]
    if any(map(_HELPERS.fullmatch, named)):
        replaced += [("credential.helper", ""), *helpers]
    filters = {
        key.split(".", 1)[1].rpartition(".")[0]
        for key in foreign.keys() - trusted.keys()
        if key.startswith("filter.") and not key.endswith(".required")
    }
    proxy = {_PROXY_VARIABLE: os.environ.get(_PROXY_VARIABLE, "")} if _PROXY in named else {}
    remotes = sorted(filter(_OF_REMOTES.fullmatch, named))
    reaching = [key for key in sorted(named) if _HELPERS.fullmatch(key) or key in (_PROXY, *_TO_REMOTES)]
    unused = [key for key in reaching if key not in trusted]
    return Fence(_as_variables(replaced) | proxy, tuple(sorted(filters)), tuple(remotes), (*unused, *remotes))


def own_hooks(git_dir: Path, events: Collection[str]) -> bool:
    """True if the person's own configuration, not the repository's, names a hook for one of these events of git."""
    return any(
        value in events and _HOOK_EVENT.fullmatch(key) and scope not in REPOSITORY_SCOPES
        for scope, key, value in read_all(git_dir)
    )


def without_foreign_hooks(git_dir: Path) -> dict[str, str]:
    """Returns the environment of a call in which hooks run, but none that the repository's configuration names."""
    found = {
        match[1]
        for scope, key, _ in read_all(git_dir)
        if scope in REPOSITORY_SCOPES and (match := _HOOK.fullmatch(key))
    }
    return _as_variables([(f"hook.{name}.enabled", "false") for name in sorted(found)]) if found else {}


def _as_variables(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Returns `settings` as environment; as `-c` options a name that holds `=` would be cut there."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings)), "GIT_ALLOW_PROTOCOL": "file:http:https:ssh"}
    for number, (key, value) in enumerate(settings):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


def read_all(git_dir: Path) -> tuple[Entry, ...]:
    """Returns every setting, in the order in which git reads them; those of scope `command` are ours."""
    *shared, own = _files(git_dir)
    files = tuple(shared)
    stamps = [_stamp(file) for file in files]
    if files in _known and _known[files][0] == stamps:
        entries = _with_own(git_dir, own, _known[files][1])
        if entries is not None:
            return entries
    asked = ["config", "--null", "--show-scope", "--show-origin", "--list"]
    words = run_git(asked, repository_dir=git_dir).text.split("\0")
    entries = tuple(
        (scope, *entry.partition("\n")[::2]) for scope, entry in zip(words[::3], words[2::3], strict=False)
    )
    origins = {one.removeprefix("file:") for one in words[1::3] if one != _OF_OUR_CALL}.difference(
        (*files, own)
    )
    includes = any(key.startswith("include") for _, key, _ in entries)  # what it names may appear unseen
    is_all = not origins or set(map(os.path.realpath, origins)) <= set(map(os.path.realpath, (*files, own)))
    if not includes and is_all and stamps == [_stamp(file) for file in files]:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[files] = stamps, tuple(entry for entry in entries if entry[0] != _WORKTREE)
    return entries


def _with_own(git_dir: Path, file: str, shared: tuple[Entry, ...]) -> tuple[Entry, ...] | None:
    """Returns the settings that all worktrees share with those of one worktree's own file; None if git cannot read it."""
    said = [value for scope, key, value in shared if key == _OWN_FILES and scope == "local"]
    if not said or said[-1].lower() in _FALSE or not os.path.lexists(file):
        return shared
    if b"include" in (bytes_of(file) or b"").lower():  # which may hang on what the other files say
        return None
    listed = list_file(git_dir, file)
    if listed is None:
        return None
    own = [(_WORKTREE, *entry) for entry in pairs_of(listed)]
    ours = sum(scope == _COMMAND for scope, _, _ in shared)  # which are the last
    return (*shared[: len(shared) - ours], *own, *shared[len(shared) - ours :])


def list_file(git_dir: Path, file: Path | str) -> bytes | None:
    """Returns key and value of each setting of one file and what it includes, as git lists them; None if it cannot."""
    content = bytes_of(file)
    # What a file includes may change by itself.
    is_closed = content is not None and b"include" not in content.lower()
    known = _of_files.get(content) if content is not None and is_closed else None
    if known is not None:
        return known
    asked = ["config", f"--file={file}", "--includes", "--null", "--list"]
    listed = run_git(asked, repository_dir=git_dir, check=False)
    if listed.code != 0:
        return None
    if content is not None and is_closed and content == bytes_of(file):
        if len(_of_files) >= _MOST_KNOWN:
            _of_files.clear()
        _of_files[content] = listed.stdout
    return listed.stdout


def pairs_of(listed: bytes) -> Iterator[tuple[str, str]]:
    """Yields key and value of each setting that git listed."""
    for entry in os.fsdecode(listed).split("\0"):
        key, _, value = entry.partition("\n")
        if key:
            yield key, value


def bytes_of(file: Path | str) -> bytes | None:
    """Returns what is in a configuration file; None if it cannot be read."""
    try:
        return read_plain_file(file, MOST_BYTES)
    except OSError:
        return None


def _files(git_dir: Path) -> tuple[str, ...]:
    """Returns where git looks for the configuration of a worktree, apart from what these files include."""
    shared = str(git_dir)
    try:
        named = read_plain_text(f"{shared}/commondir").strip()
    except FileNotFoundError:
        pass
    else:
        shared = os.path.realpath(os.path.join(shared, named))
    home = os.environ.get("HOME", "")
    own = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    chosen = os.environ.get("GIT_CONFIG_GLOBAL")
    return (
        os.environ.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"),
        *((f"{own}/git/config", f"{home}/.gitconfig") if chosen is None else (chosen,)),
        f"{shared}/config",
        f"{git_dir}/{CONFIG_FILE}",
    )


def _stamp(file: str) -> tuple[int, ...] | None:
    """Returns what differs once a file was written, and cannot be set back by who wrote it; None if it is missing."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
