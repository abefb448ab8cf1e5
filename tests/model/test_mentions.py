from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.ids import TaskId
from gitticks.model.mentions import find_mentions, mentioned, words_like_ids

IDS = frozenset(TaskId(name) for name in ("k7f2", "m3xq", "pier-7", "h8d", "7"))


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("k7f2", ["k7f2"]),
        ("As in k7f2, and m3xq.", ["k7f2", "m3xq"]),
        ("(k7f2) `m3xq` #h8d “k7f2”: yes", ["k7f2", "m3xq", "h8d"]),
        ("See k7f2: it says why.\nm3xq", ["k7f2", "m3xq"]),
        ("pier-7 waits for pier-70", ["pier-7"]),
        ("k7f2- and -m3xq", ["k7f2", "m3xq"]),
        ("k7f2 k7f2", ["k7f2"]),
        ("k7f2's", ["k7f2"]),
        ("xk7f2 k7f2x K7F2 k7f2_x k7f2-x", []),
        ("tasks/f2/k7f2/TASK.md, gitticks/work/k7f2, k7f2.md, k7f2/x", []),
        ("ada@k7f2 https://m3xq.org:h8d k7f2=1 C:\\m3xq", []),
        ("zzzz", []),
        ("", []),
        ("--- __ - k7f2", ["k7f2"]),
        ("ek7f2 ék7f2 k7f2é", []),
    ],
)
def test_the_tasks_that_a_text_names(text: str, tasks: list[str]) -> None:
    assert list(mentioned(text, IDS)) == tasks


@given(st.text("k7f2m3xq-_/. :\n(é`", max_size=60))
def test_every_mention_is_an_id_in_its_place(text: str) -> None:
    end = 0
    for mention in find_mentions(text, IDS):
        assert mention.start >= end
        assert text[mention.start : mention.end] == mention.task
        assert mention.task in IDS
        end = mention.end


@given(st.text("k7f2m3xq-_/. :\n(é`K\ud800", max_size=60))
def test_whoever_is_mentioned_is_among_the_words_like_ids(text: str) -> None:
    assert set(mentioned(text, IDS)) <= words_like_ids(text)


def test_words_like_ids_are_all_that_an_id_may_be() -> None:
    assert words_like_ids("-k7f2-, pier-7/x_y Ké9 --- ") == {"k7f2", "pier-7", "x", "y", "9"}
