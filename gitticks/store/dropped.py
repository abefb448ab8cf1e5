"""Finds commits that were dropped from the state branch, and restores what nobody dropped on purpose.

There are three ways to fall off, and git asks no hook in any of them, but it writes down what it did:

- In passing. `git reset` without a commit, and with it `git merge --abort` and `git stash`, puts the branch to where
  it saw it a moment before; `git rebase --abort` puts it to where it was when the rebase began, however long ago.
  What was acknowledged in between comes back by itself.
- On purpose. `git reset <commit>` on the board is how a user undoes a commit, so what it drops stays away.
- Anything else, such as `git update-ref`, a forced push or fetch, or a ref that was written as a file. Nobody knows
  what was meant, so it is named, and comes back when somebody asks for that.

`git rebase`, `git commit --amend` and the like rewrite commits, and drop nothing.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from gitticks.git.refs import end_of_log, is_nothing, is_object_id, nothing_like, read_ref
from gitticks.store.layout import CONFIG_PATH, STATE_REF, TASKS_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitticks.git.repository import Repository
    from gitticks.store.branch import Store

_RESET_IN_PASSING = b"reset: moving to HEAD"
_RESET = b"reset: moving to "
_ABORTED = b"(abort): returning to "
_BROUGHT_BACK = "gitticks: restore what git dropped"
_RESTORED = "gitticks: restore what was lost"
_DROPS_NOTHING = (b"gitticks: ", b"commit", b"merge ", b"pull", b"cherry-pick", b"revert", b"am", b"rebase")
"""How the entries of moves begin that continue from where the branch was, or rewrite its commits."""
_LAST_BYTES = 64 * 1024
"""How much of the log is looked at: hundreds of moves, while every change and status looks."""
_MOST_NAMED = 3


class How(Enum):
    """How the branch came to be moved off a commit."""

    IN_PASSING = auto()
    ON_PURPOSE = auto()
    UNEXPLAINED = auto()


class Fall(NamedTuple):
    """A move of the branch that may have dropped commits: from where to where."""

    how: How
    old: str
    new: str


class Fallen(NamedTuple):
    """Commits that are not on the branch any more, up to one; `subjects` are those of the newest."""

    fall: Fall
    commits: int
    subjects: tuple[str, ...]

    @property
    def words(self) -> str:
        """Returns how many commits they are and what they did: "2 commits (`k7f2: note added`, …)"."""
        named = [f"`{subject}`" for subject in self.subjects]
        more = ["…"] if self.commits > len(named) else []
        return f"{self.commits} commit{'s' if self.commits > 1 else ''} ({', '.join([*named, *more])})"

    @property
    def pronoun(self) -> str:
        """Returns the word that stands for them in a sentence."""
        return "it" if self.commits == 1 else "them"


def dropped_commits(repository: Repository) -> tuple[str, ...]:
    """Returns where the branch stood each time that git dropped something from it in passing, the oldest first.

    They may be on the branch again; what was brought back once is not among them, so that whoever drops it then, on
    purpose, has their will.
    """
    end = _end_of_log(repository)
    if _RESET_IN_PASSING not in end and _ABORTED not in end:
        return ()
    return tuple(fall.old for fall in reversed([*_falls(end, None)]) if fall.how is How.IN_PASSING)


def fallen_commits(repository: Repository) -> tuple[Fallen, ...]:
    """Returns what fell off the branch otherwise and is not on it, the newest fall first; cheap where nothing fell.

    Commits that another fall counts already are not counted again, and code that stood in the tasks' place is no loss.
    """
    end = _end_of_log(repository)
    tip = read_ref(repository.common_place, STATE_REF)
    falls = [one for one in _falls(end, tip) if one.how is not How.IN_PASSING]
    if tip is None or not falls:
        return ()
    from gitticks.git.merges.history import lost_commits

    kept = [tip, *dropped_commits(repository)]
    lost = lost_commits(repository, kept, (fall.old for fall in falls))
    found: list[Fallen] = []
    for fall in falls if lost else ():
        subjects = tuple(lost_commits(repository, kept, [fall.old]).values()) if fall.old in lost else ()
        if subjects and holds_tasks(repository, fall.old):
            found.append(Fallen(fall, len(subjects), subjects[:_MOST_NAMED]))
            kept.append(fall.old)
    is_moving = found and read_ref(repository.common_place, STATE_REF) != tip
    return fallen_commits(repository) if is_moving else tuple(found)


def reset_from(repository: Repository, commit: str) -> str | None:
    """Returns where a person reset the branch to on purpose when it stood at a commit; None if they did not.

    What they have in their files is theirs from then on: by git's word only `--hard` gives it up.
    """
    end = _end_of_log(repository)
    if _RESET not in end:
        return None
    reached = None
    for line in end.split(b"\n"):
        who, _, message = line.partition(b"\t")
        if _how(message) is How.ON_PURPOSE and who.startswith((reached or commit).encode()):
            reached = who.split(b" ")[1].decode("ascii", "replace")
        elif who.startswith(commit.encode()):
            reached = None  # the branch was there once more, and continued otherwise
    return reached


def holds_tasks(repository: Repository, commit: str) -> bool:
    """True for a commit of a state branch, which code that was put in its place is not."""
    objects = repository.objects
    tree = objects.tree_of(commit)
    tasks = objects.find(tree, TASKS_FOLDER)
    return (tasks is not None and tasks.is_tree) or objects.find(tree, CONFIG_PATH) is not None


def seen_before(repository: Repository, commit: str) -> Fallen:
    """Returns what the branch lacks of a commit that it was seen at, though its log says nothing of that."""
    from gitticks.git.merges.history import lost_commits

    tip = read_ref(repository.common_place, STATE_REF)
    subjects = tuple(lost_commits(repository, [tip] if tip else [], [commit]).values())
    return Fallen(
        Fall(How.UNEXPLAINED, commit, tip or nothing_like(commit)), len(subjects), subjects[:_MOST_NAMED]
    )


def was_published(repository: Repository, commits: Iterable[str]) -> bool:
    """True if the branch stood at one of these commits a while ago; it may no longer."""
    end = _end_of_log(repository)
    return any(b" %b " % commit.encode() in end for commit in commits)


def _end_of_log(repository: Repository) -> bytes:
    return end_of_log(repository.common_place, STATE_REF, _LAST_BYTES)


def _falls(log: bytes, tip: str | None) -> Iterator[Fall]:
    """Yields the moves that may have dropped something, the newest first, without those that were settled since.

    What the log does not tell of shows by where the next move began, or by the tip where that is given. Where the
    next one began where the last one did, the last one was killed before it had moved anything.
    """
    came_to = tip
    is_brought_back = is_restored = False
    for line in reversed(log.split(b"\n")):
        who, _, message = line.partition(b"\t")
        old, new, *_ = (who.decode("ascii", "replace") + "  ").split(" ")
        if not (is_object_id(old) and is_object_id(new)):
            continue
        if came_to is not None and came_to not in (old, new) and not is_restored:
            yield Fall(How.UNEXPLAINED, new, came_to)
        came_to = old
        is_brought_back |= message.startswith(_BROUGHT_BACK.encode())
        is_restored |= message.startswith(_RESTORED.encode())
        how = _how(message)
        is_settled = is_brought_back if how is How.IN_PASSING else is_restored
        if how is not None and not is_settled and old != new and not is_nothing(old):
            yield Fall(how, old, new)


def _how(message: bytes) -> How | None:
    """Returns how a move with such an entry drops commits; None for one that drops none."""
    if message == _RESET_IN_PASSING or _ABORTED in message:
        return How.IN_PASSING
    if message.startswith(_RESET):
        return How.ON_PURPOSE
    return None if message.startswith(_DROPS_NOTHING) else How.UNEXPLAINED


def bring_back_dropped(store: Store) -> int:
    """Lets the branch contain what git dropped from it in passing, and returns how many commits came back."""
    found = dropped_commits(store.repository)
    if not found or read_ref(store.repository.common_place, STATE_REF) is None:
        return 0
    return sum(_bring_back(store, dropped, _BROUGHT_BACK) for dropped in found)


def bring_back_fallen(store: Store, commits: Iterable[str] = ()) -> int:
    """Brings back `commits` and what fell off unintended; returns how many came back."""
    fallen = [one.fall.old for one in fallen_commits(store.repository) if one.fall.how is How.UNEXPLAINED]
    return sum(_bring_back(store, one, _RESTORED) for one in dict.fromkeys([*reversed(fallen), *commits]))


def _bring_back(store: Store, commit: str, logged: str) -> int:
    from gitticks.git.identity import ENGINE_IDENTITY
    from gitticks.git.merges.history import count_commits
    from gitticks.store.sharing import join

    tip = store.tip()
    if not store.objects.has(commit) or store.objects.is_ancestor(commit, tip):
        return 0
    count = count_commits(store.repository, tip, commit)
    join(store, commit, "bring back what git dropped\n", logged, author=ENGINE_IDENTITY)
    return count
