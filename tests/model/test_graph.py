from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.graph import find_cycle, find_cycles, lay_out, shown
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Status
from tests.support.graphs import graph, make

MANY = 10_000

NAMES = ("a", "b", "c", "e1", "e2")
LINKS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=10)
PARENTS = st.fixed_dictionaries({name: st.sampled_from((None, "e1", "e2")) for name in NAMES})
IDS = [TaskId(name) for name in "abcdefgh"]
A, B, C, D, *_ = IDS


def test_nothing_waits_for_itself() -> None:
    tasks = graph(make("a", "b", "c"), make("b", "c"), make("c"))
    assert find_cycles(tasks) == ()
    assert find_cycle(tasks, TaskId("a")) == ()


def test_a_task_that_waits_for_itself() -> None:
    tasks = graph(make("a", "a"))
    assert find_cycle(tasks, TaskId("a")) == ("a", "a")
    assert find_cycles(tasks) == (("a", "a"),)


def test_the_shortest_cycle_is_reported() -> None:
    tasks = graph(make("a", "b", "d"), make("b", "c"), make("c", "a"), make("d", "a"))
    assert find_cycle(tasks, TaskId("a")) == ("a", "d", "a")
    assert find_cycle(tasks, TaskId("b")) == ("b", "c", "a", "b")


def test_an_epic_waits_for_its_children_and_hands_its_blockers_down() -> None:
    assert find_cycles(graph(make("e1", "a"), make("a", parent="e1"))) == (("a", "a"),)
    below = graph(make("e1", "b"), make("e2", parent="e1"), make("a", parent="e2"), make("b", "a"))
    assert find_cycle(below, TaskId("a")) == ("a", "b", "a")
    assert find_cycle(below, TaskId("e1")) == ()


def test_what_is_closed_or_missing_is_waited_for_by_nobody() -> None:
    assert find_cycles(graph(make("a", "b"), make("b", "a", status=Status.DONE))) == ()
    assert find_cycles(graph(make("a", "gone"))) == ()
    assert find_cycle(graph(make("a")), TaskId("gone")) == ()


def test_parents_in_a_cycle_are_found_by_their_children() -> None:
    assert find_cycles(graph(make("e1", parent="e2"), make("e2", parent="e1"))) == (("e1", "e2", "e1"),)


def test_two_knots_are_both_found() -> None:
    tasks = graph(make("a", "b"), make("b", "a"), make("c", "a", "d"), make("d", "c"))
    assert find_cycles(tasks) == (("a", "b", "a"), ("c", "d", "c"))


def test_ten_thousand_tasks_in_a_row_and_in_a_ring() -> None:
    """Looking at each task's whole way, as a naive search does, would take minutes."""
    row = [make(f"t{number}", f"t{number + 1}") for number in range(MANY)]
    assert find_cycles(graph(*row)) == ()
    ring = graph(*row[:-1], make(f"t{MANY - 1}", "t0"))
    assert len(find_cycle(ring, TaskId("t0"))) == MANY + 1
    (cycle,) = find_cycles(ring)
    assert len(cycle) == MANY + 1


def test_ten_thousand_epics_in_one_another() -> None:
    nested = [make(f"e{number}", parent=f"e{number + 1}") for number in range(MANY)]
    assert find_cycles(graph(*nested)) == ()
    assert find_cycle(graph(*nested), TaskId("e0")) == ()


def test_ten_thousand_children_share_a_thousand_blockers() -> None:
    blockers = [f"b{number}" for number in range(1000)]
    children = [make(f"t{number}", parent="e1") for number in range(MANY)]
    tasks = graph(make("e1", *blockers), *(make(one) for one in blockers), *children)
    assert find_cycles(tasks) == ()
    assert find_cycle(tasks, TaskId("e1")) == ()


@given(LINKS, PARENTS)
def test_both_searches_agree_with_each_other_and_with_the_links(
    links: list[tuple[str, str]], parents: dict[str, str | None]
) -> None:
    tasks = graph(
        *(
            make(
                name,
                *dict.fromkeys(blocker for task, blocker in links if task == name),
                parent=parents[name] if parents[name] != name else None,
            )
            for name in NAMES
        )
    )
    through = {TaskId(name): find_cycle(tasks, TaskId(name)) for name in NAMES}
    knots = find_cycles(tasks)
    assert bool(knots) == any(through.values())
    for cycle in (*filter(None, through.values()), *knots):
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert all(waits(tasks, *pair) for pair in pairwise(cycle))
    for cycle in knots:
        assert all(through[task_id] for task_id in cycle)


def waits(tasks: TaskGraph, waiting: TaskId, waited_for: TaskId) -> bool:
    """True if one task waits for another, by the words of the specification."""
    task = tasks.tasks[waiting]
    own = {blocker for owner in (task, *tasks.ancestors(task)) for blocker in owner.blocked_by}
    return waited_for in own or waited_for in {child.id for child in tasks.children(waiting)}


def test_a_long_cycle_is_reported_by_its_beginning_and_end() -> None:
    ids = [TaskId(f"t{number:04}") for number in range(1000)]
    assert shown([TaskId("aaaa"), TaskId("bbbb"), TaskId("aaaa")]) == "aaaa → bbbb → aaaa"
    words = shown([*ids, ids[0]])
    assert words.startswith("t0000 → t0001 → ")
    assert words.endswith(" → t0007 → … 992 more … → t0000")


def test_each_task_stands_below_all_that_it_waits_for() -> None:
    found = lay_out({D: [B, C], A: [], B: [A], C: []})
    assert found.layers == ((A, C), (B,), (D,))
    assert found.circular == frozenset()


def test_nothing_has_no_layers() -> None:
    assert lay_out({}).layers == ()


def test_a_cycle_is_opened_at_one_link() -> None:
    found = lay_out({A: [C], B: [A], C: [B], D: [C]})
    assert found.circular == {(A, B)}
    assert found.layers == ((B,), (C,), (A, D))


def test_a_line_of_ten_thousand_is_no_deep_recursion() -> None:
    line = [TaskId(f"t{number}") for number in range(10_000)]
    found = lay_out({task: line[number + 1 : number + 2] for number, task in enumerate(line)})
    assert len(found.layers) == 10_000
    assert found.layers[0] == (line[-1],)


@given(st.dictionaries(st.sampled_from(IDS), st.lists(st.sampled_from(IDS), unique=True)))
def test_only_links_of_cycles_do_not_lead_downwards(links: dict[TaskId, list[TaskId]]) -> None:
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
