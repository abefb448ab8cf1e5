"""The only way out of a sandbox without network: an HTTP proxy on a unix socket that allows listed hosts.

A name is looked up once, and the address that is reached is the one that was looked at: neither this machine nor its
network nor a cloud's metadata service. Only a port of this machine that is itself listed, as `localhost:8080`, is reached.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gitticks.sandbox.forwarder import pump

PROXY_PORT = 3128
_CHUNK, _LONGEST_HEAD = 65536, 65536
_HEAD_SECONDS, _CONNECT_SECONDS, _SILENCE_SECONDS = 10.0, 15.0, 900.0
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9_-]{0,62})?(\.[a-z0-9]([a-z0-9_-]{0,62})?)*", re.ASCII)
_PLAIN = re.compile(r"http://([^/:@?#\s]+)(?::([0-9]{1,5}))?(/\S*)?", re.IGNORECASE | re.ASCII)
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_USUAL_PORTS = (80, 443)
_LAST_PORT = 65535
_LOCALHOST, _LOOPBACK = "localhost", "127.0.0.1"
_LOCAL = (_LOCALHOST, _LOOPBACK)
_FORBIDDEN, _BAD_GATEWAY = (403, "Forbidden"), (502, "Bad Gateway")
_MOST_CONNECTIONS = 256


class _Asked(NamedTuple):
    method: str
    host: str
    port: int
    path: str


class _RefusedError(Exception):
    """What is asked for is not let through."""


def is_reachable(host: str, port: int, allowed: tuple[str, ...], denied: tuple[str, ...] = ()) -> bool:
    """True if a list lets a host through; what is denied is so on every port."""
    if any(_is_meant(one, host, port, any_port=":" not in one) for one in denied):
        return False
    return any(_is_meant(one, host, port, any_port=False) for one in allowed)


def _is_meant(pattern: str, host: str, port: int, *, any_port: bool) -> bool:
    name, _, own_port = pattern.lower().partition(":")
    if not any_port and (str(port) != own_port if own_port else port not in _USUAL_PORTS):
        return False
    if name == "*":
        return True
    return host.endswith(name[1:]) and len(host) > len(name) - 1 if name.startswith("*.") else host == name


def local_ports(allowed: tuple[str, ...], denied: tuple[str, ...] = ()) -> tuple[int, ...]:
    """Returns the ports of this machine that a list names, as `localhost:8080` or `127.0.0.1:8080`, and none denies."""
    named = (one.lower().partition(":") for one in allowed)
    ports = (int(port) for name, _, port in named if name in _LOCAL and port.isascii() and port.isdecimal())
    return tuple(
        dict.fromkeys(
            port
            for port in ports
            if 0 < port <= _LAST_PORT and is_reachable(_LOCALHOST, port, (f"{_LOCALHOST}:{port}",), denied)
        )
    )


@contextlib.contextmanager
def answering(
    listener: socket.socket, answer: Callable[[socket.socket], None], most: int, name: str
) -> Iterator[None]:
    """Has each connection answered in a thread of its own while the block runs; one beyond the `most` is closed.

    A thread of this `name` accepts them. The bound socket is closed afterwards. Whoever answers may leave a connection that breaks by its `OSError`.
    """
    room = threading.BoundedSemaphore(most)

    def answer_one(connection: socket.socket) -> None:
        try:
            with connection, contextlib.suppress(OSError):
                answer(connection)
        finally:
            room.release()

    def accept() -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            if room.acquire(blocking=False):
                threading.Thread(target=answer_one, args=(connection,), daemon=True).start()
            else:
                connection.close()

    accepting = threading.Thread(target=accept, name=name, daemon=True)
    with listener:
        listener.listen(64)
        accepting.start()
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
                accepting.join()  # left in `accept`, it would be started again with a number that is another's by then


@contextlib.contextmanager
def serving(place: Path, allowed: tuple[str, ...], denied: tuple[str, ...] = ()) -> Iterator[None]:
    """Serves at a unix socket, in threads of its own, while the block runs."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place))
    with answering(listener, partial(_handle, allowed, denied), _MOST_CONNECTIONS, "proxy"):
        yield


def _handle(allowed: tuple[str, ...], denied: tuple[str, ...], near: socket.socket) -> None:
    near.settimeout(_HEAD_SECONDS)
    try:
        head, rest = _read_head(near)
        asked = _parse(head)
        far = _connect(asked, allowed, denied)
    except (_RefusedError, ValueError, OSError) as error:
        _answer(near, _FORBIDDEN if isinstance(error, _RefusedError) else _BAD_GATEWAY, str(error))
        return
    with far:
        if asked.method == "CONNECT":
            near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            far.sendall(rest)
        else:
            far.sendall(_request(asked, head) + rest)
        _exchange(near, far)


def _connect(asked: _Asked, allowed: tuple[str, ...], denied: tuple[str, ...]) -> socket.socket:
    """Returns a connection to what is asked for.

    Raises:
        _RefusedError: it is not let through.
        OSError: nobody is there.
    """
    if asked.host == _LOCALHOST and asked.port in local_ports(allowed, denied):
        return socket.create_connection((_LOOPBACK, asked.port), _CONNECT_SECONDS)
    if not is_reachable(asked.host, asked.port, allowed, denied):
        raise _RefusedError(f"{asked.host}:{asked.port} is not in sandbox.allowed_hosts")
    last: OSError | None = None
    for family, kind, number, _, address in socket.getaddrinfo(
        asked.host, asked.port, type=socket.SOCK_STREAM
    ):
        if not is_public(str(address[0])):
            raise _RefusedError(f"{asked.host} is {address[0]}, which cannot be allowed")
        far = socket.socket(family, kind, number)
        far.settimeout(_CONNECT_SECONDS)
        try:
            far.connect(address)
        except OSError as error:
            far.close()
            last = error
        else:
            return far
    raise last or OSError(f"{asked.host} has no address")


def is_public(address: str) -> bool:
    """True for an address that is neither this machine nor its own network nor a service that only it sees."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
        if found in _TRANSLATED:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return found.is_global and not found.is_multicast


def _read_head(near: socket.socket) -> tuple[str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        more = near.recv(_CHUNK)
        data += more
        if not more or len(data) > _LONGEST_HEAD:
            raise _RefusedError("no request")
    head, _, rest = data.partition(b"\r\n\r\n")
    return head.decode("latin-1"), rest


def _parse(head: str) -> _Asked:
    """Returns what a request asks for; only plain host names pass, which no resolver understands otherwise."""
    match head.split("\r\n", 1)[0].split(" "):
        case [method, target, _]:
            pass
        case _:
            raise _RefusedError("no request")
    if method == "CONNECT":
        host, _, port = target.rpartition(":")
        path = ""
    else:
        found = _PLAIN.fullmatch(target)
        if found is None:
            raise _RefusedError("only http:// and CONNECT are understood")
        host, port, path = found[1], found[2] or "80", found[3] or "/"
    host = host.lower().removesuffix(".")
    last = host.rpartition(".")[2]
    if not _NAME.fullmatch(host) or last.isdecimal() or last.startswith("0x"):
        raise _RefusedError("that is not a host name")
    if not (port.isascii() and port.isdecimal() and 0 < int(port) <= _LAST_PORT):
        raise _RefusedError("that is not a port")
    return _Asked(method, host, int(port), path)


def _request(asked: _Asked, head: str) -> bytes:
    """Returns the request as the host is to see it: for one answer, after which the connection ends."""
    dropped = ("proxy-", "connection:", "host:", "keep-alive:")
    lines = [line for line in head.split("\r\n")[1:] if not line.lower().startswith(dropped)]
    name = asked.host if asked.port == _USUAL_PORTS[0] else f"{asked.host}:{asked.port}"
    first = [f"{asked.method} {asked.path} HTTP/1.1", f"Host: {name}", "Connection: close"]
    return ("\r\n".join([*first, *lines]) + "\r\n\r\n").encode("latin-1")


def _answer(near: socket.socket, how: tuple[int, str], why: str) -> None:
    body = f"gitticks: {why}\n".encode("utf-8", "replace")
    code, reason = how
    with contextlib.suppress(OSError):
        near.sendall(
            f"HTTP/1.1 {code} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
            + body
        )


def _exchange(near: socket.socket, far: socket.socket) -> None:
    for end in (near, far):
        end.settimeout(_SILENCE_SECONDS)
    back = threading.Thread(target=pump, args=(far, near), daemon=True)
    back.start()
    pump(near, far)
    back.join()
