"""Fetches and pushes as the user: one branch, never by force, and refs by compare-and-swap.

What a remote answers is told apart from its silence: being offline is no failure, a refusal is one, and a push that
came too late is neither. Any git server offers to compare and swap refs (`--force-with-lease`). Such a push counts as
won only where git reports the ref as moved: with the id that is there already git succeeds too, and an answer can get
lost.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Mapping
from enum import Enum
from hashlib import sha256
from typing import NamedTuple

from gitticks.git.config import read_common_setting, read_config
from gitticks.git.files import write_synced
from gitticks.git.process import GitError, GitResult, printable, run_git
from gitticks.git.refs import BRANCHES, blocking_branch, read_ref
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import fence_programs
from gitticks.git.worktrees import HalfMadeError, past_half_made

LONGEST_SECONDS = 60.0
_PROTOCOLS = "file:git:http:https:ssh"
UPLOAD, _RECEIVE = "--upload-pack=git-upload-pack", "--receive-pack=git-receive-pack"
"""By option, since of two values in the configuration git takes the first, which may be an agent's."""
FETCH = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--refmap=",
    UPLOAD,
)
_UNSIGNED = ("-c", "push.gpgSign=false", "-c", "push.pushOption=")
PUSH = (*_UNSIGNED, "push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", _RECEIVE)
_URL = re.compile(r"remote\.(.+)\.url", re.DOTALL)
_UPSTREAM = "branch.{}.remote"
_USUAL = "origin"
_ODD_NAMES = ("hasDot", "hasDotdot", "hasDotgit")
"""What `git fsck` says of names that no checkout can hold."""
_LEFT_THERE = "did not receive expected object"
"""How git tells that what came builds on an object that a partial clone has left with its remote, and that is checked."""
_REFUSALS = (
    "Authentication failed",
    "Permission denied",
    "could not read Username",
    "could not read Password",
    "terminal prompts disabled",
    "Host key verification failed",
    "dubious ownership",
    "The requested URL returned error: 40",
    "fsck error",
    _LEFT_THERE,
    "unpacker error",
    "bad object",
    "not allowed",
    "pack exceeds maximum",
)
"""How git tells that somebody answered, and that it was no."""

_NOT_TAKEN = (
    "cannot lock ref",
    "local refs could not be updated",
    "unable to update local ref",
    "Unable to create '",
    "unable to write",
    "No space left",
)
"""How git tells that somebody answered, and that the answer found no place here."""
_OVERTAKEN = "but expected"

_ABSENT = ("does not appear to be a git repository", "not found", "repository not exported", "does not exist")
_ANSWERS = "answered"

LATE = (
    "fetch first",
    "non-fast-forward",
    "stale info",
    "cannot lock ref",
    "incorrect old value",
    "failed to lock",
)
_CHECKED_OUT = re.compile(rf":{BRANCHES}(\S+)\t\[remote rejected\] \(branch is currently checked out\)")
_NOT_REPORTED = ("failed to report status", "remote failure")

_ORIGIN = "refs/remotes/origin/"


class Fetched(Enum):
    """The result of fetching."""

    HERE = "the remote branch is up to date here"
    MISSING = "the remote has no such branch"
    UNREACHABLE = "the remote cannot be reached"
    REFUSED = "the remote refused, or sent what git refused or could not store"


class Pushed(Enum):
    """The result of pushing."""

    DONE = "the remote has it"
    LATE = "somebody else pushed before"
    REFUSED = "the remote refused it"
    UNKNOWN = "the remote did not tell"


class FetchedBranch(NamedTuple):
    """How a branch was fetched: the commit it stands at, None without one, and git's words where it failed."""

    outcome: Fetched
    commit: str | None = None
    words: str = ""
    is_strange: bool = False
    """Nothing was reached, at an address that never answered here, or where a server says that there is nothing."""


class PushedBranch(NamedTuple):
    """How a push ended, with git's words where it failed."""

    outcome: Pushed
    words: str = ""


def remotes(repository: Repository) -> tuple[str, ...]:
    """Returns the names of the remotes that have an address, in the order of the configuration."""
    found = read_config(repository, r"^remote\..*\.url$")
    return tuple(
        dict.fromkeys(match[1] for key, value in found.items() if value and (match := _URL.fullmatch(key)))
    )


def remote_of_branch(repository: Repository, branch: str, known: tuple[str, ...] | None = None) -> str | None:
    """Returns the remote that a branch is shared with: its upstream's, else `origin`, else the only one there is.

    `known` are the remotes that there are, where somebody has asked already.
    """
    named = read_config(repository, rf"^{re.escape(_UPSTREAM.format(branch))}$").get(_UPSTREAM.format(branch))
    known = remotes(repository) if known is None else known
    if named:
        return named if named in known else None
    if _USUAL in known:
        return _USUAL
    return known[0] if len(known) == 1 else None


def tracking_ref(remote: str, branch: str) -> str:
    """Returns the ref at which a clone remembers a remote's branch."""
    return f"refs/remotes/{remote}/{branch}"


def fetch(
    repository: Repository,
    remote: str,
    branch: str,
    *,
    takes_all_names: bool = False,
    beside: tuple[str, str] | None = None,
    timeout_seconds: float = LONGEST_SECONDS,
) -> FetchedBranch:
    """Brings `refs/remotes/<remote>/<branch>` up to date, also in a clone that was made of a single branch.

    Every object that comes is checked, and on disk before the ref moves; a partial clone leaves none of them there, as it
    would ask for each by itself. The remote must be one of `remotes`: git would take any other word for an address.
    With `takes_all_names`, names of files that no checkout can hold come along; who asks takes them out. The refs under
    the first name of `beside` come along too, to the second, where those go that are gone there.
    """
    tracking = tracking_ref(remote, branch)
    safely = ["-c", "core.fsync=all", "-c", "fetch.fsckObjects=true"]
    if takes_all_names:
        safely += [word for name in _ODD_NAMES for word in ("-c", f"fetch.fsck.{name}=warn")]
    options, refs = ["--no-filter"], [f"+refs/heads/{branch}:{tracking}"]
    if beside is not None:
        options.append("--prune")
        refs.append(f"+{beside[0]}*:{beside[1]}*")
    asked = [*safely, *FETCH, *options, "--end-of-options", remote, *refs]
    done = reach(repository, asked, timeout_seconds)
    if not isinstance(done, str) and _OVERTAKEN in done.stderr:  # somebody else fetched at the same moment
        done = reach(repository, asked, timeout_seconds)
    if not isinstance(done, str) and _LEFT_THERE in done.stderr:
        again = [*safely, *FETCH, *options, "--refetch", "--end-of-options", remote, *refs]
        done = reach(repository, again, timeout_seconds)
    if isinstance(done, str):
        return FetchedBranch(Fetched.UNREACHABLE, words=printable(done))
    if done.code == 0 or "find remote ref" in done.stderr:
        _remember_answer(repository, remote)
        if done.code:
            return FetchedBranch(Fetched.MISSING)
        return FetchedBranch(Fetched.HERE, read_ref(repository.common_dir, tracking))
    if any(sign in done.stderr for sign in (*_REFUSALS, *_NOT_TAKEN)):
        return FetchedBranch(Fetched.REFUSED, words=printable(done.stderr))
    return _unreached(repository, remote, done.stderr)


def address_of(repository: Repository, remote: str) -> str:
    """Returns the address of a remote as the repository's configuration has it; empty where it has none."""
    return read_common_setting(repository.common_dir, f"remote.{remote}.url") or ""


def _unreached(repository: Repository, remote: str, words: str) -> FetchedBranch:
    """Tells being offline from an address that is wrong: it never answered, or a server has nothing there.

    A folder that is gone may be of a disk that is not plugged in, so one that answered before is offline too.
    """
    address = address_of(repository, remote)
    is_absent = any(sign in words for sign in _ABSENT) and ":" in address and not address.startswith("file:")
    is_strange = is_absent or not _has_answered(repository, remote)
    return FetchedBranch(Fetched.UNREACHABLE, words=printable(words), is_strange=is_strange)


def _has_answered(repository: Repository, remote: str) -> bool:
    """True if a remote's address answered before; where that is not on record, if the clone has a branch of it."""
    name, address = _answer(repository, remote)
    known = dict(line.split(" ", 1) for line in _answers(repository))
    if name in known:
        return known[name] == address
    refs = ["for-each-ref", "--count=1", f"refs/remotes/{remote}/"]
    return bool(run_git(refs, repository_dir=repository.common_dir, check=False).text)


def _remember_answer(repository: Repository, remote: str) -> None:
    """Keeps on record that a remote's address answered; without it a mistyped one passes once for being offline."""
    answer, known = _answer(repository, remote), _answers(repository)
    if " ".join(answer) in known:
        return
    others = [line for line in known if not line.startswith(answer[0])]
    lines = "".join(f"{line}\n" for line in [*others, " ".join(answer)])
    with contextlib.suppress(OSError):
        write_synced(repository.own_file(_ANSWERS), lines.encode())


def _answers(repository: Repository) -> list[str]:
    try:
        lines = (repository.own_file(_ANSWERS)).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return [line for line in lines if " " in line]


def _answer(repository: Repository, remote: str) -> tuple[str, str]:
    """Returns digests of a remote's name and address, which may hold a password."""
    name, address = (
        sha256(one.encode()).hexdigest()[:32] for one in (remote, address_of(repository, remote))
    )
    return name, address


def push(
    repository: Repository, remote: str, commit: str, branch: str, *, timeout_seconds: float = LONGEST_SECONDS
) -> PushedBranch:
    """Lets a remote's branch move forward to a commit, or begin there; never back, and no other branch or tag."""
    return _push(repository, remote, [f"{commit}:{BRANCHES}{branch}"], [], timeout_seconds)


def push_together(
    repository: Repository, remote: str, commits: Mapping[str, str], removed: Mapping[str, str]
) -> PushedBranch:
    """Lets branches of a remote move forward to their commits and removes refs, all of it or nothing.

    `commits` are by branch, `removed` names refs with where they have to stand.
    """
    leases = [f"--force-with-lease={ref}:{old}" for ref, old in removed.items()]
    moves = [f"{commit}:{BRANCHES}{branch}" for branch, commit in commits.items()]
    moves += [f":{ref}" for ref in removed]
    return _push(repository, remote, moves, ["--atomic", *leases], LONGEST_SECONDS)


def _push(
    repository: Repository, remote: str, moves: list[str], more: list[str], timeout_seconds: float
) -> PushedBranch:
    asked = [*PUSH, "--quiet", "--no-force", *more, "--end-of-options", remote, *moves]
    done = reach(repository, asked, timeout_seconds)
    if isinstance(done, str):
        return PushedBranch(Pushed.UNKNOWN, done)
    if done.code == 0:
        return PushedBranch(Pushed.DONE)
    refusals = [line for line in done.text.splitlines() if line.startswith("!")]
    words = printable("\n".join([*refusals, done.stderr]))
    if not refusals or any(sign in words for sign in _NOT_REPORTED):
        is_refusal = any(sign in done.stderr for sign in _REFUSALS)
        return PushedBranch(Pushed.REFUSED if is_refusal else Pushed.UNKNOWN, words)
    blocking = blocking_branch(words)
    if blocking is not None:
        return PushedBranch(
            Pushed.REFUSED, f"it has a branch `{blocking}`, which has to be renamed or deleted there first"
        )
    checked_out = _CHECKED_OUT.search(done.text)
    if checked_out is not None:
        return PushedBranch(
            Pushed.REFUSED,
            f"it is a clone that has `{checked_out[1]}` checked out; "
            "`git config receive.denyCurrentBranch updateInstead`, typed there, lets it take pushes",
        )
    if any(sign in words for sign in LATE):
        return PushedBranch(Pushed.LATE, words)
    return PushedBranch(Pushed.REFUSED, printable(words_of_hooks(done.stderr)) or words)


def words_of_hooks(stderr: str) -> str:
    """Returns what the remote's hooks printed; empty if nothing."""
    lines = (
        line.removeprefix("remote:").strip() for line in stderr.splitlines() if line.startswith("remote:")
    )
    return "\n".join(line for line in lines if line)


def reach(repository: Repository, asked: list[str], timeout_seconds: float) -> GitResult | str:
    """Runs a call that leaves the machine; returns words instead of a result if it took too long."""
    fence = fence_programs(repository.common_dir)
    try:
        done = past_half_made(
            repository,
            lambda: run_git(
                asked,
                repository_dir=repository.common_dir,
                extra_environment={**fence.variables, "GIT_ALLOW_PROTOCOL": _PROTOCOLS},
                timeout_seconds=timeout_seconds,
                check=False,
                trusted=True,
            ),
        )
    except HalfMadeError as error:
        return f"{error.message}: {error.hint}"
    except GitError as error:
        is_late = isinstance(error.__cause__, subprocess.TimeoutExpired)
        return f"there was no answer within {timeout_seconds:g} s" if is_late else error.message
    if done.code and fence.unused:
        names = " and ".join(f"`{name}`" for name in fence.unused)
        words = (
            f"{names} of this repository's own configuration was not used, as agents can write it: "
            "`git config --global` sets it for you"
        )
        return done._replace(stderr=f"{done.stderr.rstrip()}\n{words}\n")
    return done


def list_branches(repository: Repository) -> tuple[str, ...]:
    """Returns the sorted names of all branches, those of `origin` too."""
    refs = local_refs(repository, BRANCHES, _ORIGIN)
    return tuple(sorted({name.removeprefix(BRANCHES).removeprefix(_ORIGIN) for name in refs} - {"HEAD"}))


def list_local_branches(repository: Repository, folder: str = "") -> tuple[str, ...]:
    """Returns the sorted names of this clone's branches, or of those in a folder, such as `gitticks/work/`."""
    return tuple(sorted(name.removeprefix(BRANCHES) for name in local_refs(repository, BRANCHES + folder)))


def local_refs(repository: Repository, *folders: str) -> dict[str, str]:
    """Returns the refs of this clone in some folders, each with its object id."""
    asked = ["for-each-ref", "--format=%(objectname) %(refname)", *folders]
    lines = run_git(asked, repository_dir=repository.common_dir).text.splitlines()
    return {ref: object_id for object_id, _, ref in (line.partition(" ") for line in lines)}


class AskedRemote(NamedTuple):
    """What a remote said of a branch; `commit` is where it is there, or stood when it was last fetched."""

    name: str
    outcome: Fetched
    commit: str | None
    words: str = ""


def look_for_branch(repository: Repository, branch: str) -> tuple[AskedRemote, ...]:
    """Asks the remote that the branch is shared with, and every other one if that has no such branch.

    Returns:
        the answers in the order in which they were given; empty where there is no remote.
    """
    usual = remote_of_branch(repository, branch)
    asked = [] if usual is None else [_ask(repository, usual, branch)]
    if usual is None or (asked[0].outcome is Fetched.MISSING and asked[0].commit is None):
        asked += [_ask(repository, name, branch) for name in remotes(repository) if name != usual]
    return tuple(asked)


def _ask(repository: Repository, remote: str, branch: str) -> AskedRemote:
    fetched = fetch(repository, remote, branch, takes_all_names=True)
    known = fetched.commit or read_ref(repository.common_dir, tracking_ref(remote, branch))
    return AskedRemote(remote, fetched.outcome, known, fetched.words)
