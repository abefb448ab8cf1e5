"""What was committed in a sandbox is taken into the repository.

Git fetches it from a `git upload-pack` that itself runs in a sandbox, so that nobody outside opens the private git
directory, which an agent may have written.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from shlex import join

from gitticks.errors import GitticksError, MachineError, NotFoundError
from gitticks.git.checkouts import Checkout, current_branch, head, list_worktrees
from gitticks.git.large_files import take_large_files
from gitticks.git.merges.history import is_ancestor
from gitticks.git.objects.failures import is_out_of_room, require_written
from gitticks.git.process import GitError, printable, run_git
from gitticks.git.refs import BRANCHES, default_base, is_object_id, read_ref
from gitticks.git.repository import Repository
from gitticks.git.worktrees import past_half_made
from gitticks.safe_read import read_plain_file
from gitticks.sandbox.private_git import MERGE_HEAD, PrivateGit, known_refs, note_refs, refuse_pipes
from gitticks.store.index import open_index

_INCOMING = "refs/gitticks/incoming/"
_KEPT = "refs/gitticks/kept/"
_STASH = "refs/stash"
_MOST_REFS = 200
_BROUGHT = "gitticks-private.brought"
"""How the refs on both sides were when they were last the same, so that nothing is asked where nothing happened."""
_MOST_LOOKED_AT = 1000
_LONGEST_LOG = 2_000_000
_UPLOAD_PACK = "git -c uploadpack.allowAnySHA1InWant=true upload-pack"
"""Git starts it, in the sandbox; it serves also what was taken back there."""
_FSCK = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "fetch.fsckObjects",
    "GIT_CONFIG_VALUE_0": "true",
    "GIT_CONFIG_KEY_1": "transfer.fsckObjects",
    "GIT_CONFIG_VALUE_1": "true",
}
_STARTERS = ("bwrap: ", "env: ")
"""What starts git there, and says so where it cannot."""
_BRANCH = re.compile(r"refs/heads/[^\x00-\x20~^:?*\[\\]+")
_NAMES_OF_OTHERS = ("-", "refs/", "gitticks/", "origin/", "remotes/", "heads/", "tags/")
"""What names begin with that are read otherwise, or will be once there is a remote."""
_READ_OTHERWISE = re.compile(r"@|[A-Z_]*HEAD|[0-9a-f]{7,64}", re.ASCII)
"""Names that git reads as something else than a branch, wherever there is such a thing."""


class _RefusedError(GitticksError):
    """Git does not take what it was asked for."""


def bring_home(
    repository: Repository,
    private: PrivateGit,
    walled: Callable[[], tuple[str, ...]],
    branch: str | None,
    base: str | None,
) -> tuple[str, ...]:
    """Takes what was committed in the sandbox into the repository, and returns what a person should know of it.

    `walled` returns the command line up to a command that runs in a sandbox, where the private directory is seen. `branch`, the
    workspace's own, is moved to what was committed. Other branches come beside the person's; `base` is the configured one.

    Raises:
        GitticksError: what is there is broken or hostile; of the work nothing was taken.
        MachineError: the disk is full, git is too slow or cannot be started; nothing was taken.
    """
    checkout = private.checkout
    inside = _inside(private)  # before it is asked, so that what changes from now on is noticed
    if inside is not None and _noted(checkout) == inside + _outside(repository, checkout, branch):
        note_refs(checkout, known_refs(checkout))  # git may have refreshed the index since
        return ()
    refuse_pipes(private.folder)
    cleared = join(("env", "-i", f"PATH={os.environ.get('PATH', os.defpath)}", *walled()))
    source = ["--upload-pack", f"{cleared} {_UPLOAD_PACK}"]
    listed = _asked(
        ["ls-remote", "--quiet", "--symref", *source, "--end-of-options", str(checkout.git_dir)],
        repository,
    )
    (found, head_ref), before = _parse(listed), head(checkout)
    stashed = (line.split(" ")[1] for line in _log(private, _STASH) if " " in line)
    found |= {one: one for one in stashed if is_object_id(one) and one != found.get(_STASH)}
    own, known = f"{BRANCHES}{branch}" if branch else "", known_refs(checkout)
    unborn = _unborn(private) if "HEAD" not in found else None
    if unborn is not None and (unborn == own or not _is_misleading(unborn, _taken_names(repository, base))):
        head_ref = head_ref or unborn
    wanted, warnings = _wanted(repository, checkout, found, branch, base, is_detached=head_ref is None)
    options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
    fetch = ["fetch", *source, *options, "--end-of-options", str(checkout.git_dir)]
    if len(wanted) > _MOST_REFS:
        raise GitticksError(
            f"{len(wanted)} branches and stashes were made or changed in the sandbox, and no more than {_MOST_REFS} "
            "are taken: `git branch -D` and `git stash drop` remove those that are not needed"
        )
    if wanted:
        take_large_files(private.folder, repository.common_dir)
        refs = {name: f"+{name}:{_INCOMING}{checkout.git_dir.name}/{name}" for name in wanted}
        try:
            _asked([*fetch, *refs.values()], repository)
        except _RefusedError as error:
            # The private directory may be made anew before the work is accepted: nothing else goes with it.
            said = [error.message]
            for name in (one for one in wanted if one not in (own, "HEAD")):
                with contextlib.suppress(_RefusedError):
                    _asked([*fetch, refs[name]], repository)
                    _place(repository, {name: wanted[name]}, checkout)
                    said += [warnings[name]] if name in warnings else []
            raise _RefusedError("; ".join(said)) from error
        found |= _place(repository, wanted, checkout)
    if own not in wanted and own in found:
        _follow_undone(repository, private, fetch, own, read_ref(repository.common_dir, own))
    if own not in found and _is_renamed(repository, own, known, found.get(head_ref or "")):
        _asked(["update-ref", "-d", own, known[own]], repository)
    _follow_head(repository, checkout, found, head_ref)
    after = head(checkout)
    if after is not None and (after != before or not _is_index_of_head(checkout)):
        checkout.git(["read-tree", "--reset", "HEAD"])  # which knows what a sparse checkout leaves out
    _follow_merge(checkout, private)
    kept = {name: commit for name, commit in known.items() if not name.startswith(BRANCHES)}
    note_refs(checkout, kept | {name: commit for name, commit in found.items() if name != "HEAD"})
    stand = (inside or "") + _outside(repository, checkout, branch)
    (checkout.git_dir / _BROUGHT).write_bytes(os.fsencode(stand))
    return tuple(warnings.values())


def _inside(private: PrivateGit) -> str | None:
    """Returns what differs once a ref, HEAD or a merge there is another; None if that is too much to look at."""
    paths = [private.folder / name for name in ("HEAD", "packed-refs", "logs/HEAD", MERGE_HEAD)]
    for parent, folders, files in os.walk(private.folder / "refs"):
        paths += [Path(parent, name) for name in (*folders, *files)]
        if len(paths) > _MOST_LOOKED_AT:
            return None
    stamps = []
    for path in sorted(paths):
        with contextlib.suppress(OSError):
            found = path.lstat()  # nobody can set the time of the change, and git makes a ref's file anew
            stamps.append(f"{found.st_ino} {found.st_size} {found.st_ctime_ns} {str(path)!r}\n")
    return "".join(stamps)


def _outside(repository: Repository, checkout: Checkout, branch: str | None) -> str:
    own = read_ref(repository.common_dir, f"{BRANCHES}{branch}") if branch else None
    return f"{current_branch(checkout)} {head(checkout)} {own}\n"


def _noted(checkout: Checkout) -> str:
    """Returns how both sides were when all had been brought home; empty where that is not known."""
    try:
        return os.fsdecode((checkout.git_dir / _BROUGHT).read_bytes())
    except OSError:
        return ""


def _asked(arguments: list[str], repository: Repository) -> str:
    """Returns what git answers, or raises with git's own message, without the sandbox's command line."""
    try:
        ran = past_half_made(
            repository,
            lambda: run_git(
                arguments, repository_dir=repository.common_dir, extra_environment=_FSCK, check=False
            ),
        )
    except GitError as error:  # it took too long, say
        raise MachineError(error.message, hint=error.hint) from error
    if ran.code != 0:
        if is_out_of_room(ran.stderr):  # nothing that is wrong with what was committed
            require_written(ran, repository.common_dir)
        said = printable(ran.stderr.removeprefix("fatal: ").removeprefix("error: "))
        raise MachineError(said) if said.startswith(_STARTERS) else _RefusedError(said)
    return ran.text


def _parse(listed: str) -> tuple[dict[str, str], str | None]:
    """Returns what each ref stands at, and the branch that HEAD names; None if it is detached or odd."""
    found: dict[str, str] = {}
    head_ref = None
    for line in listed.split("\n"):
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


def _log(private: PrivateGit, name: str) -> list[str]:
    """Returns the lines of a log there, the oldest first: what stood before, what since, and why."""
    try:
        return os.fsdecode(read_plain_file(private.folder / "logs" / name, _LONGEST_LOG)).split("\n")
    except OSError:
        return []


def _follow_undone(
    repository: Repository, private: PrivateGit, fetch: list[str], own: str, at: str | None
) -> None:
    """Has the log of their branch name the last commit that was made there and taken back, as it would without a sandbox."""
    lines = reversed(_log(private, "HEAD"))
    last = next((line for line in lines if "\tcommit" in line), "").partition(" ")[2].partition(" ")[0]
    if at is None or not is_object_id(last) or repository.objects.has(last):
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


def _is_renamed(repository: Repository, own: str, known: Mapping[str, str], head: str | None) -> bool:
    """True if the workspace's own branch was renamed there: what it held is in the one that HEAD names."""
    before = known.get(own)
    if before is None or head is None or read_ref(repository.common_dir, own) != before:
        return False
    return is_ancestor(repository, before, head)


def _wanted(
    repository: Repository,
    checkout: Checkout,
    found: Mapping[str, str],
    branch: str | None,
    base: str | None,
    *,
    is_detached: bool,
) -> tuple[dict[str, str], dict[str, str]]:
    """Returns what each ref to take is to be called here, and what a person should know of some.

    Their own branch is the only one that moves.
    """
    wanted: dict[str, str] = {}
    warnings: dict[str, str] = {}
    own = f"{BRANCHES}{branch}" if branch else ""
    known = known_refs(checkout)
    taken = cache(lambda: _taken_names(repository, base))  # few make other branches
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
        what = "stash" if is_object_id(name) else name.removeprefix("refs/")
        kept = f"{_KEPT}{checkout.git_dir.name}/{what}.{commit[:10]}"  # beside what was kept of it before
        if read_ref(repository.common_dir, kept) != commit:
            wanted[name] = kept
            if name.startswith(BRANCHES):
                why = (
                    "was made in the sandbox, but its name would mean something else outside"
                    if is_new
                    else "was changed in the sandbox, and stays as it is outside"
                )
                warnings[name] = f"`{name.removeprefix(BRANCHES)}` {why}: what was made of it is at `{kept}`"
    return wanted, warnings


def _taken_names(repository: Repository, base: str | None) -> Collection[str]:
    """Returns the names that mean something already, though there may be no such branch here.

    Git makes the remote's branch of a name once somebody asks for it, and gitticks makes a base once it merges there.
    """
    asked = (
        ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags"],
        ["for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes"],
        ["remote"],
    )
    said = (run_git(words, repository_dir=repository.common_dir).text for words in asked)
    names = {base, default_base(repository), *(name for text in said for name in text.splitlines())}
    with contextlib.suppress(NotFoundError), open_index(repository) as index:
        names.update(task.base for task in index.tasks(open_only=True))
    return {name for name in names if name}


def _is_misleading(ref: str, taken: Collection[str]) -> bool:
    """True if a branch would be read as a remote's, a base, a tag, a commit, HEAD, an option, or as another task's."""
    name = ref.removeprefix(BRANCHES)
    above = (name[:end] for end in (*(at for at, sign in enumerate(name) if sign == "/"), len(name)))
    return (
        any(one in taken for one in above)
        or name.startswith(_NAMES_OF_OTHERS)
        or _READ_OTHERWISE.fullmatch(name) is not None
    )


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
        input=os.fsencode("".join(f"{line}\n" for line in lines)),
    )
    return placed


def _follow_head(
    repository: Repository, checkout: Checkout, found: Mapping[str, str], head_ref: str | None
) -> None:
    """Makes the checkout stand where the one in the sandbox stands.

    On a branch that stands elsewhere here, or is another checkout's, it would seem to have undone what is there: then it
    stands at the commit alone, and without one where it stood.
    """
    commit = found.get("HEAD")
    if head_ref is not None and _is_same_branch(repository, checkout, head_ref, commit):
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
    asked = ["diff-index", "--cached", "--quiet", "--ignore-submodules", "HEAD", "--"]
    return checkout.git(asked, check=False).code == 0


def _follow_merge(checkout: Checkout, private: PrivateGit) -> None:
    """Notes a merge that was not finished in the sandbox, so that nobody outside merges into the midst of it."""
    note = checkout.git_dir / MERGE_HEAD
    try:
        other = os.fsdecode(read_plain_file(private.folder / MERGE_HEAD, 1000)).strip()
    except OSError:
        note.unlink(missing_ok=True)
        return
    known = is_object_id(other) and checkout.git(["cat-file", "-e", other], check=False).code == 0
    if known:
        note.write_text(f"{other}\n")
