"""Git's merge driver for files of the state branch: merges them by meaning, in place."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path

from gitticks.document.merging.entries import merge_records
from gitticks.document.merging.fields import value_at
from gitticks.document.merging.task import MergedFile
from gitticks.document.taskfile import TaskFile
from gitticks.document.yaml_nodes import Loose
from gitticks.errors import GitticksError
from gitticks.git.files import errors_name
from gitticks.git.objects import Objects
from gitticks.git.process import run_git
from gitticks.git.refs import read_ref
from gitticks.git.repository import discover
from gitticks.model.status import Verdict
from gitticks.safe_read import reason_of
from gitticks.store.merging.task import Changes, Look, merge_task, with_superseded

_HEAD = re.compile("GITHEAD_([0-9a-f]{40,64})")
_RECORDS = ".jsonl"
_STASH = "refs/stash"
_AUTOSTASHES = ("rebase-merge/autostash", "rebase-apply/autostash")


def merge_in_place(
    base: Path, ours: Path, theirs: Path, path: str, environment: Mapping[str, str]
) -> list[str]:
    """Writes the merged file over `ours`, whole or not at all, and returns the messages to print, most urgent first.

    `environment` is git's: `git merge` and `git pull` name the other side's commit there.
    """
    before, ours_data, theirs_data = (_read(file) for file in (base, ours, theirs))

    def times(look: Look) -> tuple[int, int] | None:
        changes = _history(path, ours_data, theirs_data, environment)
        return None if changes is None else changes.of(path)(look)

    notes: list[str] = []
    if path.endswith(_RECORDS):
        data = merge_records(before, ours_data, theirs_data)
    else:
        is_stashed = False
        with contextlib.suppress(GitticksError):  # it is git that says where the stash is
            is_stashed = _is_stashed(path, theirs_data)
        merged = merge_task(before or None, ours_data, theirs_data, path, times, is_uncommitted=is_stashed)
        if merged is None:
            raise GitticksError(
                f"`{path}` cannot be read on one side, so it is merged line by line",
                hint="fix it in an editor, `git add` it, then continue",
            )
        notes = _notes(merged, path, (ours_data, theirs_data), is_stashed=is_stashed)
        data = with_superseded(merged, path)
    aside = ours.with_name(f"{ours.name}.merged")
    try:
        with errors_name(aside):
            aside.write_bytes(data)
            aside.replace(ours)
    finally:
        aside.unlink(missing_ok=True)
    return notes


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise GitticksError(f"`{file}` cannot be read: {reason_of(error)}") from error


def _history(path: str, ours: bytes, theirs: bytes, environment: Mapping[str, str]) -> Changes | None:
    """Returns the history of both sides; None where git does not say which commits it merges, as in a rebase.

    A commit counts only if it has exactly the file that git handed over: a merge base that git put together has not.
    """
    heads = [match[1] for name in environment if (match := _HEAD.fullmatch(name))]
    head = run_git(["rev-parse", "--verify", "--quiet", "HEAD"], check=False).text
    if not heads or not head:
        return None
    objects = discover(Path.cwd()).objects
    other = next((one for one in heads if _has(objects, one, path, theirs)), None)
    return Changes(objects, head, other) if other is not None and _has(objects, head, path, ours) else None


def _is_stashed(path: str, theirs: bytes) -> bool:
    """True where git puts back a person's edits that it had stashed, by themselves or for a pull or a rebase."""
    repository = discover(Path.cwd())
    stashed = []
    for name in _AUTOSTASHES:
        with contextlib.suppress(OSError):
            stashed.append((repository.git_dir / name).read_text().strip())
    if (of_merge := read_ref(repository.git_dir, "MERGE_AUTOSTASH")) is not None:
        stashed.append(of_merge)
    if read_ref(repository.common_dir, _STASH) is not None:
        stashed += run_git(["reflog", "--format=%H", _STASH], check=False).text.split()
    return any(_has(repository.objects, one, path, theirs) for one in stashed)


def _has(objects: Objects, commit: str, path: str, data: bytes) -> bool:
    entry = objects.find(objects.tree_of(commit), path)
    return entry is not None and objects.read_blob(entry.object_id) == data


def _notes(merged: MergedFile, path: str, sides: tuple[bytes, bytes], *, is_stashed: bool) -> list[str]:
    notes = []
    if merged.born_twice:
        notes.append(
            "two tasks were created with this id: the later one is in the file of the earlier, marked; "
            "create it again with `gt create`, then delete it there"
        )
    elif merged.conflicts:
        parts = " and ".join(merged.conflicts)
        notes.append(f"both sides changed {parts}: both versions are there, marked, until you choose")
    if merged.overridden:
        why = "was stashed and stands" if is_stashed else "is later and stands"
        stands = TaskFile.parse(merged.data, path).frontmatter
        others = [TaskFile.parse(data, path).frontmatter for data in sides]
        for key in merged.overridden:
            at = tuple(key.split("."))
            gone = [_shown(value_at(one, at)) for one in others if value_at(one, at) != value_at(stands, at)]
            notes.append(
                f"both sides set `{key}`: {_shown(value_at(stands, at))} {why}, "
                f"{' and '.join(gone) or 'the other'} is dropped"
            )
    if is_stashed and (verdict := _dropped_verdict(merged.data, sides[1], path)) is not None:
        notes.append(f"the stashed `verdict: {verdict}` was given before the task changed, so it is dropped")
    for section, _ in merged.superseded:
        notes.append(f"`## {section}` of one side was kept; that of the other is now a note")
    return notes


def _dropped_verdict(data: bytes, stashed: bytes, path: str) -> Verdict | None:
    verdict = TaskFile.parse(stashed, path).task.verdict
    return None if TaskFile.parse(data, path).task.verdict is verdict else verdict


def _shown(value: Loose | None) -> str:
    return "no value" if value is None else f"`{value}`"
