"""`gt graph`."""

from __future__ import annotations

from collections.abc import Iterable

from gitticks.actions.context import Context
from gitticks.actions.dependencies import Dependencies, find_dependencies
from gitticks.cli.at_once import JSON, Argument, ReadingCommand, Switch
from gitticks.cli.render import NO_TASKS, count_of, say, screen, warn
from gitticks.cli.views.tasks import warn_of_broken
from gitticks.errors import Exit, UsageError


def answer(
    context: Context,
    *,
    task: str | None,
    with_closed: bool,
    as_dot: bool,
    as_mermaid: bool,
    as_svg: bool,
    as_json: bool,
) -> int:
    """Draw the dependencies between tasks.

    Each task is below all that it waits for; step 1 waits for nothing. With ID: what that task and all below it
    wait for, and what waits for it.
    """
    if as_dot + as_mermaid + as_svg + as_json > 1:
        raise UsageError("choose one output format", hint="`gt graph --svg > graph.svg`")
    found = find_dependencies(context, task, with_closed=with_closed, with_json=as_json)
    warn_of_broken(found.broken)
    _warn_of_cycles(found)
    if as_json:
        _print_json(found)
    elif as_dot or as_mermaid or as_svg:
        say(*_drawn(found, as_dot=as_dot, as_mermaid=as_mermaid))
    else:
        _print_lines(found, task, with_closed=with_closed)
    return Exit.DONE


def _drawn(found: Dependencies, *, as_dot: bool, as_mermaid: bool) -> Iterable[str]:
    if as_dot:
        from gitticks.cli.views.graph_drawings import dot_lines

        return dot_lines(found)
    if as_mermaid:
        from gitticks.cli.views.graph_drawings import mermaid_lines

        return mermaid_lines(found)
    from gitticks.cli.views.graph_drawings import svg_lines

    return svg_lines(found)


def _print_lines(found: Dependencies, task: str | None, *, with_closed: bool) -> None:
    from gitticks.cli.views.graph import graph_lines

    say(*graph_lines(screen(), found))
    if not found.has_tasks:
        say(NO_TASKS, err=True)
    elif not found.layers and not with_closed:
        say("no open task waits for another: `gt graph --all` includes closed ones", err=True)
    elif not found.layers:
        say("no task waits for another: `gt block ID OTHER` adds a blocker", err=True)
    elif found.left_out and task is None:
        say(f"{count_of(found.left_out, 'more open task')} without dependencies: `gt list`", err=True)


def _warn_of_cycles(found: Dependencies) -> None:
    for edge in found.edges:
        if edge.is_circular:
            warn(
                f"`{edge.target}` waits for itself through `{edge.source}`: `gt show {edge.target}` lists its blockers"
            )


def _print_json(found: Dependencies) -> None:
    from gitticks.cli.json import print_object, task_object

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
