"""Merges three versions of a file of the state branch, by the kind its path implies."""

from __future__ import annotations

import hashlib
import re

from gitticks.document.merging.entries import merge_records
from gitticks.document.merging.fields import merge_settings
from gitticks.document.merging.task import MergedFile
from gitticks.document.merging.three_way import mark, merge_text, union_of_lines
from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import Source, decode
from gitticks.document.yaml_read import parse_yaml
from gitticks.errors import DocumentError
from gitticks.store.layout import (
    CHECKPOINTS_FOLDER,
    CONFIG_PATH,
    SCRATCHPAD_FILE,
    TASK_FILE,
    TASKS_FOLDER,
    WORKLOG_FILE,
    task_of_path,
)
from gitticks.store.merging.task import Changes, merge_task

_RECORDS = ".jsonl"
_GROWING = (WORKLOG_FILE, SCRATCHPAD_FILE)
"""Texts that are only added to: where both sides did, both additions stay."""
_CHECKPOINT = re.compile(rf"{TASKS_FOLDER}/[^/]+/[^/]+/{CHECKPOINTS_FOLDER}/[0-9]+\.json")
_BESIDE = re.compile(r"(.*[^/])\.other-[0-9a-f]{8}((?:\.[^./]*)?)", re.DOTALL)


def merge_file(
    path: str, base: bytes | None, ours: bytes, theirs: bytes, changes: Changes | None = None
) -> MergedFile:
    """Returns the file at `path` with the changes of both sides, whichever is called ours.

    `changes` knows when either side changed what.
    """
    if theirs in (ours, base):
        return MergedFile(ours)
    if ours == base:
        return MergedFile(theirs)
    if task_of_path(path) is not None:
        return _merged_task(path, base, ours, theirs, changes)
    if path.endswith(_RECORDS):
        return MergedFile(merge_records(base or b"", ours, theirs))
    if _CHECKPOINT.fullmatch(path):
        # Two clones gave out one number, and there is nothing to join: the later one stands, as the time comes first.
        return MergedFile(max(ours, theirs))
    try:
        return _merged_text(path, *sorted((ours, theirs)), base=base or b"")
    except (UnicodeDecodeError, DocumentError):
        return keep_beside(path, *sorted((ours, theirs)))


def _merged_text(path: str, one: bytes, other: bytes, *, base: bytes) -> MergedFile:
    texts = [data.decode() for data in (base, one, other)]
    merged = merge_text(*texts)
    if merged is not None and (path != CONFIG_PATH or is_yaml(merged.encode())):
        return MergedFile(merged.encode())
    if path.rpartition("/")[2] in _GROWING:
        return MergedFile(union_of_lines(*texts, is_prose=True).encode())
    if path == CONFIG_PATH:
        text, keys = merge_settings(*texts)
        beside = keep_beside(path, one, other).beside if keys else ()
        return MergedFile(text.encode(), conflicts=keys, beside=beside)
    return keep_beside(path, one, other)


def is_yaml(data: bytes) -> bool:
    """True if settings can be read; joined by lines, a key that both sides added in different places is there twice."""
    try:
        parse_yaml(Source(decode(data, CONFIG_PATH), CONFIG_PATH))
    except DocumentError:
        return False
    return True


def _merged_task(
    path: str, base: bytes | None, ours: bytes, theirs: bytes, changes: Changes | None
) -> MergedFile:
    merged = merge_task(base, ours, theirs, path, None if changes is None else changes.of(path))
    if merged is None:
        return _one_readable(path, *sorted((ours, theirs)))
    # The hand-off or review of the side that does not stand.
    lead = f"{path.removesuffix(TASK_FILE)}rounds/01-superseded-"
    kept = tuple(
        (f"{lead}{section.lower()}-{_digest(text.encode())}.md", f"{text}\n".encode())
        for section, text in merged.superseded
    )
    return merged._replace(beside=kept)


def _one_readable(path: str, one: bytes, other: bytes) -> MergedFile:
    """Returns the side that can be read, marked, with the other one beside it; nobody half-reads a broken file."""
    for standing, left in ((one, other), (other, one)):
        try:
            file = TaskFile.parse(standing, path)
        except DocumentError:
            continue
        kept = keep_beside(path, standing, left)
        name = kept.beside[0][0].rpartition("/")[2]
        line, newline = mark(f"the other version is in {name}"), file.frontmatter.newline
        marked = file.with_body(f"{newline}{line}{newline}{newline}{file.body.text.lstrip(newline)}")
        return MergedFile(marked.data, ("the whole file",), beside=kept.beside)
    return keep_beside(path, one, other)


def keep_beside(path: str, standing: bytes, other: bytes) -> MergedFile:
    """Returns a file of which one version stands, with the other one beside it."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    beside = f"{folder}{slash}{stem or name}.other-{_digest(other)}{dot}{ending if dot else ''}"
    return MergedFile(standing, ("the whole file",), beside=((beside, other),))


def standing_beside(path: str) -> str | None:
    """Returns the file whose other version a merge kept at `path`; None for every other path."""
    match = _BESIDE.fullmatch(path)
    return None if match is None else f"{match[1]}{match[2]}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]
