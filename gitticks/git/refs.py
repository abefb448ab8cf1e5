"""Reads refs as files, without a process, and reftables through git; anything unexpected is an error."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError, NotFoundError
from gitticks.safe_read import read_end_of_plain_file, read_plain_file, read_plain_text, reason_of

if TYPE_CHECKING:
    from pathlib import Path

    from gitticks.git.repository import Repository

BRANCHES = "refs/heads/"
_STUB = "refs/heads/.invalid"
"""What HEAD's file says where refs are kept in a reftable."""
OWN_BRANCHES = "gitticks/"
_DEEPEST_CHAIN = 5
_FILLING_SECONDS = 0.02
_ID_LENGTHS = (40, 64)
OBJECT_ID = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
"""The form of a whole object id, SHA-1's or SHA-256's."""
_MOST_PACKED_BYTES = 1024**3
_ID = OBJECT_ID.encode()
_PACKED_LINES = rb"(?:#[^\n]*+\n|\^%b\n|%b [^\n]++\n)*+" % (_ID, _ID)
"""It never goes back to try otherwise: a repository may have a million refs."""
_LAST_LOGGED_BYTES = 4 * 1024 * 1024
_LOGGED_BYTES = 200
"""How long a line of a log is, about."""
_AS_LOGGED = "--format=%H %gn <%ge> %gd%x09%gs"
_LOG_LINE = rf"{OBJECT_ID} ({OBJECT_ID}) .*"
_BLOCKED = re.compile(rf"'{BRANCHES}([^']+)' exists; cannot create")
_NOT_IN_NAMES = frozenset({*map(chr, range(0x21)), *"~^:?*[\\\x7f"})
_finds_part_not_in_names = re.compile(r"\.\.|//|/\.|\.lock/|@\{").search


def is_object_id(text: str) -> bool:
    """True for a whole object id: 40 or, in SHA-256, 64 lower-case hexadecimal digits."""
    return len(text) in _ID_LENGTHS and not text.strip("0123456789abcdef")


def is_nothing(object_id: str) -> bool:
    """True for the id that git writes where there is no object: only zeros."""
    return not object_id.strip("0")


def nothing_like(object_id: str) -> str:
    """Returns the id of nothing in the repository that `object_id` is from: as many zeros."""
    return "0" * len(object_id)


def is_valid_ref_name(name: str) -> bool:
    """True if git would accept `name` as a ref or a branch; an option (`-x`) is refused too."""
    return (
        bool(name)
        and name[0] not in "-./"
        and not name.endswith((".lock", "/", "."))
        and _NOT_IN_NAMES.isdisjoint(name)
        and not _finds_part_not_in_names(name)
    )


def read_ref(common_dir: str | Path, name: str) -> str | None:
    """Returns the object id that the ref `name` (`HEAD`, `refs/…`) stands for; None if it does not exist.

    Raises:
        GitticksError: the ref is broken, or no possible name.
    """
    asked = name
    for _ in range(_DEEPEST_CHAIN):
        value = _read_once(common_dir, name)
        if value is None or not value.startswith("ref:"):
            return value
        name = value.removeprefix("ref:").strip()
        if not is_valid_ref_name(name):
            raise _broken(
                common_dir, asked, f"leads to `{ascii(name)[1:-1]}`, which is not the name of a ref"
            )
    raise _broken(common_dir, asked, "is symbolic, and nested too deeply")


def logged(common_dir: Path, name: str) -> Iterator[str]:
    """Yields the object ids that a ref was at, the newest first: by its own log, then by those of worktrees on it.

    Of a very long log, which every move makes longer, only the end is read.
    """
    yield from _logged_in(common_dir, name)
    for head in sorted(common_dir.glob("worktrees/*/HEAD")):
        if read_symbolic_ref(head.parent, "HEAD") == name:
            yield from _logged_in(head.parent, "HEAD")


def _logged_in(git_dir: Path, name: str) -> Iterator[str]:
    lines = end_of_log(git_dir, name, _LAST_LOGGED_BYTES).decode("utf-8", "surrogateescape").splitlines()
    found = (match[1] for line in reversed(lines) if (match := re.fullmatch(_LOG_LINE, line)))
    yield from (one for one in found if not is_nothing(one))


def end_of_log(git_dir: str | Path, name: str, last_bytes: int) -> bytes:
    """Returns the end of a ref's log as its file has it, the newest line last; empty without one.

    The log of a reftable git is asked for, by which each move began where the one before had come to.
    """
    try:
        return read_end_of_plain_file(f"{git_dir}/logs/{name}", last_bytes)
    except OSError:
        if not _has_reftable(git_dir):
            return b""
    asked = ("log", f"--max-count={last_bytes // _LOGGED_BYTES}", "--walk-reflogs", "--date=unix", _AS_LOGGED)
    told = [line for line in (_asked_of_git(git_dir, *asked, name, "--") or "").split("\n") if line]
    reached = [line.partition(" ")[0] for line in told]
    begun = [*reached[1:], *map(nothing_like, reached[-1:])]
    moves = [f"{old} {line}\n" for old, line in zip(begun, told, strict=True)]
    return "".join(reversed(moves)).encode("utf-8", "surrogateescape")


def has_ref(git_dir: Path, name: str) -> bool:
    """True if a ref such as `CHERRY_PICK_HEAD` is there, whatever it holds."""
    return os.path.exists(f"{git_dir}/{name}") or (
        _has_reftable(git_dir) and _asked_of_git(git_dir, "rev-parse", "--verify", name) is not None
    )


def way_back(common_dir: Path, name: str, *, seen: str | None = None) -> str:
    """Returns the command that puts a broken ref back to where its log ends, or what else can be done.

    Git deletes a branch's log with the branch; then `seen` counts, where somebody last saw it, before other logs.
    """
    last = next(_logged_in(common_dir, name), None)
    where = "its log ends" if last or not seen else "it was last seen here"
    last = last or seen or next(logged(common_dir, name), None)
    if last is None:
        return "`git fsck --no-reflogs --lost-found` looks for the commits that it may have pointed to"
    from shlex import quote

    again = f"git update-ref {name} {last}"
    taken = _branch_in_the_way(common_dir, name)
    if taken is not None:
        kept = f"git branch {quote(taken + '-aside')} {quote(taken)} && git update-ref -d {quote(BRANCHES + taken)}"
        return f"`{kept} && {again}` moves it aside and restores it"
    file = common_dir / name
    if not os.path.lexists(file):
        return f"`{again}` restores it to where {where}"
    aside = quote(str(common_dir / f"{file.name}.damaged"))
    return f"`mv {quote(str(file))} {aside} && {again}` restores it to where {where}"


def read_symbolic_ref(git_dir: str | Path, name: str) -> str | None:
    """Returns the ref that `name` points to; None if it holds an object id or does not exist."""
    try:
        text = read_plain_text(f"{git_dir}/{name}")
    except OSError:
        return _asked_of_git(git_dir, "symbolic-ref", name) if _has_reftable(git_dir) else None
    target = text.removeprefix("ref:").strip()
    if target == _STUB:
        return _asked_of_git(git_dir, "symbolic-ref", name)
    return target if text.startswith("ref:") else None


def name_behind(common_dir: str, name: str) -> str:
    """Returns the ref that git moves when it is told to move `name`: what it leads to where it is symbolic.

    It need not exist. A symbolic link whose text is the name of a ref is one too, as git once wrote them.
    """
    for _ in range(_DEEPEST_CHAIN):
        file = f"{common_dir}/{name}"
        target = None
        if is_valid_ref_name(name):
            target = os.readlink(file) if os.path.islink(file) else read_symbolic_ref(common_dir, name)
        if target is None or not target.startswith("refs/"):
            break
        name = target
    return name


def default_base(repository: Repository) -> str | None:
    """Returns the default branch that work is merged into; None if HEAD is detached everywhere.

    That is what `origin/HEAD` names, else the branch checked out here, else (on a branch of gitticks' own) the one
    of the main worktree.
    """
    remote = "refs/remotes/origin/"
    named = read_symbolic_ref(repository.common_dir, f"{remote}HEAD")
    if named is not None and named.startswith(remote):
        return named.removeprefix(remote)
    for git_dir in (repository.git_dir, repository.common_dir):
        branch = branch_of_head(git_dir)
        if branch is not None and not branch.startswith(OWN_BRANCHES):
            return branch
    return None


def likely_base(common_dir: str | Path) -> str:
    """Returns what to type where no default branch is known: `main` or `master` if it exists, else `BRANCH`."""
    return next((name for name in ("main", "master") if read_ref(common_dir, BRANCHES + name)), "BRANCH")


def resolve(repository: Repository, revision: str) -> str:
    """Returns the id of the commit that `revision` names, in any form that git knows.

    Raises:
        NotFoundError: it names none.
    """
    if is_object_id(revision):
        return revision
    from gitticks.git.process import run_git

    asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    found = run_git(asked, repository_dir=repository.git_dir, check=False)
    if found.code != 0 or not is_object_id(found.text):
        raise NotFoundError(
            f"`{ascii(revision)[1:-1]}` is not a commit here", hint="`git branch -a` shows the branches"
        )
    return found.text


def branch_of_head(git_dir: Path) -> str | None:
    """Returns the branch that HEAD names (also one without commits), without `refs/heads/`; None if it is detached."""
    target = read_symbolic_ref(git_dir, "HEAD")
    if target is None or not target.startswith(BRANCHES):
        return None
    return target.removeprefix(BRANCHES)


def _read_once(common_dir: str | Path, name: str) -> str | None:
    """Returns the object id or the `ref: …` that stands for `name`.

    The loose file comes first: `git pack-refs` writes the packed value before it removes the loose one.
    """
    if not is_valid_ref_name(name):
        raise GitticksError(f"`{ascii(name)[1:-1]}` is not the name of a ref")
    try:
        text = read_plain_text(f"{common_dir}/{name}").strip()
        if not text:  # git makes the HEAD of a new worktree, and then fills it
            time.sleep(_FILLING_SECONDS)
            text = read_plain_text(f"{common_dir}/{name}").strip()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        if _has_reftable(common_dir):
            return _asked_of_git(common_dir, "rev-parse", "--verify", name)
        return _read_packed(common_dir, name)
    except (OSError, ValueError) as error:
        raise _broken(common_dir, name, f"cannot be read: {reason_of(error)}") from error
    if text == f"ref: {_STUB}":
        return _asked_of_git(common_dir, "rev-parse", "--verify", name)
    if is_object_id(text) or text.startswith("ref:"):
        return text
    raise _broken(common_dir, name, "is broken: its file contains no object id")


def _has_reftable(git_dir: str | Path) -> bool:
    """True where refs are no files, but git's to read."""
    return os.path.isdir(f"{git_dir}/reftable")


def _asked_of_git(git_dir: str | Path, *question: str) -> str | None:
    from pathlib import Path

    from gitticks.git.process import run_git

    command, *rest = question
    return run_git([command, "--quiet", *rest], repository_dir=Path(git_dir), check=False).text or None


def folder_of_ref(common_dir: Path, ref: str) -> Path:
    """Returns the folder that is written to when the ref, or the log of that path, changes."""
    return common_dir / "reftable" if _has_reftable(common_dir) else (common_dir / ref).parent


def blocking_branch(words: str) -> str | None:
    """Returns the branch whose name is the folder of one to be made, if git says that this is why it cannot be."""
    found = _BLOCKED.search(words)
    return None if found is None else found[1]


def require_packed_refs(common_dir: Path) -> None:
    """Refuses a file of packed refs that git cannot read, since nothing then works that asks git for a ref."""
    try:
        content = read_plain_file(common_dir / "packed-refs", _MOST_PACKED_BYTES)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _damaged_packed_refs(common_dir, reason_of(error)) from error
    _require_packed_lines(common_dir, content)


def _branch_in_the_way(common_dir: Path, name: str) -> str | None:
    """Returns the branch whose file lies where the folder of `name` would be; None if there is none."""
    from pathlib import PurePosixPath

    parents = [str(parent) for parent in PurePosixPath(name).parents if str(parent).startswith(BRANCHES)]
    found = next((parent for parent in parents if (common_dir / parent).is_file()), None)
    return None if found is None else found.removeprefix(BRANCHES)


def _read_packed(common_dir: str | Path, name: str) -> str | None:
    try:
        content = read_plain_file(f"{common_dir}/packed-refs", _MOST_PACKED_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged_packed_refs(common_dir, reason_of(error)) from error
    end = content.find(b" " + name.encode("utf-8", "surrogateescape") + b"\n")
    value = "" if end < 0 else content[content.rfind(b"\n", 0, end) + 1 : end].decode("ascii", "replace")
    if is_object_id(value):
        return value
    _require_packed_lines(common_dir, content)
    return None


def _require_packed_lines(common_dir: str | Path, content: bytes) -> None:
    if re.fullmatch(_PACKED_LINES, content) is None:
        raise _damaged_packed_refs(common_dir, "it has lines that git did not write")


def _broken(common_dir: str | Path, name: str, how: str) -> GitticksError:
    from pathlib import Path

    return GitticksError(f"the ref `{name}` {how}", hint=way_back(Path(common_dir), name))


def _damaged_packed_refs(common_dir: str | Path, reason: str) -> GitticksError:
    from pathlib import Path
    from shlex import quote

    common_dir = Path(common_dir)
    file = common_dir / "packed-refs"
    steps = [f"mv {quote(str(file))} {quote(f'{file}.damaged')}"]
    for log in sorted((common_dir / "logs" / "refs").rglob("*")):
        name = str(log.relative_to(common_dir / "logs"))
        last = next(logged(common_dir, name), None) if log.is_file() and is_valid_ref_name(name) else None
        if last is not None and not os.path.lexists(common_dir / name):
            steps.append(f"git update-ref {quote(name)} {last}")
    hint = f"`{' && '.join(steps)}` restores every branch to where its log ends"
    return GitticksError(f"`{file}` is damaged: {reason}", hint=hint)
