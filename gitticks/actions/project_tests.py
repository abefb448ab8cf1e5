"""Guesses a project's test command from its files; runs nothing."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from gitticks.safe_read import read_plain_text

_MAKE_TARGET = re.compile(r"^(test|check):(?!=)", re.MULTILINE)


def test_command(project: Path) -> str | None:
    """Returns the command; None where no file names one.

    A make target comes first: a person wrote it for just that.
    """
    make = next(
        (name for name in ("Makefile", "GNUmakefile", "makefile") if (project / name).is_file()), None
    )
    target = _MAKE_TARGET.search(_text(project / make)) if make else None
    if target is not None:
        return f"make {target[1]}"
    if (project / "Cargo.toml").is_file():
        return "cargo test"
    if (project / "go.mod").is_file():
        return "go test ./..."
    if _has_npm_test(project):
        return "npm test"
    if (project / "tox.ini").is_file() or "[tool.tox]" in _text(project / "pyproject.toml"):
        return "tox"
    if not _has_pytest(project):
        return None
    return "python -m pytest" if shutil.which("python") else "python3 -m pytest"  # Debian has no `python`


def _has_npm_test(project: Path) -> bool:
    try:
        package = json.loads(_text(project / "package.json"))
    except ValueError:
        return False
    scripts = package.get("scripts") if isinstance(package, dict) else None
    text = scripts.get("test") if isinstance(scripts, dict) else None
    return isinstance(text, str) and "no test specified" not in text  # what `npm init` writes


def _has_pytest(project: Path) -> bool:
    if (project / "pytest.ini").is_file() or "[tool:pytest]" in _text(project / "setup.cfg"):
        return True
    if "pytest" in _text(project / "pyproject.toml"):
        return True
    folder = project / "tests"
    return folder.is_dir() and any(folder.glob("test_*.py"))


def _text(path: Path) -> str:
    try:
        return read_plain_text(path)
    except (OSError, ValueError):
        return ""
