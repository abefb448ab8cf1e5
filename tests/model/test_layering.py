from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.ids import TaskId
from gitticks.model.layering import lay_out

IDS = [TaskId(name) for name in "abcdefgh"]
A, B, C, D, *_ = IDS


def test_each_task_stands_below_all_that_it_waits_for() -> None:
    found = lay_out({D: [B, C], A: [], B: [A], C: []})
    assert found.layers == ((A, C), (B,), (D,))
    assert found.circular == frozenset()


def test_nothing_has_no_layers() -> None:
    assert lay_out({}).layers == ()


def test_a_circle_is_opened_at_one_link() -> None:
    found = lay_out({A: [C], B: [A], C: [B], D: [C]})
    assert found.circular == {(A, B)}
    assert found.layers == ((B,), (C,), (A, D))


def test_a_line_of_ten_thousand_is_no_deep_recursion() -> None:
    line = [TaskId(f"t{number}") for number in range(10_000)]
    found = lay_out({task: line[number + 1 : number + 2] for number, task in enumerate(line)})
    assert len(found.layers) == 10_000
    assert found.layers[0] == (line[-1],)


@given(st.dictionaries(st.sampled_from(IDS), st.lists(st.sampled_from(IDS), unique=True)))
def test_only_links_of_circles_do_not_lead_downwards(links: dict[TaskId, list[TaskId]]) -> None:
    waits_for = {task: [one for one in links.get(task, []) if one != task] for task in IDS}
    found = lay_out(waits_for)
    depth = {task: number for number, layer in enumerate(found.layers) for task in layer}
    assert sorted(depth) == IDS
    for task, sources in waits_for.items():
        for source in sources:
            assert (source, task) in found.circular or depth[source] < depth[task]
            assert (source, task) not in found.circular or _reaches(source, task, waits_for)


def _reaches(start: TaskId, end: TaskId, waits_for: dict[TaskId, list[TaskId]]) -> bool:
    """True if `start` waits for `end`, however indirectly."""
    seen, waiting = {start}, [start]
    while waiting:
        for source in waits_for[waiting.pop()]:
            if source == end:
                return True
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return False
