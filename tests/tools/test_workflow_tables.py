from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.workflow.transitions import ENGINE_TABLE, TABLE
from tools import workflow_tables

PAGE = "# Page\n\n" + "\n".join(
    f"<!-- table: {name} -->\nold\n<!-- end -->\n" for name in workflow_tables.TABLES
)


def test_every_row_of_the_code_is_a_line_of_the_page() -> None:
    assert len(workflow_tables.transitions().splitlines()) == len(TABLE) + 2
    assert len(workflow_tables.engine_transitions().splitlines()) == len(ENGINE_TABLE) + 2
    assert (
        "| `working` | `agent-review` | `## Handoff` of this round, and the checks pass | worker, human, engine |\n"
        in workflow_tables.transitions()
    )


def test_verdicts_and_signals_say_what_they_lead_to() -> None:
    assert "| back to the agent | cancelled |" in workflow_tables.verdicts()
    assert (
        "| `CONTENT_REVIEW` | the work is ready; asks for agent-review, and a person is asked for content |"
        in workflow_tables.signals()
    )


def test_only_what_stands_between_the_markers_is_replaced() -> None:
    page = workflow_tables.with_tables(PAGE)
    assert page.startswith("# Page\n\n<!-- table: ")
    assert "\nold\n" not in page
    assert workflow_tables.with_tables(page) == page


def test_a_page_that_leaves_a_table_out_is_refused() -> None:
    with pytest.raises(ValueError, match="should have"):
        workflow_tables.with_tables("<!-- table: statuses -->\n<!-- end -->\n")


def test_a_page_is_current_once_it_is_written_and_stale_after_a_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "workflow.md"
    page.write_text(PAGE)
    arguments = ["--page", str(page)]
    assert workflow_tables.main(arguments) == 1
    assert "hint: make docs" in capsys.readouterr().err
    assert workflow_tables.main([*arguments, "--write"]) == 0
    assert workflow_tables.main(arguments) == 0
    page.write_text(page.read_text().replace("worker", "helper"))
    assert workflow_tables.main(arguments) == 1
