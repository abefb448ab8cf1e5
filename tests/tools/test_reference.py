from __future__ import annotations

from pathlib import Path

import click
import pytest

from tools import reference


@click.group()
def toy() -> None:
    """Keeps toys."""


@toy.command()
@click.option("--colour", help="Which one.")
def paint(colour: str) -> None:
    """Paints a toy."""


@toy.command(hidden=True)
def secret() -> None:
    """Is nobody's business."""


NAME = f"{__name__}:toy"


def test_the_page_holds_the_help_of_every_command_but_hidden_ones() -> None:
    page = reference.page_of(toy, "gt")
    assert [line for line in page.splitlines() if line.startswith("## ")] == ["## gt", "## gt paint"]
    assert "Usage: gt paint [OPTIONS]" in page
    assert "Which one." in page
    assert "secret" not in page


def test_the_page_says_what_a_call_prints() -> None:
    page = reference.page_of(reference.load(reference.APPLICATION), "gt")
    section = page.partition("\n## gt path\n\n```text\n")[2]
    assert section.splitlines()[0] == '  $EDITOR "$(gt path k7f2)"'
    assert "  -h, --help  Show this message and exit.\n```" in section


def test_a_page_is_current_once_it_is_written_and_stale_after_a_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "commands.md"
    arguments = ["--application", NAME, "--page", str(page)]
    assert reference.main(arguments) == 1
    assert "hint: make docs" in capsys.readouterr().err
    assert reference.main([*arguments, "--write"]) == 0
    assert reference.main(arguments) == 0
    page.write_text(page.read_text().replace("Paints", "Daubs"))
    assert reference.main(arguments) == 1


def test_the_page_has_the_other_names_of_commands() -> None:
    assert "\nOther names: `add` (create), " in reference.page_of(toy, "gt").partition("\n## ")[0]


def test_what_is_no_command_is_refused() -> None:
    with pytest.raises(TypeError, match="no click command"):
        reference.load("tools.reference:main")
