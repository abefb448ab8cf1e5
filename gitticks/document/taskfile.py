"""A TASK.md as one value: parsed once, changed by splicing, written back exactly."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from gitticks.document.entries import LooseText, add_entry, find_loose_text, read_entries
from gitticks.document.fields import changes, has_manual, read_fields, read_quickly, without_manual, written
from gitticks.document.frontmatter import Frontmatter, split
from gitticks.document.section_edits import remove_section, set_preamble, set_section
from gitticks.document.sections import Body, Scripts, is_empty, read_scripts
from gitticks.document.texts import (
    LINE_BREAK,
    Source,
    count_line_breaks,
    decode,
    refuse_excess,
    with_newlines,
)
from gitticks.document.verdict_line import review_outcome
from gitticks.document.yaml_edit import Change
from gitticks.document.yaml_scalars import render
from gitticks.errors import DocumentError
from gitticks.model.notes import Entry, ReviewOutcome, Section
from gitticks.model.task import Task

_FENCE = "---\n"
_LARGEST_KEPT = 64 * 1024
_MOST_KEPT = 64


class ReadFile(NamedTuple):
    """A TASK.md of which only the frontmatter was read: its task, and where the text below begins in the whole text."""

    path: str
    task: Task
    text: str
    body_start: int
    newline: str

    @property
    def body_source(self) -> Source:
        """Returns the text below the frontmatter with its place in the file."""
        before = self.text[: self.body_start]
        return Source(self.text[self.body_start :], self.path, 1 + count_line_breaks(before))


class TaskFile(NamedTuple):
    """One TASK.md. Every method that changes something returns another value and keeps all other bytes."""

    frontmatter: Frontmatter
    task: Task
    body: Body

    @staticmethod
    def parse(data: bytes, path: str) -> TaskFile:
        """Returns the file's value; one that was asked for lately is not read again, as each step of a run asks."""
        return _parsed(data, path) if len(data) > _LARGEST_KEPT else _parsed_before(data, path)

    @property
    def path(self) -> str:
        """Returns the name that errors give the file."""
        return self.frontmatter.path

    @property
    def data(self) -> bytes:
        """Returns the file's bytes."""
        return self.frontmatter.text.encode()

    @property
    def summary(self) -> str:
        """Returns the free text before the first section; empty if there is none."""
        return self.body.preamble

    @property
    def warnings(self) -> tuple[str, ...]:
        """Returns what a person should fix although the file can be read."""
        return self.body.warnings

    @property
    def review_outcome(self) -> ReviewOutcome:
        """Returns what `## Review` says."""
        return review_outcome(self.section(Section.REVIEW))

    @property
    def scripts(self) -> Scripts:
        """Returns the blocks of `## Script`.

        Raises:
            DocumentError: a block never ends.
        """
        return read_scripts(self.body)

    @property
    def is_manual(self) -> bool:
        """True if the file holds the old `manual: true`, which reads as `awaiting: work`."""
        return has_manual(self.frontmatter)

    def section(self, name: Section | str) -> str | None:
        """Returns a section's text with LF line breaks, or None if it is missing or empty."""
        return self.body.get(name)

    def all_text(self, name: Section | str) -> str | None:
        """Returns the texts of every section of that name, what `without_section` takes away; None if all are empty."""
        texts = [self.body.content(block) for block in self.body.find(name)]
        return "\n\n".join(text for text in texts if not is_empty(text)) or None

    def entries(self, section: Section) -> tuple[Entry, ...]:
        """Returns the entries of `## Notes` or `## Questions` in file order."""
        return read_entries(self.body, section)

    def with_task(self, task: Task) -> TaskFile:
        """Returns the file with the fields that differ written into its frontmatter."""
        return self._with_changes(changes(self.task, task, self.frontmatter), task)

    def without_manual(self) -> TaskFile:
        """Returns the file with the old `manual: true` written as `awaiting: work`."""
        return self._with_changes(without_manual(self.task, self.frontmatter), self.task)

    def with_section(self, name: Section | str, text: str) -> TaskFile:
        """Returns the file with a section's text replaced, or the section added in its place."""
        return self._with_body(lambda body: set_section(body, name, text))

    def with_summary(self, text: str) -> TaskFile:
        """Returns the file with the free text before the first section replaced."""
        return self._with_body(lambda body: set_preamble(body, text))

    def without_section(self, name: Section | str) -> TaskFile:
        """Returns the file without every section of that name.

        Raises:
            DocumentError: removing it would change another section.
        """
        return self._with_body(lambda body: remove_section(body, name))

    def with_entry(self, section: Section, entry: Entry) -> TaskFile:
        """Returns the file with an entry added; its text can make no other entry or section.

        Raises:
            DocumentError: what is in the section already would swallow it.
        """
        return self._with_body(lambda body: add_entry(body, section, entry))

    def loose_text(self, section: Section, before: TaskFile | None) -> LooseText | None:
        """Returns what was written in the section since `before`, below its last entry and without a heading of its own.

        All of a file that is new was written since.
        """
        return find_loose_text(self.body, section, None if before is None else before.body)

    def with_body(self, text: str) -> TaskFile:
        """Returns the file with everything below the frontmatter replaced."""
        frontmatter = _closed(self.frontmatter, text)._replace(body=text)
        return self._replace(frontmatter=frontmatter, body=Body(frontmatter.body_source, frontmatter.newline))

    def _with_changes(self, wanted: list[Change], task: Task) -> TaskFile:
        if not wanted:
            return self
        frontmatter = self.frontmatter.with_changes(wanted)
        read = read_fields(frontmatter)
        if written(read) != written(task):
            raise DocumentError("the task cannot be written so that it reads the same", path=self.path)
        return self._with_frontmatter(frontmatter, read, self.body)

    def _with_body(self, change: Callable[[Body], Body]) -> TaskFile:
        body = change(self.body)
        frontmatter = _closed(self.frontmatter, body.text)._replace(body=body.text)
        return self._with_frontmatter(frontmatter, self.task, body)

    def _with_frontmatter(self, frontmatter: Frontmatter, task: Task, body: Body) -> TaskFile:
        refuse_excess(frontmatter.text, self.path)
        source = frontmatter.body_source
        if source.first_line != body.source.first_line:
            body = Body(source, frontmatter.newline)
        return TaskFile(frontmatter, task, body)


def _parsed(data: bytes, path: str) -> TaskFile:
    frontmatter = split(data, path)
    task = read_fields(frontmatter)
    return TaskFile(frontmatter, task, Body(frontmatter.body_source, frontmatter.newline))


_parsed_before = lru_cache(_MOST_KEPT)(_parsed)


def read_file(data: bytes, path: str) -> ReadFile:
    """Returns the typed frontmatter, without looking at the markdown."""
    text = decode(data, path)
    if text.startswith(_FENCE):
        end = text.find(f"\n{_FENCE}", len(_FENCE) - 1) + 1
        task = read_quickly(text[len(_FENCE) : end]) if end else None
        if task is not None:
            return ReadFile(path, task, text, end + len(_FENCE), "\n")
    frontmatter = split(data, path)
    start = len(text) - len(frontmatter.body)
    return ReadFile(path, read_fields(frontmatter), text, start, frontmatter.newline)


def read_task(data: bytes, path: str) -> Task:
    """Returns only the typed frontmatter, without looking at the markdown."""
    return read_file(data, path).task


def new_task_file(task: Task, body: str = "") -> TaskFile:
    """Returns a new file for `task`, with `body` as the text below its frontmatter."""
    lines = [f"{key}: {render(value)}\n" for key, value in written(task).items()]
    text = with_newlines(body, "\n").strip("\n")
    below = f"\n{text}\n" if text.strip() else ""
    whole = f"---\n{''.join(lines)}---\n{below}"
    refuse_excess(whole, task.file)
    return TaskFile.parse(whole.encode(), task.file)


def _closed(frontmatter: Frontmatter, body: str) -> Frontmatter:
    if not body or LINE_BREAK.search(frontmatter.closing):
        return frontmatter
    return frontmatter._replace(closing=frontmatter.closing + frontmatter.newline)
