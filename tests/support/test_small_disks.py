"""Only a machine that allows no mounts skips a test of a small disk; everything else that goes wrong fails it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.agents import write_program
from tests.support.programs import REQUIRED_VARIABLE
from tests.support.small_disks import _refusal, _unshare


@pytest.mark.parametrize(
    "words", ["unshare: unshare failed: Operation not permitted", "mount: /mnt: permission denied."]
)
def test_what_the_kernel_refuses_is_reported(tmp_path: Path, words: str) -> None:
    write_program(tmp_path / "unshare", f'echo "{words}" >&2; exit 1\n')
    assert _refusal((str(tmp_path / "unshare"),)) == words


def test_any_other_failure_of_the_probe_fails_the_test(tmp_path: Path) -> None:
    write_program(tmp_path / "unshare", 'echo "unknown option" >&2; exit 1\n')
    with pytest.raises(pytest.fail.Exception, match="unknown option"):
        _refusal((str(tmp_path / "unshare"),))


def test_where_programs_are_required_a_refusal_fails_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(tmp_path / "unshare", 'echo "Operation not permitted" >&2; exit 1\n')
    refused = (str(tmp_path / "unshare"),)
    monkeypatch.setattr("tests.support.small_disks._USER", refused)
    monkeypatch.setattr("tests.support.small_disks._ROOT", refused)
    monkeypatch.delenv(REQUIRED_VARIABLE, raising=False)
    with pytest.raises(pytest.skip.Exception, match="allows nobody here a mount"):
        _unshare()
    monkeypatch.setenv(REQUIRED_VARIABLE, "1")
    with pytest.raises(pytest.fail.Exception, match="allows nobody here a mount"):
        _unshare()
