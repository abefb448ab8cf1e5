"""The page about JSON names every key that a command prints, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gitticks.cli.catalogue import CATALOGUE
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.runner.records import Sessions
from gitticks.runner.run_record import LastRun, Resting, write_resting, write_spending
from tests.cli.support import Ran
from tests.cli.test_everywhere import CALLS, QUESTION, make_places
from tests.support.imports import FOREIGN
from tests.support.projects import Project, make_project, make_reviewing, make_working
from tests.support.records import make_session
from tests.support.repositories import commit_file, git
from tests.support.stores import write_task_file
from tests.support.tasks import write_files

PAGE = Path(__file__).parents[2] / "docs/reference/json.md"
FIELDS = Path(__file__).parents[2] / "docs/explanation/data-model.md"
BY_DATA = frozenset(
    {"actor", "counts", "created", "ids", "left", "overridden", "pending", "reviews", "sections", "skipped"}
    | {"uncommitted", "usage", "agent_sessions", "versions"}
)
"""What holds a key for each status, id, path or name that there is, or is a field of a task or of an event."""

CHANGING = (
    "create", "update", "edit", "note", "block", "unblock", "defer", "cancel", "close", "reopen", "approve",
    "reject", "respond", "handoff", "complete", "ask",
)  # fmt: skip
BEADS = str(FOREIGN / "issues.jsonl")
ROWS: dict[str, tuple[tuple[str, ...], ...]] = {
    "log": (("log",),),
    "status": (("status",),),
    "current": (("current",),),
    "board": (("board",),),
    "graph": (("graph",),),
    "stats": (("stats",),),
    "path": (("path", "k7f2"),),
    "start": (("start", "m3xq"),),
    "review": (("review", "told"),),
    "merge": (("merge", "--dry-run", "wait"), ("approve", "wait", "--no-wait"), ("merge",)),
    "log --verify": (("log", "--verify"),),
    "verify": (("verify", "wait"),),
    "conflicts": (("conflicts",),),
    "resume": (("resume", "work-1", "--no-run"),),
    "checkpoints list": (("checkpoints", "list"), ("checkpoints", "work")),
    "checkpoints diff": (("checkpoints", "diff", "work-1"),),
    "checkpoints prune": (("checkpoints", "prune", "work-1", "--dry-run"),),
    "permissions": (("permissions",),),
    "permissions allow": (("permissions", "allow", "--all"),),
    "permissions deny": (("permissions", "deny", "--all"),),
    "permissions explain": (("permissions", "explain", "shell", "ls"),),
    "permissions rules": (("permissions", "rules"),),
    "permissions mode": (("permissions", "mode"), ("permissions", "mode", "interactive")),
    "audit": (("audit",), ("audit", "verify")),
    "health": (("health",),),
    "worktree list": (("worktree", "list"),),
    "worktree clean": (("worktree", "clean", "work", "--force"),),
    "worktree open": (("worktree", "open", "wait"),),
    "worktree gc": (("worktree", "gc"),),
    "sync": (("sync",),),
    "import": (("import", "beads", BEADS), ("import", "beads", "cut.jsonl")),
    "migrate": (("migrate", "--manual-to-awaiting"),),
    "trust": (("trust", "--list"),),
    "trust --secret": (("trust", "--secret", "told"),),
    "hooks status": (("hooks", "status"),),
    "hooks install": (("hooks", "install"),),
    "hooks uninstall": (("hooks", "uninstall"),),
    "doctor": (("doctor",),),
    "config": (("config",), ("config", "human")),
    "agents": (("agents",),),
    "init": (("init",),),
    "version": (("version",),),
}
NO_KEYS = {
    "sync": {
        *("done", "offline", "no", "watch"),
        *("task", "source", "target", "awaiting", "reason", "actor", "is_merging"),
    },
    "log --verify": {"merge"},
    "merge": {"dry", "run"},
    "status": {"current", "gt", "merge", "state", "ahead", "waiting", "queued"},
    "resume": {"no", "run"},
    "checkpoints list": {"iterations", "merge"},
    "checkpoints diff": {"stat"},
    "permissions": {"number", "task", "agent", "operation", "target", "reason", "asked", "expires", "rule"},
    "permissions allow": {"permissions"},
    "permissions deny": {"permissions"},
    "permissions explain": {"allow", "deny", "ask", "paths", "commands", "hosts"},
    "permissions rules": {
        "is_project",
        "deny",
        "allow",
        "default",
        "number",
        "answer",
        "rule",
        "at",
        "origin",
    },
    "audit": {
        *("timestamp", "task", "iteration", "epic_id", "agent", "operation", "target", "decision", "reason"),
        *("user_action", "writer", "verify", "audit"),
    },
    "trust --secret": {"kind", "digest", "path", "line", "commit"},
    "health": {"current"},
    "review": {"path", "why", "number", "reviewer", "verdict", "reason"},
    "worktree gc": {
        "kind",
        "workspace",
        "review",
        "merge",
        "transcript",
        "rescued",
        "name",
        "size_bytes",
        "problem",
    },
    "conflicts": {"id", "with", "paths"},
}
"""Words of a row that are values, flags or commands, or keys in a list that is empty here."""


@cache
def page() -> str:
    return PAGE.read_text()


def words(text: str) -> set[str]:
    """Returns the keys that a text names: the single words in backticks."""
    return {word for quoted in re.findall("`([^`]+)`", text) for word in re.findall("[a-z_]+", quoted)}


def rows() -> dict[str, set[str]]:
    """Returns the keys of each row of the table of other commands."""
    found: dict[str, set[str]] = {}
    table = page().partition("## Other commands")[2].partition("\n## ")[0]
    for line in re.findall("(?m)^[|] `.*", table):
        _, names, text, _ = re.split(r" ?[|] ?", line)
        found |= dict.fromkeys(re.findall("`([^`]+)`", names), words(text))
    return found


def adds(name: str) -> set[str]:
    """Returns the keys that the page says a listing adds to a task, and those inside of them."""
    (line,) = re.findall(f"(?m)^.*`{name}`[^.\n]* adds? (.*)$", page())
    return words(line)


def keys(value: Any, base: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yields every key of what was printed, at any depth, but for a task's own and those that the data makes."""
    if isinstance(value, list):
        for one in value:
            yield from keys(one, base)
    if isinstance(value, dict):
        is_task = "phase" in value and "ready" in value
        for key, one in value.items():
            if not (is_task and key in base):
                yield key
            if key not in BY_DATA and not (is_task and key in base):
                yield from keys(one, base)


@pytest.fixture(scope="module")
def base(project: Project) -> frozenset[str]:
    return frozenset(printed(project.gt("next", "--json"))["task"])


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    path = tmp_path_factory.mktemp("json") / "project"
    make_places(path)
    return Project(path)


def printed(ran: Ran) -> Any:
    assert ran.out.count("\n") == 1, ran.seen
    found = json.loads(ran.out)
    assert found.pop("schema") == 1
    return found


def test_a_task_has_the_fields_of_its_file_and_what_is_derived(base: frozenset[str]) -> None:
    derived = set(
        re.findall("(?m)^[|] `([a-z_]+)` [|]", page().partition("## Tasks")[2].partition("\n## ")[0])
    )
    assert derived == {"phase", "ready", "blocked", "merging", "conflicted", "session_state", "path"}
    section = FIELDS.read_text().partition("/<id>/TASK.md`\n")[2].partition("\n## `")[0]
    of_file = words("".join(re.findall("(?m)^[|] (`.*?) [|]", section)))
    assert base - derived <= of_file
    assert of_file - base <= {"imported"}


def test_every_command_with_json_is_on_the_page() -> None:
    listing = {"list", "ready", "inbox", "tree", "search", "show", "next", "run", "watch", "attach"}
    named = {name.split()[0] for name in rows()} | listing | set(CHANGING)
    without = {
        "completion",
        "help",
        "skill",
        "demo",
        "export",
        "stop",
        "pause",
        "unpause",
        "merge-driver",
        "hook",
    }
    assert {entry.name for entry in CATALOGUE} == named | without
    assert all(f"`{name}`" in page() for name in CHANGING)
    assert set(ROWS) == set(rows())


def test_a_change_prints_the_task(tmp_path: Path, base: frozenset[str]) -> None:
    make_places(tmp_path / "project")
    project = Project(tmp_path / "project")
    make_reviewing(project, "good")
    make_working(project, "open")
    others = {"approve": ("approve", "good"), "close": ("close", "m3xq"), "ask": ("ask", "open", "Which?")}
    found = {}
    for name in CHANGING:
        ran = project.gt(*others.get(name, CALLS[name]), "--json", environment={"GIT_EDITOR": "true"})
        found[name] = set(printed(ran)["task"]) == base
    assert found == dict.fromkeys(CHANGING, True)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (("list",), None),
        (("ready",), None),
        (("next",), None),
        (("list", "--awaiting"), "list --awaiting"),
        (("inbox",), "inbox"),
        (("tree",), "tree"),
        (("search", "which"), "search"),
        (("show", "told"), "show"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_a_listing_adds(call: tuple[str, ...], named: str | None, tmp_path: Path) -> None:
    project = make_told(tmp_path / "project")
    base = frozenset(printed(project.gt("next", "--json"))["task"])
    found = set(keys(printed(project.gt(*call, "--json")), base)) - {"tasks", "task"}
    if call[0] == "show":
        found |= set(keys(printed(project.gt(*call, "--stat", "--json")), base)) - {"task"}
    entry = {"at", "from", "name", "text"}
    expected = (adds(named) | {"files", "added", "removed", "conflicts"} if named else set()) | entry
    event = {"type", "actor", "to", "reason", "source", "role", "ending", "agent"}
    values = {"epics", "standalone", "orphans", "pass", "fail", "unclear", "null", "in", "a", "cycle"}
    assert found <= expected | event | {"number", "handoff", "review", "reviews", "changes"}
    assert (adds(named) if named else set()) - values <= found


TOLD = f"""It blocks none.

{QUESTION}
### 2026-11-22T11:00:00Z · human · Ada

Comma.

### 2026-11-22T12:00:00Z · agent · claude

And which one?

## Notes

### 2026-11-22T10:00:00Z · agent · claude

See m3xq.

## Review

PASS

which is fine
"""


WORKLOG = b"""## 1 \xc2\xb7 2026-11-22T10:00:00Z \xc2\xb7 worker \xc2\xb7 claude

- ended: clean
"""


def make_told(path: Path) -> Project:
    """Makes a task with all that a listing can tell, and one that nothing is told of."""
    project = make_project(path)
    make_reviewing(project, "told", body=TOLD)
    project.make("m3xq")
    project.make("asks", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)
    return project


def test_what_other_commands_print(tmp_path: Path, base: frozenset[str]) -> None:
    project = make_busy(tmp_path / "project")
    not_there, not_printed = {}, {}
    with Sessions(project.store.repository.own_dir).hold(make_session("live")):
        for name, calls in ROWS.items():
            found = {key for call in calls for key in keys(printed(project.gt(*call, "--json")), base)}
            found -= {"task"} if name == "merge" else set()
            expected = rows()[name] | (rows()["current"] if name in ("status", "health") else set())
            expected |= {"at", "from", "name", "text"} if name in ("status", "review") else set()
            not_there[name] = found - expected
            not_printed[name] = rows()[name] - found - NO_KEYS.get(name, set())
    assert not_there == not_printed == {name: set() for name in ROWS}


def make_busy(path: Path) -> Project:
    """Makes a repository in which every command has something to tell."""
    make_places(path)
    project = Project(path)
    commit_file(path, "other.txt", "other\n", "elsewhere")
    project.make("live", status=Status.WORKING)
    until = datetime(2199, 1, 1, tzinfo=UTC)
    write_spending(project.store.repository.own_dir, LastRun(datetime.now(UTC)))
    write_resting(project.store.repository.own_dir, [Resting("claude", until, "usage limit")])
    project.make("lack", agent="nosuch")
    project.make("next", agent="script", blocked_by=(TaskId("k7f2"),), body="## Script\n\n```sh\ntrue\n```\n")
    project.make("c1rc", blocked_by=(TaskId("c2rc"),))
    project.make("c2rc", blocked_by=(TaskId("c1rc"),))
    (path / "cut.jsonl").write_text('{"id": "cut')
    make_reviewing(project, "hand")
    make_reviewing(project, "told", body=TOLD)
    write_files(project.store, {"tasks/ld/told/worklog.md": WORKLOG})
    git("merge", "--quiet", "--no-edit", "gitticks/work/hand", at=path)
    write_task_file(project.store, "bad", "no frontmatter")
    return project
