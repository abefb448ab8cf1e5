"""A working tree and its contents, read without running anything that an agent could have put there.

A worktree is always reached by the administrative folder that the repository keeps for it, never by the `.git` file
inside it, which an agent can replace.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.process import GitResult, run_git
from gitticks.git.refs import (
    BRANCHES,
    branch_of_head,
    default_base,
    folder_of_ref,
    logged,
    read_ref,
    read_symbolic_ref,
)
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import fence_programs
from gitticks.safe_read import read_plain_file, read_plain_text

_MOST_NAMED = 500
"""A system takes only so many words with a command."""

_COMMON_LINK = "../..\n"
"""What `commondir` of every linked worktree says."""
_CHANGING = ("filter", "ident", "working-tree-encoding")
_NOTHING = frozenset({"unspecified", "unset"})


class Checkout(NamedTuple):
    """A work tree together with the git directory that the repository keeps for it."""

    path: Path
    git_dir: Path
    common_dir: Path

    def git(
        self,
        arguments: Sequence[str],
        *,
        input: bytes = b"",  # noqa: A002
        fenced: bool = False,
        variables: Mapping[str, str] | None = None,
        check: bool = True,
        trusted: bool = False,
    ) -> GitResult:
        """Runs git in the work tree; `fenced` where the person's programs are needed, and no others may run."""
        fence = fence_programs(self.git_dir).variables if fenced else {}
        return run_git(
            arguments,
            repository_dir=self.git_dir,
            work_tree=self.path,
            directory=self.path,
            input=input,
            extra_environment={**fence, **(variables or {})},
            check=check,
            trusted=trusted,
        )


class Changes(NamedTuple):
    """What a work tree holds beyond its HEAD: paths from its top, sorted, without ignored files."""

    changed: tuple[str, ...]
    untracked: tuple[str, ...]

    def __bool__(self) -> bool:
        """True if there is anything."""
        return bool(self.changed or self.untracked)


def checkout_at(repository: Repository, path: Path) -> Checkout:
    """Returns the checkout at `path`, which is the main worktree or a linked one whose directory may be gone.

    The links of one whose repository was moved or copied are fixed.

    Raises:
        NotFoundError: the repository has none there.
    """
    found = straight_at(repository, str(path))
    if found is not None:  # as nearly always, and then no link on the way is looked up
        return found
    if os.path.islink(path):  # noqa: PTH114 - a worktree that became a link is not the one that this leads to
        for checkout in linked_checkouts(repository):
            if checkout.path == Path(os.path.normpath(path)):
                return checkout
    real = os.path.realpath(path)
    found = straight_at(repository, real)
    if found is not None:
        return found
    for checkout in list_worktrees(repository):
        if os.path.realpath(checkout.path) == real:
            return checkout
    moved = named_by(repository.common_dir, real)
    if moved is not None and not is_elsewhere(moved):
        relink(moved)
        return moved
    raise NotFoundError(
        f"`{path}` is not a worktree of this repository", hint="`git worktree list` shows them"
    )


def straight_at(repository: Repository, place: str) -> Checkout | None:
    """Returns the checkout at a place if its links are right; the others are not looked at, as there may be many."""
    if place == repository.main_place:
        return Checkout(Path(place), repository.common_dir, repository.common_dir)
    target = _named_in(place)
    named = None if target is None else _entry_of(repository.common_dir, place, target)
    if target is None or named is None:
        return None
    found = _place_of(str(named.git_dir))
    if found is None or place not in (str(found), os.path.realpath(found)):
        return None
    try:
        is_linked = read_plain_text(named.git_dir / "commondir") == _COMMON_LINK
    except OSError:
        return None
    return named._replace(path=found) if is_linked and _leads_to(target, str(named.git_dir)) else None


def named_by(common_dir: Path, folder: str) -> Checkout | None:
    """Returns the linked worktree in a folder by the last name in its `.git` file alone; its links may be wrong."""
    target = _named_in(folder)
    return None if target is None else _entry_of(common_dir, folder, target)


def _named_in(folder: str) -> str | None:
    """Returns where the `.git` file in a folder leads; None if there is none."""
    try:
        pointer = read_plain_text(f"{folder}/.git").removeprefix("gitdir:").strip()
    except (OSError, ValueError):
        return None
    return os.path.join(folder, pointer)  # noqa: PTH118


def _entry_of(common_dir: Path, folder: str, target: str) -> Checkout | None:
    parent, name = os.path.split(os.path.normpath(target))
    git_dir = f"{common_dir}/worktrees/{name}"
    try:
        is_one = os.path.basename(parent) == "worktrees" and os.path.isfile(f"{git_dir}/HEAD")  # noqa: PTH113, PTH119
    except ValueError:  # no path
        return None
    return Checkout(Path(folder), Path(git_dir), common_dir) if is_one else None


def _leads_to(target: str, git_dir: str) -> bool:
    is_path = "\0" not in target
    return target == git_dir or (is_path and os.path.realpath(target) == os.path.realpath(git_dir))


def is_elsewhere(checkout: Checkout) -> bool:
    """True if the entry of a linked worktree is that of another folder, which leads back to it."""
    place = _place_of(str(checkout.git_dir))
    return place is not None and place != checkout.path and is_in_place(checkout._replace(path=place))


def relink(checkout: Checkout) -> None:
    """Writes the links again: to and from a linked worktree, and to the directory that all worktrees share.

    Not by `git worktree repair`: in a copied repository it follows the old link into the original, and points that
    at the copy's worktree.
    """
    import secrets
    import shutil

    link = checkout.path / ".git"
    if link.is_symlink():
        link.unlink()
    links = (
        (link, f"gitdir: {checkout.git_dir}\n"),
        (checkout.git_dir / "commondir", _COMMON_LINK),
        (checkout.git_dir / "gitdir", f"{link}\n"),  # the last: as long as it is wrong all are written again
    )
    for file, text in links:
        aside = checkout.git_dir / f"gitticks-link.{secrets.token_hex(4)}"
        aside.write_bytes(os.fsencode(text))
        shutil.move(aside, file)  # which may be on another file system


def linked_checkouts(repository: Repository) -> tuple[Checkout, ...]:
    """Returns every linked worktree, the board among them, in the order of git's names; their folders may be gone."""
    common_dir = repository.common_dir
    return tuple(Checkout(place, git_dir, common_dir) for git_dir, place in linked_places(common_dir))


def list_worktrees(repository: Repository) -> tuple[Checkout, ...]:
    """Returns every worktree, the main one first where there is one; the folders of linked ones may be gone."""
    main, common_dir = repository.main_worktree, repository.common_dir
    return (
        *(() if main is None else (Checkout(main, common_dir, common_dir),)),
        *linked_checkouts(repository),
    )


def checked_out_elsewhere(repository: Repository, branch: str, path: Path) -> GitticksError:
    """Returns the error for a branch that somebody has checked out at `path`."""
    away = default_base(repository)
    return GitticksError(
        f"the branch `{branch}` is checked out at `{path}`",
        hint=f"`git -C {quote(str(path))} switch {'--detach' if away in (None, branch) else away}` leaves it",
    )


def is_in_place(checkout: Checkout) -> bool:
    """True if a worktree stands where its entry says, and leads back to it; also where nobody can tell."""
    try:
        named = os.fsdecode(read_plain_file(checkout.path / ".git")).removeprefix("gitdir:").strip()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return _leads_to(os.path.join(checkout.path, named), str(checkout.git_dir))  # noqa: PTH118


def head(checkout: Checkout | Repository) -> str | None:
    """Returns the commit that is checked out there, or here in a repository; None on an unborn branch."""
    target = read_symbolic_ref(checkout.git_dir, "HEAD")
    if target is None:
        return read_ref(checkout.git_dir, "HEAD")
    return read_ref(checkout.common_dir, target)


def lost_head(checkout: Checkout) -> str | None:
    """Returns the commit that was last checked out, of a worktree whose branch is gone; None if no log says so."""
    return next(logged(checkout.git_dir, "HEAD"), None)


def current_branch(checkout: Checkout | Repository) -> str | None:
    """Returns the branch that is checked out there, also one without commits; None if HEAD is detached."""
    return branch_of_head(checkout.git_dir)


def changed_paths(checkout: Checkout, among: Collection[str] | None = None) -> Changes:
    """Returns what is changed, staged, conflicted or untracked; none of the repository's own filters run for it.

    Where paths are given, git looks only `among` them and what is below them; where they are very many, everywhere.
    """
    if among is not None and not among:
        return Changes((), ())
    options = [
        "--porcelain=v2",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=dirty",
        "--no-renames",
        "--",
    ]
    named = among if among is not None and len(among) <= _MOST_NAMED else ()
    listed = checkout.git(["--literal-pathspecs", "status", *options, *named], fenced=True).stdout
    fields = {"1": 8, "u": 10}  # so many are before the path, and one in a line that begins with `?`
    changed, untracked = set(), set()
    for line in os.fsdecode(listed).split("\0"):
        if line[:1] == "?":
            untracked.add(line[2:])
        elif line[:1] in fields:
            changed.add(line.split(" ", fields[line[0]])[-1])
    return Changes(tuple(sorted(changed)), tuple(sorted(untracked)))


def linked_places(common_dir: Path) -> Iterator[tuple[Path, Path]]:
    """Yields the administrative folder and the place of every linked worktree, sorted by folder."""
    folder = f"{common_dir}/worktrees"
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - on strings, as runs ask often
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        place = _place_of(f"{folder}/{name}")
        if place is not None:
            yield Path(folder, name), place


def _place_of(git_dir: str) -> Path | None:
    """Returns where a linked worktree is to stand; None if it is being added or removed, or its file is damaged."""
    try:
        pointer = read_plain_text(f"{git_dir}/gitdir").removesuffix("\n")
    except OSError:
        return None
    place = os.path.normpath(os.path.join(git_dir, pointer))  # noqa: PTH118
    return None if "\0" in pointer else Path(os.path.dirname(place))  # noqa: PTH120


def commit_folders(checkout: Checkout) -> tuple[Path, ...]:
    """Returns the folders that a commit in a linked worktree writes to, each made if missing; not the whole `.git`.

    Those are its own git directory, the objects, and where its branch's ref and reflog lie.
    """
    branch = current_branch(checkout)
    folders = [checkout.git_dir, checkout.common_dir / "objects"]
    if branch is not None:
        ref = f"{BRANCHES}{branch}"
        folders += [
            folder_of_ref(checkout.common_dir, ref),
            folder_of_ref(checkout.common_dir, f"logs/{ref}"),
        ]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    return tuple(folders)


def converted_paths(checkout: Checkout, paths: Sequence[str]) -> frozenset[str]:
    """Returns those of the paths for which a filter, a keyword or an encoding is set in git's attributes."""
    answer = checkout.git(
        ["check-attr", "-z", "--stdin", *_CHANGING],
        input=b"".join(os.fsencode(path) + b"\0" for path in paths),
    )
    return frozenset(path for path, value in _attributes_in(answer) if value not in _NOTHING)


def refuse_filters(
    checkout: Checkout, paths: Collection[str] | None = None, *, index: Path | None = None
) -> None:
    """Raises if a file needs a filter that only the repository's configuration defines, which is not run.

    Looks at these `paths` of another `index`, or at all that git knows here.
    """
    filters = fence_programs(checkout.git_dir).filters
    if not filters:
        return
    for path, name in filters_of(checkout, paths, index=index):
        if name in filters:
            raise GitticksError(
                f"`{path}` needs the filter `{name}`, which only this repository's configuration defines",
                hint=f"if it is yours: `git config --global filter.{name}.smudge …`, and its `.clean` and `.process` likewise",
            )


def filters_of(
    checkout: Checkout, paths: Collection[str] | None = None, *, index: Path | None = None
) -> Iterator[tuple[str, str]]:
    """Yields which filter the attributes in an index name for which of the paths, or of all that git knows here."""
    variables = {} if index is None else {"GIT_INDEX_FILE": str(index)}
    asked = None if paths is None else b"".join(os.fsencode(path) + b"\0" for path in paths)
    answer = checkout.git(
        ["check-attr", "--cached", "-z", "--stdin", "filter"],
        input=checkout.git(["ls-files", "-z"]).stdout if asked is None else asked,
        variables=variables,
    )
    return ((path, name) for path, name in _attributes_in(answer) if name not in _NOTHING)


def _attributes_in(answer: GitResult) -> Iterator[tuple[str, str]]:
    words = os.fsdecode(answer.stdout).split("\0")
    return zip(words[:-1:3], words[2::3], strict=False)
