"""Which task a person means."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.errors import NotFoundError
from gitticks.store.index import Index, open_index
from gitticks.store.resolve import resolve_id
from tests.support.tasks import make_store, make_task


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    tasks = [make_task("k7f2", "Login loses the return URL"), make_task("k7f2x", "Longer"), make_task("m3a9")]
    tasks += [make_task(f"many{number}") for number in range(10)]
    with open_index(make_store(tmp_path / "r", tasks).repository) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "found"), [("k7f2", "k7f2"), ("k7f2x", "k7f2x"), ("m", None), ("m3", "m3a9")]
)
def test_an_id_or_the_only_one_that_begins_so(index: Index, text: str, found: str | None) -> None:
    if found is None:
        with pytest.raises(NotFoundError):
            resolve_id(index, text)
    else:
        assert resolve_id(index, text) == found


def test_candidates_are_listed(index: Index) -> None:
    with pytest.raises(NotFoundError, match="`k7` is the beginning of 2 ids") as caught:
        resolve_id(index, "k7")
    assert caught.value.hint == "one of `k7f2` (Login loses the return URL), `k7f2x` (Longer)"
    with pytest.raises(NotFoundError, match="the beginning of 10 ids") as caught:
        resolve_id(index, "many")
    assert str(caught.value.hint).endswith("and 2 more")


@pytest.mark.parametrize("text", ["k7f3", "K7F2", "k7ff2", "7kf2"])
def test_a_near_miss_is_offered(index: Index, text: str) -> None:
    with pytest.raises(NotFoundError, match=f"there is no task `{text}`") as caught:
        resolve_id(index, text)
    assert caught.value.hint == "did you mean `k7f2` (Login loses the return URL)?"


@pytest.mark.parametrize("text", ["", "zzzzzz", "../../etc", "\x1b[31m", "x" * 500])
def test_nothing_near_is_said_so(index: Index, text: str) -> None:
    with pytest.raises(NotFoundError, match="there is no task") as caught:
        resolve_id(index, text)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 120
    assert caught.value.hint == "`gt list` shows the tasks"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("", ""), ("../../x", "../../x"), ("a\nb", r"a\nb"), ("\x1b[31m", r"\x1b[31m"), ("x" * 200, "x" * 70)],
)
def test_what_can_be_no_id_is_shown_on_one_short_line(index: Index, text: str, shown: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        resolve_id(index, text)
    assert caught.value.message == f"there is no task `{shown}`"
