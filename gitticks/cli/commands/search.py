"""`gt search`."""

from __future__ import annotations

from gitticks.actions.context import Context
from gitticks.actions.searching import Found, FoundBroken, Match, Wanted, search_tasks
from gitticks.cli.at_once import JSON, Argument, ReadingCommand, Switch
from gitticks.cli.filters import COUNT, LABEL, STATUS
from gitticks.cli.json import print_tasks, task_text
from gitticks.cli.render import say, screen
from gitticks.cli.views.search import broken_lines, found_lines
from gitticks.cli.views.tasks import warn_of_broken
from gitticks.errors import Exit
from gitticks.model.status import Status


def answer(
    context: Context,
    *,
    words: tuple[str, ...],
    statuses: tuple[frozenset[Status], ...],
    labels: tuple[str, ...],
    with_closed: bool,
    count: int | None,
    as_json: bool,
) -> int:
    """Find tasks by words in titles and texts.

    In open tasks, and only those that have all the words. A word with a capital is found as it is written, others in
    any case. If nothing is found: exit code 1.
    """
    wanted = Wanted(frozenset().union(*statuses) if statuses else None, frozenset(labels), with_closed)
    search = search_tasks(context, words, wanted, count=count, with_json=as_json)
    found_broken = search.found_broken
    warn_of_broken(search.broken)
    if as_json:
        print_tasks(
            map(_text, search.found),
            **({"broken": list(map(_broken_object, found_broken))} if found_broken else {}),
        )
    elif search.found or found_broken:
        on = screen()
        say(*(line for one in search.found for line in found_lines(on, one, search.needles)))
        say(*(line for one in found_broken for line in broken_lines(on, one, search.needles)))
        if search.left_out:
            every = len(search.found) + len(found_broken) + search.left_out
            say(f"… {search.left_out} more: `gt search -n {every}`", err=True)
    else:
        more = "" if wanted.needs_closed else ": `gt search --all` searches closed tasks too"
        say(f"no matches{more}", err=True)
    return Exit.DONE if search.found or found_broken else Exit.FAILED


def _text(found: Found) -> str:
    return task_text(
        found.standing,
        in_title=found.in_title,
        matches=_matches(found.matches),
    )


def _broken_object(found: FoundBroken) -> dict[str, object]:
    return {"id": found.id, "path": found.path, "matches": _matches(found.matches)}


def _matches(matches: tuple[Match, ...]) -> list[dict[str, object]]:
    return [{"line": match.line, "section": match.section or None, "text": match.text} for match in matches]


search_command = ReadingCommand(
    "search",
    answer,
    (
        Argument("words", "WORD...", is_repeated=True, completes="-"),
        STATUS,
        LABEL,
        Switch("with_closed", ("-a", "--all"), "Include closed tasks."),
        COUNT,
        JSON,
    ),
    examples=("gt search login redirect", 'gt search "return URL" --status in_review'),
)
