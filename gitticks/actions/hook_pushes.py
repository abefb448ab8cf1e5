"""What a push may not bring to a state branch, checked by the pusher and by the server."""

from __future__ import annotations

from collections.abc import Iterator

from gitticks.actions.context import Context
from gitticks.board.skip_reasons import Problem
from gitticks.git.objects import object_places
from gitticks.git.refs import is_nothing, is_object_id, name_behind
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.layout import STATE_BRANCH, STATE_REF

_FIELDS_OF_PUSH, _FIELDS_OF_RECEIVE = 4, 3


def check_push(context: Context, lines: bytes) -> tuple[Problem, ...]:
    """Returns what speaks against a push; `lines` are what git gives `pre-push` on its stdin."""
    return tuple(
        problem
        for _, new, ref, old in _split(lines, _FIELDS_OF_PUSH)
        if ref == STATE_REF
        for problem in _check(context, old, new)
    )


def check_receive(context: Context, lines: bytes) -> tuple[Problem, ...]:
    """Returns what speaks against letting a push in; `lines` are what git gives `pre-receive` on its stdin.

    A symbolic ref of the server that leads to the state branch is another name of it.
    """
    here = context.repository.common_place
    return tuple(
        problem
        for old, new, ref in _split(lines, _FIELDS_OF_RECEIVE)
        if name_behind(here, ref) == STATE_REF
        for problem in _check(context, old, new)
    )


def _split(lines: bytes, count: int) -> Iterator[list[str]]:
    """Yields the fields of each line; the local side of a push may be any words, so they count from the end."""
    for line in lines.decode("utf-8", "surrogateescape").split("\n"):
        fields = line.rsplit(" ", count - 1)
        if len(fields) == count:
            yield fields


def _check(context: Context, old: str, new: str) -> Iterator[Problem]:
    """Yields what is wrong: commits that nobody was allowed to make, and whatever would be lost."""
    from gitticks.actions.doctor.diagnosis import diagnose_range

    if not is_object_id(old) or not is_object_id(new):
        yield Problem("", f"`{old}` and `{new}` are not commits", "`git push` again")
        return
    objects = object_places(context.world.environment, context.directory).open(context.repository)
    if not is_nothing(old) and not objects.has(old):
        yield Problem(
            "",
            f"the remote's `{STATE_BRANCH}` has commits that you do not have",
            f"`git -C {BOARD_FOLDER} pull --no-rebase origin {STATE_BRANCH}`, then push again",
        )
        return
    report = diagnose_range(context, f"{old}..{new}")
    # That a push would leave commits behind is worth a warning in a look at any range; here it would lose them.
    for finding in report.findings:
        yield Problem("", finding.what, finding.fix)
