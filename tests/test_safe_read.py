from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from gitticks.safe_read import read_end_of_plain_file, read_plain_file, read_plain_text, reason_of


def test_a_plain_file_and_a_link_to_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\xffb" * 10_000)
    (tmp_path / "link").symlink_to("file")
    assert read_plain_file(tmp_path / "link") == b"a\xffb" * 10_000
    assert read_plain_text(tmp_path / "file").startswith("a\udcffb")


def test_a_file_of_the_system_that_tells_no_size() -> None:
    assert b"\0" in read_plain_file("/proc/self/cmdline")


def test_nothing_is_there(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nothing")
    for name in ("link", "file"):
        with pytest.raises(FileNotFoundError):
            read_plain_file(tmp_path / name)


def put_folder(place: Path) -> None:
    place.mkdir()


def put_pipe(place: Path) -> None:
    os.mkfifo(place)


def put_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def put_loop(place: Path) -> None:
    place.symlink_to(place.name)


def put_socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))


def put_too_much(place: Path) -> None:
    place.touch()
    os.truncate(place, 17 * 1024 * 1024)


@pytest.mark.parametrize("put", [put_folder, put_pipe, put_device, put_loop, put_socket, put_too_much])
def test_what_is_no_plain_file_is_an_error_that_names_it(tmp_path: Path, put: object) -> None:
    assert callable(put)
    place = tmp_path / "x"
    put(place)
    with pytest.raises(OSError, match=str(place)) as caught:
        read_plain_file(place)
    assert caught.value.filename in (str(place), place)


def test_reasons_in_words() -> None:
    assert reason_of(OSError(21, "Is a directory", "x")) == "is a directory"
    assert reason_of(ValueError("Embedded null byte")) == "embedded null byte"


@pytest.mark.parametrize(("last", "expected"), [(4, b"cdef"), (6, b"abcdef"), (100, b"abcdef"), (0, b"")])
def test_the_end_of_a_file(tmp_path: Path, last: int, expected: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"abcdef")
    assert read_end_of_plain_file(file, last) == expected
    with pytest.raises(IsADirectoryError):
        read_end_of_plain_file(tmp_path, last)
