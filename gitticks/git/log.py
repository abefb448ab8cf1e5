"""Reads a branch's log, and who asked for each commit according to its message."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from gitticks.git.identity import OWN_ADDRESSES, Identity
from gitticks.git.process import run_git
from gitticks.git.refs import is_nothing
from gitticks.git.repository import Repository
from gitticks.safe_read import read_plain_text

_FORMAT = "%H%n%at%n%an%n%s"
_FIELDS = 4

ACTOR_TRAILER = "Actor"
_ASKED_FORMAT = f"%H%n%P%n%ae%n%at %ct%n%(trailers:key={ACTOR_TRAILER},valueonly,unfold,separator=%x1f)"
_ASKED_FIELDS = 5

_reading = threading.Lock()
_read: dict[str, tuple[frozenset[str], str, dict[str, tuple[Identity, bool]]]] = {}
"""By repository: whose commits were left out, up to which commit the log was read, and the commits of others in it."""


class LoggedCommit(NamedTuple):
    """One commit: its id, when and by whom it was written, and the first line of its message."""

    commit: str
    at: datetime
    author: str
    subject: str


def read_log(
    repository: Repository, ref: str, *, count: int | None = None, since: datetime | None = None
) -> tuple[LoggedCommit, ...]:
    """Returns the commits that `ref` reaches, newest first: only the last `count`, and those made `since` a time."""
    asked = [
        "log",
        "-z",
        f"--format={_FORMAT}",
        "--encoding=UTF-8",
        *([] if count is None else [f"--max-count={count}"]),
        *([] if since is None else [f"--since={since.isoformat(timespec='seconds')}"]),
        "--end-of-options",
    ]
    done = run_git([*asked, ref], repository_dir=repository.common_dir)
    return tuple(_parse(entry) for entry in done.stdout.decode("utf-8", "replace").split("\0") if entry)


def names_of(repository: Repository, ref: str, addresses: Iterable[str]) -> frozenset[str]:
    """Returns the names under which some addresses wrote the commits that `ref` reaches."""
    authors = (f"--author=<{address}>" for address in addresses)
    asked = ["log", "--fixed-strings", "--regexp-ignore-case", "--format=%an", "--encoding=UTF-8", *authors]
    return frozenset(
        run_git([*asked, "--end-of-options", ref], repository_dir=repository.common_dir).text.splitlines()
    )


class Write(NamedTuple):
    """One file that a commit wrote: who the author is, its path and the ids of its blobs, None where there was no file.

    `has_event` if the commit's message names an event of gitticks.
    """

    author: Identity
    path: str
    old: str | None
    new: str | None
    has_event: bool


def read_writes(
    repository: Repository, tip: str, paths: Iterable[str], known: frozenset[str]
) -> Iterator[Write]:
    """Yields what people whose names are not `known` wrote at or below some paths, in the commits up to `tip`.

    Merges are left out, and what gitticks and its agents wrote.
    """
    found = _commits_of_others(repository, tip, known)
    if not found:
        return
    # Asked for the paths alone, git would compare the trees of every commit.
    given = "".join(f"{commit}\n" for commit in found).encode()
    asked = ["diff-tree", "--stdin", "--root", "-r", "--no-renames", "--", *paths]
    done = run_git(asked, input=given, repository_dir=repository.common_dir)
    commit = ""
    for line in done.stdout.decode("utf-8", "replace").split("\n"):
        if line.startswith(":"):
            about, _, path = line.partition("\t")
            old, new = (None if is_nothing(one) else one for one in about.split(" ")[2:4])
            author, has_event = found[commit]
            yield Write(author, path.strip('"'), old, new, has_event)
        else:
            commit = line


def _commits_of_others(
    repository: Repository, tip: str, known: frozenset[str]
) -> dict[str, tuple[Identity, bool]]:
    """Returns the authors of commits, and whether the message names an event; a long log is read once."""
    place, form = (
        repository.common_place,
        "%H%x00%an%x00%ae%x00%(trailers:key=Event,valueonly,unfold,separator=%x20)",
    )
    with _reading:
        left_out, before, found = _read.get(place, (known, None, {}))
        if left_out == known and before == tip:
            return found
        is_later = before is not None and left_out == known and repository.objects.is_ancestor(before, tip)
        span, found = (f"{before}..{tip}", dict(found)) if is_later else (tip, {})
        asked = ["log", "--no-merges", f"--format={form}", "--encoding=UTF-8", "--end-of-options", span]
        done = run_git(asked, repository_dir=repository.common_dir)
        ends = shallow_edge(repository)
        for line in done.stdout.decode("utf-8", "replace").split("\n"):
            commit, *rest = line.split("\0", 3)
            is_other = rest and rest[0] not in known and not rest[1].endswith(OWN_ADDRESSES)
            if is_other and commit not in ends:
                found[commit] = (Identity(rest[0], rest[1]), bool(rest[2]))
        _read[place] = known, tip, found
        return found


def author_of(repository: Repository, commit: str) -> Identity:
    """Returns who wrote a commit."""
    return _person(repository, commit, "%an%x00%ae")


def committer_of(repository: Repository, commit: str) -> Identity:
    """Returns who made a commit, which may not be who wrote what is in it."""
    return _person(repository, commit, "%cn%x00%ce")


def fast_forwarder(repository: Repository, branch: str, merged: str, head: str) -> str | None:
    """Returns who moved a branch here by `git merge` of another or of its head; None if git's own log names no person."""
    names = (f"^merge .*{merged}:", f"^merge {head[:7]}[0-9a-f]*:")
    asked = ["log", "-g", "-1", "--format=%ge%x00%gn", *(f"--grep-reflog={name}" for name in names)]
    done = run_git([*asked, "--end-of-options", f"refs/heads/{branch}"], repository_dir=repository.common_dir)
    email, _, name = done.text.partition("\0")
    return None if email.endswith(OWN_ADDRESSES) else name.strip() or None


def _person(repository: Repository, commit: str, form: str) -> Identity:
    asked = ["log", "-1", f"--format={form}", "--end-of-options", commit]
    name, _, email = run_git(asked, repository_dir=repository.common_dir).text.partition("\0")
    return Identity(name.strip("<> ") or "unknown", email.strip("<> ") or "unknown")


def _parse(entry: str) -> LoggedCommit:
    commit, at, author, subject = entry.split("\n", _FIELDS - 1)
    return LoggedCommit(commit, _time(at), author, subject)


def _time(seconds: str) -> datetime:
    """Returns the moment that a commit names; 1970 for one that names none, or none that can be told, as git shows it."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


class TrailCommit(NamedTuple):
    """One commit: its id, those of its parents, its author's address, and the values of its `Actor:` trailers.

    `is_replayed` if it was written at another time than it was made: by a rebase, a cherry-pick or an amendment.
    """

    commit: str
    parents: tuple[str, ...]
    author_email: str
    actors: tuple[str, ...]
    is_replayed: bool = False


def read_trail(
    repository: Repository,
    newest: str,
    excluded: str | None = None,
    *,
    count: int | None = None,
    variables: Mapping[str, str] | None = None,
) -> Iterator[TrailCommit]:
    """Yields the commits that `newest` reaches and `excluded` does not, parents before children, only the newest `count`.

    `variables` say where git finds more objects, as it says to its hooks.
    """
    options = ["log", "-z", "--topo-order", "--reverse", "--encoding=UTF-8"]
    limit = [] if count is None else [f"--max-count={count}"]
    sides = [newest] if excluded is None else [newest, f"^{excluded}"]
    done = run_git(
        [*options, *limit, f"--format={_ASKED_FORMAT}", "--end-of-options", *sides],
        repository_dir=repository.common_dir,
        extra_environment=variables,
    )
    for entry in done.stdout.decode("utf-8", "replace").split("\0"):
        if entry:
            commit, parents, email, times, actors = entry.split("\n", _ASKED_FIELDS - 1)
            made, _, written = times.partition(" ")
            named = tuple(actor for actor in actors.strip("\n").split("\x1f") if actor)
            yield TrailCommit(commit, tuple(parents.split()), email, named, made != written)


def shallow_edge(repository: Repository) -> frozenset[str]:
    """Returns the oldest commits of a shallow clone, whose parents it lacks; none in a whole one.

    They look as if their authors had written everything.
    """
    try:
        return frozenset(read_plain_text(f"{repository.common_place}/shallow").split())
    except OSError:
        return frozenset()


def trailers_of(repository: Repository, commit: str) -> str:
    """Returns the trailers of a commit, one on each line."""
    asked = ["show", "--no-patch", "--format=%(trailers:only,unfold)", "--encoding=UTF-8", "--end-of-options"]
    return run_git([*asked, commit], repository_dir=repository.common_dir).text.strip()


def read_trailers(repository: Repository, ref: str, key: str) -> Iterator[tuple[str, str]]:
    """Yields the values of a trailer with the commits that they stand in, newest first, of all that `ref` reaches."""
    form = f"%H%x00%(trailers:key={key},valueonly,unfold,separator=%x00)"
    asked = ["log", f"--grep=^{key}: ", f"--format={form}", "--encoding=UTF-8", "--end-of-options", ref]
    done = run_git(asked, repository_dir=repository.common_dir)
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        commit, *values = line.split("\0")
        yield from ((commit, value) for value in values if value)
