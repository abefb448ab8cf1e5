"""One kill of one command, everything that must hold after it, and the count of where kills fell."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from tests.cli.support import command as gt_command
from tests.faults.families import ANCHOR, WRITTEN, Case, Variant, task_name, was_written
from tests.support.chains import Step, state_tip, steps_since
from tests.support.doses import IS_FULL
from tests.support.figures import record
from tests.support.leftovers import git_locks, prune, temporary_files, unfinished_objects
from tests.support.projects import Project
from tests.support.repositories import fsck_problems
from tests.support.victims import Command, Fate, Moments, await_strays, run, run_until

NEXT_SECONDS = 2.0
"""How soon the next command has to be done."""
_GIT_PATIENCE_SECONDS = 2.0
"""How long a command waits for an index that git has locked; a killed git left the lock, and nobody can know that."""
_LATE_SHARE = 0.02
"""How many commands a machine with other work may delay."""
_ENOUGH_TO_BITE = 40


@dataclass(slots=True)
class Tally:
    """Where kills fell, and what the commands after them took."""

    kills: int = 0
    before: int = 0
    between: int = 0
    after: int = 0
    ended: int = 0
    with_all: int = 0
    git_locks: int = 0
    unfinished_objects: int = 0
    drafts: int = 0
    late: int = 0
    slowest_seconds: float = 0.0
    _seconds: list[float] = field(default_factory=list)

    def count(self, fate: Fate, done: int, whole: int, *, with_all: bool) -> None:
        """Takes in one victim and how many of its commits stand."""
        if not fate.was_killed:
            self.ended += 1
            return
        self.kills += 1
        self.with_all += with_all
        if done == 0:
            self.before += 1
        elif done < whole:
            self.between += 1
        else:
            self.after += 1

    def time(self, fate: Fate, *, patience: float = 0.0) -> None:
        """Takes in how long the next command took."""
        self._seconds.append(fate.seconds)
        self.slowest_seconds = round(max(self.slowest_seconds, fate.seconds), 3)
        self.late += fate.seconds - patience > NEXT_SECONDS

    def finish(self, test: str) -> None:
        """Records the figures; fails if too many commands were late, or if the kills did not fall on both sides."""
        numbers = {name: value for name, value in asdict(self).items() if not name.startswith("_")}
        median = sorted(self._seconds)[len(self._seconds) // 2] if self._seconds else 0.0
        record(test, **numbers, median_seconds=round(median, 3))
        assert self.late <= max(1, len(self._seconds) * _LATE_SHARE) or not IS_FULL, f"late: {self}"
        if self.kills >= _ENOUGH_TO_BITE:
            assert self.before > 0, f"no kill fell before the change: {self}"
            assert self.after > 0, f"no kill fell after the change: {self}"


@dataclass(slots=True)
class Target:
    """One variant of a family: what it does when nobody kills it, and when to kill it."""

    variant: Variant
    whole: tuple[Step, ...]
    moments: Moments

    @classmethod
    def measure(
        cls, project: Project, variant: Variant, names: itertools.count[int], random: Random
    ) -> Target:
        """Lets the variant come to its end, and returns what it did and how long it took."""
        case = variant(project, task_name(next(names)))
        base = tip_of(project)
        fate = run(case.command)
        assert fate.code == 0, fate
        whole = steps_since(project.path, base)
        assert whole, fate
        return cls(variant, whole, Moments(fate.seconds, random))


def kill_once(project: Project, target: Target, number: int, tally: Tally) -> None:
    """Kills the target once, alone or with all that it started, and checks everything that must hold.

    Args:
        project: where.
        target: what to kill.
        number: tells this victim from the others. Odd ones are killed with all that they started. The next command is
            in turn somebody else's note and the victim's own again.
        tally: what to count in.
    """
    case = target.variant(project, task_name(number))
    base = tip_of(project)
    instant = target.moments.next()
    fate = run_until(case.command, instant, with_all=bool(number % 2))
    assert fate.was_killed or fate.code == 0, fate
    done = judge(project, target, Hit(case, base, fate), tally, again=bool(number // 2 % 2))
    tally.count(fate, done, len(target.whole), with_all=bool(number % 2))
    target.moments.learn(instant, fate, happened=done > 0)


@dataclass(frozen=True, slots=True)
class Hit:
    """A case that something befell: the state branch before it, and what became of it."""

    case: Case
    base: str
    fate: Fate


def judge(project: Project, target: Target, hit: Hit, tally: Tally, *, again: bool) -> int:
    """Checks everything that must hold after a fault, and returns how many of the target's commits stand.

    Args:
        project: where.
        target: what was hit.
        hit: this time.
        tally: where to count what the next commands take.
        again: the next command is the victim's own, not somebody else's note.
    """
    case, fate = hit.case, hit.fate
    was_saved = case.task is not None and was_written(project, case.task)
    kept = drafts_with(project, WRITTEN) if was_saved else []
    if case.is_git:
        # Its hooks may still be at work, and a lock of git's own may have been left, which only a person can judge.
        _note(project, tally, patience=_GIT_PATIENCE_SECONDS)
        await_strays(fate.mark)
        done = _check_whole_or_nothing(project, target, hit)
        tally.git_locks += bool(git_locks(project.path))
        _remove_locks_of_git(project)
        _note(project, tally)
    else:
        done = _check_whole_or_nothing(project, target, hit)
        assert kept or done or not was_saved, f"what the editor saved is gone: {fate}"
        if case.is_resumed or again:
            await_strays(fate.mark)  # its git may have moved the branch only now
            done = _check_whole_or_nothing(project, target, hit)
            _repeat(project, target, hit, done, tally)
        else:
            _note(project, tally)
        await_strays(fate.mark)
    check_nothing_left(project)
    _check_board(project, case, done)
    if case.is_git:
        _repeat(project, target, hit, done, tally)
        check_nothing_left(project)
        assert project.board_status() == ""
    return done


def check_nothing_left(project: Project) -> None:
    """Fails if a lock or a file that was being prepared lies about."""
    left = git_locks(project.path) + temporary_files(project.path)
    assert not left, f"left behind: {left}"


def check_at_the_end(project: Project, tally: Tally) -> None:
    """Fails if git finds a fault, or cannot remove what was never finished."""
    assert fsck_problems(project.path) == ""
    tally.unfinished_objects += len(unfinished_objects(project.path))
    ran = project.gt("edit", ANCHOR, environment={"GIT_EDITOR": "true"})
    assert ran.code == 0, ran.seen
    kept = drafts_with(project, "")
    assert kept == drafts_with(project, WRITTEN), "a draft without anything of a person's"
    tally.drafts += len(kept)
    prune(project.path)
    assert fsck_problems(project.path) == ""


def _check_whole_or_nothing(project: Project, target: Target, hit: Hit) -> int:
    """Returns how many of the target's commits stand: the first few, each as it is when nothing befalls it."""
    done = steps_since(project.path, hit.base, but=ANCHOR)
    assert done == target.whole[: len(done)], hit.fate
    if hit.fate.code == 0:
        assert len(done) == len(target.whole), f"acknowledged and not there: {hit.fate}"
    return len(done)


def _note(project: Project, tally: Tally, *, patience: float = 0.0) -> None:
    """Runs a command of somebody else."""
    fate = run(Command(tuple(gt_command("note", ANCHOR, "Another matter.")), project.path))
    assert fate.code == 0, fate
    tally.time(fate, patience=patience)


def _repeat(project: Project, target: Target, hit: Hit, done: int, tally: Tally) -> None:
    """Runs the victim's command again, as its person would; what it had not done yet is done then."""
    case, is_whole = hit.case, done == len(target.whole)
    fate = run(case.rest if case.rest is not None and done > 0 and not is_whole else case.command)
    if not case.is_git:
        tally.time(fate)
    assert fate.code == 0 or (is_whole and fate.code in (1, 3)), fate
    if case.task is not None and not is_whole and case.rest is None:
        assert steps_since(project.path, hit.base, but=ANCHOR) == target.whole, fate
    if is_whole:  # it may have had nothing to write, and only writers update the board
        _note(project, tally)
    if is_whole and case.is_resumed:
        swept = run(Command(tuple(gt_command("merge")), project.path))
        assert swept.code == 0, swept


def drafts_with(project: Project, text: str) -> list[Path]:
    """Returns the drafts of editors that hold a text."""
    drafts = (project.path / ".git/gitticks/drafts").rglob("*.md")
    return [draft for draft in drafts if text in draft.read_text(encoding="utf-8")]


def _check_board(project: Project, case: Case, done: int) -> None:
    """Fails if the board is not in step; what was edited there and not committed stays as it is."""
    status = project.board_status()
    if not case.is_git or done:
        assert not status, f"the board is not in step: {status}"
        return
    assert case.task is not None
    assert status == f" M {project.board_file(case.task).relative_to(project.board)}"


def _remove_locks_of_git(project: Project) -> None:
    """Does what git tells people to do about the locks of a git that was killed."""
    for lock in git_locks(project.path):
        (project.path / ".git" / lock).unlink()


def tip_of(project: Project) -> str:
    """Returns where the state branch is."""
    tip = state_tip(project.path)
    assert tip is not None
    return tip
