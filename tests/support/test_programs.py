from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """\
import pytest

@pytest.mark.debian("nonesuch-tools", program="nonesuch")
def test_with_a_program_that_is_missing():
    pass

@pytest.mark.debian("git")
def test_with_a_program_that_is_there():
    pass
"""


def run(folder: Path, *arguments: str, module: str = MODULE) -> subprocess.CompletedProcess[str]:
    """Runs pytest with the plugin, and nothing else of this project, on one module."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    debian(package): needs a program\n")
    (folder / "test_module.py").write_text(module)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.support.programs",
        "-p",
        "no:cacheprovider",
        *arguments,
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_missing_program_skips_its_test_and_the_end_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.delenv("GITTICKS_REQUIRE_PROGRAMS", raising=False)
    done = run(tmp_path, *workers)
    assert done.returncode == 0
    assert "1 tests did not run; to run them: apt-get install nonesuch-tools" in done.stdout
    assert "1 passed, 1 skipped" in done.stdout


def test_a_missing_program_fails_its_test_where_programs_are_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITTICKS_REQUIRE_PROGRAMS", "1")
    done = run(tmp_path)
    assert done.returncode == 1
    assert "`nonesuch` is not on PATH: apt-get install nonesuch-tools" in done.stdout
    assert "1 passed, 1 error" in done.stdout


def test_the_packages_can_be_listed_without_running_a_test(tmp_path: Path) -> None:
    done = run(tmp_path, "--debian-packages")
    assert done.returncode == 0
    listed = [line for line in done.stdout.splitlines() if line.startswith("debian: ")]
    assert listed == ["debian: git", "debian: nonesuch-tools"]
    assert "passed" not in done.stdout


def test_a_marker_that_names_no_package_stops_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, module=MODULE.replace('"git"', "program=7"))
    assert done.returncode != 0
    assert "`debian` takes a package and `program=`" in done.stdout + done.stderr
