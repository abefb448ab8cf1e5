from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.sandbox.machine import read_machine


@pytest.mark.debian("bubblewrap", program="bwrap")
def test_what_cannot_be_looked_at_is_no_secret_to_hide(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    path = {"PATH": os.environ["PATH"]}
    assert tmp_path / ".ssh" in read_machine({**path, "HOME": str(tmp_path)}).secrets
    # As /root/.ssh for everybody but root, the names below this one cannot even be asked for.
    assert read_machine({**path, "HOME": f"/{'x' * 300}"}).home.name.startswith("x")
