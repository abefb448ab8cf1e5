"""Which project an address names, and what is left of a name."""

from __future__ import annotations

import pytest

from gitticks.forge.base import Project, name_of

ADDRESSES = {
    "https://github.com/acme/shop.git": ("github.com", "acme/shop"),
    "https://ada:secret@github.com/acme/shop": ("github.com", "acme/shop"),
    "git@github.com:acme/shop.git": ("github.com", "acme/shop"),
    "github.com:acme/shop.js.git": ("github.com", "acme/shop.js"),
    "ssh://git@git.example.org:2222/a/b/shop.git/": ("git.example.org", "a/b/shop"),
    "ssh://git@ssh.github.com:443/acme/shop.git": ("github.com", "acme/shop"),
    "ssh://git@altssh.gitlab.com:443/acme/shop.git": ("gitlab.com", "acme/shop"),
    "/srv/git/shop.git": None,
    "../shop.git": None,
    "file:///srv/git/shop.git": None,
    "https://github.com/acme": None,
    "https://github.com/acme/../x": None,
    "https://-flag/acme/shop": None,
    "": None,
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses(address: str) -> None:
    found = Project.of_address(address)
    assert (found and (found.host, found.path)) == ADDRESSES[address]


@pytest.mark.parametrize(
    ("name", "left"), [("grace", "grace"), ("a\n### x", "ax"), ("", "unknown"), (7, "unknown")]
)
def test_names(name: object, left: str) -> None:
    assert name_of({"user": {"login": name}}, "user", "login") == left
