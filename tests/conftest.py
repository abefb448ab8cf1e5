"""The seal around every test: nothing of the machine's own git, user, clock zone, editor or network gets in."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import prepared
from tests.support.doses import IS_FULL
from tests.support.sealing import seal_libgit2
from tests.support.soundness import unsound_repositories
from tests.support.waiting import LONGEST_SECONDS

ROOT = Path(__file__).resolve().parent.parent
END_TO_END = ROOT / "tests/end_to_end"
"""Where agents run in the sandbox that users get by default, if there is one; elsewhere it would only cost time."""
KEPT_VARIABLES = frozenset(
    {
        "GITTICKS_DOSE",
        "GITTICKS_FIGURES",
        "GITTICKS_GIT_BACKEND",
        "GITTICKS_TEST_HASH",
        "GITTICKS_TEST_REFS",
        "GITTICKS_TEST_SANDBOX",
        "GITTICKS_REQUIRE_PROGRAMS",
        "GITTICKS_SAMPLES",
    }
)
FOREIGN_PREFIXES = (
    "GIT_",
    "GITTICKS_",
    "XDG_",
    "SSH_",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "PYTEST_XDIST",
    "PYTHONUNBUFFERED",
)
HOME_CONFIG = """\
[user]
\tname = Ada Lovelace
\temail = ada@example.org
[init]
\tdefaultBranch = main
[advice]
\tdetachedHead = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[protocol "file"]
\tallow = always
"""

settings.register_profile(
    "gitticks",
    max_examples=2000 if IS_FULL else 25,
    derandomize=not IS_FULL,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
    print_blob=True,
)
settings.load_profile("gitticks")
"""Nothing here looks at a clock. The everyday dose draws the same examples each time; the full one draws others, and a
failure prints the line that repeats it."""


@pytest.fixture(autouse=True, scope="session")
def sealed_from_the_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Seals what fixtures do that are made before any test's own seal, those of modules; gives the folder of homes.

    They lie in a folder of their own, since pytest looks at all that lies beside a test's folder before it makes it.

    Ctrl-C counts again where whoever started the tests in the background has switched it off: what the tests start
    inherits that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as monkeypatch:
        homes = tmp_path_factory.mktemp("homes")
        _seal(_new_home(homes), monkeypatch)
        prepared.offer(tmp_path_factory.mktemp("prepared"))
        yield homes


@pytest.fixture(autouse=True, scope="session")
def unhurried(sealed_from_the_start: Path) -> Iterator[None]:
    """Takes away the limits that a slow machine would reach in tests of other things."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for limit in (
            "actions.inbox.MOST_SECONDS",
            "actions.run_requests._TAKEN_SECONDS",
            "actions.showing.MOST_SECONDS",
            "actions.sync_auto.LONGEST_SECONDS",
            "agents.registry._VERSION_SECONDS",
            "store.claims._TIMEOUT_SECONDS",
        ):
            monkeypatch.setattr(f"gitticks.{limit}", LONGEST_SECONDS)
        yield


@pytest.fixture(autouse=True)
def sealed(
    request: pytest.FixtureRequest,
    sealed_from_the_start: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    """Gives the test a home of its own, with an identity in its git config, and nothing else from outside.

    Nor from the test before: it begins in the top folder, and the mask for new files, which repositories that are
    shared set, is taken back.
    """
    _seal(_new_home(sealed_from_the_start), monkeypatch)
    is_usual = END_TO_END in request.path.parents and shutil.which("bwrap") is not None
    is_walled = is_usual or "GITTICKS_TEST_SANDBOX" in os.environ
    if not is_walled or request.node.get_closest_marker("without_sandbox") is not None:
        monkeypatch.setenv("GITTICKS_CONFIG_SANDBOX_PRESET", "none")
    monkeypatch.chdir(ROOT)
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def sound_repositories(request: pytest.FixtureRequest, sealed: None) -> Iterator[None]:
    """Has git check, once the test and all that it started are over, every repository of gitticks that it leaves."""
    top: Path | None = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    if top is not None and request.node.get_closest_marker("damages") is None:
        assert unsound_repositories(top) == {}


def _new_home(homes: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix="home", dir=homes))


def _seal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(FOREIGN_PREFIXES) and name not in KEPT_VARIABLES:
            monkeypatch.delenv(name)
    (home / ".gitconfig").write_text(HOME_CONFIG)
    values = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "EDITOR": "false",
        "VISUAL": "false",
        "PAGER": "cat",
        "TERM": "dumb",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONPATH": os.pathsep.join(
            dict.fromkeys(filter(None, [str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]))
        ),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for asked, variable in (
        ("HASH", "GIT_DEFAULT_HASH"),  # of the repositories that the tests make
        ("REFS", "GIT_DEFAULT_REF_FORMAT"),
        ("SANDBOX", "GITTICKS_CONFIG_SANDBOX_PRESET"),
    ):
        if f"GITTICKS_TEST_{asked}" in os.environ:
            values[variable] = os.environ[f"GITTICKS_TEST_{asked}"]
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    seal_libgit2(home)
    monkeypatch.setattr(socket.socket, "connect", _connect_on_this_machine)


_connect = socket.socket.connect


def _connect_on_this_machine(self: socket.socket, address: object) -> None:
    """Connects only to unix sockets and the loopback interface."""
    remote = self.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple)
    if remote and address[0] not in ("127.0.0.1", "::1", "localhost"):  # type: ignore[index]
        raise PermissionError(f"a test tried to reach {address!r}")
    _connect(self, address)  # type: ignore[arg-type]
