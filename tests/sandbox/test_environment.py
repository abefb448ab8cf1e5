"""What of the runner's environment a sandbox shows."""

from __future__ import annotations

import pytest

from gitticks.model.settings import SandboxPreset, SandboxSettings
from gitticks.sandbox.enclosure import Enclosure
from gitticks.sandbox.walls import walls_of

WITH_PASSWORD = "https://ada:" + "hunter2secret@pypi.example.org/simple"


@pytest.mark.parametrize(
    ("name", "value", "is_kept"),
    [
        ("EDITOR", "vi", True),
        ("PWD", "/home/ada", True),
        ("GIT_AUTHOR_NAME", "Ada", True),
        ("PIP_INDEX_URL", "https://pypi.example.org/simple", True),
        ("PIP_INDEX_URL", WITH_PASSWORD, False),
        ("ANYTHING", "gh" + "p_q7Zp3LxVb9TnR2kWm8Jd5HsYf4Gc6Ea1UoNi", False),
        ("MYSQL_PWD", "x", False),
        ("REDISCLI_AUTH", "x", False),
        ("BORG_PASSPHRASE", "x", False),
        ("SHOP_API_KEY", "x", False),
        ("MYSQL_ROOT_PASS", "x", False),
        ("PASS", "x", False),
        ("APP_AUTH_HEADER", "x", False),
        ("DSN", "x", False),
        ("PASS_FILE", "/run/pass", True),
        ("AWS_PROFILE", "x", False),
        ("HTTPS_PROXY", "http://proxy:3128", False),
        ("CLIENT_KEY", WITH_PASSWORD, True),  # the client's own
    ],
)
def test_what_looks_secret_is_left_out(name: str, value: str, is_kept: bool) -> None:
    walls = walls_of(SandboxSettings(SandboxPreset.STRICT))
    assert walls is not None
    shown = Enclosure(walls, (), {}, ("CLIENT_",)).environment({name: value})
    assert (name in shown) is is_kept
