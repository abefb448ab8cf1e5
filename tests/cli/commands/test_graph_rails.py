from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitticks.cli.commands.graph import draw_rails
from gitticks.model.ids import TaskId

A, B, C, D, E = IDS = [TaskId(name) for name in "abcde"]


def drawn(waits_for: dict[TaskId, list[TaskId]], widest: int = 40) -> list[str]:
    rails = draw_rails(list(waits_for), waits_for, widest)
    return [f"{rail}{task}" for rail, task in zip(rails, waits_for, strict=True)]


def test_a_rail_goes_from_each_task_to_all_that_wait_for_it() -> None:
    assert drawn({A: [], B: [], C: [A], D: [A, B], E: []}) == [
        "╭───a",
        "│ ╭─b",
        "├─│─c",
        "╰─┴─d",
        "    e",
    ]


def test_a_task_in_the_middle_ends_rails_and_begins_one() -> None:
    assert drawn({A: [], B: [A], C: [B], D: [B]}) == [
        "╭───a",
        "╰─┬─b",
        "  ├─c",
        "  ╰─d",
    ]


def test_a_place_that_is_free_again_is_used_again() -> None:
    assert drawn({A: [], B: [A], C: [B], D: [C]}) == ["╭───a", "╰─┬─b", "╭─┴─c", "╰───d"]


def test_too_many_rails_are_not_drawn_at_all() -> None:
    assert drawn({A: [], B: [], C: [], D: [A, B, C]}, widest=5) == ["a", "b", "c", "d"]


def test_nothing_is_drawn_of_nothing() -> None:
    assert draw_rails([], {}, 9) == []


@given(st.lists(st.sets(st.integers(0, 4)), min_size=5, max_size=5))
def test_whoever_follows_the_rails_finds_the_links(links: list[set[int]]) -> None:
    waits_for = {
        task: [IDS[source] for source in sorted(links[row]) if source < row] for row, task in enumerate(IDS)
    }
    rails = draw_rails(IDS, waits_for, 99)
    assert _followed(rails) == waits_for


def _followed(rails: list[str]) -> dict[TaskId, list[TaskId]]:
    """Returns what each task waits for as the picture shows it."""
    owners: dict[int, TaskId] = {}
    found: dict[TaskId, list[TaskId]] = {}
    for task, line in zip(IDS, rails, strict=True):
        met = [owners[place] for place, sign in enumerate(line) if sign in "├┼╰┴"]
        assert all((place in owners) == (sign in "├┼╰┴│") for place, sign in enumerate(line))
        for place, sign in enumerate(line):
            if sign in "╭┬":
                owners[place] = task
            elif sign in "╰┴":
                del owners[place]
        found[task] = sorted(met)
    assert not owners
    return found
