"""The demo, played from its start to its end in the interface alone: a real terminal, keys, and what the screen shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.status import Status
from gitticks.runner.liveness import is_run_alive_at
from tests.support.agents import write_program
from tests.support.projects import Project
from tests.support.repositories import fsck_problems, git
from tests.support.waiting import until
from tests.tui.terminal import Terminal

_THANKS = """\
cat >> "$1" <<'END'

## Script

```sh
echo 'Thank you.' > till/thanks.txt
git add --all
git commit --quiet --message 'Thank the customer'
printf '\\n## Handoff\\nDONE: it says thank you\\n' >> "$GITTICKS_MAILBOX/TASK.md"
printf '<promise>%s</promise>\\n' COMPLETE
```
END
"""


def _ids(project: Project) -> dict[str, str]:
    """Returns the tasks' ids by their titles."""
    return {task.title: task.id for task in project.store.snapshot().all_tasks().values()}


def _open_task(terminal: Terminal, title: str) -> None:
    terminal.keys("/")
    terminal.sees("Search")
    terminal.type(title)
    terminal.keys("Enter")
    terminal.sees("TASK.md", "History")


@pytest.mark.debian("tmux")
def test_the_demo_is_played_in_the_interface_alone(
    terminal: Terminal, till: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = till
    monkeypatch.setenv("VISUAL", str(write_program(tmp_path / "editor", _THANKS)))
    terminal.open(tmp_path, "demo", "--open", "--dir", str(project.path), size=(120, 44))
    terminal.sees("Print receipts", "0/5", "ready", "Nothing is waiting for you")
    _create(terminal)
    terminal.keys("Enter")
    terminal.sees("Tasks of", "asks you", "handed off", "review failed", "review passed")
    ids = _ids(project)
    _answer(terminal, project, ids["Format amounts"])
    _send_back_and_merge(terminal, project, ids["Format amounts"])
    while any(project.task(one).is_open for title, one in ids.items() if "receipts" not in title):
        _approve_next(terminal, project, ids)
    terminal.sees("0 for you", "Nothing is waiting for you", "All tasks are closed")
    until(lambda: all(project.task(one).status is Status.DONE for one in ids.values()), "the end of the epic")
    terminal.keys("C-c")
    terminal.sees("A run is active")
    terminal.keys("Down", "Enter")
    until(lambda: not is_run_alive_at(str(project.path / ".git/gitticks")), "the end of the run")
    terminal.keys("q")
    terminal.ends()
    assert "it is all in" in terminal.screen

    merged = git("log", "--first-parent", "--format=%s", "main", at=project.path).splitlines()
    assert sum(subject.startswith("Merge ") for subject in merged) == 6
    assert git("show", "main:till/thanks.txt", at=project.path).strip() == "Thank you."
    assert fsck_problems(project.path) == ""


def _create(terminal: Terminal) -> None:
    """Creates a task, and writes its script in the editor."""
    terminal.keys("+")
    terminal.sees("New task", "below")
    terminal.type("Thank the customer")
    terminal.keys("Enter")
    terminal.sees("0/6")
    _open_task(terminal, "Thank the customer")
    terminal.keys("e")
    terminal.sees("changed")
    terminal.sees("Thank you.")
    terminal.keys("Escape")
    terminal.sees("Epics and tasks")


def _answer(terminal: Terminal, project: Project, task_id: str) -> None:
    """Answers the question that an agent asks."""
    _open_task(terminal, task_id)
    terminal.sees("Which decimal separator")
    terminal.keys("y")
    terminal.sees("No code was handed off", "y answer")
    terminal.keys("y")
    terminal.sees("your answer")
    terminal.type("comma, please")
    terminal.keys("Enter")
    until(lambda: project.task(task_id).status is Status.REVIEWING, "the hand-off")


def _send_back_and_merge(terminal: Terminal, project: Project, task_id: str) -> None:
    """Reads the hand-off and sends it back; approves the second round."""
    _review(
        terminal, task_id, "amounts are formatted with the separator", 'SEPARATOR = ","', "merges cleanly"
    )
    terminal.keys("n")
    terminal.sees(f"Send {task_id} back")
    terminal.type("say what it does with cents")
    terminal.keys("Enter")
    until(lambda: project.task(task_id).status is not Status.REVIEWING, "the rejection")
    until(lambda: project.task(task_id).status is Status.REVIEWING, "the second hand-off")
    _review(terminal, task_id, "# Revised after", "say what it does with cents")
    terminal.keys("y")
    terminal.sees(f"Approve {task_id} into main?", "the tests run on the merge")
    terminal.keys("Enter")
    until(lambda: project.task(task_id).status is Status.DONE, "the merge")


def _review(terminal: Terminal, task_id: str, *words: str) -> None:
    """Opens the review of a task and reads it."""
    terminal.keys("i")
    terminal.sees("For you")
    _open_task(terminal, task_id)
    terminal.keys("d")
    terminal.sees("Hand-off", *words)


def _approve_next(terminal: Terminal, project: Project, ids: dict[str, str]) -> None:
    """Approves what stands first in the inbox."""

    def asked_for() -> list[str]:
        return [one for one in ids.values() if project.task(one).awaiting]

    def is_shown() -> bool:  # and not what was approved just now
        count, screen = len(asked_for()), terminal.screen
        return count > 0 and f" {count} for you" in screen and "y approve  n reject" in screen

    terminal.keys("i")
    until(is_shown, "what waits")
    asked = asked_for()
    terminal.keys("y")
    until(lambda: "into main?" in terminal.screen or _is_early(terminal), "the dialog")
    terminal.keys("Enter")
    until(lambda: any(project.task(one).status is not Status.REVIEWING for one in asked), "the approval")


def _is_early(terminal: Terminal) -> bool:
    """Asks once more on the work's own page, which opens where it was not looked at before the key."""
    if "approve  merges" in terminal.screen:
        terminal.keys("y")
    return False
