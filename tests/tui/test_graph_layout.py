from __future__ import annotations

import pytest

from gitticks.model.graph import lay_out
from gitticks.model.ids import TaskId
from gitticks.tui.theme import use_ascii
from gitticks.tui.widgets.graph_layout import Drawing, Node, Shape, draw_graph
from gitticks.tui.widgets.lines import words


def shape(**waits_for: str) -> Shape:
    """Returns a graph of tasks that wait for others, as the screen makes it."""
    sources = {TaskId(one): [TaskId(other) for other in others.split()] for one, others in waits_for.items()}
    layering = lay_out(sources)
    layers = tuple(
        tuple(Node(one, f"Title of {one}", "pending") for one in layer) for layer in layering.layers
    )
    links = tuple((source, target) for target, found in sources.items() for source in found)
    cut = tuple(one for one in links if one in layering.circular)
    return Shape(layers, tuple(one for one in links if one not in cut), cut)


def drawn(found: Drawing) -> list[str]:
    return [words(one).rstrip() for one in found.lines]


DIAMOND = shape(a="", b="a", c="a", d="b c")


def test_links_run_in_the_gaps_and_bend_once() -> None:
    assert drawn(draw_graph(DIAMOND, 100, 40, None)) == [
        "                  ╭──→ ○ b  Title of b ─╮",
        " ○ a  Title of a ─┤                     ├──→ ○ d  Title of d",
        "                  ╰──→ ○ c  Title of c ─╯",
    ]


def test_links_of_the_chosen_task_have_their_own_colour() -> None:
    rows = draw_graph(DIAMOND, 100, 40, TaskId("b")).lines
    above, below = rows[0].left, rows[-1].left
    assert any("→" in text and colour == "busy" for text, colour in above)
    assert all(colour != "busy" for text, colour in below if "→" in text)


def test_a_link_over_a_layer_passes_between_its_tasks() -> None:
    found = draw_graph(shape(a="", b="a", c="b a"), 100, 40, None)
    line = next(one for one in drawn(found) if "○ b" not in one and "○ a" not in one)
    assert "──────" in line


@pytest.mark.parametrize(
    ("start", "step", "end"),
    [
        ("a", (1, 0), "b"),
        ("b", (0, 1), "c"),
        ("c", (0, 1), "c"),
        ("c", (1, 0), "d"),
        ("d", (1, 0), "d"),
        ("d", (-1, 0), "b"),
    ],
)
def test_steps(start: str, step: tuple[int, int], end: str) -> None:
    assert draw_graph(DIAMOND, 100, 40, None).step(TaskId(start), *step) == end


def test_narrow_columns_are_a_list_in_words() -> None:
    found = draw_graph(DIAMOND, 50, 40, TaskId("a"))
    assert found.is_list
    assert drawn(found)[:3] == ["○ a  Title of a", "○ b  Title of b", "    after a"]
    assert "    after b, c" in drawn(found)
    assert found.step(TaskId("a"), 0, 1) == "b"


def test_a_cycle_is_cut_at_one_link_and_drawn_in_red() -> None:
    view = shape(a="b", b="a", c="b")
    found = draw_graph(view, 100, 40, None)
    assert len(view.cut) == 1
    assert {colour for one in found.lines for text, colour in one.left if text.startswith("○")} >= {"*bad"}


def test_ascii_alone_is_enough() -> None:
    use_ascii(wanted=True)
    try:
        assert "".join(drawn(draw_graph(DIAMOND, 100, 40, TaskId("b")))).isascii()
    finally:
        use_ascii(wanted=False)


def test_a_click_finds_its_task() -> None:
    found = draw_graph(DIAMOND, 100, 40, None)
    x, _ = found.boxes[TaskId("d")]
    assert found.task_at(x + 3, found.rows[TaskId("d")]) == "d"
    assert found.task_at(x + 3, found.rows[TaskId("d")] + 1) is None


def test_too_many_tasks_are_listed_without_delay() -> None:
    many = shape(**{f"t{number}": "t0" if number else "" for number in range(1_000)})
    assert draw_graph(many, 200, 50, TaskId("t7")).is_list


def test_every_width_is_kept() -> None:
    for width in (38, 78, 118):
        found = draw_graph(DIAMOND, width, 20, TaskId("c"))
        assert found.is_list or max(map(len, drawn(found))) <= width
