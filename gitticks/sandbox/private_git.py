"""A private git directory that replaces the workspace's in the sandbox.

A linked worktree of the person's repository, writable, would be their account: its hooks and configuration run outside.
So what is in the sandbox reads the repository's objects, and writes a git directory that nobody outside ever opens
with git, but for a `git upload-pack` that itself runs in a sandbox.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, current_branch, head
from gitticks.git.config import find_own_hooks
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import CONFIG_FILE
from gitticks.safe_read import read_plain_file, reason_of
from gitticks.store.layout import STATE_REF

FOLDER = "gitticks-private"
"""Where it is in the workspace's own git directory, so that both go together."""
_STOOD, _REFS = "gitticks-private.stood", "gitticks-private.refs"
"""Where the checkout stood, and what each ref in the sandbox stood at, when both were last the same."""
_MADE_OF = "gitticks-private.made"
"""What else it was made of."""
_FOR_ALL = ("info/exclude", "info/attributes", "shallow")
"""What git reads for all worktrees, and is copied."""
_NEEDED = ("HEAD", "objects", "refs")
"""What git knows its directory by."""
_MODULES = "gitticks-modules"
_LENT = Path("/run/gitticks-objects")
_MOST_STORES = 20
MERGE_HEAD = "MERGE_HEAD"
_CONFIG = """[core]
\trepositoryformatversion = {version}
\tbare = false
\tlogallrefupdates = true
\tfsmonitor = false
{more}[maintenance]
\tauto = false
[extensions]
\tworktreeconfig = true
"""
"""Maintenance would be ended with the sandbox, and leave its lock."""
_OTHER_OBJECTS, _LONG_ID = "\tobjectformat = sha256\n", 64


class PrivateGit(NamedTuple):
    """What is in the sandbox: `folder` in the place of the checkout's git directory, and what git reads beside.

    `stores` are the folders of objects that it borrows, by the place where they are seen there.
    """

    checkout: Checkout
    folder: Path
    stores: Mapping[Path, Path]
    hooks: tuple[Path, ...] = ()


def make_private(
    repository: Repository, checkout: Checkout, folder: Path | None = None, *, hidden: Sequence[Path] = ()
) -> PrivateGit:
    """Makes the private git directory of a checkout, or continues with the one of its last session if nothing changed.

    A `folder` elsewhere is for what is thrown away afterwards, such as that of a quality gate. What is `hidden` there is
    not taken for removed.
    """
    private = folder or checkout.git_dir / FOLDER
    hooks = find_own_hooks(repository)
    found = PrivateGit(
        checkout,
        private,
        _lent(repository, checkout),
        (*_if_folder(hooks.folder), *_if_folder(repository.own_file("workspace-hooks"))),
    )
    refs, left_alone = _refs(repository), [one for one in hidden if one.is_relative_to(checkout.path)]
    own_hooks = None if hooks.are_off or not hooks.folder.is_dir() else hooks.folder
    made_of = _made_of(repository, checkout, own_hooks, left_alone)
    if folder is None and _is_unchanged(checkout, refs, made_of):
        _clear_locks(private)
        return found
    with contextlib.suppress(FileNotFoundError):
        if folder is None:
            shutil.rmtree(private.with_suffix(".before"), ignore_errors=True)
            private.rename(private.with_suffix(".before"))
    _fill(repository, found, refs, own_hooks)
    _leave_alone(found, left_alone)
    if folder is None:
        note_refs(checkout, refs)
        (checkout.git_dir / _MADE_OF).write_text(made_of)
    return found


def found_private(repository: Repository, checkout: Checkout) -> PrivateGit | None:
    """Returns the private git directory that a checkout has; None if it never had one."""
    folder = checkout.git_dir / FOLDER
    return PrivateGit(checkout, folder, _lent(repository, checkout)) if folder.is_dir() else None


def shared_modules(private: PrivateGit) -> dict[Path, Path]:
    """Returns what stands for the repositories of submodules: one folder for all commands in a workspace's sandbox.

    What a set-up command fetches is there for the agent then; nobody outside opens it with git.
    """
    checkout, place = private.checkout, private.folder / "modules"
    if not (checkout.path / ".gitmodules").is_file():
        return {}
    if place.is_symlink() or place.is_file():
        place.unlink()
    kept = checkout.git_dir / _MODULES
    for folder in (kept, place):
        folder.mkdir(exist_ok=True)
    return {checkout.git_dir / "modules": kept}


def _lent(repository: Repository, checkout: Checkout) -> dict[Path, Path]:
    """Returns the stores of objects by their places: their own, or another where a private directory covers these."""
    return {
        _LENT / str(number) if store.is_relative_to(checkout.git_dir) else store: store
        for number, store in enumerate(_object_stores(repository.common_dir))
    }


def known_refs(checkout: Checkout) -> dict[str, str]:
    """Returns what each ref in the sandbox stood at when the private directory was made, or last brought home."""
    try:
        lines = os.fsdecode(read_plain_file(checkout.git_dir / _REFS)).splitlines()
    except OSError:
        return {}
    return {name: commit for commit, _, name in (line.partition(" ") for line in lines)}


def note_refs(checkout: Checkout, refs: Mapping[str, str]) -> None:
    """Notes what is in the sandbox, for the next session and for the next time that commits are taken."""
    (checkout.git_dir / _REFS).write_bytes(
        os.fsencode("".join(f"{commit} {name}\n" for name, commit in refs.items()))
    )
    (checkout.git_dir / _STOOD).write_bytes(os.fsencode(_stands(checkout)))


def _is_unchanged(checkout: Checkout, refs: Mapping[str, str], made_of: str) -> bool:
    """True if the private directory still knows all that the repository does; the state branch moves all the time."""
    known, private = known_refs(checkout), checkout.git_dir / FOLDER
    try:
        stood = os.fsdecode(read_plain_file(checkout.git_dir / _STOOD))
        if (checkout.git_dir / _MADE_OF).read_text() != made_of:
            return False
    except OSError:
        return False
    if not all((private / name).exists() for name in _NEEDED):
        return False
    is_known = all(known.get(name) == commit for name, commit in refs.items() if name != STATE_REF)
    return is_known and stood == _stands(checkout)


def _made_of(
    repository: Repository, checkout: Checkout, hooks: Path | None, left_alone: Sequence[Path]
) -> str:
    files = (checkout.git_dir / CONFIG_FILE, *(repository.common_dir / name for name in _FOR_ALL))
    contents = [file.read_bytes() if file.is_file() else None for file in files]
    return hashlib.sha256(repr((hooks, sorted(left_alone), contents)).encode()).hexdigest()


def _clear_locks(private: Path) -> None:
    """Removes what a killed git had locked; when a session begins, none is at work there."""
    for parent, _, files in os.walk(private):
        for name in files:
            if name.endswith(".lock"):
                with contextlib.suppress(OSError):  # then the agent's git says so
                    Path(parent, name).unlink()


def _refs(repository: Repository) -> dict[str, str]:
    listed = run_git(
        ["for-each-ref", "--format=%(objectname) %(refname)"], repository_dir=repository.common_dir
    )
    rows = (line.partition(" ") for line in listed.text.splitlines())
    return {name: commit for commit, _, name in rows if not name.startswith("refs/gitticks/")}


def _stands(checkout: Checkout) -> str:
    """Returns where a checkout stands, the stamp of its index, and its place: the private directory names the stores."""
    index = checkout.git_dir / "index"
    status = index.stat() if index.exists() else None
    stamp = status and (status.st_mtime_ns, status.st_size)
    return f"{current_branch(checkout)} {head(checkout)} {stamp} {checkout.git_dir}\n"


def _fill(repository: Repository, made: PrivateGit, refs: Mapping[str, str], hooks: Path | None) -> None:
    """Writes a git directory that borrows the repository's objects and knows its branches."""
    checkout, private = made.checkout, made.folder
    shutil.rmtree(private, ignore_errors=True)
    for name in ("objects/info", "refs", "info"):
        (private / name).mkdir(parents=True)
    commit = head(checkout) or next(iter(refs.values()), "")
    more = f"\thooksPath = {_quoted(hooks)}\n" if hooks is not None else ""
    is_usual = len(commit) != _LONG_ID
    text = _CONFIG.format(version=0 if is_usual else 1, more=more)
    text += "" if is_usual else _OTHER_OBJECTS
    (private / "config").write_bytes(os.fsencode(text))
    own = checkout.git_dir / CONFIG_FILE
    if own.is_file():
        shutil.copyfile(own, private / CONFIG_FILE)
    stores = (_quoted(one) if "\n" in str(one) else str(one) for one in made.stores)
    (private / "objects/info/alternates").write_bytes(os.fsencode("".join(f"{one}\n" for one in stores)))
    packed = "".join(f"{refs[name]} {name}\n" for name in sorted(refs, key=os.fsencode))
    (private / "packed-refs").write_bytes(os.fsencode(f"# pack-refs with: sorted \n{packed}"))
    branch = current_branch(checkout)
    stands = f"ref: {BRANCHES}{branch}\n" if branch else f"{head(checkout)}\n"
    (private / "HEAD").write_bytes(os.fsencode(stands))
    shared = (path.name for path in checkout.git_dir.glob("sharedindex.*"))  # what a split index builds on
    for name in ("index", *shared, MERGE_HEAD, "info/sparse-checkout"):
        if (checkout.git_dir / name).is_file():
            shutil.copy2(checkout.git_dir / name, private / name)
    for name in _FOR_ALL:
        if (repository.common_dir / name).is_file():
            shutil.copyfile(repository.common_dir / name, private / name)


def _leave_alone(made: PrivateGit, hidden: Sequence[Path]) -> None:
    """Has the index not look at what is hidden in the checkout: `git add -A` would remove it from the work."""
    checkout, index = made.checkout, made.folder / "index"
    names = [str(path.relative_to(checkout.path)) for path in hidden]
    if names and index.is_file():
        variables = {"GIT_INDEX_FILE": str(index), "GIT_LITERAL_PATHSPECS": "1"}
        listed = checkout.git(["ls-files", "-z", "--", *names], variables=variables).stdout
        checkout.git(["update-index", "-z", "--skip-worktree", "--stdin"], input=listed, variables=variables)


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _object_stores(common_dir: Path) -> list[Path]:
    found: list[Path] = []
    left = [common_dir / "objects"]
    while left and len(found) < _MOST_STORES:
        store = left.pop()
        if store in found or not store.is_dir():
            continue
        found.append(store)
        with contextlib.suppress(OSError):
            lines = os.fsdecode(read_plain_file(store / "info/alternates")).splitlines()
            left += [
                Path(os.path.normpath(store / line)) for line in lines if line and not line.startswith("#")
            ]
    return found


def _if_folder(folder: Path) -> list[Path]:
    return [folder] if folder.is_dir() else []


def refuse_pipes(folder: Path) -> None:
    """Refuses what git would wait for, in any place where it expects a file, and links to where that may be."""
    left, inside = [str(folder)], f"{os.path.realpath(folder)}/"
    while left:
        place = left.pop()
        try:
            entries = [(one, one.is_dir(follow_symlinks=False)) for one in os.scandir(place)]
        except FileNotFoundError:  # git has removed it since
            continue
        except OSError as error:
            raise GitticksError(f"`{place}` cannot be read: {reason_of(error)}") from error
        left += [one.path for one, is_folder in entries if is_folder]
        for one, is_folder in entries:
            if one.is_symlink() and not os.path.realpath(one.path).startswith(inside):
                raise GitticksError(f"`{one.path}` links to what is outside: remove it")
            if not is_folder and _is_pipe(one.path):
                raise GitticksError(f"`{one.path}` is no file: remove it")


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.lstat(path).st_mode)
    except OSError:  # it is gone
        return False
