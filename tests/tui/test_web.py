"""`gt --web`: who may come in, and the interface in a browser that loads nothing from elsewhere."""

from __future__ import annotations

import asyncio
import http.client
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.tui.web import Door, serve
from tests.cli.support import command
from tests.support.projects import Project, make_project
from tests.support.tabs import browser, open_tab
from tests.support.waiting import LONGEST_SECONDS


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


OUR_HOST = "127.0.0.1:8000"
OUR_PAGE = f"http://{OUR_HOST}"
SOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==",
}


@pytest.mark.parametrize(
    ("path", "host", "origin", "is_socket", "said"),
    [
        ("/secret/", OUR_HOST, None, False, None),
        ("/secret/static/js/textual.js", OUR_HOST, OUR_PAGE, False, None),
        ("/secret/ws", OUR_HOST, OUR_PAGE, True, None),
        ("/secret/ws", OUR_HOST, None, True, "origin"),
        ("/secret/ws", OUR_HOST, "null", True, "another page"),
        ("/secret/ws", OUR_HOST, "http://evil.example", True, "another page"),
        ("/secret/ws", OUR_HOST, "http://127.0.0.1:8001", True, "another page"),
        ("/secret/", "evil.example:8000", None, False, "another host"),
        ("/secret/", "", None, False, "another host"),
        ("/", OUR_HOST, None, False, "token"),
        ("/secre/", OUR_HOST, None, False, "token"),
        ("/secrets/", OUR_HOST, None, False, "token"),
        ("/\udcff/", OUR_HOST, None, False, "token"),
        ("//secret/", OUR_HOST, None, False, "token"),
    ],
)
def test_door(path: str, host: str, origin: str | None, is_socket: bool, said: str | None) -> None:
    refusal = Door(8000, "secret").refusal(path, host, origin, is_socket=is_socket)
    assert refusal is None if said is None else said in (refusal or "")


@contextmanager
def served(at: Path) -> Iterator[str]:
    """Yields the address that `gt --web` prints, while it serves."""
    process = subprocess.Popen(command("--web"), cwd=at, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(LONGEST_SECONDS)
        process.stdout.close()


def status_of(address: str, path: str = "", headers: dict[str, str] | None = None) -> int:
    """Returns how a plain request is answered; `path` takes the place of the address's own."""
    _, _, host, own = address.split("/", 3)
    connection = http.client.HTTPConnection(host, timeout=LONGEST_SECONDS)
    connection.request("GET", path or f"/{own}", headers=headers or {})
    status = connection.getresponse().status
    connection.close()
    return status


def test_refused_requests(project: Project) -> None:
    with served(project.path) as address:
        token = address.rstrip("/").rpartition("/")[2]
        assert len(token) >= 32
        assert status_of(address) == 200
        assert status_of(address, "/") == 403
        assert status_of(address, "/ws", SOCKET | {"Origin": "http://" + address.split("/")[2]}) == 403
        assert status_of(address, f"/{token}/ws", SOCKET) == 403
        assert status_of(address, f"/{token}/ws", SOCKET | {"Origin": "http://evil.example"}) == 403
        assert status_of(address, headers={"Host": "evil.example"}) == 403
        assert status_of(address, headers={"Origin": "http://evil.example"}) == 403
        assert status_of(address, f"/{token}/ws") == 426


@pytest.mark.debian("chromium")
def test_in_a_browser(project: Project, tmp_path: Path) -> None:
    project.make("k7f2", title="Keep the path")
    with served(project.path) as address, browser(tmp_path) as port:
        requests = asyncio.run(walk_through(address, port))
    foreign = [
        one for one in requests if not one.startswith((address, address.replace("http://", "ws://"), "data:"))
    ]
    assert requests
    assert foreign == []


async def walk_through(address: str, port: int) -> list[str]:
    """Opens the interface, goes to the graph, leaves it, and returns all addresses that were asked for."""
    async with open_tab(port) as tab:

        async def is_closed() -> bool:
            return bool(await tab.value("document.body.classList.contains('-closed')"))

        await tab.open(address)
        await tab.until_seen("Nothing is waiting")
        await tab.press("g")
        await tab.until_seen("No task waits")
        await tab.press("q")
        await tab.until(is_closed, "the end of the session")
        return tab.requests


@pytest.mark.parametrize("lacking", ["aiohttp.web", "textual_serve.server"])
def test_what_the_browser_lacks_is_named_as_the_readme_installs_it(
    monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    monkeypatch.setitem(sys.modules, lacking, None)
    with pytest.raises(GitticksError, match="packages that are not installed") as caught:
        serve()
    assert caught.value.hint == "`pipx inject gitticks textual-serve`"


def test_why_a_port_cannot_be_used_is_said() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(
            GitticksError, match=f"port {port} of this machine cannot be used: address already"
        ):
            serve(port)
