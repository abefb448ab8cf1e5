"""What reading commands load before they answer: each module too many costs every call more than its own work.

The lists are exact on purpose. Whoever needs another module there is to weigh what it costs at every call
(`python -X importtime`), or to load it where it is seldom needed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.board.place import create_board
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path
from tests.cli.support import gt
from tests.support.repositories import git
from tests.support.stores import make_queue
from tests.support.waiting import LONGEST_SECONDS

LIGHT = frozenset(
    {
        "__future__", "_collections", "_datetime", "_functools", "_operator", "_sqlite3", "_sre", "_typing", "collections",
        "contextlib", "copyreg", "datetime", "enum", "errno", "functools", "gc", "itertools", "keyword", "math",
        "operator", "re", "reprlib", "sqlite3", "time", "types", "typing", "warnings",
    }
)  # fmt: skip
"""What `typing`, `enum` and SQLite's own module load, and nothing else: `dataclasses`, `json` and `pathlib` take
milliseconds, so what views load are named tuples."""

TEXT = frozenset({"_json", "json"})
"""Entries and texts are JSON in the index."""

HISTORY = TEXT | {
    "_ast", "_opcode", "_weakrefset", "ast", "copy", "dataclasses", "dis", "importlib", "inspect", "linecache", "opcode",
    "token", "tokenize", "weakref",
}  # fmt: skip
"""What reads events has dataclasses."""

READ = frozenset(
    {
        "actions", "bugs", "cli", "errors", "flocks", "git", "model", "safe_read", "runner", "terminal_safety", "store", "system", "world",
    }
)  # fmt: skip
OURS = {
    "next": READ,
    "list": READ,
    "ready": READ,
    "graph": READ,
    "board": READ,
    "show": READ | {"document"},
    "tree": READ,
}
SELDOM = frozenset(
    {
        "gitticks.cli.app", "gitticks.cli.options", "gitticks.document.taskfile", "gitticks.git.objects",
        "gitticks.git.process", "gitticks.model.task", "gitticks.store.index_rows", "gitticks.store.indexing",
    }
)  # fmt: skip
"""Our own modules that load what is heavy: none of them before such an answer."""

HEAVY = frozenset(
    {
        "pygit2",
        "ruamel",
        "yaml",
        "markdown_it",
        "rich",
        "jinja2",
        "subprocess",
        "importlib.metadata",
        "watchfiles",
    }
)

BEFORE_CLICK = """\
import sys
known = set(sys.modules)
from gitticks.cli.at_once import answer_at_once
code = answer_at_once(sys.argv[1:])
sys.stdout.flush()
print(code, *sorted(set(sys.modules) - known), file=sys.stderr)
"""
COMPLETING = """\
import sys
known = set(sys.modules)
from gitticks.cli.completion.offers import complete
code = complete("bash", sys.argv[1:], lambda: sys.exit("click was asked"))
sys.stdout.flush()
print(code, *sorted(set(sys.modules) - known), file=sys.stderr)
"""
THROUGH_CLICK = """\
import sys
from gitticks.cli.app import run
code = run(sys.argv[1:])
print(code, *sorted(sys.modules), file=sys.stderr)
"""
ASKING = """\
import runpy, sys
try:
    runpy.run_module("gitticks", run_name="__main__", alter_sys=True)
except SystemExit:
    print(0, *sorted(sys.modules), file=sys.stderr)
"""


def loaded(program: str, words: list[str], at: Path) -> list[str]:
    """Returns the modules that a call has loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *words],
        cwd=at,
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    code, *modules = done.stderr.splitlines()[-1].split()
    assert code == "0"
    return modules


def warm_queue(path: Path) -> Path:
    """Makes a repository with tasks of all sorts and a board, whose index is up to date; `c0de` has a past."""
    create_board(make_queue(path).repository)
    assert gt("update", "c0de", "-p", "1", at=path).code == 0
    assert gt("list", at=path).code == 0
    return path


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["next"], frozenset()),
        (["next", "e0pc"], frozenset()),
        (["next", "--json"], frozenset()),
        (["next", "--awaiting"], frozenset()),
        (["list"], frozenset()),
        (["list", "--all", "--label", "auth", "--agent=codex"], frozenset()),
        (["list", "--json"], frozenset()),
        (["list", "--status", "done"], frozenset()),
        (["list", "--awaiting", "review"], frozenset()),
        (["ready"], frozenset()),
        (["ready", "--json"], frozenset()),
        (["graph"], frozenset()),
        (["board"], frozenset()),
        (["graph", "e0pc", "--all"], frozenset()),
        (["show", "k7f2"], frozenset()),
        (["show", "c0de"], HISTORY),
        (["tree"], TEXT),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_loaded_before_click_is_on_the_list(
    tmp_path: Path, words: list[str], more: frozenset[str]
) -> None:
    modules = loaded(BEFORE_CLICK, words, warm_queue(tmp_path))
    foreign = {name.partition(".")[0] for name in modules} - {"encodings", "gitticks"}
    assert foreign - LIGHT - more == set()
    assert HEAVY.isdisjoint(modules)
    own = {name.split(".")[1] for name in modules if name.startswith("gitticks.")}
    derived = {"workflow"} if "--json" in words else set()  # the state of a session, which is JSON's alone
    assert own - OURS[words[0]] - derived - ({"document"} if more else set()) == set()
    assert SELDOM.isdisjoint(modules)


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["show", ""], frozenset()),
        (["approve", "r"], frozenset()),
        (["update", "k7f2", "--parent", "e"], frozenset()),
        (["list", "--status", "w"], frozenset()),
        (["list", "--awaiting", "w"], frozenset()),
        (["list", "--label", ""], TEXT),
        (["run", "--agent", "c"], frozenset({"_stat"})),
        (["appr"], frozenset()),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_loaded_to_complete_a_word_is_on_the_list(
    tmp_path: Path, words: list[str], more: frozenset[str]
) -> None:
    warm_queue(tmp_path)
    modules = loaded(COMPLETING, words, tmp_path)
    foreign = {name.partition(".")[0] for name in modules} - {"encodings", "gitticks"}
    assert foreign - LIGHT - more == set()
    assert SELDOM.isdisjoint(modules)


@pytest.mark.parametrize(
    "words",
    [
        ["next"],
        ["list", "--awaiting", "--json"],
        ["search", "tone"],
        ["ready", "--json"],
        ["show", "k7f2", "--json"],
        ["log", "k7f2"],
        ["path", "k7f2"],
        ["current"],
        ["stats"],
        ["show", "m3xq"],
    ],
    ids=" ".join,
)
def test_by_way_of_click_too_a_warm_index_spares_all_that_is_heavy(tmp_path: Path, words: list[str]) -> None:
    assert HEAVY.isdisjoint(loaded(THROUGH_CLICK, words, warm_queue(tmp_path)))


def test_an_inbox_asks_git_who_you_are_only_where_it_names_a_reviewer(tmp_path: Path) -> None:
    warm_queue(tmp_path)
    assert HEAVY.intersection(loaded(THROUGH_CLICK, ["inbox"], tmp_path)) == {"subprocess"}
    assert gt("update", "m3xq", "--reviewer", "", at=tmp_path).code == 0
    assert gt("list", at=tmp_path).code == 0
    assert HEAVY.isdisjoint(loaded(THROUGH_CLICK, ["inbox"], tmp_path))


SELDOM_IN_CHANGES = frozenset(
    {
        "gitticks.actions.saved_edits", "gitticks.actions.sync", "gitticks.document.settings",
        "gitticks.board.notes", "gitticks.board.edits",
        "gitticks.store.settings", "gitticks.store.sharing", "jinja2", "markdown_it", "pygit2", "rich",
        "ruamel", "watchfiles",
    }
)  # fmt: skip
"""What a change of a task needs only where something was saved, shared, merged or set; git reads and writes for it."""


@pytest.mark.parametrize(
    "words",
    [
        ["create", "One more"],
        ["update", "k7f2", "-p", "0"],
        ["note", "k7f2", "Seen."],
        ["block", "k7f2", "m3xq"],
    ],
    ids=lambda words: words[0],
)
def test_a_change_loads_nothing_that_it_seldom_needs(tmp_path: Path, words: list[str]) -> None:
    assert SELDOM_IN_CHANGES & set(loaded(THROUGH_CLICK, words, warm_queue(tmp_path))) == set()


SELDOM_IN_HOOKS = frozenset(
    {
        "gitticks.document.merging.task", "gitticks.document.settings", "gitticks.model.settings",
        "gitticks.store.decisions", "gitticks.workflow.decide", "jinja2", "markdown_it", "pygit2", "rich", "ruamel",
    }
)  # fmt: skip
"""What a commit on the board needs only where a status, a verdict, settings or a merge is in it."""


@pytest.mark.parametrize("name", ["pre-commit", "post-commit", "post-checkout"])
def test_a_hook_loads_nothing_that_a_commit_of_text_does_not_need(tmp_path: Path, name: str) -> None:
    board = warm_queue(tmp_path) / BOARD_FOLDER
    file = board / task_path(TaskId("k7f2"))
    file.write_text(file.read_text() + "\nMore text.\n")
    git("add", ".", at=board)
    if name == "post-commit":
        git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", "text", at=board)
    assert SELDOM_IN_HOOKS & set(loaded(THROUGH_CLICK, ["hook", name], board)) == set()


def test_what_clients_call_before_each_use_of_a_tool_loads_nothing_else_of_ours(tmp_path: Path) -> None:
    modules = loaded(ASKING, ["hook", "permission", "claude", "none.sock"], tmp_path)
    ours = {name for name in modules if name.split(".")[0] == "gitticks"}
    assert ours == {"gitticks", "gitticks.cli", "gitticks.cli.permission_hook"}
