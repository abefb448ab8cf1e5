"""Many loose objects, and how many there are."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from pathlib import Path

from tests.support.repositories import git


def _texts_in_the_sample() -> Iterator[str]:
    """Yields texts whose blobs lie in the folder that git judges by."""
    for number in itertools.count():
        text = f"text {number}\n"
        if (
            hashlib.sha1(f"blob {len(text)}\0{text}".encode(), usedforsecurity=False)
            .hexdigest()
            .startswith("17")
        ):
            yield text


def plant(path: Path, count: int) -> None:
    """Writes so many loose objects into the folder that git judges by."""
    for text in itertools.islice(_texts_in_the_sample(), count):
        git("hash-object", "-w", "--stdin", at=path, input=text)


def counts(path: Path) -> dict[str, int]:
    """Returns what `git count-objects` tells."""
    told = git("count-objects", "-v", at=path).splitlines()
    return {name: int(number) for name, number in (line.split(": ") for line in told)}
