"""`gt graph`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gitticks.actions.context import Context
from gitticks.actions.dependencies import Dependencies, find_dependencies
from gitticks.actions.derived_state import Standing
from gitticks.cli.at_once import JSON, Argument, ReadingCommand, Switch
from gitticks.cli.json import print_object, task_object
from gitticks.cli.render import GAP, NARROWEST_TITLE, Screen, Style, count_of, say, screen, warn
from gitticks.cli.table import Cell, Column, table_of
from gitticks.cli.text import visible, wrap
from gitticks.cli.views.tasks import or_no_tasks, waits_for
from gitticks.errors import UsageError
from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.model.task_row import TaskRow

_ENDS, _MEETS, _BEGINS = ("╰", "┴"), ("├", "┼"), ("╭", "┬")
"""A rail that ends, is met or begins at a task: as the leftmost one of its line, and as any other."""
_PASSES, _ALONG, _NOTHING = "│", "─", " "
_ASCII = str.maketrans("╰┴├┼╭┬│─", "++++++|-")
_BELOW = str.maketrans("├┼╭┬╰┴─", "││││   ")
"""What is below a line of rails, where the title beside it continues."""
_PIPED_RAILS = 40
_SHARE_OF_RAILS = 3
_NARROW = 60
IN_A_CYCLE = "in a cycle"


def answer(
    context: Context,
    *,
    task: str | None,
    with_closed: bool,
    as_dot: bool,
    as_mermaid: bool,
    as_svg: bool,
) -> None:
    """Draw the dependencies between tasks.

    Each task is below all that it waits for; step 1 waits for nothing. With ID: what that task and all below it
    wait for, and what waits for it.
    """
    if as_dot + as_mermaid + as_svg + context.as_json > 1:
        raise UsageError("choose one output format", hint="`gt graph --svg > graph.svg`")
    found = find_dependencies(context, task, with_closed=with_closed)
    for edge in found.edges:
        if edge.is_circular:
            words = f"`{edge.target}` waits for itself through `{edge.source}`"
            warn(f"{words}: `gt show {edge.target}` lists its blockers")
    if context.as_json:
        _print_json(found)
    elif as_dot or as_mermaid or as_svg:
        from gitticks.cli.views.graph_drawings import dot_lines, mermaid_lines, svg_lines

        draw = dot_lines if as_dot else mermaid_lines if as_mermaid else svg_lines
        say(*draw(found))
    else:
        _print_lines(context, found, task, with_closed=with_closed)


def _print_lines(context: Context, found: Dependencies, task: str | None, *, with_closed: bool) -> None:
    say(*graph_lines(screen(), found))
    if not found.layers:
        nothing = "no task waits for another: `gt block ID OTHER` adds a blocker"
        if not with_closed:
            nothing = "no open task waits for another: `gt graph --all` includes closed ones"
        say(or_no_tasks(context, nothing), err=True)
    elif found.left_out and task is None:
        say(f"{count_of(found.left_out, 'more open task')} without dependencies: `gt list`", err=True)


def _print_json(found: Dependencies) -> None:
    print_object(
        tasks=[task_object(one) for one in found.standings],
        layers=[[one.task.id for one in layer] for layer in found.layers],
        edges=[
            {"from": edge.source, "to": edge.target, "part": edge.is_part, "circular": edge.is_circular}
            for edge in found.edges
        ],
    )


graph_command = ReadingCommand(
    "graph",
    answer,
    (
        Argument("task", "[ID]"),
        Switch("with_closed", ("-a", "--all"), "Include closed tasks."),
        Switch("as_dot", ("--dot",), "Print it for Graphviz."),
        Switch("as_mermaid", ("--mermaid",), "Print it for Mermaid, which GitHub and GitLab render."),
        Switch("as_svg", ("--svg",), "Print an SVG picture; needs no other program."),
        JSON,
    ),
    examples=("gt graph", "gt graph e0pc --all", "gt graph --svg > graph.svg"),
)


def draw_rails(
    rows: Sequence[TaskId], waits_for: Mapping[TaskId, Collection[TaskId]], widest: int
) -> list[str]:
    """Returns what is before each row, all equally wide; empty texts where that would be wider than `widest`.

    Each row's task is below all that it waits for.
    """
    left: dict[TaskId, int] = dict.fromkeys(rows, 0)
    for row in rows:
        for source in waits_for[row]:
            left[source] += 1
    lines: list[str] = []
    rails: list[TaskId | None] = []
    for row in rows:
        lines.append(_line(row, rails, waits_for[row], left))
        if len(lines[-1]) > widest:
            return [""] * len(rows)
    columns = max(map(len, lines), default=0)
    return [line.ljust(columns, _ALONG if line and line[-1] == _ALONG else _NOTHING) for line in lines]


def _line(
    row: TaskId, rails: list[TaskId | None], sources: Collection[TaskId], left: dict[TaskId, int]
) -> str:
    """Returns the rails of one row, and brings them to where they are below it."""
    met = {place for place, rail in enumerate(rails) if rail is not None and rail in sources}
    for source in sources:
        left[source] -= 1
    begins = None
    if left[row]:
        begins = rails.index(None) if None in rails else len(rails)
        rails[begins : begins + 1] = [row]
    first = min(met | ({begins} if begins is not None else set()), default=len(rails))
    line = ""
    for place, rail in enumerate(rails):
        is_later = place > first
        if place in met:
            sign = (_MEETS if rail is not None and left[rail] else _ENDS)[is_later]
        elif place == begins:
            sign = _BEGINS[is_later]
        elif rail is not None:
            sign = _PASSES
        else:
            sign = _ALONG if is_later else _NOTHING
        line += sign + (_ALONG if place >= first else _NOTHING)
    for place in met:
        rail = rails[place]
        if rail is not None and not left[rail]:
            rails[place] = None
    while rails and rails[-1] is None:
        rails.pop()
    return line


def graph_lines(on: Screen, found: Dependencies) -> list[str]:
    """Returns the lines of each task, all that it waits for above it; none where nothing waits."""
    standings = found.standings
    sources: dict[TaskId, list[TaskId]] = {one.task.id: [] for one in standings}
    for edge in found.edges:
        if not edge.is_circular:
            sources[edge.target].append(edge.source)
    circling = {edge.target for edge in found.edges if edge.is_circular}
    widest = on.columns // _SHARE_OF_RAILS if on.is_terminal else _PIPED_RAILS
    rails = draw_rails(list(sources), sources, widest)
    shows_waits = not (on.is_terminal and on.columns < _NARROW and any(rails))
    steps = (
        "" if place else str(step)
        for step, layer in enumerate(found.layers, start=1)
        for place in range(len(layer))
    )
    rows = [
        (step, rail, f"{on.glyph(one.task.status)} {one.task.id}", one.task.title, _waits_of(one, circling))
        for step, rail, one in zip(steps, rails, standings, strict=True)
    ]
    heading = f"{' ' * max(map(len, rails), default=0)}  id"
    fixed = [
        len("step"),
        max(len(heading), *(len(rail) + len(name) for _, rail, name, *_ in rows)) if rows else 0,
        max((len(waits.text) for *_, waits in rows), default=0) if shows_waits else 0,
    ]
    room = on.columns - sum(one + len(GAP) for one in fixed if one)
    lines: list[tuple[str, str, str, Cell]] = []
    for step, rail, name, title, waits in rows:
        wraps = on.is_terminal and room >= NARROWEST_TITLE
        first, *further = wrap(visible(title), room) if wraps else [title]
        lines.append((step, _rail(on, rail) + name, first, waits))
        lines += [("", _rail(on, rail.translate(_BELOW)), part, Cell("")) for part in further]
    columns = [
        Column("step", [line[0] for line in lines], Style.FAINT, ours=True),
        Column(heading, [line[1] for line in lines], ours=True),
        Column("title", [line[2] for line in lines]),
    ]
    if shows_waits:
        reasons = [line[3] for line in lines]
        columns.append(
            Column("waits", [one.text for one in reasons], [one.style for one in reasons], ours=True)
        )
    shown = list(table_of(on, columns, flexible="title"))
    return [*shown, *_legend(on, found)] if on.is_terminal and rows else shown


def _rail(on: Screen, rail: str) -> str:
    return rail if on.has_glyphs else rail.translate(_ASCII)


def _waits_of(one: Standing[TaskRow], circling: Collection[TaskId]) -> Cell:
    is_circling = one.task.id in circling
    words = ("epic" if one.task.is_epic else "", waits_for(one), IN_A_CYCLE if is_circling else "")
    style = Style.BAD if is_circling else Style.WAITS if one.task.awaiting else Style.FAINT
    return Cell(", ".join(filter(None, words)), style)


def _legend(on: Screen, found: Dependencies) -> list[str]:
    used = {one.task.status for one in found.standings}
    signs = [f"{on.glyph(status)} {status}" for status in Status if status in used]
    text = f"{', '.join(signs)}; lines lead down to what waits"
    return ["", *(on.styled(line, Style.FAINT) for line in wrap(text, on.columns))]
