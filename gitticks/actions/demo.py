"""Makes the demo's repository: a small Python project whose tests still fail, its tasks, and settings."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gitticks.actions.config import change_setting
from gitticks.actions.context import Context
from gitticks.actions.create import NewTask, create_task
from gitticks.actions.init import initialise
from gitticks.actions.run import merge_task
from gitticks.actions.verdict import approve_task, look_at, respond_to
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

FILES: dict[str, str] = {
    "README.md": """\
# till

Adds up what was bought and prints the receipt.

`tests/` must pass. `wanted/` holds tests that fail: what somebody still has to write.
Whoever writes it moves the test to `tests/`.
""",
    ".gitignore": "__pycache__/\n",
    "till/__init__.py": '"""A small till."""\n',
    "tests/__init__.py": "",
    "tests/test_package.py": """\
import unittest

import till


class PackageTest(unittest.TestCase):
    def test_says_what_it_is(self):
        self.assertEqual(till.__doc__, "A small till.")
""",
    "wanted/test_amounts.py": """\
import unittest

from till.amounts import parse


class AmountsTest(unittest.TestCase):
    def test_reads_cents(self):
        self.assertEqual(parse("12.50"), 1250)
        self.assertEqual(parse("3"), 300)

    def test_refuses_words(self):
        with self.assertRaises(ValueError):
            parse("a lot")
""",
    "wanted/test_totals.py": """\
import unittest

from till.totals import total


class TotalsTest(unittest.TestCase):
    def test_adds_lines(self):
        self.assertEqual(total(["12.50", "0.05"]), 1255)
        self.assertEqual(total([]), 0)
""",
    "wanted/test_money.py": """\
import unittest

from till.money import show


class MoneyTest(unittest.TestCase):
    def test_shows_two_digits(self):
        self.assertRegex(show(1255), r"^12[.,]55$")
""",
    "wanted/test_lines.py": """\
import unittest

from till.lines import line


class LinesTest(unittest.TestCase):
    def test_fills_to_the_right(self):
        self.assertEqual(line("tea", "2,50", 12), "tea     2,50")
""",
    "wanted/test_report.py": """\
import unittest

from till.report import title


class ReportTest(unittest.TestCase):
    def test_is_centred(self):
        self.assertEqual(title("till", 12), "    till    ")
""",
}

_HAND_OVER = """\
git add --all
git commit --quiet --message "{message}"
cat >> "$GITTICKS_MAILBOX/TASK.md" <<'END'

## Handoff
DONE: {done}
REMAINING: nothing
DECISIONS: {decisions}
UNCERTAIN: nothing
END
printf '<promise>%s</promise>\\n' COMPLETE
"""

_LINES_REVIEW = """\
cat >> "$GITTICKS_MAILBOX/TASK.md" <<END

## Review
$(if grep --quiet 'Returns one line' till/lines.py; then
    echo 'PASS: small, tested and explained.'
else
    echo 'FAIL: line() does not say what it returns.'
fi)
END
"""
ANSWER = "comma"
"""What `--yes` answers to the question that one of the tasks asks."""
_PERSON = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}
"""Who the demo's person is; the machine's own git configuration may name nobody."""


@dataclass(frozen=True, slots=True)
class DemoTask:
    """One task of the demo; `needs` are the names of the tasks that it waits for."""

    name: str
    title: str
    description: str
    script: str
    needs: tuple[str, ...] = ()
    requires: str | None = None
    priority: int = 2


def _hand_over(message: str, done: str, decisions: str = "none") -> str:
    return _HAND_OVER.format(message=message, done=done, decisions=decisions)


_AMOUNTS = """\
cat > till/amounts.py <<'END'
\"\"\"Reads amounts of money.\"\"\"


def parse(text):
    \"\"\"Returns the cents that a text such as `12.50` stands for.\"\"\"
    whole, _, cents = text.partition(".")
    return int(whole) * 100 + int((cents + "00")[:2])
END
git mv wanted/test_amounts.py tests/
""" + _hand_over("Read amounts", "amounts are read as whole cents", "whole cents, because floats lose some")

_TOTALS = """\
cat > till/totals.py <<'END'
\"\"\"Adds amounts up.\"\"\"

from till.amounts import parse


def total(texts):
    \"\"\"Returns the sum of the amounts in cents.\"\"\"
    return sum(parse(text) for text in texts)
END
git mv wanted/test_totals.py tests/
""" + _hand_over("Add amounts up", "the total of any number of lines")

_MONEY = """\
if ! grep --quiet --extended-regexp --ignore-case '^(a )?(comma|point)' "$GITTICKS_MAILBOX/TASK.md"; then
    printf '<promise>%s: Which decimal sign does the receipt have: point or comma?</promise>\\n' INPUT_NEEDED
    exit 0
fi
sign=.
if grep --quiet --extended-regexp --ignore-case '^(a )?comma' "$GITTICKS_MAILBOX/TASK.md"; then sign=,; fi
cat > till/money.py <<END
\"\"\"Writes amounts of money.\"\"\"

SIGN = "$sign"


def show(cents):
    \"\"\"Returns the amount with two digits behind the decimal sign.\"\"\"
    return f"{cents // 100}{SIGN}{cents % 100:02}"
END
git mv wanted/test_money.py tests/
""" + _hand_over("Write amounts", "amounts are written with the sign that was asked for")

_LINES = """\
if test "$GITTICKS_ROUND" = 1; then explanation=; else explanation='    # Returns one line, filled to the width.'; fi
cat > till/lines.py <<END
\"\"\"The lines of a receipt.\"\"\"


def line(name, amount, width):
$explanation
    return name + amount.rjust(width - len(name))
END
if test -f wanted/test_lines.py; then git mv wanted/test_lines.py tests/; fi
""" + _hand_over("Fill lines", "a line has its amount at the right edge")


_REPORT = """\
cat > till/report.py <<'END'
\"\"\"The head of a receipt.\"\"\"


def title(name, width):
    \"\"\"Returns the name in the middle of the line.\"\"\"
    return name.center(width)
END
git mv wanted/test_report.py tests/
""" + _hand_over("Head the receipt", "the name stands in the middle")


def _script(worker: str, reviewer: str | None = None) -> str:
    blocks = f"```sh\n{worker}```"
    return f"{blocks}\n\n```sh reviewer\n{reviewer}```" if reviewer else blocks


EPIC = DemoTask("epic", "A till that prints receipts", "Everything in `wanted/` passes.", "")

TASKS: tuple[DemoTask, ...] = (
    DemoTask("amounts", "Read amounts", "Make `wanted/test_amounts.py` pass.", _script(_AMOUNTS), priority=1),
    DemoTask(
        "totals",
        "Add amounts up",
        "Make `wanted/test_totals.py` pass; it needs the amounts.",
        _script(_TOTALS),
        needs=("amounts",),
    ),
    DemoTask(
        "money",
        "Write amounts",
        "Make `wanted/test_money.py` pass. Ask about the decimal sign.",
        _script(_MONEY),
    ),
    DemoTask(
        "lines",
        "Fill lines to the right",
        "Make `wanted/test_lines.py` pass.",
        _script(_LINES, _LINES_REVIEW),
    ),
    DemoTask(
        "report",
        "Head the receipt",
        "Make `wanted/test_report.py` pass. The name is somebody's brand: a person approves it.",
        _script(_REPORT),
        requires="approval",
        priority=3,
    ),
)


@dataclass(frozen=True, slots=True)
class Demo:
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
        raise GitticksError(f"`{place}` is not empty", hint="`gt demo --dir` wants a new folder")
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
    for name, content in FILES.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["config", "user.name", _PERSON["GIT_AUTHOR_NAME"]],
        ["config", "user.email", _PERSON["GIT_AUTHOR_EMAIL"]],
        ["add", "--all"],
        ["commit", "--quiet", "--message", "Begin the till"],
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
    return create_task(context, NewTask(task.title, wishes, task.description, task.script or None)).id


def awaiting_tasks(context: Context) -> list[Task]:
    """Returns what awaits a person, most urgent first."""
    tasks = context.store.snapshot().all_tasks().values()
    return sorted((task for task in tasks if task.awaiting is not None), key=by_priority_and_age)


def answer(
    context: Context, listener: Callable[[RunEvent], None]
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yields for each waiting task what a person would type, and the function that does it."""
    for task in awaiting_tasks(context):
        seen = look_at(context, task.id)
        if task.awaiting is Awaiting.INPUT:
            yield (
                f'gt respond {task.id} "{ANSWER}"',
                partial(_respond, context, task.id, seen),
            )
        else:
            yield f"gt approve {task.id}", partial(_approve, context, task.id, seen, listener)


def _respond(context: Context, task_id: TaskId, seen: Seen) -> None:
    respond_to(context, task_id, ANSWER, seen)


def _approve(context: Context, task_id: TaskId, seen: Seen, listener: Callable[[RunEvent], None]) -> None:
    if approve_task(context, task_id, None, seen).after.is_merging:
        merge_task(context, task_id, listener)


def graph(context: Context) -> list[str]:
    """Returns the history of the demo's base as git draws it."""
    asked = ["log", "--graph", "--format=%h %s", "main"]
    return run_git(asked, directory=context.directory).text.splitlines()
