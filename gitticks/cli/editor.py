"""Texts that a person writes, in their editor or on the terminal, and how answers reach their tasks."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from gitticks.actions.context import Context
from gitticks.actions.derived_state import standing_now
from gitticks.actions.drafts import Draft, kept_on_error, make_draft
from gitticks.cli.failures import tell
from gitticks.cli.json import print_tasks, task_text
from gitticks.cli.options import keep_typed
from gitticks.cli.render import GAP, Screen, Style, ago, count_of, opposite, say
from gitticks.cli.text import visible, wrap
from gitticks.cli.writing import check_text, returned_words
from gitticks.errors import Exit, GitticksError, UsageError
from gitticks.git.identity import editor_command
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.task import Task
from gitticks.safe_read import reason_of

if TYPE_CHECKING:
    from gitticks.actions.verdict import Waiting


_PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "gvim", "nano", "pico", "emacs", "emacsclient", "micro", "joe", "kak", "ed"}
)
_COLON_LINE = frozenset({"subl", "hx", "helix", "zed"})
_GOTO_LINE = frozenset({"code", "codium", "cursor"})
_NOT_FOUND = 127

_CHUNK = 65536
_PASTE_SECONDS = 0.05
TAB = "\t"
LINE = "# ------------------------ >8 ------------------------"
_ANSWER = "# Write the answer below this line; an empty answer changes nothing."
_FEEDBACK = "# Write what is to change below this line; an empty text changes nothing."
_TEXT = "# Write below this line; an empty text changes nothing."
NOTE = "# Write the note below this line; an empty note changes nothing."
_HOW = "Your answer; an empty line ends it, an empty answer skips it, Ctrl-D quits:"


def write_in_editor(context: Context, draft: Draft) -> bool:
    """Opens a draft in the person's editor; returns False, with the draft gone, if nothing was changed.

    Raises:
        GitticksError: the editor is not there or failed; a draft that holds something new is kept.
    """
    if draft.is_changed:
        words = "it opens with what you wrote before, which was not taken yet; to begin anew:"
        say(f"{words} rm {shlex.quote(visible(str(draft.path)))}", err=True)
    try:
        editor = editor_command(context.repository, context.world.environment)
        open_editor(editor, draft.path, draft.line, inherited=(draft.lock,))
    except GitticksError as error:
        if draft.holds_something:
            draft.keep(error)
        else:
            draft.drop()
        raise
    if not draft.path.exists():
        draft.drop()
        raise GitticksError(
            "the editor removed the file, so nothing was changed",
            hint="save it where it is, and close the editor",
        )
    if draft.is_changed:
        return True
    draft.drop()
    return False


def open_editor(editor: str, path: Path, line: int | None = None, *, inherited: tuple[int, ...] = ()) -> None:
    """Opens a file, at a line where the editor is known to understand that, and returns when it is closed.

    The shell splits `editor` as git does `core.editor`; `inherited` are open files that it gets too.

    Raises:
        GitticksError: the editor is not there, or says that it failed.
    """
    # While the editor runs, Ctrl-C is the editor's; a handler of Python's, unlike SIG_IGN, is not inherited.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        command = ["sh", "-c", f'{editor} "$@"', editor, *_arguments(editor, path, line)]
        code = subprocess.run(command, check=False, pass_fds=inherited).returncode
    except OSError as error:
        raise GitticksError(f"no shell to start the editor `{editor}` with: {reason_of(error)}") from error
    finally:
        signal.signal(signal.SIGINT, before)
    if code == _NOT_FOUND:
        raise GitticksError(
            f"the editor `{editor}` was not found; nothing was changed",
            hint="`git config --global core.editor nano`, or set EDITOR",
        )
    if code != 0:
        raise GitticksError(
            f"the editor `{editor}` failed with {code}; nothing was changed",
            hint="`git config --global core.editor nano` sets another one",
        )


def _arguments(editor: str, path: Path, line: int | None) -> list[str]:
    try:
        name = PurePath(shlex.split(editor)[0]).name
    except (ValueError, IndexError):
        name = ""
    if line is None:
        return [str(path)]
    if name in _PLUS_LINE:
        return [f"+{line}", str(path)]
    if name in _COLON_LINE:
        return [f"{path}:{line}"]
    return ["--goto", f"{path}:{line}"] if name in _GOTO_LINE else [str(path)]


def is_typed_to() -> bool:
    """True if a person sits before stdin."""
    return sys.stdin.isatty()


def is_on_terminal() -> bool:
    """True if a person sits before stdin and stdout."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def typed_lines() -> str | None:
    """Returns the lines up to an empty one, which may be none; None if there are none and stdin has ended.

    An empty line that comes with more behind it was pasted, and is a part of the text.
    """
    terminal = sys.stdin.fileno()
    typed = b""
    while True:
        line = os.read(terminal, _CHUNK)
        typed += line
        if not line:
            return _text(typed) or None
        if not line.strip() and not select.select([terminal], [], [], _PASTE_SECONDS)[0]:
            return _text(typed)


def _text(typed: bytes) -> str:
    return typed.decode("utf-8", "replace").strip()


def typed_word(shown: str, word: str) -> bool:
    """Shows what is approved, and returns whether a person typed the word that stands for it."""
    say(*(visible(line) for line in shown.splitlines()), err=True)
    typed: str = click.prompt(f"Type {word} to approve it", default="", show_default=False, err=True)
    return typed.strip() == word


def question_sheet(task: Task, questions: Iterable[Entry], text: str = "", *, said: str = "") -> str:
    """Returns the page for a task's open questions, with `text` as the beginning of the answer.

    `said` is what is known where nothing was asked in words: why the task is stuck, what its agent said last.
    """
    lines = head_of(task)
    for question in questions:
        asked = f"{question.name} asked at {question.at:%Y-%m-%d %H:%M} UTC:"
        lines += ["", asked, "", *question.text.splitlines()]
    if said:
        lines += ["", *said.splitlines()]
    return make_sheet(lines, _ANSWER, text)


def feedback_sheet(task: Task, handoff: str) -> str:
    """Returns the page for a rejection, below what was handed off."""
    lines = head_of(task)
    if handoff:
        lines += ["", "handed off:", "", *handoff.splitlines()]
    return make_sheet(lines, _FEEDBACK)


def head_of(task: Task) -> list[str]:
    """Returns the lines that say which task a page is about."""
    turn = f", awaits {task.awaiting}" if task.awaiting is not None else ""
    return [f"{task.id}  {' '.join(task.title.split())}", f"{task.status}{turn}"]


def make_sheet(about: Iterable[str], below: str = _TEXT, text: str = "") -> str:
    """Returns the page for a text, below what it is about and what is to be written."""
    return "\n".join([*map(_comment, about), "#", below, LINE, text, ""])


def _comment(line: str) -> str:
    """Returns a line as one that is no answer's, nor the line between, whatever an agent wrote."""
    comment = f"# {visible(line, keep=TAB)}".rstrip()
    return f"# {comment}" if comment == LINE else comment


def answer_line(sheet: str) -> int:
    """Returns the line, counted from 1, on which a person writes."""
    return sheet.split("\n").index(LINE) + 2


def answer_of(page: str, sheet: str = "") -> str:
    """Returns what is below the line.

    `sheet` is what the editor was given, if known.

    Raises:
        UsageError: the line is gone, so nobody can tell what was written from what was there; or something was
            written above it, or the only change was made there.
    """
    above, answer = _halves(page)
    if above is None:
        raise UsageError("the line with `>8` is gone, so your text cannot be told from what was there")
    is_misplaced = any(line.strip() and not line.startswith("#") for line in above)
    is_lost = sheet and not answer and above != _halves(sheet)[0]
    if is_misplaced or is_lost:
        raise UsageError("there is text above the line with `>8`: write below it")
    return answer


def _halves(page: str) -> tuple[list[str] | None, str]:
    lines = [line.rstrip() for line in page.split("\n")]
    if LINE not in lines:
        return None, ""
    between = lines.index(LINE)
    return lines[:between], "\n".join(page.split("\n")[between + 1 :]).strip()


def answered_words(context: Context, after: Task) -> str:
    """Returns what became of a task that was answered."""
    return f"answered; {returned_words(context, after)} with your answer"


def answer(context: Context, waiting: Waiting, text: str) -> Task:
    """Answers a task and returns it."""
    from gitticks.actions.verdict import respond_to

    return respond_to(context, waiting.task.id, check_text(text), waiting.seen).after


def answer_in_editor(context: Context, waiting: Waiting, begun: str = "") -> Task | None:
    """Lets a person write the answer below the question, and answers with it; None if it was left empty."""
    sheet = question_sheet(waiting.task, waiting.questions, begun, said=waiting.said)
    with written_below(context, sheet, "ANSWER.md", begun) as text:
        return answer(context, waiting, text) if text else None


@contextmanager
def written_below(context: Context, sheet: str, name: str, begun: str = "") -> Iterator[str]:
    """Yields what a person writes below a sheet's line in their editor, which may be nothing.

    Where the block fails, the page is kept, and the error says where. `begun` is below the line already, and is taken
    if nothing was saved.

    Raises:
        UsageError: something was written in the wrong place, or is too long.
        GitticksError: the editor is not there or failed.
    """
    draft = make_draft(context, sheet.encode("utf-8", "replace"), name, line=answer_line(sheet))
    if not write_in_editor(context, draft):
        yield begun
        return
    with kept_on_error(draft):
        yield check_text(answer_of(draft.read().decode("utf-8", "replace"), sheet))


def answer_every_question(context: Context, *, with_editor: bool) -> int:
    """Asks every question that waits, and returns the exit code.

    What cannot be answered is reported, and the next question follows.
    """
    from gitticks.actions.verdict import waiting_for_answers

    waiting = [one.task.id for one in waiting_for_answers(context)]
    answered: list[TaskId] = []
    code: int = Exit.DONE
    for place, task_id in enumerate(waiting):
        try:
            after = _ask(context, task_id, f"{place + 1} of {len(waiting)}", with_editor=with_editor)
        except GitticksError as error:
            keep_typed(context, error, task_id)
            code = tell(["--json"] if context.as_json else [], error.message, error.hint, error.exit_code)
            continue
        except EOFError:
            say(f"{count_of(len(waiting) - place, 'question')} left unanswered", err=True)
            break
        if after is not None:
            answered.append(task_id)
            if not context.as_json:
                say(f"{task_id}{GAP}{visible(answered_words(context, after))}")
    if not waiting:
        say("no task is waiting for an answer", err=True)
    if context.as_json:
        print_tasks([task_text(standing_now(context, task_id)) for task_id in answered])
    return code


def _ask(context: Context, task_id: TaskId, place: str, *, with_editor: bool) -> Task | None:
    """Asks for one answer; returns the task, or None if the question is left.

    Raises:
        EOFError: the person wants no further questions.
    """
    from gitticks.actions.verdict import check_answerable, waiting_for_answer

    waiting = waiting_for_answer(context, task_id)
    check_answerable(waiting.task)
    if with_editor:
        after = answer_in_editor(context, waiting)
    else:
        say(*_question(waiting, place, context.now), err=True)
        typed = typed_lines()
        if typed is None:
            raise EOFError
        context.typed = typed
        after = answer(context, waiting, typed) if typed else None
    if after is None:
        say(f"{task_id}{GAP}left unanswered", err=True)
    return after


def _question(waiting: Waiting, place: str, now: datetime) -> Iterator[str]:
    """Yields a question as it is asked on the terminal that stderr is."""
    on, task = Screen.of(sys.stderr, os.environ), waiting.task
    asked = f", asked {ago(task.asked_at, now)}" if task.asked_at else ""
    yield ""
    yield from opposite(on, f"{task.id}{GAP}{visible(task.title)}", place)
    yield on.styled(f"{GAP}{task.awaiting}{asked}", Style.FAINT)
    room = max(1, on.columns - len(GAP)) if on.is_terminal else sys.maxsize
    for said in [*(question.text for question in waiting.questions), waiting.said]:
        for line in said.splitlines():
            yield from (f"{GAP}{part}".rstrip() for part in wrap(visible(line), room))
    yield ""
    yield from (on.styled(part, Style.FAINT) for part in wrap(_HOW, on.columns))
