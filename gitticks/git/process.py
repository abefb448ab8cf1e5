"""The one way to call the git binary, such that neither the environment nor a repository can run code."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import BinaryIO, NamedTuple

from gitticks.errors import GitticksError
from gitticks.terminal_safety import escaped

OLDEST_GIT = (2, 39)
TIME_LIMIT_SECONDS = 600.0
LONGEST_MESSAGE = 600
_INSTALL_HINT = "install git 2.39 or newer: https://git-scm.com/downloads"

_KEPT_VARIABLES = frozenset(
    {
        "GIT_ASKPASS",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_CURL_VERBOSE",
        "GIT_EXEC_PATH",
        "GIT_HTTP_PROXY_AUTHMETHOD",
        "GIT_PROXY_COMMAND",
        "GIT_PROXY_SSL_CAINFO",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "GIT_SSL_CERT",
        "GIT_SSL_KEY",
        "GIT_SSL_NO_VERIFY",
    }
)
"""What the person's own shell says about transport and about where their configuration lies; no hook sets these."""

_OF_ONE_REPOSITORY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)

_TRUSTED_VARIABLES = frozenset(
    {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_EDITOR"}
)

_FIXED_VARIABLES = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_MERGE_AUTOEDIT": "no",
}

_TRANSPORT_COMMANDS = frozenset({"clone", "fetch", "ls-remote", "push"})
_PROTOCOLS = "file:http:https:ssh"
"""By variable and not by `protocol.*.allow`, which the repository's own configuration would override."""
HOOKS_OFF = {
    "core.hooksPath": "/dev/null",
    **{
        f"hook.{event}.enabled": "false"
        for event in (
            "applypatch-msg",
            "commit-msg",
            "post-applypatch",
            "post-checkout",
            "post-commit",
            "post-index-change",
            "post-merge",
            "post-receive",
            "post-rewrite",
            "post-update",
            "pre-applypatch",
            "pre-auto-gc",
            "pre-commit",
            "pre-merge-commit",
            "pre-push",
            "pre-rebase",
            "pre-receive",
            "prepare-commit-msg",
            "proc-receive",
            "push-to-checkout",
            "reference-transaction",
            "update",
        )
    },
}
"""Keeps hooks from running: those in files, and those of newer gits that the configuration names."""
_FENCED_OPTIONS = (
    *(f"{key}={value}" for key, value in HOOKS_OFF.items()),
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.sshCommand=ssh",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "core.pager=cat",
    "log.showSignature=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "diff.external=",
    "advice.detachedHead=false",
)

_LEAST_ROOM = 64 * 1024
_GRACE_SECONDS, _LOOK_SECONDS = 2.0, 0.01


class GitError(GitticksError):
    """The git binary failed; the message holds its own words, shortened and printable."""

    def __init__(self, message: str, *, hint: str | None = None, code: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class GitResult(NamedTuple):
    """What a call of git printed, and its exit code."""

    stdout: bytes
    stderr: str
    code: int

    @property
    def text(self) -> str:
        """Returns stdout as text without its last newline; bytes that are no UTF-8 survive as surrogates."""
        return os.fsdecode(self.stdout).removesuffix("\n")


def run_git(
    arguments: Sequence[str],
    *,
    repository_dir: Path | None = None,
    work_tree: Path | None = None,
    directory: Path | None = None,
    input: bytes | BinaryIO = b"",  # noqa: A002
    extra_environment: Mapping[str, str] | None = None,
    check: bool = True,
    timeout_seconds: float | None = TIME_LIMIT_SECONDS,
    trusted: bool = False,
    started: Callable[[int], None] | None = None,
) -> GitResult:
    """Runs git and returns what it printed.

    Args:
        arguments: the subcommand and what follows; put `--end-of-options` before anything that came from outside.
        repository_dir: the git directory, handed over as `--git-dir`; without it git looks for one from `directory`.
        work_tree: the work tree that belongs to `repository_dir`.
        directory: where git runs; this process's own directory if not said.
        input: what git reads from its stdin: bytes, or an open file that it is handed.
        extra_environment: variables to add, such as `GIT_INDEX_FILE` or an identity; they win over all others.
        check: raise if git's exit code is not 0.
        timeout_seconds: the limit after which git and its children are ended.
        trusted: run as the person would: hooks, signing, helpers, every transport and lazy fetching; only for a
            merge into a base branch, for filling a workspace, and for fetching and pushing as the person.
        started: is told git's process id once it runs.

    Raises:
        GitError: git is missing, failed with `check`, or ran past the limit.
    """
    process = start_git(
        arguments,
        repository_dir=repository_dir,
        work_tree=work_tree,
        directory=directory,
        input=subprocess.PIPE if isinstance(input, bytes) else input,
        extra_environment=extra_environment,
        trusted=trusted,
    )
    given = input if isinstance(input, bytes) else None
    result = finish_git(process, arguments, given, timeout_seconds, started)
    if check and result.code != 0:
        raise failure_of(arguments, result, repository_dir or directory or Path())
    return result


def pieces_of_git(arguments: Sequence[str], *, repository_dir: Path, size: int) -> Iterator[bytes]:
    """Yields what git prints in pieces of `size`, where it may be too much for the memory; fails as `run_git` does."""
    process = start_git(arguments, repository_dir=repository_dir, input=subprocess.DEVNULL)
    limit = threading.Timer(TIME_LIMIT_SECONDS, _signal, (process, signal.SIGKILL))
    limit.start()
    try:
        while process.stdout is not None and (piece := process.stdout.read(size)):
            yield piece
    except BaseException:
        _end(process)
        raise
    finally:
        limit.cancel()
    result = finish_git(process, arguments, None)
    if result.code != 0:
        raise failure_of(arguments, result, repository_dir)


def start_git(
    arguments: Sequence[str],
    *,
    repository_dir: Path | None = None,
    work_tree: Path | None = None,
    directory: Path | None = None,
    input: int | BinaryIO = subprocess.PIPE,  # noqa: A002
    extra_environment: Mapping[str, str] | None = None,
    trusted: bool = False,
) -> subprocess.Popen[bytes]:
    """Starts git with pipes for what it reads and writes; the arguments are those of `run_git`.

    Raises:
        GitError: it cannot be started.
    """
    environment = _environment(os.environ, trusted=trusted)
    if not trusted:  # only a transport command, and it only by few protocols, may leave the repository
        leaves = not _TRANSPORT_COMMANDS.isdisjoint(arguments[:1])
        environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": _PROTOCOLS if leaves else ""}
    environment |= extra_environment or {}
    try:
        return subprocess.Popen(
            _command(arguments, repository_dir, work_tree, trusted=trusted),
            cwd=directory,
            env=environment,
            stdin=input,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        if directory is not None and not directory.is_dir():
            raise GitError(f"`{directory}` is not a directory") from error
        reason = f"cannot be started: {printable(str(error))}"
        if isinstance(error, FileNotFoundError):
            reason = "is not installed, or not on PATH"
        raise GitError(f"`git` {reason}", hint=_INSTALL_HINT) from error


@functools.cache
def git_version() -> tuple[int, ...]:
    """Returns the version of the git binary, such as (2, 39, 5)."""
    words = run_git(["version"]).text
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", words)
    version = tuple(int(part) for part in match.groups() if part) if match else ()
    if version[:2] < OLDEST_GIT:
        raise GitError(f"`{printable(words)}` is too old: gitticks needs git 2.39", hint=_INSTALL_HINT)
    return version


def printable(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """Returns `text` on one line, without control characters, at most `longest` characters long."""
    lines = " / ".join(line.strip() for line in text.splitlines() if line.strip())
    shown = "".join(letter if letter.isprintable() else escaped(letter) for letter in lines)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def _command(
    arguments: Sequence[str], repository_dir: Path | None, work_tree: Path | None, *, trusted: bool
) -> list[str]:
    command = [_program(os.environ.get("PATH")), "--no-pager", "--no-replace-objects"]
    for option in () if trusted else _FENCED_OPTIONS:
        command += ["-c", option]
    if repository_dir is not None:
        command.append(f"--git-dir={repository_dir}")
    if work_tree is not None:
        command.append(f"--work-tree={work_tree}")
    return [*command, *arguments]


@functools.cache
def _program(path: str | None) -> str:
    """Returns the git that is first on a PATH; looking through all of it again would cost every call."""
    folders = [
        folder for folder in os.get_exec_path({} if path is None else {"PATH": path}) if folder[:1] == "/"
    ]
    found = (f"{folder}/git" for folder in folders)  # a Path raises for a folder that nobody may enter
    return next((file for file in found if os.path.isfile(file) and os.access(file, os.X_OK)), "git")  # noqa: PTH113


def environment_of_a_shell(outer: Mapping[str, str]) -> dict[str, str]:
    """Returns a person's environment without what would bind their shell's git to one repository."""
    return {name: value for name, value in outer.items() if name not in _OF_ONE_REPOSITORY}


def _environment(outer: Mapping[str, str], *, trusted: bool) -> dict[str, str]:
    kept = _KEPT_VARIABLES | _TRUSTED_VARIABLES if trusted else _KEPT_VARIABLES
    inherited = {name: value for name, value in outer.items() if not name.startswith("GIT_") or name in kept}
    return {**inherited, **_FIXED_VARIABLES}


def finish_git(
    process: subprocess.Popen[bytes],
    arguments: Sequence[str],
    given: bytes | None,
    timeout_seconds: float | None = TIME_LIMIT_SECONDS,
    started: Callable[[int], None] | None = None,
) -> GitResult:
    """Gives a git that was started with these arguments its input, waits for its end, and returns what it printed.

    Raises:
        GitError: it ran past the limit.
    """
    try:
        if started is not None:
            started(process.pid)
        stdout, stderr = process.communicate(given, timeout=timeout_seconds)
    except subprocess.TimeoutExpired as error:
        _end(process)
        raise GitError(f"`git {_shown(arguments)}` took longer than {timeout_seconds:g} s") from error
    except BaseException:
        _end(process)
        raise
    return GitResult(stdout, os.fsdecode(stderr), process.returncode)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends git with its helpers, which share its session, and reaps it; git may take its locks away before.

    It is not reaped before its helpers are killed: its number must be nobody else's until then.
    """
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    end = time.monotonic() + _GRACE_SECONDS
    try:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(ChildProcessError):
            while os.waitid(os.P_PID, process.pid, options) is None and time.monotonic() < end:
                time.sleep(_LOOK_SECONDS)
    finally:
        _signal(process, signal.SIGKILL)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()


def _signal(process: subprocess.Popen[bytes], sign: signal.Signals) -> None:
    try:
        os.killpg(process.pid, sign)
    except (ProcessLookupError, PermissionError):
        process.send_signal(sign)


def failure_of(arguments: Sequence[str], result: GitResult, place: Path) -> GitError:
    """Returns the error for a call of git that failed at `place`, its git directory, in git's words."""
    words = printable(result.stderr) or printable(os.fsdecode(result.stdout[: 2 * LONGEST_MESSAGE]))
    reason = words.removeprefix("fatal: ").removeprefix("error: ") or f"exit code {result.code}"
    hint = f"`df -h {quote(str(place))}` shows the free space" if is_full(place) else None
    if ("unrelated histories" in reason or "bad object" in reason) and (place / "shallow").exists():
        hint = "the clone is shallow: `git fetch --unshallow` fetches the rest of its history"
    return GitError(f"`git {_shown(arguments)}` failed: {reason}", hint=hint, code=result.code)


def is_full(place: Path) -> bool:
    """True if a disk has so little room that this is what git failed for; it seldom says so itself."""
    try:
        disk = os.statvfs(place)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _LEAST_ROOM


def _shown(arguments: Sequence[str]) -> str:
    """Returns the first words of a call: enough to tell which it was."""
    return printable(" ".join(arguments), 80)


def versions_of_git() -> dict[str, str]:
    """Returns the versions of `git`, `pygit2` and `libgit2`.

    Raises:
        GitError: there is no git binary.
    """
    from importlib.metadata import version

    import pygit2

    return {
        "git": ".".join(map(str, git_version())),
        "pygit2": version("pygit2"),
        "libgit2": pygit2.LIBGIT2_VERSION,
    }
