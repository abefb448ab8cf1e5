"""Files with any bytes: each is read or refused with its place, the same way each time, and nothing of it is lost."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from gitticks.document.history import read_history, render_event
from gitticks.document.settings import file_layer
from gitticks.document.taskfile import TaskFile, read_task
from gitticks.errors import DocumentError, GitticksError
from gitticks.model.notes import Entry, ReviewOutcome, Section, open_questions
from gitticks.model.status import ActorKind
from gitticks.store.index_contents import read_for_index
from tests.faults.mutating import mutated
from tests.faults.originals import CONFIGS, HISTORIES, TASKS
from tests.support.doses import dose
from tests.support.figures import record

PATH = "tasks/f2/k7f2/TASK.md"
"""Generous, for a machine that does much else; the figures hold what it took."""
NOTE = Entry(datetime(2026, 3, 4, tzinfo=UTC), ActorKind.HUMAN, "Ada", "## Review\n\nPASS\n```")
Outcome = tuple[str, object]


def outcome(read: Callable[[], object]) -> Outcome:
    """Returns what came of reading: the value, or the words of the refusal; any other exception fails the test."""
    try:
        return "read", read()
    except DocumentError as error:
        return "refused", (error.message, error.hint)


def files(originals: tuple[bytes, ...], count: int) -> Iterator[tuple[int, bytes]]:
    """Yields mutated files with their seeds."""
    for seed in range(count):
        yield seed, mutated(random.Random(seed), originals)


def timed(name: str, originals: tuple[bytes, ...], count: int, check: Callable[[bytes], bool]) -> None:
    """Runs a check over mutated files, names the seed of one that fails, and keeps the figures."""
    slowest, read = 0.0, 0
    for seed, data in files(originals, count):
        begun = time.perf_counter()
        try:
            read += check(data)
        except Exception as error:
            error.add_note(f"{name}, seed {seed}: {data[:2000]!r}")
            raise
        slowest = max(slowest, time.perf_counter() - begun)
    record(f"fuzzed {name}", files=count, could_be_read=read, slowest_seconds=round(slowest, 3))
    assert 0 < read < count


def check_task(data: bytes) -> bool:
    kind, found = outcome(lambda: TaskFile.parse(data, PATH))
    assert outcome(lambda: TaskFile.parse(data, PATH)) == (kind, found)
    if not isinstance(found, TaskFile):
        assert outcome(lambda: read_task(data, PATH)) == (kind, found)
        assert outcome(lambda: read_for_index(data, PATH)) == (kind, found)
        return False
    assert read_task(data, PATH) == found.task
    indexed, questions = read_for_index(data, PATH)
    assert (indexed.task, questions) == (found.task, open_questions(found.entries(Section.QUESTIONS)))
    assert found.data == data
    check_sections(found)
    check_edit(found)
    return True


def check_sections(file: TaskFile) -> None:
    """Reads all that a file says, as pages and gates do."""
    texts = [file.summary, *(file.section(name) for name in Section)]
    assert all(text is None or "\r" not in text for text in texts)
    assert file.entries(Section.NOTES) == file.entries(Section.NOTES)
    assert all(isinstance(warning, str) for warning in file.warnings)
    assert file.review_outcome in ReviewOutcome
    outcome(lambda: file.scripts)


def check_edit(file: TaskFile) -> None:
    """Adds a note: nothing else changes, or it is refused."""
    kind, noted = outcome(lambda: file.with_entry(Section.NOTES, NOTE))
    if not isinstance(noted, TaskFile):
        return
    again = TaskFile.parse(noted.data, PATH)
    assert again.task == file.task
    assert again.entries(Section.NOTES)[: len(file.entries(Section.NOTES))] == file.entries(Section.NOTES)
    assert (again.section(Section.REVIEW), again.section(Section.HANDOFF)) == (
        file.section(Section.REVIEW),
        file.section(Section.HANDOFF),
    )
    assert kind == "read"


def check_history(data: bytes) -> bool:
    found = read_history(data)
    assert read_history(data) == found
    written = "".join(map(render_event, found.events)).encode()
    assert read_history(written).events == found.events
    return bool(found.events)


def check_config(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False

    def read() -> object:
        return file_layer(text)

    kind, found = outcome(read)
    assert outcome(read) == (kind, found)
    return kind == "read"


CHECKS = {
    "TASK.md": (TASKS, dose(400, 6000), check_task),
    "history.jsonl": (HISTORIES, dose(300, 2000), check_history),
    "config.yaml": (CONFIGS, dose(300, 2000), check_config),
}


@pytest.mark.parametrize("name", CHECKS)
def test_any_bytes_are_read_or_refused(name: str) -> None:
    originals, count, check = CHECKS[name]
    timed(name, originals, count, check)


def test_the_originals_can_be_read() -> None:
    assert all(check_task(data) for data in TASKS)
    assert all(check_history(data) for data in HISTORIES)
    assert all(check_config(data) for data in CONFIGS)
    assert issubclass(DocumentError, GitticksError)
