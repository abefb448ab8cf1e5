"""Compares the TASK.md that an agent returned with the one it was given."""

from __future__ import annotations

import re

from gitticks.document.entries import place_entries
from gitticks.document.sections import Body, is_empty
from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import Source, trimmed, with_newlines
from gitticks.errors import DocumentError, first_of
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind
from gitticks.model.task import Task

_NAME = ".gt/TASK.md"
_FENCED = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\r|\n).*?(?:(?<=[\r\n])---[ \t]*(?:\r\n|\r|\n|\Z))", re.DOTALL)
_ENTRY_SECTIONS = (Section.QUESTIONS, Section.NOTES)
_MOST_NAMED = 8


class ReturnedFile:
    """The copy: its body, which can be read whatever the frontmatter has become, and oddities of its bytes."""

    def __init__(self, content: bytes, original: TaskFile) -> None:
        self.original = original
        self.byte_warnings = []
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            text = content.decode("utf-8", "replace")
            self.byte_warnings.append(f"`{_NAME}` is not UTF-8: unreadable bytes were replaced by `\ufffd`")
        if "\0" in text:
            text = text.replace("\0", "\ufffd")
            self.byte_warnings.append(f"`{_NAME}` contained NUL characters, which were replaced by `\ufffd`")
        match = _FENCED.match(text)
        head = match.group() if match else ""
        self.body = Body(Source(text[len(head) :], _NAME, 1 + head.count("\n")))
        self.frontmatter_warning = _frontmatter_warning(head, original)

    def section(self, name: Section) -> str | None:
        """Returns a section's text, or None if it is missing or empty."""
        return self.body.get(name)

    def warnings(self, own: Section | None) -> tuple[str, ...]:
        """Returns what was dropped outside of the section `own` and the two with entries."""
        found = [*self.byte_warnings, *self.body.warnings]
        if self.frontmatter_warning:
            found.append(self.frontmatter_warning)
        before, after = self.original.body, self.body
        if before.preamble != after.preamble:
            found.append(f"changes to the text above the sections of `{_NAME}` were dropped")
        kept = {section.value.lower() for section in _ENTRY_SECTIONS} | (
            {own.value.lower()} if own else set()
        )
        titles = dict.fromkeys(block.title for block in (*before.blocks, *after.blocks) if block.is_section)
        changed = [
            title
            for title in titles
            if title.lower() not in kept and _content(before, title) != _content(after, title)
        ]
        if changed:
            found.append(f"changes to {_named(changed)} were dropped{_advice(changed, own)}")
        return tuple(dict.fromkeys(found))

    def new_entries(self, section: Section) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns what was added to `## Questions` or `## Notes`, in file order, and what else was done to it.

        That are entries, and text without a heading of its own.
        """
        known = list(self.original.entries(section))
        added = []
        for placed in place_entries(self.body, section):
            if placed.entry in known:
                known.remove(placed.entry)
            else:
                added.append(placed.entry)
        before, after = _lead(self.original.body, section), _lead(self.body, section)
        lead = None if before == after else _rest(after, before)
        texts, warnings = ([lead] if lead else []), []
        for entry in added:
            grown = next((one for one in known if _heading(one) == _heading(entry)), None)
            if grown is None:
                texts.append(entry.text)
                if entry.kind is not ActorKind.AGENT:
                    whom = "a person" if entry.kind is ActorKind.HUMAN else "gitticks"
                    warnings.append(f"an entry of `## {section}` claimed to be by {whom}: it is the agent's")
                continue
            known.remove(grown)
            rest = _rest(entry.text, grown.text)
            if rest is None:
                warnings.append(f"a change to an entry of `## {section}` was dropped")
            else:
                texts.append(rest)
        taken = [one.text for one in known if one.kind is ActorKind.AGENT]
        fresh = [text for text in texts if not is_empty(text) and not _consume(text, taken)]
        return tuple(fresh), tuple(dict.fromkeys(warnings))


def _consume(text: str, taken: list[str]) -> bool:
    """True, once, for a text that the file already holds as an agent's entry under another heading."""
    if text.strip() not in taken:
        return False
    taken.remove(text.strip())
    return True


def _heading(entry: Entry) -> tuple[object, ...]:
    return entry.at, entry.kind, entry.name


def _rest(after: str, before: str) -> str | None:
    """Returns what follows the lines of `before` in `after`, or None if it does not begin with them."""
    if not before:
        return after.strip("\n")
    if not after.startswith(f"{before}\n"):
        return None
    return trimmed(after[len(before) :])


def _lead(body: Body, section: Section) -> str:
    found = body.find(section)
    if not found:
        return ""
    placed = place_entries(body, section)
    end = placed[0].start if placed else found[-1].end
    return with_newlines(trimmed(body.text[found[-1].text_start : end]), "\n")


def _content(body: Body, title: str) -> str | None:
    found = body.find(title)
    return body.content(found[-1]) if found else None


def _named(titles: list[str]) -> str:
    return first_of([f"`## {title[:40]}`" for title in titles], _MOST_NAMED)


def _advice(changed: list[str], own: Section | None) -> str:
    known = {section.value.lower() for section in Section}
    if own is None or all(title.lower() in known for title in changed):
        return ""
    return f": inside `## {own}` headings begin with `###`"


def _frontmatter_warning(head: str, original: TaskFile) -> str | None:
    before = original.data.decode()
    if with_newlines(head, "\n") == with_newlines(before[: len(before) - len(original.body.text)], "\n"):
        return None
    try:
        task = TaskFile.parse(head.encode(), _NAME).task
    except DocumentError as error:
        return f"the frontmatter was changed and cannot be read ({error.problem}): the change was dropped"
    fields = [
        name for name in Task.__dataclass_fields__ if getattr(task, name) != getattr(original.task, name)
    ]
    what = f" to {', '.join(f'`{name}`' for name in fields[:_MOST_NAMED])}" if fields else ""
    return f"changes{what} in the frontmatter were dropped"
