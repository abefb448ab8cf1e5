"""Leaves the terminal to the person's editor or shell for a while, and applies what was written."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.process import environment_of_a_shell

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.tui.screens.base import View


def with_terminal(view: View, do: Callable[[], None]) -> None:
    """Calls `do` with the terminal as it was before the interface, which comes back afterwards."""
    failure: Exception | None = None
    # Ctrl-C is the other program's; a handler of Python's, unlike SIG_IGN, is not inherited.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    # Without its terminal the interface cannot come back: closing it ends the process, and what was written stays.
    before_hangup = signal.getsignal(signal.SIGHUP)
    if before_hangup is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        with view.app.suspend():
            try:
                do()
            except Exception as error:  # noqa: BLE001 (textual takes the terminal back only from a block that ends well)
                failure = error
            if not os.isatty(0):  # a shell in between may have been the only one that was told
                signal.raise_signal(signal.SIGHUP)
    except SuspendNotSupported:
        failure = GitticksError(
            "there is no terminal here for another program", hint="use `gt` in a terminal for this"
        )
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGHUP, before_hangup)
    if isinstance(failure, GitticksError):
        view.gt.refuse(failure.message, failure.hint)
    elif isinstance(failure, OSError):
        view.gt.refuse(str(failure))
    elif failure is not None:
        raise failure
    view.refresh(layout=True)


def edit_task(view: View, task_id: str) -> None:
    """Opens a task's file in the editor; a text that is refused is kept, and the error says where."""
    from gitticks.actions.editing import finish_edit, start_edit
    from gitticks.actions.task_lookup import find_task_to_change
    from gitticks.cli.editor import write_in_editor

    def edit() -> None:
        context = view.gt.context.renewed()
        found = find_task_to_change(context, task_id, may_be_broken=True)
        draft = start_edit(context, found)
        if draft.is_changed:
            view.gt.say(f"{task_id} opened with what you wrote before, which was not taken yet", warns=True)
        for one in context.warnings:
            view.gt.say(one, warns=True)
        if not write_in_editor(context, draft):
            view.gt.say(f"{task_id} is unchanged")
            return

        def finish(fresh: Context) -> str:
            edited = finish_edit(fresh, found, draft)
            return f"{task_id} {'fixed' if edited.before is None else 'changed'}"

        view.gt.act(finish, str, task=task_id)

    with_terminal(view, edit)


def edit_on_board(view: View, path: str) -> None:
    """Opens a file of the board, by its path from the project's top; what is saved there is applied by itself."""
    from gitticks.cli.editor import open_editor
    from gitticks.git.identity import editor_command

    def edit() -> None:
        repository, environment = view.gt.context.renewed().repository, view.gt.context.world.environment
        if repository.project_dir is not None:
            open_editor(editor_command(repository, environment), repository.project_dir / path)

    with_terminal(view, edit)


def set_up(view: View) -> None:
    """Runs `gt init` on the terminal, where it asks and says what it made."""
    from gitticks.tui.running import own_command

    def init() -> None:
        subprocess.run(own_command("init"), cwd=view.gt.context.directory, check=False)
        with suppress(EOFError):
            input("enter returns to the interface ")
        view.gt.feed.look_again()

    with_terminal(view, init)


def open_shell(view: View, task_id: str) -> None:
    """Opens a shell in a task's workspace."""
    from gitticks.actions.task_lookup import find_task
    from gitticks.runner.workspace_removal import workspace_of

    def shell() -> None:
        context = view.gt.context.renewed()
        task = context.store.task_file(find_task(context, task_id)).task
        workspace = workspace_of(context.repository, context.settings, task)
        if workspace is None:
            raise NotFoundError(f"`{task_id}` has no workspace here", hint=f"`gt start {task_id}` makes one")
        program = context.world.environment.get("SHELL") or "sh"
        print(f"{workspace}\nexit or ctrl-d returns to gt")  # noqa: T201 (the terminal is the shell's now)
        environment = environment_of_a_shell(context.world.environment)
        subprocess.run([program], cwd=workspace, env=environment, check=False)

    with_terminal(view, shell)
