from __future__ import annotations

from pathlib import Path

import pytest

from tools.site import foreign_fetches, github_slug, navigation, pages, stage

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("What it is", "what-it-is"),
        ("tasks/<xx>/<id>/TASK.md", "tasksxxidtaskmd"),
        ("gt run --auto", "gt-run---auto"),
    ],
)
def test_anchors_are_those_of_github(heading: str, anchor: str) -> None:
    assert github_slug(heading, "-") == anchor


def test_every_page_has_its_place_and_every_link_its_file(tmp_path: Path) -> None:
    shown = str(navigation())
    assert [page for page in pages() if f"'{page}'" not in shown] == []
    assert stage(tmp_path) == []
    assert "](../../tests/" not in "".join(one.read_text("utf-8") for one in tmp_path.rglob("*.md"))


def test_what_comes_from_another_host_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="https://example.org">x</a><img src="a.svg"><link href="b.css"><script src="//example.org/x.js">'
    )
    assert len(list(foreign_fetches(tmp_path))) == 1
