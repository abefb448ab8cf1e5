"""Approving, from whatever place: what will happen is shown, policy decides how it is confirmed, and code is merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gitticks.cli.render import count_of
from gitticks.errors import GitticksError, RefusedError
from gitticks.model.approval import NAME, TERMINAL, WORDS
from gitticks.model.settings import MergeMode
from gitticks.runner.liveness import takes_work_at
from gitticks.tui.editing import with_terminal
from gitticks.tui.running import start_merge
from gitticks.tui.screens.dialogs import DIALOG_WIDTH, Dialog
from gitticks.tui.widgets.lines import Line, line
from gitticks.tui.widgets.markdown import wrapped
from gitticks.workflow.merging import is_merged_by_person
from gitticks.workflow.triggers import NO_PROOF, Proof

if TYPE_CHECKING:
    from gitticks.actions.changing import Moved
    from gitticks.actions.context import Context
    from gitticks.model.ids import TaskId
    from gitticks.model.task import Task
    from gitticks.tui.screens.base import View
    from gitticks.workflow.triggers import Seen

_MOST_NOTES, _MOST_ROWS = 3, 4


class Policy(NamedTuple):
    """What holds for approving a task: how strongly, which tests the merge runs, who merges, and what is merged.

    Work on the branch of an `epic` is merged with it. `offered` is the pull request that asks for the merge, and
    `is_left` what is approved already, for a person to merge.
    """

    strength: str = NAME
    tests: str | None = None
    mode: MergeMode = MergeMode.QUEUE
    base: str = ""
    branch: str = ""
    agent: str = "its agent"
    epic: TaskId | None = None
    offered: str | None = None
    is_left: bool = False

    @property
    def merges(self) -> bool:
        """True if gitticks merges what is approved, and does so now."""
        return self.mode is MergeMode.QUEUE and self.epic is None and self.offered is None


def policy_for(context: Context, task: Task) -> Policy:
    """Returns what holds for approving a task now."""
    from gitticks.actions.verdict import needed_strength
    from gitticks.cli.writing import agent_name

    settings = context.settings
    mode = settings.merge.mode
    return Policy(
        needed_strength(context, task),
        settings.verify.test,
        mode,
        task.base or "",
        task.branch or "",
        agent_name(context, task),
        task.sharing_epic,
        task.pr if task.is_offered else None,
        is_merged_by_person(task, mode),
    )


def note_rows(seen: Seen) -> list[Line]:
    """Returns what people have noted since a task is waiting."""
    notes = seen.told.notes if seen.told is not None else ()
    new = [one for one in notes if seen.asked_at is None or one.at >= seen.asked_at]
    return [
        row
        for one in new[-_MOST_NOTES:]
        for row in wrapped(f"{one.name}: {one.text}", DIALOG_WIDTH, "waits")[:_MOST_ROWS]
    ]


def what_follows(policy: Policy, conflicts: Sequence[str], *, is_run_alive: bool) -> str:
    """Returns what approving code, or closing its task, leads to, in a sentence."""
    if policy.epic is not None:
        return f"Nothing is merged now: it is merged with its epic {policy.epic}."
    if policy.offered is not None:
        does = (
            "Nothing is merged: its pull request stays open"
            if policy.is_left
            else "Then merge its pull request"
        )
        return f"{does}: {policy.offered}"
    if policy.is_left:
        return f"Nothing is merged: git merge {policy.branch} comes first."
    if policy.mode is MergeMode.MANUAL:
        return f"Then merge it yourself: git merge {policy.branch}"
    if conflicts:
        return f"It does not merge cleanly: the task goes back to {policy.agent} with these paths."
    if policy.mode is MergeMode.PULL_REQUEST:
        return f"A pull request is opened, and {policy.base} moves once that is merged."
    who = "The run merges it" if is_run_alive else "It is merged now"
    if policy.tests:
        return f"{who}: the tests run on the merge, and {policy.base} moves only if they pass."
    return f"{who}. No tests are set, so {policy.base} moves as soon as the merge is clean."


def in_short(policy: Policy, conflicts: Sequence[str], commits: int) -> str:
    """Returns the same in a few words."""
    if not policy.merges:
        return "merges nothing now"
    if conflicts:
        return f"does not merge cleanly: goes back to {policy.agent}"
    return f"merges {count_of(commits, 'commit')} into {policy.base}"


def _is_refused(view: View, task_id: TaskId) -> bool:
    """Tells a person, before they are asked, that an approval would be refused."""
    from gitticks.actions.verdict import check_approvable

    with suppress(GitticksError):  # the approval itself says what cannot be read
        try:
            check_approvable(view.gt.context.renewed(), task_id)
        except RefusedError as error:
            view.gt.refuse(error.message, error.hint)
            return True
    return False


def confirm(
    view: View,
    task_id: TaskId,
    dialog: tuple[str, Sequence[Line], str],
    strength: str,
    give: Callable[[Context, Callable[[], Proof]], Moved],
    *,
    done: Callable[[], None] = lambda: None,
) -> None:
    """Asks a person as strongly as policy does, gives the approval with what proves it, and has the code merged.

    `dialog` is what the question is: title, rows, and what `enter` does. `done` is called once the approval is given.
    """
    from gitticks.actions.verdict import prove_approval
    from gitticks.cli.editor import typed_word

    if _is_refused(view, task_id):
        return
    title, rows, do = dialog

    def given(approved: tuple[Moved, Callable[[], str] | None]) -> str | None:
        from gitticks.cli.writing import moved_words

        done()
        judged, ended = approved
        if ended is None:
            return f"{task_id} {moved_words(judged.before, judged.after)}"
        view.gt.wait_for(lambda _: ended(), task=f"merge {task_id}")
        return None if view.snapshot.is_run_alive else f"{task_id} approved; merging"

    def carry_out(prove: Callable[[Context], Proof]) -> None:
        def approve(context: Context) -> tuple[Moved, Callable[[], str] | None]:
            judged = give(context, partial(prove, context))
            # Here, as nothing is done any more with what this returns once the interface was left.
            return judged, _try_to_merge(context, task_id) if judged.after.is_merging else None

        view.gt.act(approve, given, task=task_id)

    def typed(text: str) -> None:
        carry_out(lambda context: prove_approval(context, task_id, lambda _, word: text == word))

    def signed() -> None:
        print(f"signing the approval of {task_id}", flush=True)  # noqa: T201 (the key may want a word or a touch here)
        proof = prove_approval(view.gt.context.renewed(), task_id, typed_word)
        carry_out(lambda _: proof)

    if strength == NAME:
        view.gt.ask(Dialog(title, rows, do=do), lambda _: carry_out(lambda _: NO_PROOF))
    elif strength == TERMINAL:
        asks = wrapped(f"Policy requires you to type the task's id: {task_id}", DIALOG_WIDTH, "waits")
        view.gt.ask(Dialog(title, [*rows, line(), *asks], ask=f"{task_id} approves it", do=do), typed)
    else:
        words = f"Policy requires {WORDS[strength]}: you confirm it on the terminal, then come back."
        asks = wrapped(words, DIALOG_WIDTH, "waits")
        view.gt.ask(
            Dialog(title, [*rows, line(), *asks], do="sign it"), lambda _: with_terminal(view, signed)
        )


def merge(context: Context, task_id: TaskId) -> str:
    """Merges what is approved, unless a run is alive that does, and returns what became of it."""
    return _begin_merge(context, task_id)()


def _try_to_merge(context: Context, task_id: TaskId) -> Callable[[], str] | None:
    """Begins the merge of what was just approved; that it cannot begin is a warning, as the approval stands."""
    try:
        return _begin_merge(context, task_id)
    except (GitticksError, OSError) as error:
        words = (
            f"{task_id} is approved, but its merge did not begin: {error}; gt merge {task_id} tries it again"
        )
        context.warnings.append(words)
        return None


def _begin_merge(context: Context, task_id: TaskId) -> Callable[[], str]:
    if takes_work_at(context.repository.own_place):
        return lambda: f"{task_id} approved; merging"
    return start_merge(context, task_id)
