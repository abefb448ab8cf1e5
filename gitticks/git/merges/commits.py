"""Merges and rebases commits in memory, forecasts conflicts, and creates merge commits as the user, whose hooks may run."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout
from gitticks.git.config import find_own_hooks
from gitticks.git.identity import ENGINE_IDENTITY, OWN_ADDRESSES, Identity
from gitticks.git.log import committer_of
from gitticks.git.merges.history import diff_summary, find_merge, find_same_patch, merge_of
from gitticks.git.process import TIME_LIMIT_SECONDS, GitError, failure_of, printable, run_git
from gitticks.git.refs import is_object_id
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import fence_programs, own_hooks, read_all, without_foreign_hooks

_TRAILER = re.compile(r"[A-Za-z0-9-]+: \S.*")
_CHECKS = {"merge": "pre-merge-commit", "squash": "pre-commit"}
_MESSAGE_HOOKS = ("prepare-commit-msg", "commit-msg")
_CONFLICT = 1


def store_commit(
    repository: Repository, tree: str, parents: Sequence[str], message: str, identity: Mapping[str, str]
) -> str:
    """Stores a commit that no ref names yet and returns its id; it is signed if `commit.gpgSign` says so.

    The signing program is the person's own, whatever the repository's configuration names.
    """
    is_to_sign = _is_to_sign(repository)
    words = ["-S"] if is_to_sign else []
    words += [word for parent in parents for word in ("-p", parent)]
    try:
        return run_git(
            ["-c", "i18n.commitEncoding=UTF-8", "-c", "core.fsync=all", "commit-tree", *words, tree],
            repository_dir=repository.common_dir,
            input=os.fsencode(message),
            extra_environment={**fence_programs(repository.common_dir).variables, **identity},
            trusted=True,
        ).text
    except GitError as error:
        if not is_to_sign:
            raise
        reason = error.message.partition(" failed: ")[2] or error.message
        raise GitError(
            f"the commit cannot be signed, as `commit.gpgSign` asks for: {reason}",
            hint="`git config user.signingKey` says with which key; `git config commit.gpgSign false` asks for none",
        ) from error


def _is_to_sign(repository: Repository) -> bool:
    entries = read_all(repository.common_dir)
    is_set = any(key == "commit.gpgsign" and scope != "command" for scope, key, _ in entries)
    asked = ["config", "--type=bool", "--get", "commit.gpgSign"]
    return is_set and (
        run_git(asked, repository_dir=repository.common_dir, check=False, trusted=True).text == "true"
    )


def runs_programs(repository: Repository) -> bool:
    """True if a person's hooks may run for the commit of a merge, or it is signed, so that it is not made in vain."""
    hooks = find_own_hooks(repository).folder
    return _has_hooks(repository, hooks, (*_CHECKS.values(), *_MESSAGE_HOOKS)) or _is_to_sign(repository)


def _has_hooks(repository: Repository, folder: Path, names: Sequence[str]) -> bool:
    in_files = any((folder / name).is_file() and os.access(folder / name, os.X_OK) for name in names)
    return in_files or own_hooks(repository.common_dir, names)


def add_trailers(message: str, trailers: str) -> str:
    """Returns the message with the lines of `trailers` in its last block, each once.

    Done here because git's own way runs commands that a repository's configuration can name.
    """
    text = message.rstrip()
    paragraphs = text.split("\n\n")
    present = paragraphs[-1].splitlines() if len(paragraphs) > 1 else []
    has_block = bool(present) and all(_TRAILER.fullmatch(line) for line in present)
    missing = [line for line in trailers.splitlines() if not (has_block and line in present)]
    if not missing:
        return message
    return "\n".join([text, *([] if has_block else [""]), *missing, ""])


class HookRefusedError(GitticksError):
    """A hook of the person's refused the commit, for what is in it or for its message (`is_about_message`)."""

    def __init__(self, message: str, *, hint: str, is_about_message: bool) -> None:
        super().__init__(message, hint=hint)
        self.is_about_message = is_about_message


def commit_merge(
    repository: Repository,
    tree: str,
    parents: Sequence[str],
    message: str,
    *,
    author: Identity,
    aside: Callable[[str], AbstractContextManager[Checkout]],
) -> str:
    """Stores the commit of a merge (one parent: of a squash) and returns its id; no ref moves.

    The person's `pre-merge-commit` (`pre-commit` for a squash), `prepare-commit-msg` and `commit-msg` run as `git
    merge` would run them, in a checkout that `aside` gives; what they stage or write into the message is taken.

    Raises:
        HookRefusedError: one of them failed; the message holds its words.
    """
    kind = "merge" if len(parents) > 1 else "squash"
    check = _CHECKS[kind]
    hooks = find_own_hooks(repository).folder
    if _has_hooks(repository, hooks, (check, *_MESSAGE_HOOKS)):
        with aside(parents[0]) as checkout:
            checkout.git(["read-tree", "--reset", "-u", "--end-of-options", tree], fenced=True, trusted=True)
            _run_hook(checkout, hooks, check)
            tree = run_git(["write-tree"], repository_dir=checkout.git_dir).text
            file = checkout.git_dir / "MERGE_MSG"
            file.write_bytes(os.fsencode(message))
            _run_hook(checkout, hooks, "prepare-commit-msg", str(file), kind)
            _run_hook(checkout, hooks, "commit-msg", str(file))
            message = os.fsdecode(file.read_bytes())
    return store_commit(repository, tree, parents, message, author.variables())


def _run_hook(checkout: Checkout, hooks: Path, name: str, *words: str) -> None:
    result = run_git(
        ["-c", f"core.hooksPath={hooks}", "hook", "run", "--ignore-missing", name, "--", *words],
        directory=checkout.path,
        # A hook may count letters, as in any commit.
        extra_environment={
            "LC_ALL": os.environ.get("LC_ALL", ""),
            **without_foreign_hooks(checkout.git_dir),
        },
        check=False,
        trusted=True,
    )
    if result.code != 0:
        raise HookRefusedError(
            f"the hook `{name}` refused the merge: {printable(result.stderr) or f'exit code {result.code}'}",
            hint=f"`{hooks / name}` says why" if (hooks / name).exists() else f"`git hook list {name}`",
            is_about_message=name in _MESSAGE_HOOKS,
        )


class CleanMerge(NamedTuple):
    """The two sides go together; `tree` holds the result."""

    tree: str


class Conflict(NamedTuple):
    """The two sides exclude each other at `paths`, sorted: all that differ, where they have no commit in common."""

    paths: tuple[str, ...]
    is_unrelated: bool = False


class MergeRules(NamedTuple):
    """How files are merged: by the attributes in `folder`, with the programs that `variables` leave in."""

    folder: Path
    variables: Mapping[str, str]


def merge_in_memory(
    repository: Repository, ours: str, theirs: str, *, timeout_seconds: float = TIME_LIMIT_SECONDS
) -> CleanMerge | Conflict:
    """Merges two commits and returns the tree or the conflicting paths.

    The attributes of `ours` say how. Merge drivers of the person's own configuration are used, those of the
    repository's are not.

    Raises:
        GitError: one is no commit, or git took longer than it may.
    """
    with merge_rules(repository, ours) as rules:
        return merge_by(rules, repository, ours, theirs, timeout_seconds=timeout_seconds)


@contextlib.contextmanager
def merge_rules(repository: Repository, commit: str) -> Iterator[MergeRules]:
    """Gives the rules that hold on `commit`.

    Git 2.39 reads attributes from a work tree only, so they are laid out in one that holds nothing else.
    """
    with tempfile.TemporaryDirectory(prefix="gitticks-") as name:
        tree = repository.objects.tree_of(commit)
        for path, object_id in _attribute_files(repository.common_dir, tree):
            file = Path(name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(repository.objects.read_blob(object_id))
        yield MergeRules(Path(name), fence_programs(repository.common_dir).variables)


def merge_by(
    rules: MergeRules,
    repository: Repository,
    ours: str,
    theirs: str,
    *,
    timeout_seconds: float = TIME_LIMIT_SECONDS,
) -> CleanMerge | Conflict:
    """Merges two commits by `rules`."""
    options = ["--write-tree", "-z", "--name-only", "--no-messages"]
    result = run_git(
        ["-c", "core.fsync=all", "merge-tree", *options, "--end-of-options", ours, theirs],
        repository_dir=repository.common_dir,
        work_tree=rules.folder,
        directory=rules.folder,
        extra_environment=rules.variables,
        check=False,
        timeout_seconds=timeout_seconds,
        trusted=True,
    )
    if "unrelated histories" in result.stderr and not repository.is_shallow:
        return Conflict(diff_summary(repository, ours, theirs).paths, is_unrelated=True)
    tree, *paths = os.fsdecode(result.stdout).split("\0")
    if result.code not in (0, _CONFLICT) or not is_object_id(tree):
        raise failure_of(["merge-tree"], result, repository.common_dir)
    return Conflict(tuple(sorted({path for path in paths if path}))) if result.code else CleanMerge(tree)


@lru_cache(maxsize=16)  # a base is merged into several times before it moves
def _attribute_files(common_dir: Path, tree: str) -> tuple[tuple[str, str], ...]:
    """Returns path and object id of every `.gitattributes`; a symbolic link is none, as git has it.

    A hostile tree can hold folders named `..`, or a `/` within a name: git itself would never write what is in them.
    """
    asked = ["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", tree]
    listed = os.fsdecode(run_git(asked, repository_dir=common_dir).stdout)
    found = []
    for line in listed.split("\0")[:-1]:
        words, _, path = line.partition("\t")
        *folders, name = path.split("/")
        if name == ".gitattributes" and words.startswith("100") and {"", ".", ".."}.isdisjoint(folders):
            found.append((path, words.split(" ")[2]))
    return tuple(found)


class CleanRebase(NamedTuple):
    """Every commit could be made again; `commit` is the last of them, or where they were to go if none was left.

    `tree` is what they end with.
    """

    commit: str
    tree: str


def rebase_in_memory(
    repository: Repository, onto: str, head: str, *, committer: Identity | None, trailers: str = ""
) -> CleanRebase | CleanMerge | Conflict:
    """Makes the commits of `head` that `onto` lacks again on top of it, oldest first.

    Authors, their dates and messages stay, with the lines of `trailers` added. Merges among them are left out, as `git
    rebase` does, and so is a commit whose change is there already. If the rest would conflict, or end with another tree
    than the merge of the two, which is what was previewed, then that merge is returned. Without a `committer` only the
    tree is found out.
    """
    whole = merge_in_memory(repository, onto, head)
    listed = ["rev-list", "--reverse", "--topo-order", "--parents", "--end-of-options", f"{onto}..{head}"]
    commits = [
        line.split() for line in run_git(listed, repository_dir=repository.common_dir).text.splitlines()
    ]
    single = [words for words in commits if not words[2:]]
    if isinstance(whole, Conflict) and single != commits:
        return whole  # nothing else says what the merges resolved
    kept: list[tuple[str, str]] = []
    tip, tree = onto, repository.objects.tree_of(onto)
    with merge_rules(repository, onto) as rules:
        for commit, *parents in single:
            merged = merge_by(rules, repository, *_beside(repository, commit, parents, tree))
            if isinstance(merged, Conflict):
                return whole
            if merged.tree != tree:
                tree = merged.tree
                kept.append((commit, tree))
    if isinstance(whole, CleanMerge) and whole.tree != tree:
        return whole
    if committer is not None:
        for commit, its_tree in kept:
            tip = commit_again(repository, commit, (its_tree, tip), committer, trailers)
    return CleanRebase(tip, tree)


def _beside(repository: Repository, commit: str, parents: Sequence[str], tree: str) -> tuple[str, str]:
    """Returns two commits whose merge is `commit`'s change made to `tree`.

    Git 2.39 takes the merge base from the history only, so the tree is given the same parent as the commit.
    """
    if parents:
        return throwaway_commit(repository, tree, parents[0]), commit
    empty_tree = run_git(["mktree"], repository_dir=repository.common_dir).text
    nothing = throwaway_commit(repository, empty_tree)
    return throwaway_commit(repository, tree, nothing), throwaway_commit(
        repository, repository.objects.tree_of(commit), nothing
    )


def commit_again(
    repository: Repository, commit: str, place: tuple[str, str], committer: Identity, trailers: str
) -> str:
    """Stores the commit with another tree and parent, which `place` names."""
    tree, parent = place
    shown = run_git(
        ["show", "--no-patch", "--date=raw", "--encoding=UTF-8", "--format=%an%x00%ae%x00%ad%x00%B", commit],
        repository_dir=repository.common_dir,
    ).stdout
    name, email, date, message = os.fsdecode(shown).split("\0", 3)
    author = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email, "GIT_AUTHOR_DATE": f"@{date}"}
    text = add_trailers(message.removesuffix("\n"), trailers)
    return store_commit(repository, tree, [parent], text, {**committer.variables(), **author})


def throwaway_commit(repository: Repository, tree: str, *parents: str) -> str:
    """Stores a commit that nobody keeps, unsigned, as a side of a merge or to be tried out."""
    words = [word for parent in parents for word in ("-p", parent)]
    return run_git(
        ["commit-tree", tree, *words],
        repository_dir=repository.common_dir,
        extra_environment=ENGINE_IDENTITY.variables(),
    ).text


def has_work(repository: Repository, base: str, task_id: str, head: str | None) -> bool:
    """True if `base` has the work that ends at `head`, in whatever commits; False where that is not stored here."""
    if head is None or not repository.objects.has(head):
        return False
    if find_merge(repository, base, task_id, head, anywhere=True) or find_same_patch(repository, base, head):
        return True
    if repository.objects.merge_base(base, head) is None:
        return False
    merged = merge_in_memory(repository, base, head)  # squashed with other work, it has no commit of its own
    return not isinstance(merged, Conflict) and merged.tree == repository.objects.tree_of(base)


def why_in_doubt(
    repository: Repository, base: str, task_id: str, span: tuple[str | None, str], commit: str
) -> str | None:
    """Returns why work that `base` got as `commit` does not close its task, as a clause; None if it does.

    The commit is another task's merge or an agent's, or the work was undone since. `span` is where it began and ends.
    """
    start, head = span
    doubts: list[str] = []
    if commit != head:
        named, who = merge_of(repository, commit), committer_of(repository, commit)
        if named is not None and named[0] != task_id:
            doubts.append(f"with `{named[0]}`")
        elif who.email.endswith(OWN_ADDRESSES):
            doubts.append(f"by {who.name}")
        parent = next(iter(repository.objects.parents_of(commit)), None)
        is_stored = parent is not None and repository.objects.has(parent)  # not where a shallow clone ends
        start = repository.objects.merge_base(str(parent), head) if is_stored else None
    if start is not None and _lacks_again(repository, base, start, head):
        doubts.append("and was undone since")
    return " ".join(doubts) or None


def _lacks_again(repository: Repository, base: str, start: str, head: str) -> bool:
    """True if a change that `base` once got is not in it any more; a change that was edited further since still is."""
    tree = repository.objects.tree_of(base)
    merged = merge_in_memory(repository, throwaway_commit(repository, tree, start), head)
    return not isinstance(merged, Conflict) and merged.tree != tree
