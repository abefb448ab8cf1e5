"""The proxy: whom it reaches, and what it refuses before any name is looked up."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.sandbox import proxy as module
from gitticks.sandbox.proxy import is_public, is_reachable, local_ports, serving
from tests.support.listeners import listening


@pytest.mark.parametrize(
    ("host", "port", "allowed", "denied", "reached"),
    [
        ("example.org", 443, ("example.org",), (), True),
        ("example.org", 80, ("EXAMPLE.org",), (), True),
        ("example.org", 22, ("example.org",), (), False),
        ("example.org", 22, ("example.org:22",), (), True),
        ("a.example.org", 443, ("example.org",), (), False),
        ("a.example.org", 443, ("*.example.org",), (), True),
        ("example.org", 443, ("*.example.org",), (), False),
        ("badexample.org", 443, ("*.example.org",), (), False),
        ("example.org", 443, ("*",), ("example.org",), False),
        ("a.example.org", 443, ("*.example.org",), ("a.example.org",), False),
        ("example.org", 443, (), (), False),
    ],
)
def test_a_list_lets_through_what_it_names(
    host: str, port: int, allowed: tuple[str, ...], denied: tuple[str, ...], reached: bool
) -> None:
    assert is_reachable(host, port, allowed, denied) is reached


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0",  # noqa: S104
        "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "::ffff:127.0.0.1",
        "::ffff:169.254.169.254", "2002:7f00:0001::", "ff02::1", "64:ff9b::7f00:1", "nonsense",
    ],
)  # fmt: skip
def test_neither_this_machine_nor_its_network_nor_metadata_is_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_the_rest_is(address: str) -> None:
    assert is_public(address)


def _ask(place: Path, request: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as near:
        near.connect(str(place))
        near.sendall(request)
        answer = b""
        with contextlib.suppress(OSError):
            while more := near.recv(65536):
                answer += more
        return answer


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answers all lookups with this machine's address, and keeps what was asked."""
    asked: list[str] = []

    def look_up(host: str, port: int, **_: object) -> list[object]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


@pytest.mark.parametrize(
    "target",
    [
        "127.0.0.1:443", "[::1]:443", "2130706433:443", "0x7f000001:443", "0177.0.0.1:443", "1.2.3.4:443",
        "allowed.test%00.evil.test:443", "allowed.test\x00.evil.test:443", "user@allowed.test:443", "allowed.test/x:443",
        "allowed.test", "allowed.test:0", "allowed.test:99999", "allowed.test:443:80", "-allowed.test:443", "ällowed.test:443",
        "evil.test:443", "allowed.test.:22", "*:443",
    ],
)  # fmt: skip
def test_odd_names_and_hosts_that_are_not_listed_never_reach_the_resolver(
    tmp_path: Path, lookups: list[str], target: str
) -> None:
    with serving(tmp_path / "proxy", ("allowed.test",)):
        answer = _ask(tmp_path / "proxy", f"CONNECT {target} HTTP/1.1\r\n\r\n".encode("latin-1"))
    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert lookups == []


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /x HTTP/1.1\r\n\r\n",
        b"GET ftp://allowed.test/ HTTP/1.1\r\n\r\n",
        b"\r\n\r\n",
        b"CONNECT\r\n\r\n",
    ],
)
def test_what_is_no_request_to_a_proxy_is_refused(
    tmp_path: Path, lookups: list[str], request_: bytes
) -> None:
    with serving(tmp_path / "proxy", ("allowed.test",)):
        assert _ask(tmp_path / "proxy", request_).startswith(b"HTTP/1.1 403 ")
    assert lookups == []


def test_a_listed_name_that_leads_to_this_machine_is_refused(tmp_path: Path, lookups: list[str]) -> None:
    with serving(tmp_path / "proxy", ("allowed.test",)):
        answer = _ask(tmp_path / "proxy", b"CONNECT allowed.test:443 HTTP/1.1\r\n\r\n")
    assert b"which cannot be allowed" in answer
    assert lookups == ["allowed.test"]


@pytest.fixture
def service() -> Iterator[int]:
    """Answers each connection with what it was sent."""

    def answer(listener: socket.socket) -> bool:
        with listener.accept()[0] as near:
            near.sendall(b"got " + near.recv(65536))
        return True

    listener = socket.create_server(("127.0.0.1", 0))
    with listening(listener, answer):
        yield listener.getsockname()[1]


def test_what_is_listed_and_public_is_reached(
    tmp_path: Path, lookups: list[str], service: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "is_public", lambda _: True)
    host = f"allowed.test:{service}"
    with serving(tmp_path / "proxy", (host,)):
        plain = _ask(
            tmp_path / "proxy",
            f"GET http://{host}/a?b HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: x\r\nAccept: y\r\n\r\n".encode(),
        )
        with socket.socket(socket.AF_UNIX) as near:
            near.connect(str(tmp_path / "proxy"))
            near.sendall(f"CONNECT {host} HTTP/1.1\r\n\r\n".encode())
            assert near.recv(65536).startswith(b"HTTP/1.1 200 ")
            near.sendall(b"hello")
            assert near.recv(65536) == b"got hello"
    expected = f"got GET /a?b HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAccept: y\r\n\r\n"
    assert plain.decode() == expected
    assert (
        lookups == ["allowed.test"] * 2
    )  # once for each connection, and the address that was judged is reached


@pytest.mark.parametrize(
    ("allowed", "denied", "ports"),
    [
        (("localhost:8080", "127.0.0.1:11434", "LOCALHOST:8080"), (), (8080, 11434)),
        (("localhost:8080",), ("localhost",), ()),
        (("localhost:8080",), ("*",), ()),
        (
            ("localhost", "*", "localhost:*", "localhost:0", "localhost:70000", "a.localhost:80", "[::1]:80"),
            (),
            (),
        ),
    ],
)
def test_ports_of_this_machine_are_opened_one_by_one(
    allowed: tuple[str, ...], denied: tuple[str, ...], ports: tuple[int, ...]
) -> None:
    assert local_ports(allowed, denied) == ports


def test_only_the_listed_port_of_this_machine_is_reached(tmp_path: Path, service: int) -> None:
    with serving(tmp_path / "proxy", (f"localhost:{service}", "*")), socket.socket(socket.AF_UNIX) as near:
        near.connect(str(tmp_path / "proxy"))
        near.sendall(f"CONNECT localhost:{service} HTTP/1.1\r\n\r\n".encode())
        assert near.recv(65536).startswith(b"HTTP/1.1 200 ")
        near.sendall(b"hello")
        assert near.recv(65536) == b"got hello"
        refused = _ask(tmp_path / "proxy", b"CONNECT localhost:443 HTTP/1.1\r\n\r\n")
        assert b"which cannot be allowed" in refused


def test_nobody_listens_any_more_when_the_block_is_over(tmp_path: Path) -> None:
    with serving(tmp_path / "proxy", ()):
        assert "proxy" in {one.name for one in threading.enumerate()}
    assert "proxy" not in {one.name for one in threading.enumerate()}
