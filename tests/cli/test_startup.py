"""What reading commands load: each heavy library would cost more than the whole answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.store.board import create_board
from tests.cli.support import gt
from tests.support.stores import make_queue

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
PROGRAM = """\
import sys
from gitticks.cli.app import run
code = run(sys.argv[1:])
print(code, *sorted(sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["next"],
        ["next", "--awaiting"],
        ["list"],
        ["list", "--all"],
        ["list", "--awaiting", "--json"],
        ["ready"],
        ["ready", "--json"],
        ["show", "k7f2"],
        ["show", "k7f2", "--json"],
        ["log", "k7f2"],
        ["path", "k7f2"],
        ["current"],
    ],
)
def test_a_reading_command_with_a_warm_index_loads_nothing_heavy(tmp_path: Path, words: list[str]) -> None:
    create_board(make_queue(tmp_path).repository)
    assert gt("list", at=tmp_path).code == 0
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    code, *modules = done.stderr.splitlines()[-1].split()
    assert code == "0"
    assert HEAVY.isdisjoint(modules)
