"""The public API, used as a program would."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import gitticks
from gitticks.errors import NotFoundError, RefusedError, UsageError
from gitticks.model.status import Awaiting, Status
from tests.cli.support import gt
from tests.support.repositories import fsck_problems, make_repository
from tests.support.waiting import LONGEST_SECONDS

SCRIPT = """\
## Script

```sh
if ! grep -q '^in b.txt' "$GITTICKS_MAILBOX/TASK.md"; then
    printf '<promise>%s: Where does it go?</promise>\\n' INPUT_NEEDED
    exit
fi
echo work > b.txt
git add b.txt
git commit -q -m work
printf '\\n## Handoff\\n\\nDONE: b\\n' >> "$GITTICKS_MAILBOX/TASK.md"
printf '<promise>%s</promise>\\n' COMPLETE
```
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = make_repository(tmp_path / "project")
    assert gt("init", at=path).code == 0
    assert gt("config", "agent", "script", at=path).code == 0
    return path


def test_a_task_from_its_creation_to_its_merge(project: Path) -> None:
    tasks = gitticks.open_tasks(project)
    made = tasks.create("Write b", SCRIPT, {"priority": "1", "labels": "auth"})
    assert tasks.get(made.id[:3]) == made
    assert [task.id for task in tasks.ready()] == [made.id]

    events: list[gitticks.RunEvent] = []
    options = gitticks.RunOptions(debounce=0)
    assert tasks.run(options, events.append) is gitticks.RunExit.WAITS
    assert events
    assert [task.awaiting for task in tasks.awaiting()] == [Awaiting.INPUT]
    assert tasks.respond(made.id, "in b.txt").status is Status.WORKING
    assert tasks.run(options) is gitticks.RunExit.WAITS
    assert tasks.reject(made.id, "once more").status is Status.WORKING
    assert tasks.note(made.id, "please").status is Status.WORKING
    assert tasks.get(made.id).review_round == 1


def test_approval_merges(project: Path) -> None:
    tasks = gitticks.open_tasks(project)
    made = tasks.create("Write b", SCRIPT + "\n## Notes\n\nin b.txt\n")
    assert tasks.run(gitticks.RunOptions(debounce=0)) is gitticks.RunExit.WAITS
    approved = tasks.approve(made.id)
    assert (approved.status, bool(approved.merged_sha)) == (Status.DONE, True)
    assert (project / "b.txt").read_text() == "work\n"
    assert tasks.history(made.id)[-1].to_status is Status.DONE
    assert [task.id for task in tasks.all()] == [made.id]
    assert tasks.run() is gitticks.RunExit.DONE
    assert fsck_problems(project) == ""


def test_errors_are_those_of_the_command(project: Path, tmp_path: Path) -> None:
    tasks = gitticks.open_tasks(project)
    with pytest.raises(gitticks.GitticksError, match="no task"):
        tasks.get("zzzz")
    with pytest.raises(UsageError, match="`colour` is not a field"):
        tasks.create("Wait", fields={"colour": "red"})
    made = tasks.create("Wait")
    with pytest.raises(RefusedError, match="is not waiting for anyone"):
        tasks.approve(made.id)
    with pytest.raises(NotFoundError):
        gitticks.open_tasks(make_repository(tmp_path / "bare"))


def test_a_run_in_a_thread_takes_ids_as_the_command_does(project: Path) -> None:
    tasks = gitticks.open_tasks(project)
    made = tasks.create("Write b", SCRIPT + "\n## Notes\n\nin b.txt\n")
    with pytest.raises(NotFoundError, match="no task `zzzz`"):
        tasks.run(gitticks.RunOptions(ids=("zzzz",)))  # type: ignore[arg-type]
    ended: list[gitticks.RunExit] = []
    options = gitticks.RunOptions(ids=made.id[:3], debounce=0)  # type: ignore[arg-type]
    thread = threading.Thread(target=lambda: ended.append(gitticks.open_tasks(project).run(options)))
    thread.start()
    thread.join(LONGEST_SECONDS)
    assert ended == [gitticks.RunExit.WAITS]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("priority", 1, "`priority` is to be text"),
        ("labels", ["a"], "`labels` is to be text"),
        ("verdict", "approved", "not a field that people write into a new task"),
        ("title", "Other", "not a field that people write into a new task"),
    ],
)
def test_fields_of_other_kinds_are_refused(project: Path, name: str, value: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        gitticks.open_tasks(project).create("x", fields={name: value})


@pytest.mark.parametrize("parallel", [0, -1, 65])
def test_a_run_of_so_many_agents_is_refused(project: Path, parallel: int) -> None:
    with pytest.raises(UsageError, match="is to be from 1 to 64"):
        gitticks.open_tasks(project).run(gitticks.RunOptions(parallel=parallel))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (gitticks.RunOptions(max_iterations=-1), "`max_iterations` is -1,"),
        (gitticks.RunOptions(max_tokens=0), "`max_tokens` is 0,"),
        (gitticks.RunOptions(max_cost=math.nan), "`max_cost` is nan,"),
        (gitticks.RunOptions(max_seconds=0.0), "`max_seconds` is 0.0,"),
    ],
)
def test_a_run_of_such_a_limit_is_refused(project: Path, options: gitticks.RunOptions, said: str) -> None:
    with pytest.raises(UsageError, match=f"{said} and is to be above 0"):
        gitticks.open_tasks(project).run(options)


def test_importing_the_package_loads_nothing_else() -> None:
    program = "import sys, gitticks; print([name for name in sys.modules if name.startswith('gitticks.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute `nothing`"):
        _ = gitticks.nothing
