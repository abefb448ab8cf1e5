"""What a tool call means for the rules."""

from __future__ import annotations

import pytest

from gitticks.agents.tool_calls import accesses, host_of


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
    ],
)
def test_the_host_of_an_address_is_the_one_that_clients_fetch(address: str, host: str) -> None:
    assert host_of(address) == host
    for given in (address, f"See {address} and tell."):
        (names,) = accesses("WebFetch", {"prompt": given}, workspace="/w", folder="/w")
        assert [one.target for one in names] == [host]


def test_an_address_without_a_host_that_can_be_read_is_no_search() -> None:
    (names,) = accesses("WebFetch", {"url": "http://[::1/"}, workspace="/w", folder="/w")
    assert names[0].target == "http://[::1/"
    (names,) = accesses("WebSearch", {"query": "is https:// or http better"}, workspace="/w", folder="/w")
    assert names[0].target == "web-search"
