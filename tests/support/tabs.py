"""A tab of Debian's chromium, driven by its debug protocol: for pages that only live with a server."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.browsers import FLAGS
from tests.support.waiting import LONGEST_SECONDS, until

_ONLY_HERE = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
"""Of two such flags the last one counts."""


class Tab:
    """A page in a browser without a window; `requests` are the addresses that it asked for, `frames` what its socket got."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self.requests: list[str] = []
        self.frames: list[bytes] = []

    async def listen(self) -> None:
        """Takes what the browser says, until it ends."""
        async for message in self._socket:
            said = json.loads(message.data)
            if "id" in said:
                self._answers.pop(said["id"]).set_result(said.get("result", {}))
            elif said["method"] == "Network.requestWillBeSent":
                self.requests.append(said["params"]["request"]["url"])
            elif said["method"] == "Network.webSocketCreated":
                self.requests.append(said["params"]["url"])
            elif said["method"] == "Network.webSocketFrameReceived":
                self.frames.append(_payload(said["params"]["response"]))

    async def call(self, method: str, **parameters: Any) -> Any:
        """Asks the browser for something."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        answer = self._answers[number]
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        return await asyncio.wait_for(answer, LONGEST_SECONDS)

    async def open(self, address: str) -> None:
        """Goes to an address."""
        await self.call("Network.enable")
        await self.call("Page.enable")
        await self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        await self.call("Page.navigate", url=address)

    async def press(self, key: str) -> None:
        """Types one character."""
        await self.call("Input.dispatchKeyEvent", type="keyDown", text=key, key=key)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def value(self, expression: str) -> Any:
        """Returns what JavaScript in the page comes to."""
        found = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return found.get("result", {}).get("value")

    @property
    def seen(self) -> str:
        """Returns all that the page's socket got, as text."""
        return b"".join(self.frames).decode("utf-8", "replace")

    async def until(self, is_so: Callable[[], Awaitable[bool]], what: str) -> None:
        """Waits for something that the browser brings about."""
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                while not await is_so():  # noqa: ASYNC110 (it is another process that brings it about)
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"{what} never came: {self.seen[-2_000:]!r}") from None

    async def until_seen(self, text: str) -> None:
        """Waits until the page's socket got a text."""

        async def is_seen() -> bool:
            return text in self.seen

        await self.until(is_seen, text)


def _payload(response: dict[str, Any]) -> bytes:
    data = response["payloadData"]
    return base64.b64decode(data) if response["opcode"] == 2 else str(data).encode()


@contextlib.contextmanager
def browser(scratch: Path) -> Iterator[int]:
    """Yields the port of a browser's debug protocol; `scratch` is a folder for what it writes."""
    profile = scratch / "profile"
    running = subprocess.Popen(
        [
            "chromium",
            *FLAGS,
            _ONLY_HERE,
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            "about:blank",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        file = profile / "DevToolsActivePort"
        until(lambda: file.exists() and file.read_text().strip(), "the browser's port")
        yield int(file.read_text().splitlines()[0])
    finally:
        running.terminate()
        running.wait(LONGEST_SECONDS)


@contextlib.asynccontextmanager
async def open_tab(port: int) -> AsyncIterator[Tab]:
    """Yields the first tab of a browser."""
    async with aiohttp.ClientSession() as session:
        pages: list[dict[str, str]] = []
        async with asyncio.timeout(LONGEST_SECONDS):
            while not pages:  # the port is there before the tab is
                async with session.get(f"http://127.0.0.1:{port}/json") as listed:
                    pages = [one for one in await listed.json() if one["type"] == "page"]
        async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            tab = Tab(socket)
            listening = asyncio.create_task(tab.listen())
            yield tab
            listening.cancel()
