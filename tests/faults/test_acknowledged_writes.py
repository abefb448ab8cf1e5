"""What is acknowledged is on disk: a trace of the system's calls shows in which order things were synced and said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gitticks.git.objects import BACKEND_VARIABLE
from tests.cli.support import command as gt_command
from tests.faults.families import start_project
from tests.support.chains import state_tip
from tests.support.doses import LONGEST_TEST_SECONDS
from tests.support.figures import record
from tests.support.projects import Project
from tests.support.repositories import git
from tests.support.traces import RENAMES, SYNCS, Call, read_trace, traced
from tests.support.victims import Command, run

pytestmark = [pytest.mark.debian("strace"), pytest.mark.timeout(LONGEST_TEST_SECONDS)]

REF = "refs/heads/gitticks/state"
WRITERS = 4


@dataclass(frozen=True, slots=True)
class Move:
    """One move of the state branch: the call that made it, and the objects that it brought, by their files."""

    call: Call
    commit: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Traced:
    """A trace, the moves of the ref in it, and the calls that acknowledged something."""

    git_dir: Path
    calls: tuple[Call, ...]
    moves: tuple[Move, ...]
    words: tuple[Call, ...]

    def problems(self) -> list[str]:
        """Returns what was not on disk when it had to be: empty for writes that are what they promise."""
        found = [problem for move in self.moves for problem in self._problems_of(move)]
        return found + [f"{word.words} was said too early" for word in self.words if not self._is_due(word)]

    def _problems_of(self, move: Move) -> Iterable[str]:
        for file in move.files:
            if not self._is_synced(file, move.call):
                yield f"{file} was not synced before the ref moved"
            if not self._is_synced(str(Path(file).parent), move.call, named=file):
                yield f"the name of {file} was not synced before the ref moved"
        if not self._is_synced(str(self.git_dir / REF), move.call):
            yield "the ref's new content was not synced before it moved"

    def _is_synced(self, file: str, before: Call, *, named: str | None = None) -> bool:
        """True if a sync of the file came before a call, and after all that was written to it, or named in it."""
        names = self._names_of(file, before)
        if named is None:
            last = max(
                (call.ended for call in self.calls if call.open_file in names and _writes(call, before)),
                default=-1,
            )
        else:
            last = max((call.ended for call in self._namings(named) if call.begun < before.begun), default=-1)
        return any(
            last < call.begun and call.ended < before.begun and call.is_done and _covers(call, names)
            for call in self.calls
        )

    def _namings(self, file: str) -> list[Call]:
        return [
            call for call in self.calls if call.name in RENAMES and call.is_done and call.paths[-1] == file
        ]

    def _names_of(self, file: str, before: Call) -> set[str]:
        """Returns every name that the file had."""
        return {file, *(call.paths[0] for call in self._namings(file) if call.begun <= before.begun)}

    def _is_due(self, word: Call) -> bool:
        """True if the ref had moved when the word was said, and if the move itself was on disk."""
        folder = str((self.git_dir / REF).parent)
        moved = [move.call for move in self.moves if move.call.ended < word.begun]
        return bool(moved) and any(
            moved[0].ended < call.begun
            and call.ended < word.begun
            and call.is_done
            and _covers(call, {folder, str(self.git_dir / REF)})
            for call in self.calls
        )


def _writes(call: Call, before: Call) -> bool:
    return call.name not in SYNCS and call.begun < before.begun


def _covers(call: Call, names: set[str]) -> bool:
    return call.name in ("syncfs", "sync") or (call.name in SYNCS and call.open_file in names)


def trace_of(project: Project, *command_lines: Sequence[str]) -> Traced:
    """Runs commands at once under one strace and returns what they did, with the moves and words in order."""
    base = state_tip(project.path)
    assert base is not None
    trace = project.path.parent / "trace"
    script = " & ".join(" ".join(f"'{word}'" for word in gt_command(*words)) for words in command_lines)
    fate = run(traced(Command(("sh", "-c", f"{script} & wait"), project.path), trace))
    assert (fate.code, fate.err) == (0, ""), fate
    calls = read_trace(trace)
    git_dir = project.path / ".git"
    words = tuple(
        call
        for call in calls
        if call.name == "write" and call.words.startswith("1</") and (call.result or 0) > 0
    )
    return Traced(git_dir, tuple(calls), tuple(_moves(project, calls, base)), words)


def _moves(project: Project, calls: Sequence[Call], base: str) -> Iterable[Move]:
    ref = str(project.path / ".git" / REF)
    for call in calls:
        if call.name not in RENAMES or not call.is_done or call.paths[-1] != ref:
            continue
        written = [
            one
            for one in calls
            if one.open_file == call.paths[0] and one.begun < call.begun and one.name == "write"
        ]
        commit = next(
            found[1] for one in reversed(written) if (found := re.search(r'"([0-9a-f]{40})', one.words))
        )
        yield Move(call, commit, tuple(_files_between(project, base, commit)))
        base = commit


def _files_between(project: Project, old: str, new: str) -> Iterable[str]:
    """Yields the files that hold the objects which one commit has and the other has not: loose ones, or packs."""
    listed = git("rev-list", "--objects", new, f"^{old}", at=project.path)
    loose = project.path / ".git" / "objects"
    for line in listed.splitlines():
        name = line.split(" ")[0]
        file = loose / name[:2] / name[2:]
        if file.exists():
            yield str(file)
        else:
            yield from (str(pack) for pack in loose.glob("pack/pack-*.[pi][ad][cx]*"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return start_project(tmp_path / "repository")


@pytest.mark.parametrize("backend", ["libgit2", "processes"])
@pytest.mark.parametrize(
    "words",
    [("create", "Say hello"), ("update", "zzzz", "-p", "0"), ("note", "zzzz", "Hear."), ("cancel", "zzzz")],
)
def test_objects_then_the_ref_then_the_answer(
    project: Project, words: tuple[str, ...], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BACKEND_VARIABLE, backend)
    done = trace_of(project, words)
    (move,) = done.moves
    assert len(move.files) >= 5
    assert move.commit == state_tip(project.path)
    assert done.words
    assert done.problems() == []


def test_writers_at_once_may_sync_for_one_another(project: Project) -> None:
    done = trace_of(project, *(("create", f"Task {number}") for number in range(WRITERS)))
    assert done.moves[-1].commit == state_tip(project.path)
    assert len(done.words) == WRITERS
    assert done.problems() == []
    for word in done.words:
        said = re.findall(r'"([0-9a-z]+)\\n"', word.words)[0]
        (made,) = [move for move in done.moves if _holds(project, move.commit, said)][:1]
        assert made.call.ended < word.begun
    syncs = [call for call in done.calls if call.name in SYNCS]
    record("trace: writers at once", writers=WRITERS, moves=len(done.moves), syncs=len(syncs))


def _holds(project: Project, commit: str, task: str) -> bool:
    return f"/{task}/TASK.md" in git("ls-tree", "-r", "--name-only", commit, at=project.path)


def test_the_trace_shows_each_sync_that_is_missing(project: Project) -> None:
    """Shows that the tests above bite: without any one of the syncs they would have failed."""
    done = trace_of(project, ("create", "Say hello"))
    git_dir = str(done.git_dir)
    places = tuple(f"{git_dir}/{folder}/" for folder in ("objects", "refs"))
    needed = [call for call in done.calls if call.name in SYNCS and str(call.open_file).startswith(places)]
    assert len(needed) >= 3
    for missing in needed:
        gone = {id(missing)}
        if missing.name == "syncfs":  # each covers the whole file system, also what another one was meant for
            gone = {id(call) for call in done.calls if call.name == "syncfs"}
        assert replace(done, calls=tuple(call for call in done.calls if id(call) not in gone)).problems(), (
            missing
        )
    early = tuple(replace(word, begun=-1, ended=-1) for word in done.words)
    assert replace(done, words=early).problems()
