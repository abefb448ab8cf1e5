"""Fills the prompt template of a role with what is known of the task, cut to size.

Templates come with the package, and a team can replace each by a file of the same name under `prompts/` on the state
branch. Such a file is somebody else's program, so it runs in jinja2's sandbox and sees plain texts only. What is
filled in never holds a literal signal: an agent that repeats its prompt must not be taken at its word.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from gitticks.document.values import near
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId
from gitticks.model.status import Role
from gitticks.model.task import Task
from gitticks.terminal_safety import are_harmless, is_harmful

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_TEMPLATES = Path(__file__).resolve().parent.parent / "prompts"
_TEAM = "prompts/"
_LAYOUT = str.maketrans("\n\t", "  ")
_OPENING = re.compile(r"\[[0-9a-f]{8}: what follows .*\n\n")
_CLOSING = re.compile(r"\n\n\[[0-9a-f]{8}: here the text by .* ends\]\Z")
"""How a stranger's text begins and ends in a prompt."""
_LARGEST_PROMPT = 20_000_000
_LONGEST_SECONDS = 10.0
_SIGNAL = re.compile(r"<(/?promise)>")
_SIGNAL_LINE = re.compile(
    r"^([ \t>*_#`+.)\d-]*(?:STATUS|(?i:VERDICT)))[ \t*_`]*:(?=[ \t*_`]*[A-Za-z]+[ \t\r*_`.]*$)",
    re.MULTILINE,
)
"""As they are read: an earlier review, quoted, is no verdict of whoever repeats it."""


class PromptKind(StrEnum):
    """Which template is filled; the value is its name less `.md`."""

    WORKER = "worker"
    RESUMED = "resumed"
    REWORK = "rework"
    UNSTUCK = "unstuck"
    REVIEWER = "reviewer"
    COUNCILLOR = "councillor"
    CLARIFIER = "clarifier"


def choose_kind(
    role: Role, *, review_failed: bool = False, was_stuck: bool = False, is_resumed: bool = False
) -> PromptKind:
    """Returns the template for a role; for a worker it depends on what brought the task back, and on what it knows."""
    if role is Role.REVIEWER:
        return PromptKind.REVIEWER
    if role is Role.CLARIFIER:
        return PromptKind.CLARIFIER
    if is_resumed:
        return PromptKind.RESUMED
    if was_stuck:
        return PromptKind.UNSTUCK
    return PromptKind.REWORK if review_failed else PromptKind.WORKER


@dataclass(frozen=True, slots=True)
class PromptContext:
    """Everything that a template may show; an empty text is left out, with its heading.

    Attributes:
        task: the task.
        mailbox: the absolute path of `.gt/`.
        round: the round that is being worked on or reviewed, from 1.
        iteration: the task's iteration, from 1.
        text: the task's text before its first section.
        task_context: its `## Context`.
        acceptance: its `## Acceptance Criteria`.
        handoff: its `## Handoff`, for reviewers.
        review: the last `## Review`, if it failed.
        earlier_reviews: what the reviews of the last rounds asked for, for reviewers.
        feedback: what people said, answers with their questions.
        questions: the questions that nobody has answered.
        failure: the quality gate that failed last, or the gate that refused, with its output.
        warnings: what was odd about the agent's last delivery.
        conflicts: paths that the last merge conflicted in.
        denied: what the last session was not allowed to do.
        epic_title: the title of the epic above.
        epic_text: its text.
        epic_review: its last `## Review`, if it failed.
        epic_feedback: what people said of it.
        scratchpad: what was learned.
        worklog: the last entries whole.
        worklog_summary: one line for those before them.
        checks: the quality gates as commands or in words.
        branch: the work branch.
        base: the branch that the work will be merged into.
        start: where the difference under review begins, a commit or a branch.
        head: the commit under review.
        since_fork: the difference is taken since `head` left `start`.
        changes: a summary of the difference, such as that of `git diff --stat`.
        focus: what this reviewer is to look at.
    """

    task: Task
    mailbox: str
    round: int = 1
    iteration: int = 1
    text: str = ""
    task_context: str = ""
    acceptance: str = ""
    handoff: str = ""
    review: str = ""
    earlier_reviews: str = ""
    feedback: str = ""
    questions: str = ""
    failure: str = ""
    warnings: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    epic_title: str = ""
    epic_text: str = ""
    epic_review: str = ""
    epic_feedback: str = ""
    scratchpad: str = ""
    worklog: str = ""
    worklog_summary: str = ""
    checks: tuple[str, ...] = ()
    branch: str = ""
    base: str = ""
    start: str = ""
    head: str = ""
    since_fork: bool = False
    changes: str = ""
    focus: str = ""


_FIELDS = {field.name: str(field.type) for field in fields(PromptContext)}


def render_prompt(
    kind: PromptKind,
    context: PromptContext,
    *,
    overrides: Mapping[str, str] | None = None,
    limit_bytes: int = 200_000,
) -> str:
    """Returns the prompt, cut to `limit_bytes` as far as that goes without the task's text and people's feedback.

    `overrides` are a team's templates by name, such as `worker.md` or `parts/limits.md`.
    """
    name, given = f"{kind}.md", overrides or {}
    prompt = _render(name, given, context)
    for part, keeps_end in _CUT_FIRST:
        excess = len(prompt.encode()) - limit_bytes
        if excess <= 0:
            break
        text = getattr(context, part)
        if text:
            cut: dict[str, Any] = {part: _cut(text, excess, keeps_end=keeps_end)}
            context = replace(context, **cut)
            prompt = _render(name, given, context)
    return prompt


def check_template(name: str, text: str) -> None:
    """Refuses a team's template that cannot even be read."""
    from jinja2 import TemplateSyntaxError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    try:
        ImmutableSandboxedEnvironment().parse(text, name=name)
    except (TemplateSyntaxError, RecursionError) as error:
        raise _broken(name, {name: text}, error) from error


@lru_cache(maxsize=8)
def require_sound(overrides: frozenset[tuple[str, str]]) -> None:
    """Refuses a team's templates, by name, if any prompt made from them fails, with everything in it or nothing.

    An empty prompt is none, and what an agent repeats must be no signal of its own.
    """
    task = Task(TaskId("task"), "Title", labels=("label",))
    texts = {name: "text" for name, kind in _FIELDS.items() if kind == "str"}
    lists = {name: ("text",) for name, kind in _FIELDS.items() if kind.startswith("tuple")}
    full: dict[str, Any] = {**texts, **lists}
    given = dict(overrides)
    for name, text in given.items():
        if _SIGNAL.search(text) or _SIGNAL_LINE.search(text):
            words = "it has a literal signal or verdict, and an agent may repeat its prompt"
            raise _broken(name, given, ValueError(words))
    for kind in PromptKind if given else ():
        for context in (PromptContext(task, "/.gt"), PromptContext(task, **full)):
            prompt = render_prompt(kind, context, overrides=given)
        if not prompt.strip():
            raise _broken(f"{kind}.md", given, ValueError("its prompt is empty"))


def idle_templates(overrides: Mapping[str, str]) -> tuple[str, ...]:
    """Returns what is to be said of a team's templates that no prompt is made of."""
    ours = sorted(str(path.relative_to(_TEMPLATES)) for path in _TEMPLATES.rglob("*.md"))
    named = [name for name in overrides if name not in ours]
    idle = [name for name in named if not any(name in text for text in overrides.values())]
    found = []
    for name in sorted(idle):
        meant = near(name, ours)
        question = f": did you mean `{_TEAM}{meant}`?" if meant else ""
        found.append(f"`{_TEAM}{name}` replaces no prompt template{question}")
    return tuple(found)


_CUT_FIRST = (
    ("worklog", True),
    ("scratchpad", True),
    ("epic_text", False),
    ("epic_review", False),
    ("earlier_reviews", False),
    ("changes", False),
    ("failure", True),
    ("handoff", False),
    ("review", False),
)
"""What is cut, in this order, and whether its end is what stays."""


def _cut(text: str, excess: int, *, keeps_end: bool) -> str:
    """Returns `text` less at least `excess` bytes at one end, cut between lines, with a line that says so."""
    mark = (_OPENING.match if keeps_end else _CLOSING.search)(text)
    kept = (
        mark.group() if mark else ""
    )  # without it nothing would say whose words these are, or where they end
    content = (text.removeprefix(kept) if keeps_end else text.removesuffix(kept)).encode()
    room = len(content) - excess - len(_left_out(len(content)).encode()) - 2
    if room <= 0:
        return _left_out(len(content))
    piece = content[-room:] if keeps_end else content[:room]
    shown = piece.decode(errors="ignore")
    whole_lines = shown.partition("\n")[2] if keeps_end else shown.rpartition("\n")[0]
    shown = whole_lines or shown
    marker = _left_out(len(content) - len(shown.encode()))
    return f"{kept}{marker}\n\n{shown}" if keeps_end else f"{shown}\n\n{marker}{kept}"


def _left_out(count: int) -> str:
    return f"[{count:,} bytes left out here]"


_IN_TURN = Lock()
"""Else each of the agents that start at once would compile every template for itself."""


@lru_cache(maxsize=4)
def _environment(given: frozenset[tuple[str, str]]) -> ImmutableSandboxedEnvironment:
    """Returns what reads templates, a team's before ours, and keeps those that it has read."""
    from jinja2 import ChoiceLoader, FileSystemLoader, FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    overrides = dict(given)

    def team(name: str) -> tuple[str, str, None] | None:
        """Gives a template its name, by which the traceback of an error tells the line."""
        return (overrides[name], f"{_TEAM}{name}", None) if name in overrides else None

    return ImmutableSandboxedEnvironment(
        loader=ChoiceLoader([FunctionLoader(team), FileSystemLoader(_TEMPLATES)]),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _render(name: str, overrides: Mapping[str, str], context: PromptContext) -> str:
    from jinja2 import TemplateError

    try:
        with _IN_TURN:
            template = _environment(frozenset(overrides.items())).get_template(name)
            return _bounded(template.generate(_values(context)))
    except (
        TemplateError,
        ArithmeticError,
        LookupError,
        MemoryError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise _broken(name, overrides, error) from error


def _bounded(pieces: Iterator[str]) -> str:
    taken, size, latest = [], 0, time.monotonic() + _LONGEST_SECONDS

    def watch(*_step: object) -> Any:
        if time.monotonic() > latest:
            raise ValueError("it takes too long to fill")
        return watch

    before = sys.gettrace()
    sys.settrace(watch)  # loops that put nothing out give no other chance to stop them
    try:
        for piece in pieces:
            size += len(piece)
            if size > _LARGEST_PROMPT:
                raise ValueError("its output never ends")
            taken.append(piece)
    finally:
        sys.settrace(before)
    return "".join(taken).rstrip() + "\n"


def _broken(name: str, overrides: Mapping[str, str], error: Exception) -> GitticksError:
    from jinja2 import TemplateNotFound

    # What cannot be read tells its place itself; of what fails while it is filled the traceback tells it.
    line = getattr(error, "lineno", None)
    place, line = (getattr(error, "name", None) or name, line) if line else _place_of(error) or (name, None)
    where = f"{place}:{line}" if line else place
    words = " ".join(str(error).split()) or type(error).__name__
    words = f"there is no template `{words}`" if isinstance(error, TemplateNotFound) else words
    hint = f"fix `.gitticks/prompts/{place}`, or remove it to use the built-in one" if overrides else None
    return GitticksError(f"the prompt template `{where}` is broken: {words}", hint=hint)


def _place_of(error: Exception) -> tuple[str, int] | None:
    """Returns the template of the team's and the line where it failed, the innermost one."""
    found, step = None, error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if file.startswith(_TEAM):
            found = (file.removeprefix(_TEAM), step.tb_lineno)
        step = step.tb_next
    return found


def _values(context: PromptContext) -> dict[str, object]:
    """Returns the names that templates know, with every text made safe to be repeated."""
    task = context.task
    values: dict[str, object] = {
        name: _safe(getattr(context, name)) for name in PromptContext.__dataclass_fields__ if name != "task"
    }
    values["task"] = {
        "id": str(task.id),
        "title": _safe(" ".join(task.title.split())),
        "priority": task.priority,
        "labels": [_safe(label) for label in task.labels],
        "status": task.status.value,
        "reviewer": _safe(task.reviewer or ""),
    }
    values["dots"] = "..." if context.since_fork else ".."
    return values


def _safe(value: object) -> object:
    if isinstance(value, tuple):
        return [_safe(item) for item in value]
    return without_signals(value) if isinstance(value, str) else value


def without_signals(text: str) -> str:
    """Returns `text` with every literal signal or verdict line in it changed so that it reads as none.

    What nobody would see in it is written out first: a signal could be hidden by it as well.
    """
    return _SIGNAL_LINE.sub(r"\1 -", _SIGNAL.sub(r"(\1)", shown(text))).strip("\n")


def shown(text: str) -> str:
    """Returns a text in which every character that nobody would see is written out, such as `<U+200B>`."""
    if are_harmless(text.translate(_LAYOUT)):
        return text
    return "".join(f"<U+{ord(char):04X}>" if is_harmful(char.translate(_LAYOUT)) else char for char in text)
