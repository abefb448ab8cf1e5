"""A private git directory that replaces the workspace's in the sandbox, and how its commits are brought back.

A linked worktree of the person's repository, writable, would be their account: its hooks and configuration run outside.
So what is in the sandbox reads the repository's objects, and writes a git directory that nobody outside ever opens
with git, but for a `git upload-pack` that itself runs in a sandbox.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from shlex import join
from typing import NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, current_branch, head, list_worktrees
from gitticks.git.config import find_own_hooks
from gitticks.git.process import printable, run_git
from gitticks.git.refs import BRANCHES, is_object_id, read_ref
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import CONFIG_FILE
from gitticks.git.worktrees import past_half_made
from gitticks.safe_read import read_plain_file
from gitticks.store.layout import STATE_REF

FOLDER = "gitticks-private"
"""Where it is in the workspace's own git directory, so that both go together."""
_STOOD, _REFS = "gitticks-private.stood", "gitticks-private.refs"
"""Where the checkout stood, and what each ref in the sandbox stood at, when both were last the same."""
_INCOMING = "refs/gitticks/incoming/"
_KEPT = "refs/gitticks/kept/"
_LENT = Path("/run/gitticks-objects")
_STASH = "refs/stash"
_MOST_STORES = 20
_MOST_REFS = 200
_LONGEST_LOG = 2_000_000
_UPLOAD_PACK = "git -c uploadpack.allowAnySHA1InWant=true upload-pack"
"""Git starts it, in the sandbox; it serves also what was taken back there."""
_MERGE_HEAD = "MERGE_HEAD"
_FSCK = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "fetch.fsckObjects",
    "GIT_CONFIG_VALUE_0": "true",
    "GIT_CONFIG_KEY_1": "transfer.fsckObjects",
    "GIT_CONFIG_VALUE_1": "true",
}
_BRANCH = re.compile(r"refs/heads/[^\x00-\x20~^:?*\[\\]+")
_OWN_NAMES = "gitticks/"
_READ_OTHERWISE = re.compile(r"@|[A-Z_]*HEAD|[0-9a-f]{7,64}", re.ASCII)
"""Names that git reads as something else than a branch, wherever there is such a thing."""
_CONFIG = """[core]
\trepositoryformatversion = {version}
\tbare = false
\tlogallrefupdates = true
{more}[extensions]
\tworktreeconfig = true
"""
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
    refs = _refs(repository)
    if folder is None and private.is_dir() and _is_unchanged(checkout, refs):
        return found
    with contextlib.suppress(FileNotFoundError):
        if folder is None:
            shutil.rmtree(private.with_suffix(".before"), ignore_errors=True)
            private.rename(private.with_suffix(".before"))
    _fill(repository, found, refs, None if hooks.are_off or not hooks.folder.is_dir() else hooks.folder)
    _leave_alone(found, hidden)
    if folder is None:
        _note(checkout, refs)
    return found


def found_private(repository: Repository, checkout: Checkout) -> PrivateGit | None:
    """Returns the private git directory that a checkout has; None if it never had one."""
    folder = checkout.git_dir / FOLDER
    return PrivateGit(checkout, folder, _lent(repository, checkout)) if folder.is_dir() else None


def _lent(repository: Repository, checkout: Checkout) -> dict[Path, Path]:
    """Returns the stores of objects by their places: their own, or another where a private directory covers these."""
    return {
        _LENT / str(number) if store.is_relative_to(checkout.git_dir) else store: store
        for number, store in enumerate(_object_stores(repository.common_dir))
    }


def bring_home(
    repository: Repository, private: PrivateGit, walled: tuple[str, ...], branch: str | None
) -> tuple[str, ...]:
    """Takes what was committed in the sandbox into the repository, and returns what a person should know of it.

    `walled` is the command line up to a command that runs in a sandbox, where the private directory is seen. `branch`, the
    workspace's own, is moved to what was committed. Other branches come beside the person's.

    Raises:
        GitError: what is there is broken or hostile; nothing was taken.
    """
    checkout = private.checkout
    cleared = join(("env", "-i", f"PATH={os.environ.get('PATH', os.defpath)}", *walled))
    source = ["--upload-pack", f"{cleared} {_UPLOAD_PACK}"]
    listed = _asked(
        ["ls-remote", "--quiet", "--symref", *source, "--end-of-options", str(checkout.git_dir)],
        repository,
    )
    (found, head_ref), before = _parse(listed), head(checkout)
    unborn = _unborn(private) if "HEAD" not in found else None
    head_ref = head_ref or unborn
    wanted, warnings = _wanted(repository, checkout, found, branch, is_detached=head_ref is None)
    own, known = f"{BRANCHES}{branch}" if branch else "", _known(checkout)
    options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
    fetch = ["fetch", *source, *options, "--end-of-options", str(checkout.git_dir)]
    if len(wanted) > _MOST_REFS:
        raise GitticksError(
            f"{len(wanted)} branches were made or changed in the sandbox, and no more than {_MOST_REFS} are taken: "
            "`git branch -D` removes those that are not needed"
        )
    if wanted:
        refs = [f"+{name}:{_INCOMING}{checkout.git_dir.name}/{name}" for name in wanted]
        _asked([*fetch, *refs], repository)
        found |= _place(repository, wanted, checkout)
    if own not in wanted and own in found:
        _follow_undone(repository, private, fetch, own, read_ref(repository.common_dir, own))
    if own not in found and _is_renamed(repository, own, known, found.get(head_ref or "")):
        _asked(["update-ref", "-d", own, known[own]], repository)
    _follow_head(repository, checkout, found, head_ref, is_unborn=unborn is not None)
    after = head(checkout)
    if after is not None and (after != before or not _is_index_of_head(checkout)):
        checkout.git(["read-tree", "HEAD"])
    _follow_merge(checkout, private)
    kept = {name: commit for name, commit in known.items() if not name.startswith(BRANCHES)}
    _note(checkout, kept | {name: commit for name, commit in found.items() if name != "HEAD"})
    return tuple(warnings)


def _asked(arguments: list[str], repository: Repository) -> str:
    """Returns what git answers, or raises with git's own message, without the sandbox's command line."""
    ran = past_half_made(
        lambda: run_git(arguments, repository_dir=repository.common_dir, extra_environment=_FSCK, check=False)
    )
    if ran.code != 0:
        raise GitticksError(printable(ran.stderr.removeprefix("fatal: ").removeprefix("error: ")))
    return ran.text


def _parse(listed: str) -> tuple[dict[str, str], str | None]:
    """Returns what each ref stands at, and the branch that HEAD names; None if it is detached or odd."""
    found: dict[str, str] = {}
    head_ref = None
    for line in listed.splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: ") and name == "HEAD":
            head_ref = value.removeprefix("ref: ")
        elif is_object_id(value) and (name in ("HEAD", _STASH) or _BRANCH.fullmatch(name)):
            found[name] = value
    return found, head_ref if head_ref is not None and _BRANCH.fullmatch(head_ref) else None


def _unborn(private: PrivateGit) -> str | None:
    """Returns the branch that HEAD names there if it has no commit yet, which `ls-remote` keeps to itself."""
    try:
        named = os.fsdecode(read_plain_file(private.folder / "HEAD", 1000)).strip().removeprefix("ref: ")
    except OSError:
        return None
    return named if _BRANCH.fullmatch(named) else None


def _follow_undone(
    repository: Repository, private: PrivateGit, fetch: list[str], own: str, at: str | None
) -> None:
    """Has the log of their branch name the last commit that was made there and taken back, as it would without a sandbox."""
    try:
        lines = os.fsdecode(read_plain_file(private.folder / "logs/HEAD", _LONGEST_LOG)).splitlines()
    except OSError:
        return
    last = next((line.split(" ")[1] for line in reversed(lines) if "\tcommit" in line), "")
    if at is None or not is_object_id(last) or _has_commit(repository, last):
        return
    incoming = f"{_INCOMING}{private.checkout.git_dir.name}/undone"
    ran = run_git(
        [*fetch, f"+{last}:{incoming}"],
        repository_dir=repository.common_dir,
        extra_environment=_FSCK,
        check=False,
    )
    if ran.code == 0:
        trace = ["update-ref", "--create-reflog", "-m", "gitticks: made and taken back in the sandbox", own]
        _asked([*trace, last, at], repository)
        _asked([*trace, at, last], repository)
        _asked(["update-ref", "-d", incoming], repository)


def _has_commit(repository: Repository, commit: str) -> bool:
    return run_git(["cat-file", "-e", commit], repository_dir=repository.common_dir, check=False).code == 0


def _is_renamed(repository: Repository, own: str, known: Mapping[str, str], head: str | None) -> bool:
    """True if the workspace's own branch was renamed there: what it held is in the one that HEAD names."""
    before = known.get(own)
    if before is None or head is None or read_ref(repository.common_dir, own) != before:
        return False
    asked = ["merge-base", "--is-ancestor", before, head]
    return run_git(asked, repository_dir=repository.common_dir, check=False).code == 0


def _wanted(
    repository: Repository,
    checkout: Checkout,
    found: Mapping[str, str],
    branch: str | None,
    *,
    is_detached: bool,
) -> tuple[dict[str, str], list[str]]:
    """Returns the refs to take, and what each is to be called here; their own branch is the only one that moves."""
    wanted: dict[str, str] = {}
    warnings: list[str] = []
    own = f"{BRANCHES}{branch}" if branch else ""
    known, taken = _known(checkout), cache(lambda: _taken_names(repository))  # few make other branches
    for name, commit in found.items():
        if name == "HEAD":
            if is_detached and commit != head(checkout):
                wanted[name] = ""
            continue
        here = read_ref(repository.common_dir, name) if name.startswith(BRANCHES) else None
        if commit in (here, known.get(name)):
            continue
        # Where somebody moved their own branch outside meanwhile, that stays too.
        is_new = here is None and name.startswith(BRANCHES)
        if (name == own and here in (None, known.get(own))) or (is_new and not _is_misleading(name, taken())):
            wanted[name] = name
            continue
        kept = f"{_KEPT}{checkout.git_dir.name}/{name.removeprefix('refs/')}"
        if read_ref(repository.common_dir, kept) != commit:
            wanted[name] = kept
            if name != _STASH:
                what = (
                    "was made in the sandbox, but its name would mean something else outside"
                    if is_new
                    else "was changed in the sandbox, and stays as it is outside"
                )
                warnings.append(f"`{name.removeprefix(BRANCHES)}` {what}: what was made of it is at `{kept}`")
    return wanted, warnings


def _taken_names(repository: Repository) -> frozenset[str]:
    """Returns the names of the remotes and tags."""
    asked = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags"]
    said = (run_git(words, repository_dir=repository.common_dir).text for words in (asked, ["remote"]))
    return frozenset(name for text in said for name in text.splitlines())


def _is_misleading(ref: str, taken: Collection[str]) -> bool:
    """True if a branch would be read as a remote's, a tag, a commit, HEAD, an option, or as another task's."""
    name = ref.removeprefix(BRANCHES)
    above = (name[:end] for end in (*(at for at, sign in enumerate(name) if sign == "/"), len(name)))
    return (
        any(one in taken for one in above)
        or name.startswith(("-", "refs/", _OWN_NAMES))
        or _READ_OTHERWISE.fullmatch(name) is not None
    )


def _known(checkout: Checkout) -> dict[str, str]:
    """Returns what each ref in the sandbox stood at when the private directory was made, or last brought home."""
    try:
        lines = os.fsdecode(read_plain_file(checkout.git_dir / _REFS)).splitlines()
    except OSError:
        return {}
    return {name: commit for commit, _, name in (line.partition(" ") for line in lines)}


def _note(checkout: Checkout, refs: Mapping[str, str]) -> None:
    """Notes what is in the sandbox, for the next session and for the next time that commits are taken."""
    (checkout.git_dir / _REFS).write_bytes(
        os.fsencode("".join(f"{commit} {name}\n" for name, commit in refs.items()))
    )
    (checkout.git_dir / _STOOD).write_bytes(os.fsencode(_stands(checkout)))


def _is_unchanged(checkout: Checkout, refs: Mapping[str, str]) -> bool:
    """True if the private directory still knows all that the repository does; the state branch moves all the time."""
    known = _known(checkout)
    try:
        stood = os.fsdecode(read_plain_file(checkout.git_dir / _STOOD))
    except OSError:
        return False
    is_known = all(known.get(name) == commit for name, commit in refs.items() if name != STATE_REF)
    return is_known and stood == _stands(checkout)


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


def _place(repository: Repository, wanted: Mapping[str, str], checkout: Checkout) -> dict[str, str]:
    """Gives what was fetched its names, all at once, takes the names away that it came under, and returns what came."""
    lines = []
    placed = {}
    for name, target in wanted.items():
        came = f"{_INCOMING}{checkout.git_dir.name}/{name}"
        commit = read_ref(repository.common_dir, came)
        if commit is None:
            continue
        placed[name] = commit
        if target:
            before = read_ref(repository.common_dir, target)
            lines.append(f"update {target} {commit} {before or '0' * len(commit)}")
        lines.append(f"delete {came}")
    run_git(
        ["update-ref", "-m", "gitticks: committed in the sandbox", "--stdin"],
        repository_dir=checkout.git_dir,  # so that the log of its HEAD knows them too, should the branch be deleted
        input="".join(f"{line}\n" for line in lines).encode(),
    )
    return placed


def _follow_head(
    repository: Repository,
    checkout: Checkout,
    found: Mapping[str, str],
    head_ref: str | None,
    *,
    is_unborn: bool,
) -> None:
    """Makes the checkout stand where the one in the sandbox stands.

    On a branch that stands elsewhere here, or is another checkout's, it would seem to have undone what is there: then it
    stands at the commit alone.
    """
    commit = found.get("HEAD")
    if head_ref is not None and (is_unborn or _is_same_branch(repository, checkout, head_ref, commit)):
        if current_branch(checkout) != head_ref.removeprefix(BRANCHES):
            checkout.git(["symbolic-ref", "-m", "gitticks: as in the sandbox", "HEAD", head_ref])
    elif commit is not None and (head_ref is not None or commit != head(checkout)):
        checkout.git(["update-ref", "--no-deref", "-m", "gitticks: as in the sandbox", "HEAD", commit])


def _is_same_branch(repository: Repository, checkout: Checkout, ref: str, commit: str | None) -> bool:
    name = ref.removeprefix(BRANCHES)
    if current_branch(checkout) == name:
        return True
    others = (one for one in list_worktrees(repository) if one.git_dir != checkout.git_dir)
    return read_ref(repository.common_dir, ref) == commit and all(
        current_branch(one) != name for one in others
    )


def _is_index_of_head(checkout: Checkout) -> bool:
    """True if nothing is staged."""
    asked = ["diff-index", "--cached", "--quiet", "--ignore-submodules", "HEAD", "--"]
    return checkout.git(asked, check=False).code == 0


def _follow_merge(checkout: Checkout, private: PrivateGit) -> None:
    """Notes a merge that was not finished in the sandbox, so that nobody outside merges into the midst of it."""
    note = checkout.git_dir / _MERGE_HEAD
    try:
        other = os.fsdecode(read_plain_file(private.folder / _MERGE_HEAD, 1000)).strip()
    except OSError:
        note.unlink(missing_ok=True)
        return
    known = is_object_id(other) and checkout.git(["cat-file", "-e", other], check=False).code == 0
    if known:
        note.write_text(f"{other}\n")


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
    (private / "config").write_text(text)
    own = checkout.git_dir / CONFIG_FILE
    if own.is_file():
        shutil.copyfile(own, private / CONFIG_FILE)
    (private / "objects/info/alternates").write_bytes(
        b"".join(os.fsencode(one) + b"\n" for one in made.stores)
    )
    packed = "".join(f"{refs[name]} {name}\n" for name in sorted(refs, key=os.fsencode))
    (private / "packed-refs").write_bytes(os.fsencode(f"# pack-refs with: sorted \n{packed}"))
    branch = current_branch(checkout)
    (private / "HEAD").write_text(f"ref: {BRANCHES}{branch}\n" if branch else f"{head(checkout)}\n")
    for name in ("index", _MERGE_HEAD, "info/sparse-checkout"):
        if (checkout.git_dir / name).is_file():
            shutil.copy2(checkout.git_dir / name, private / name)
    for name in ("info/exclude", "info/attributes", "shallow"):
        if (repository.common_dir / name).is_file():
            shutil.copyfile(repository.common_dir / name, private / name)


def _leave_alone(made: PrivateGit, hidden: Sequence[Path]) -> None:
    """Has the index not look at what is hidden in the checkout: `git add -A` would remove it from the work."""
    checkout, index = made.checkout, made.folder / "index"
    names = [str(path.relative_to(checkout.path)) for path in hidden if path.is_relative_to(checkout.path)]
    if names and index.is_file():
        variables = {"GIT_INDEX_FILE": str(index), "GIT_LITERAL_PATHSPECS": "1"}
        listed = checkout.git(["ls-files", "-z", "--", *names], variables=variables).stdout
        checkout.git(["update-index", "-z", "--skip-worktree", "--stdin"], input=listed, variables=variables)


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _object_stores(common_dir: Path) -> list[Path]:
    """Returns the folders of the repository's objects, those that it borrows itself among them."""
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
