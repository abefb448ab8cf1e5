"""`gt tree`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing
from gitticks.actions.tree import Group, Tree, grow_tree
from gitticks.cli.at_once import JSON, Argument, ReadingCommand, Switch
from gitticks.cli.json import print_tasks, task_text
from gitticks.cli.render import (
    GAP,
    NARROWEST_TITLE,
    Screen,
    Style,
    age_of,
    count_of,
    say,
    screen,
    status_style,
    status_word,
)
from gitticks.cli.text import all_visible, visible, width
from gitticks.cli.views.tasks import or_no_tasks, waits_for
from gitticks.model.forest import Place
from gitticks.model.status import Status
from gitticks.model.task_row import TaskRow

_SIGNS = ("├── ", "└── ", "│   ", "    ")
_TWINS = ("|-- ", "`-- ", "|   ", "    ")
_STEP = 4
_DEEPEST_PIPED = 20
_ROOM = 24
"""So many columns are left to a task itself; where it stands too deep for that, its depth is shown as a number."""


def answer(context: Context, *, task: str | None, with_closed: bool) -> None:
    """Show epics and the tasks below them.

    Each task is shown with what it waits for and its open questions. Tasks without an epic come last; closed tasks are
    only counted. With ID: that task and what is below it.
    """
    found = grow_tree(context, task, with_closed=with_closed)
    if context.as_json:
        print_tasks(_texts(found))
        return
    if not found.groups:
        say(or_no_tasks(context, "no open tasks: `gt tree --all` shows the closed ones"), err=True)
        return
    say(*tree_lines(screen(), found, context.now))
    closed = found.closed.get(None, 0)
    if closed and task is None:
        say(f"{count_of(closed, 'closed task')} without a parent: `gt tree --all`", err=True)


def _texts(found: Tree) -> Iterator[str]:
    for name, places in found.groups:
        for place in places:
            if place.task is not None and not place.is_again:
                task_id = place.task.id
                yield task_text(
                    found.standings[task_id],
                    group=name,
                    depth=place.depth,
                    closed_children=found.all_closed.get(task_id, 0),
                    open_questions=found.questions.get(task_id, ()),
                )


tree_command = ReadingCommand(
    "tree",
    answer,
    (
        Argument("task", "[ID]"),
        Switch("with_closed", ("-a", "--all"), "Include closed tasks."),
        JSON,
    ),
    examples=("gt tree", "gt tree e0pc --all"),
)


def tree_lines(on: Screen, tree: Tree, now: datetime) -> Iterator[str]:
    """Yields the lines of all groups; every group but that of the epics has its name above it."""
    for name, places in tree.groups:
        is_named = name != Group.EPICS and (len(tree.groups) > 1 or name != Group.STANDALONE)
        if is_named:
            yield on.styled(name, Style.STRONG)
        yield from _Trunk(on, tree, now, GAP if is_named else "").lines(places)


class _Trunk:
    """The guides as they stand while a group is drawn from its top down."""

    def __init__(self, on: Screen, tree: Tree, now: datetime, indent: str) -> None:
        self._on = on
        self._tree = tree
        self._now = now
        self._tee, self._corner, self._bar, self._blank = _SIGNS if on.has_glyphs else _TWINS
        self._guides = [indent]
        free = max(_STEP, on.columns - len(indent) - _ROOM)
        self._deepest = free // _STEP if on.is_terminal else _DEEPEST_PIPED

    def lines(self, places: Sequence[Place[TaskRow]]) -> Iterator[str]:
        """Yields the lines of a group."""
        titles = iter(all_visible([place.task.title for place in places if place.task is not None]))
        for place in places:
            before, below = self._step(place)
            if place.task is None:
                folded = f"{self._on.glyph(Status.DONE)} {place.closed} closed"
                yield before + self._on.styled(folded, Style.FAINT)
            else:
                yield self._task(before, below, place, self._tree.standings[place.task.id], next(titles))
                yield from self._words(below, place, place.task)

    def _step(self, place: Place[TaskRow]) -> tuple[str, str]:
        """Returns what is before a place, and before the lines below it; too deep down the guides grow no more."""
        depth = place.depth
        if depth == 0:
            self._guides[1:] = [self._guides[0]]
            return self._guides[0], self._guides[0]
        if depth > self._deepest:
            flat = self._guides[self._deepest] if self._deepest < len(self._guides) else self._guides[-1]
            return f"{flat}…{depth} ", f"{flat}{self._blank}"
        guide = self._guides[depth]
        below = guide + (self._blank if place.is_last else self._bar)
        self._guides[depth + 1 :] = [below]
        return guide + (self._corner if place.is_last else self._tee), below

    def _task(
        self, before: str, below: str, place: Place[TaskRow], standing: Standing[TaskRow], title: str
    ) -> str:
        """Returns a task's line; on a terminal too narrow for title and marks, two."""
        on, task = self._on, standing.task
        head = f"{before}{on.glyph(task.status)} "
        shown = " · ".join(self._marks(place, standing))
        if not on.is_terminal:
            return f"{head}{task.id}{GAP}{title}{GAP}{shown}" if shown else f"{head}{task.id}{GAP}{title}"
        used = width(head) + len(task.id) + len(GAP)
        room = on.columns - used - (width(shown) + len(GAP) if shown else 0)
        name = f"{head}{on.styled(task.id, Style.STRONG)}{GAP}"
        urgent = Style.WAITS if task.awaiting else status_style(task) or Style.FAINT
        if not shown:
            return f"{name}{on.fit(title, room)}"
        if room >= min(NARROWEST_TITLE, width(title)):
            return f"{name}{on.fit(title, room)}{GAP}{on.styled(shown, urgent)}"
        between = self._bar if place.has_below or self._said(task) else self._blank
        first = on.fit(title, on.columns - used)
        second = on.fit(shown, on.columns - width(below) - _STEP)
        return f"{name}{first}\n{below}{between}{on.styled(second, urgent)}"

    def _marks(self, place: Place[TaskRow], standing: Standing[TaskRow]) -> Iterator[str]:
        task = standing.task
        if place.is_again:
            yield "again: the parents form a cycle"
            return
        closed = self._tree.all_closed.get(task.id, 0)
        children = closed + self._tree.open_children.get(task.id, 0)
        if task.is_epic or children:
            yield f"{closed} of {children} closed" if children else "empty"
        if task.status not in (Status.PENDING, Status.DONE) and (
            task.awaiting is None or task.status == Status.STUCK
        ):
            yield status_word(task)
        waits = waits_for(standing)
        if task.awaiting:
            asked = task.asked_at
            waits = f"{self._on.flag} {waits}{f', {age_of(asked, self._now)}' if asked else ''}"
        if waits:
            yield waits

    def _said(self, task: TaskRow) -> str:
        """Returns the question of a task that asks, or why it is stuck; empty for others."""
        questions = self._tree.questions.get(task.id, ())
        text = next((line for entry in questions for line in entry.text.splitlines() if line.strip()), "")
        return text.strip() or self._tree.reasons.get(task.id, "")

    def _words(self, below: str, place: Place[TaskRow], task: TaskRow) -> Iterator[str]:
        text = self._said(task)
        if text and not place.is_again:
            sign = self._tee if place.has_below else self._corner
            line = self._on.fit(visible(text), self._on.columns - width(below) - _STEP)
            yield f"{below}{sign}{self._on.styled(line, Style.WAITS)}"
