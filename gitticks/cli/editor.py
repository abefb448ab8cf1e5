"""The user's editor and terminal: texts written in a file, and lines typed."""

from __future__ import annotations

import os
import select
import shlex
import signal
import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.git.identity import editor_command
from gitticks.safe_read import reason_of

if TYPE_CHECKING:
    from gitticks.actions.drafts import Draft

_PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "gvim", "nano", "pico", "emacs", "emacsclient", "micro", "joe", "kak", "ed"}
)
_COLON_LINE = frozenset({"subl", "hx", "helix", "zed"})
_GOTO_LINE = frozenset({"code", "codium", "cursor"})
_NOT_FOUND = 127

_CHUNK = 65536
_PASTE_SECONDS = 0.05


def write_in_editor(context: Context, draft: Draft) -> bool:
    """Opens a draft in the person's editor; returns False, with the draft gone, if nothing was changed.

    Raises:
        GitticksError: the editor is not there or failed; a draft that holds something new is kept.
    """
    try:
        editor = editor_command(context.repository, context.world.environment)
        open_editor(editor, draft.path, draft.line, inherited=(draft.lock,))
    except GitticksError as error:
        if draft.path.exists() and draft.is_changed:
            draft.say_where(error)
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
    import subprocess

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


def is_agreed(question: str, *, default: bool, err: bool = False) -> bool:
    """Asks a question until it is answered with yes, no or Enter."""
    import click

    yes, no = ("Y", "n") if default else ("y", "N")
    while True:
        typed: str = click.prompt(f"{question} [{yes}/{no}]", default="", show_default=False, err=err)
        answer = typed.strip().lower()
        if not answer:
            return default
        if "yes".startswith(answer) or "no".startswith(answer):
            return "yes".startswith(answer)
        click.echo(f"type y or n; Enter alone means {'yes' if default else 'no'}", err=err)


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
