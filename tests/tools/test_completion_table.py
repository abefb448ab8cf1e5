from __future__ import annotations

from gitticks.cli.completion.table import TABLE
from tools import completion_table


def test_the_table_is_what_the_commands_say() -> None:
    assert completion_table.main([]) == 0


def test_it_tells_arguments_and_flags_that_take_a_value() -> None:
    assert TABLE["merge"] == ("task*", "")
    assert TABLE["import"] == ("ticks|beads|backlog|github file", "")
    assert TABLE["completion"] == ("bash|zsh|fish", "")
    assert TABLE["note"] == ("task -", "--file=file --from=human|agent")
    assert "worktree clean" in TABLE
