"""`gt demo`, whole: every task of it goes its way to the base without a model and without a hand."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.support import gt_process
from tests.support.repositories import fsck_problems, git


def test_the_whole_demo_runs_to_its_end(tmp_path: Path) -> None:
    place = tmp_path / "till"
    ran = gt_process("demo", "--yes", "--dir", str(place), at=tmp_path)
    assert ran.code == 0, ran.seen
    assert "review  FAIL by script, back to work" in re.sub(" +", " ", ran.out).replace(
        "review FAIL", "review  FAIL"
    )
    assert "asks" in ran.out
    assert ran.out.count("✓") >= 5
    assert "stuck" not in ran.out
    assert fsck_problems(place) == ""
    assert git("status", "--porcelain", at=place) == ""
    merged = git("log", "--first-parent", "--format=%s", "main", at=place).splitlines()
    assert sum(subject.startswith("Merge ") for subject in merged) == 5
    assert not list((place / ".git/gitticks/sessions").glob("*.json"))


def test_without_yes_it_stops_where_a_person_is_asked(tmp_path: Path) -> None:
    place = tmp_path / "my till"
    ran = gt_process("demo", "--dir", str(place), at=tmp_path)
    assert ran.code == 3
    assert "it is your turn:" in ran.out
    assert f"  cd '{place}'\n" in ran.out
    assert re.search(r"^  gt (respond|approve) ", ran.out, re.MULTILINE)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    ran = gt_process("demo", "--dir", str(tmp_path), at=tmp_path)
    assert (ran.code, "is not empty" in ran.err) == (1, True)
