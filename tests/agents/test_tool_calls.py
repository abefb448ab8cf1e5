"""What a tool call means for the rules."""

from __future__ import annotations

import pytest

from gitticks.agents.tool_calls import accesses, host_of
from gitticks.workflow.permissions import Access, Operation


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://Example.org:8080/a?b#c", "example.org"),
        ("HTTPS://example.org/", "example.org"),
        ("https:/example.org/a", "example.org"),
        ("https:example.org", "example.org"),
        ("http:\\\\example.org\\a", "example.org"),
        ("https://me@example.org/", "example.org"),
        ("https://example.org\\@github.com/", "example.org"),
        ("https://example%2Eorg/", "example.org"),
        ("https://example。org/", "example.org"),
        ("https://\uff45xample\uff0eorg", "example.org"),
    ],
)
def test_the_host_of_an_address_is_the_one_that_clients_fetch(address: str, host: str) -> None:
    assert host_of(address) == host
    for given in (address, f"See {address} and tell."):
        (names,) = accesses("WebFetch", {"prompt": given}, workspace="/w", folder="/w")
        assert [one.target for one in names] == [host]


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://github.com)@example.org/", "example.org"),
        ("https://github.com'@example.org", "example.org"),
        ("https://github.com @example.org", "example.org"),
        ("https://github.com\t.example.org/", "github.com.example.org"),
        ("\x01 https://github.\ncom.example.org\x01", "github.com.example.org"),
        ("http://[::1]:80/", "::1"),
    ],
)
def test_one_address_is_read_whole(address: str, host: str) -> None:
    (names,) = accesses("WebFetch", {"url": address}, workspace="/w", folder="/w")
    assert [one.target for one in names] == [host]


def test_a_word_is_also_read_as_one_address() -> None:
    prompt = "See https://github.com)@example.org/ and tell."
    found = accesses("web_fetch", {"prompt": prompt}, workspace="/w", folder="/w")
    assert {one.target for names in found for one in names} == {"github.com", "example.org"}


def test_an_address_without_a_host_that_can_be_read_is_no_search() -> None:
    (names,) = accesses("WebFetch", {"url": "http://[::1/"}, workspace="/w", folder="/w")
    assert names[0].target == "http://[::1/"
    (names,) = accesses("WebSearch", {"query": "is https:// or http better"}, workspace="/w", folder="/w")
    assert names[0].target == "web-search"


@pytest.mark.parametrize(
    ("tool", "parameters", "path"),
    [("Read", {"file_path": "~nosuch/x"}, "~nosuch/x"), ("Glob", {"pattern": "~nosuch/*"}, "~nosuch")],
)
def test_a_path_that_begins_with_the_name_of_no_user_is_one_in_the_folder(
    tool: str, parameters: dict[str, str], path: str
) -> None:
    (names,) = accesses(tool, parameters, workspace="/w", folder="/w")
    assert names == (Access(Operation.FILE_READ, path, is_inside=True),)
