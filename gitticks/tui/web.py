"""`gt --web`: the interface in a browser on this machine, behind an address that nobody can guess.

textual-serve asks nobody who they are. So it listens on the loopback address alone, everything is below a random
token, and requests that name another host, or come from a page of another origin, are refused: a page that a person
visits meanwhile can reach the port, but neither knows the token nor speaks for this origin.
"""

from __future__ import annotations

import hmac
import secrets
import shlex
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.safe_read import reason_of

if TYPE_CHECKING:
    from aiohttp import web
    from aiohttp.typedefs import Handler

LOOPBACK = "127.0.0.1"
_TOKEN_BYTES = 24
_SHUTDOWN_SECONDS = 2.0
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Door:
    """Who may come in: requests to our own host and port, from our own page, with the token in their path."""

    def __init__(self, port: int, token: str) -> None:
        self.host = f"{LOOPBACK}:{port}"
        self.token = token

    def refusal(self, path: str, host: str, origin: str | None, *, is_socket: bool) -> str | None:
        """Returns why a request for a path is refused; None for one that may come in.

        `host` is whom it believes to speak to, `origin` the page that it comes from, as far as its browser says.
        Browsers let any page open a websocket, but always with its origin.
        """
        if host != self.host:
            return "this is another host"
        if origin is None and is_socket:
            return "a websocket has an origin"
        if origin is not None and origin != f"http://{self.host}":
            return "this comes from another page"
        begin = path.removeprefix("/").partition("/")[0]
        if not hmac.compare_digest(begin.encode("utf-8", "replace"), self.token.encode()):
            return "the token is missing or wrong: open the address that `gt --web` printed"
        return None

    @property
    def policy(self) -> str:
        """Returns what the page may load: its own script, style and socket, and nothing from elsewhere."""
        return (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; "
            f"connect-src ws://{self.host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )


def serve(port: int = 0) -> None:
    """Serves the interface until it is interrupted, and says where.

    Raises:
        GitticksError: the packages for it are not there, or the port is taken.
    """
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, port))
            listening.listen()
        except OSError as error:
            raise GitticksError(
                f"port {port} of this machine cannot be used: {reason_of(error)}",
                hint="`gt --web` alone finds a free one",
            ) from error
        number: int = listening.getsockname()[1]
        door = Door(number, secrets.token_urlsafe(_TOKEN_BYTES))
        try:
            import textual_serve.server  # noqa: F401 (a missing package is reported below)
            from aiohttp.web import run_app

            application = _application(door, number)
        except ImportError as error:
            raise GitticksError(
                "the interface in a browser needs packages that are not installed",
                hint="`pipx inject gitticks textual-serve`",
            ) from error
        print(f"http://{LOOPBACK}:{number}/{door.token}/", flush=True)  # noqa: T201 (before anything is served)
        print("Whoever has this address can do what you can do. Ctrl-C ends it.", file=sys.stderr, flush=True)  # noqa: T201
        run_app(application, sock=listening, print=None, shutdown_timeout=_SHUTDOWN_SECONDS)


async def _application(door: Door, port: int) -> web.Application:
    """Returns textual-serve's application with our own page, below the token, and behind the door."""
    from aiohttp import web
    from textual_serve.server import Server

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        is_socket = request.headers.get("Upgrade", "").lower() == "websocket"
        origin = request.headers.get("Origin")
        said = door.refusal(request.path, request.headers.get("Host", ""), origin, is_socket=is_socket)
        if said is not None:
            return web.Response(status=403, text=f"{said}\n", headers=_HEADERS)
        if request.path.endswith("/ws") and not is_socket:
            return web.Response(status=426, text="this is for the page itself\n", headers=_HEADERS)
        return await handler(request)

    async def harden(_request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(_HEADERS)
        response.headers["Content-Security-Policy"] = door.policy

    class Quiet(Server):
        """Says nothing by itself."""

        async def on_startup(self, app: web.Application) -> None:
            """Prints nothing: the address was printed."""

    async def script(_request: web.Request) -> web.FileResponse:
        return web.FileResponse(page / "focus.js")

    page = Path(__file__).parent / "page"
    command = shlex.join([sys.executable, "-P", "-m", "gitticks.tui"])
    server = Quiet(
        command, LOOPBACK, port, title="gitticks", public_url=f"http://{LOOPBACK}:{port}", templates_path=page
    )
    interface = await server._make_app()  # noqa: SLF001 (its only seam)
    interface.router.add_get("/focus.js", script)
    whole = web.Application(middlewares=[guard])
    whole.add_subapp(f"/{door.token}/", interface)
    whole.on_response_prepare.append(harden)
    return whole
