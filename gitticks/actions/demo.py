"""Creates the demo: a small Python project, some of whose tests still fail, with tasks and settings."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from gitticks.actions.config import change_setting
from gitticks.actions.context import Context
from gitticks.actions.init import initialise
from gitticks.actions.run import merge_task
from gitticks.actions.update import NewTask, create_task
from gitticks.actions.verdict import approve_task, look_at_turn, respond_to
from gitticks.errors import GitticksError
from gitticks.git.process import run_git
from gitticks.model.ids import TaskId
from gitticks.model.queries import by_priority_and_age
from gitticks.model.status import Awaiting
from gitticks.model.task import Task
from gitticks.runner.events import RunEvent
from gitticks.workflow.triggers import Seen
from gitticks.world import World

TEST_COMMAND = "python3 -m unittest discover --start-directory tests --top-level-directory ."

_SCRIPT = "script "
"""The prefix of texts that are a task's script, not files of the project."""
ANSWER = "comma"
"""What `--yes` answers to the one question."""
_PERSON = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}
"""The demo's user, since git may not be configured on this machine."""


class DemoTask(NamedTuple):
    """One task of the demo: what its hand-off says is done and was decided, and which tasks it waits for."""

    name: str
    title: str
    description: str
    says: tuple[str, str] | None = None
    needs: tuple[str, ...] = ()
    requires: str | None = None
    priority: int = 2
    is_reviewed: bool = False


EPIC = DemoTask("epic", "Print receipts", "Everything in `wanted/` passes.")
TASKS = (
    DemoTask(
        "amounts",
        "Parse amounts",
        "Make `wanted/test_amounts.py` pass.",
        ("amounts are parsed into whole cents", "integers, because floats round"),
        priority=1,
    ),
    DemoTask(
        "totals",
        "Add up the lines",
        "Make `wanted/test_totals.py` pass; it needs the parser.",
        ("any number of lines is added up", "none"),
        needs=("amounts",),
    ),
    DemoTask(
        "money",
        "Format amounts",
        "Make `wanted/test_money.py` pass. Ask which decimal separator to use.",
        ("amounts are formatted with the separator you chose", "none"),
    ),
    DemoTask(
        "lines",
        "Right-align the amounts",
        "Make `wanted/test_lines.py` pass.",
        ("amounts are aligned at the right edge", "none"),
        is_reviewed=True,
    ),
    DemoTask(
        "report",
        "Print the shop's name",
        "Make `wanted/test_report.py` pass. It is the brand, so a person has to approve it.",
        ("the name is centred", "none"),
        requires="approval",
        priority=3,
    ),
)


@cache
def _texts() -> dict[str, str]:
    """Returns the files of the project by their paths, and what the tasks' scripts are made of."""
    text = Path(__file__).with_name("demo_project.txt").read_text("utf-8")
    parts = re.split(r"^=== (.+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _script(task: DemoTask) -> str | None:
    """Returns what stands in for an agent, and, where the work is reviewed, for its reviewer."""
    if task.says is None:
        return None
    done, decisions = task.says
    said = _texts()[f"{_SCRIPT}hand-over"].format(message=task.title, done=done, decisions=decisions)
    worker = f"```sh\n{_texts()[_SCRIPT + task.name]}{said}```"
    return f"{worker}\n\n```sh reviewer\n{_texts()[_SCRIPT + 'review']}```" if task.is_reviewed else worker


class Demo(NamedTuple):
    """The demo's repository and its tasks."""

    directory: Path
    epic: TaskId
    tasks: tuple[TaskId, ...]


def demo_context(directory: Path, world: World) -> Context:
    """Returns the context of a call inside the demo's repository."""
    return Context(world.elsewhere(_PERSON), directory)


def make_demo(directory: Path | None, world: World) -> Demo:
    """Makes the repository in `directory` (default: a new temporary folder) and returns it."""
    place = Path(tempfile.mkdtemp(prefix="gitticks-demo-")) if directory is None else directory.absolute()
    place.mkdir(parents=True, exist_ok=True)
    if any(place.iterdir()):
        raise GitticksError(
            f"`{place}` is not empty", hint="`gt demo --dir` needs a folder that is new or empty"
        )
    _make_project(place)
    context = demo_context(place, world)
    initialise(context)
    for name, value in (("agent", "script"), ("verify.test", TEST_COMMAND)):
        change_setting(context, name, value)
    context = demo_context(place, world)
    epic = _create(context, EPIC, {}, None)
    ids: dict[str, TaskId] = {}
    for task in TASKS:
        ids[task.name] = _create(context, task, ids, epic)
    return Demo(place, epic, tuple(ids.values()))


def _make_project(place: Path) -> None:
    for name, content in _texts().items():
        if name.startswith(_SCRIPT):
            continue
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["config", "user.name", _PERSON["GIT_AUTHOR_NAME"]],
        ["config", "user.email", _PERSON["GIT_AUTHOR_EMAIL"]],
        ["add", "--all"],
        ["commit", "--quiet", "--message", "Start the till"],
    ):
        run_git(arguments, directory=place)


def _create(context: Context, task: DemoTask, ids: dict[str, TaskId], parent: TaskId | None) -> TaskId:
    wishes: dict[str, str | tuple[str, ...]] = {"priority": str(task.priority)}
    if parent is None:
        wishes["type"] = "epic"
    else:
        wishes["parent"] = parent
    if task.needs:
        wishes["blocked_by"] = tuple(ids[name] for name in task.needs)
    if task.requires is not None:
        wishes["requires"] = task.requires
    return create_task(context, NewTask(task.title, wishes, task.description, _script(task))).id


def awaiting_tasks(context: Context) -> list[Task]:
    """Returns what awaits a person, most urgent first."""
    tasks = context.store.snapshot().all_tasks().values()
    return sorted((task for task in tasks if task.awaiting is not None), key=by_priority_and_age)


def answer(
    context: Context, listener: Callable[[RunEvent], None]
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yields for each waiting task what a person would type, and the function that does it."""
    for task in awaiting_tasks(context):
        seen = look_at_turn(context, task.id)
        if task.awaiting is Awaiting.INPUT:
            yield f'gt respond {task.id} "{ANSWER}"', partial(respond_to, context, task.id, ANSWER, seen)
        else:
            yield f"gt approve {task.id}", partial(_approve, context, task.id, seen, listener)


def _approve(context: Context, task_id: TaskId, seen: Seen, listener: Callable[[RunEvent], None]) -> None:
    if approve_task(context, task_id, None, seen).after.is_merging:
        merge_task(context, task_id, listener)


def graph(context: Context) -> list[str]:
    """Returns the history of the demo's base as git draws it."""
    asked = ["log", "--graph", "--format=%h %s", "main"]
    return run_git(asked, directory=context.directory).text.splitlines()
