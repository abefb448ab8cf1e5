from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.document.settings_table import SETTINGS
from tools import settings_reference


def test_the_page_has_a_line_for_each_setting_and_one_heading_for_each_group() -> None:
    page = settings_reference.page_of(SETTINGS)
    assert all(page.count(f"\n| `{setting.name}` |") == 1 for setting in SETTINGS)
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert len(headings) == len(set(headings))


def test_a_line_says_what_a_setting_holds_its_default_and_its_rule() -> None:
    page = settings_reference.page_of(SETTINGS)
    assert "| `limits.idle` | a time such as 30m | `10m` |" in page
    assert "| `human` | one of always, when-required | `always` |" in page
    assert "*merged by rule*" in next(line for line in page.splitlines() if "| `human` |" in line)


def test_notes_are_on_settings_that_exist() -> None:
    assert set(settings_reference.NOTES) <= {setting.name for setting in SETTINGS}


def test_a_page_is_current_once_it_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--page", str(tmp_path / "settings.md")]
    assert settings_reference.main(arguments) == 1
    assert "hint: make docs" in capsys.readouterr().err
    assert settings_reference.main([*arguments, "--write"]) == 0
    assert settings_reference.main(arguments) == 0
