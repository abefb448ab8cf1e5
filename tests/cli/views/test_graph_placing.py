from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from gitticks.cli.views.graph_drawings import BOX_HEIGHT, BOX_WIDTH, Frame, Places
from gitticks.model.graph import lay_out
from gitticks.model.ids import TaskId

A, B, C, D, *_ = IDS = [TaskId(name) for name in "abcdefgh"]


def placed(waits_for: dict[TaskId, list[TaskId]]) -> Places:
    links = [(source, target) for target, sources in waits_for.items() for source in sources]
    return Places(lay_out(waits_for).layers, links)


def test_layers_go_from_left_to_right_and_each_stands_in_the_middle() -> None:
    found = placed({A: [], B: [], C: [A, B]})
    assert found.corners == {A: (16, 16), B: (16, 80), C: (320, 48)}
    assert (found.width, found.height) == (568, 144)
    assert found.ways[A, C] == [(248, 40), (320, 72)]


def test_a_long_line_goes_past_the_boxes_between() -> None:
    found = placed({A: [], B: [A], C: [A, B]})
    start, there, on, end = found.ways[A, C]
    assert (start[0], there[0], on[0], end[0]) == (248, 320, 552, 624)
    assert not found.corners[B][1] <= there[1] <= found.corners[B][1] + BOX_HEIGHT


def test_neighbours_stand_beside_one_another() -> None:
    found = placed({A: [], B: [], C: [B], D: [A]})
    assert found.corners[C][1] == found.corners[B][1]
    assert found.corners[D][1] == found.corners[A][1]


def test_nothing_takes_no_room() -> None:
    found = Places([], [])
    assert (found.corners, found.ways, found.width, found.height) == ({}, {}, 32, 32)


def test_where_lines_would_fill_the_picture_they_take_no_room() -> None:
    line = [TaskId(f"t{number}") for number in range(300)]
    waits_for = {task: line[:number] for number, task in enumerate(line)}
    found = placed(waits_for)
    assert found.height == BOX_HEIGHT + 32
    assert all(len(way) == 2 for way in found.ways.values())


@given(st.dictionaries(st.sampled_from(IDS), st.sets(st.sampled_from(IDS), max_size=4)))
def test_no_line_runs_behind_a_box_and_no_boxes_overlap(links: dict[TaskId, set[TaskId]]) -> None:
    waits_for = {
        task: [one for one in IDS if one < task and one in links.get(task, ())] for task in IDS
    }  # no cycles: each waits for earlier ones alone
    found = placed(waits_for)
    boxes = list(found.corners.values())
    for (left, top), (other_left, other_top) in combinations(boxes, 2):
        assert left != other_left or abs(top - other_top) >= BOX_HEIGHT
    for way in found.ways.values():
        for (x, y), (to_x, to_y) in list(pairwise(way))[1::2]:
            assert (y, to_x - x) == (to_y, BOX_WIDTH)
            assert all(left != x or not top < y < top + BOX_HEIGHT for left, top in boxes)
    for left, top in boxes:
        assert left + BOX_WIDTH <= found.width
        assert top + BOX_HEIGHT <= found.height


def test_frames_hold_their_own_boxes_and_no_other() -> None:
    waits_for: dict[TaskId, list[TaskId]] = {A: [], B: [A], C: [], D: [C, B]}
    links = [(source, target) for target, sources in waits_for.items() for source in sources]
    e, f = IDS[4], IDS[5]
    found = Places(lay_out(waits_for).layers, links, epics={A: [e], B: [e, f], D: [e]}, heights={B: 90})
    assert [frame.epic for frame in found.frames] == [e, f]
    outer, inner = found.frames
    assert outer.corner < inner.corner
    assert inner.opposite < outer.opposite

    def holds(frame: Frame, task_id: TaskId) -> bool:
        (left, top), (x, y) = frame.corner, found.corners[task_id]
        return left < x < frame.opposite[0] and top < y < frame.opposite[1]

    assert [one for one in (A, B, C, D) if holds(outer, one)] == [A, B, D]
    assert [one for one in (A, B, C, D) if holds(inner, one)] == [B]
    assert found.corners[B][1] + 90 < inner.opposite[1] < found.height
