from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gitticks.actions.init import test_command as command_of
from tests.cli.support import gt
from tests.support.repositories import make_repository


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, None),
        ({"Makefile": "all:\n\ntest: all\n\techo\n"}, "make test"),
        ({"Makefile": "check:\n", "Cargo.toml": ""}, "make check"),
        ({"Makefile": "test := x\n"}, None),
        ({"Cargo.toml": "[package]"}, "cargo test"),
        ({"go.mod": "module x"}, "go test ./..."),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, None),
        ({"package.json": "[broken"}, None),
        ({"tox.ini": "[tox]", "pyproject.toml": "pytest"}, "tox"),
        ({"pyproject.toml": "[tool.pytest.ini_options]"}, "python -m pytest"),
        ({"tests/test_it.py": ""}, "python -m pytest"),
        ({"tests/it.spec": ""}, None),
    ],
)
def test_files_tell_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], command: str | None
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert command_of(tmp_path) == command


def test_without_python_it_is_python3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "pytest.ini").write_text("")
    assert command_of(tmp_path) == "python3 -m pytest"


def test_init_proposes_it(tmp_path: Path) -> None:
    make_repository(tmp_path)
    (tmp_path / "go.mod").write_text("module x\n")
    ran = gt("init", at=tmp_path)
    assert "; your project seems to use `go test ./...`\n" in ran.out
    assert '`gt config verify.test "go test ./..."`' in ran.err
