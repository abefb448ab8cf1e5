"""The chain's note: what stands on the tip counts, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.git.repository import Repository, discover
from gitticks.processes import ProcessIdentity, identity_of, own_identity
from gitticks.store.publishing import (
    Link,
    chain_path,
    hold_chain,
    links_on,
    peek_chain,
    read_chain,
    write_chain,
)
from tests.support.repositories import make_repository

TIP, ONE, TWO, THREE = (letter * 40 for letter in "0123")


def link(commit: str, parent: str, owner: ProcessIdentity | None = None) -> Link:
    return Link(commit, parent, "k7f2: done ✓", owner or own_identity(), ("a" * 40, "b" * 40))


def dead() -> ProcessIdentity:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = identity_of(process.pid)
    process.communicate()
    assert identity is not None
    return identity


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path / "r"))


def noted(repository: Repository, *links: Link) -> None:
    with hold_chain(repository) as held:
        write_chain(held, links)


def commits(links: tuple[Link, ...]) -> list[str]:
    return [one.commit for one in links]


def test_what_is_noted_is_read(repository: Repository) -> None:
    assert peek_chain(repository, TIP) == ()
    links = (link(ONE, TIP), link(TWO, ONE))
    noted(repository, *links)
    assert peek_chain(repository, TIP) == links
    with hold_chain(repository) as held:
        assert read_chain(held, TIP) == links
    assert links[0].objects == ("a" * 40, "b" * 40)


@pytest.mark.parametrize(
    ("tip", "found"),
    [(TIP, [ONE, TWO, THREE]), (ONE, [TWO, THREE]), (TWO, [THREE]), (THREE, []), ("f" * 40, [])],
)
def test_what_the_tip_has_is_no_part_of_it(repository: Repository, tip: str, found: list[str]) -> None:
    noted(repository, link(ONE, TIP), link(TWO, ONE), link(THREE, TWO))
    assert commits(peek_chain(repository, tip)) == found


def test_a_new_chain_leaves_the_old_one_behind(repository: Repository) -> None:
    noted(repository, link(ONE, TIP), link(TWO, ONE))
    noted(repository, link(THREE, TIP))
    assert commits(peek_chain(repository, TIP)) == [THREE]
    noted(repository)
    assert peek_chain(repository, TIP) == ()


def test_links_that_do_not_join_are_void(repository: Repository) -> None:
    noted(repository, link(ONE, TIP), link(THREE, TWO))
    assert peek_chain(repository, TIP) == ()
    assert commits(peek_chain(repository, TWO)) == [THREE]


@pytest.mark.parametrize("torn", range(1, 200, 40))
def test_a_torn_link_ends_the_chain(repository: Repository, torn: int) -> None:
    noted(repository, link(ONE, TIP), link(TWO, ONE))
    whole = chain_path(repository).read_bytes().rstrip(b"\n")
    chain_path(repository).write_bytes(whole[:-torn])
    assert commits(peek_chain(repository, TIP)) == [ONE]


@pytest.mark.parametrize("note", ["{}", "[1, 2]", "null", '["a"]', "\0\0", "[" * 50])
def test_a_note_that_is_none_is_no_chain(note: str) -> None:
    assert links_on(TIP, note) == ()


def test_a_chain_of_the_dead_is_dropped_and_one_of_the_living_is_kept(repository: Repository) -> None:
    gone = dead()
    rebooted = ProcessIdentity(own_identity().pid, own_identity().start_ticks, "another boot")
    noted(repository, link(ONE, TIP, gone), link(TWO, ONE, rebooted))
    with hold_chain(repository) as held:
        assert read_chain(held, TIP) == ()
        write_chain(held, (link(ONE, TIP), link(TWO, ONE, gone)))
        assert commits(read_chain(held, TIP)) == [ONE, TWO]
