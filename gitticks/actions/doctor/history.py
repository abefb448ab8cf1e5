"""Checks history: all of the state branch not yet verified, or a given range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitticks.actions.audit import verify_audit
from gitticks.actions.context import Context
from gitticks.actions.doctor import Finding, fault, note, warning
from gitticks.actions.doctor.history_steps import HISTORY_CHANGED, Trail, Unsettled
from gitticks.actions.doctor.repository import load_remembered, remember
from gitticks.errors import UsageError
from gitticks.git.log import read_trail, shallow_edge
from gitticks.git.objects import Objects, object_places
from gitticks.git.refs import is_nothing, read_ref, resolve
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.layout import CONFIG_PATH, STATE_BRANCH, STATE_REF, TASKS_FOLDER, state_tip
from gitticks.store.sharing import find_impossible

MOST_COMMITS = 10_000
"""How far back is looked without being asked to: seconds, and more than a busy team writes in a month."""

_SHOWN_DIGITS = 10


def check_history(context: Context) -> Iterator[Finding]:
    """Yields what is illegal on the state branch, from the newest commit that is known to be legal on."""
    repository, tip = context.repository, state_tip(context.repository)
    objects = context.store.objects
    known = load_remembered(repository)
    legal = known.legal if known.legal is not None and objects.has(known.legal) else None
    if legal is not None and not objects.is_ancestor(legal, tip):
        legal = None  # after a reset the branch may stand at a commit that only a later one made good
    found, count, is_cut_off = _judge(context, objects, tip, legal, count=MOST_COMMITS + 1)
    if count > MOST_COMMITS:
        yield note(
            f"only the newest {MOST_COMMITS} commits were checked for illegal steps",
            f"`gt doctor --range {STATE_BRANCH}` checks all of them",
        )
    elif not found and not is_cut_off:
        remember(repository, known._replace(legal=tip))
    yield from found


def check_audit(context: Context) -> Iterator[Finding]:
    """Yields the lines of the audit that were changed, or are gone."""
    for problem in verify_audit(context).problems:
        yield fault(problem, "`gt log` shows which commits touched it")


def check_range(context: Context, words: str) -> Iterator[Finding]:
    """Yields what is illegal in the commits that `words` name: `A..B`, or `B` for all that it reaches.

    It needs no board, no identity and no state branch, and it sees objects that git keeps in quarantine for a hook.
    """
    old, new = _sides(context, words)
    if new is None:
        yield fault(
            "the push would delete the state branch, with every task on it", f"do not delete `{STATE_BRANCH}`"
        )
        return
    places = object_places(context.world.environment, context.directory)
    objects = places.open(context.repository)
    top = objects.tree_of(new)
    if all(objects.find(top, name) is None for name in (TASKS_FOLDER, CONFIG_PATH)):
        yield fault(
            f"{new[:_SHOWN_DIGITS]} is not a commit of a state branch: it has neither `{TASKS_FOLDER}/` nor `{CONFIG_PATH}`",
            f"name one, such as `{STATE_BRANCH}`",
            commit=new,
        )
        return
    lost = [] if old is None else list(read_trail(context.repository, old, new, variables=places.variables))
    if old is not None and lost:
        yield warning(
            f"{new[:_SHOWN_DIGITS]} leaves {len(lost)} commit{'s' if len(lost) > 1 else ''} behind "
            f"that {old[:_SHOWN_DIGITS]} has",
            "merge both before you push: otherwise those commits would be lost",
            commit=old,
        )
    for one in find_impossible(objects, old, new):
        yield fault(one.words, f"`{one.look}` shows it", commit=one.commit)
    found, _, is_cut_off = _judge(context, objects, new, old, variables=places.variables)
    if is_cut_off:
        yield warning(
            "the history is shallow: its oldest commits, and what came before them, were not checked",
            "`git fetch --unshallow` fetches the rest",
        )
    yield from found
    if (
        old is None
        and not found
        and not is_cut_off
        and new == read_ref(context.repository.common_dir, STATE_REF)
    ):
        remember(context.repository, load_remembered(context.repository)._replace(legal=new))


def _sides(context: Context, words: str) -> tuple[str | None, str | None]:
    old, dots, new = words.rpartition("..")
    if not words or "..." in words:
        raise UsageError(
            f"`{words}` is not a range", hint=f"`gt doctor --range origin/{STATE_BRANCH}..{STATE_BRANCH}`"
        )

    def find(text: str) -> str | None:
        named = text or STATE_REF
        return None if is_nothing(named) else resolve(context.repository, named)

    return find(old) if dots else None, find(new)


def _judge(
    context: Context,
    objects: Objects,
    newest: str,
    excluded: str | None,
    *,
    count: int | None = None,
    variables: Mapping[str, str] | None = None,
) -> tuple[list[Finding], int, bool]:
    """Returns what is illegal at `newest`, how many commits `excluded` does not reach, and whether a shallow clone lacks some.

    The oldest ones of a shallow clone cannot be judged: they seem to have made all that they hold.
    """
    trail, edge = Trail(objects), shallow_edge(context.repository)
    seen, is_cut_off = 0, False
    for commit in read_trail(context.repository, newest, excluded, count=count, variables=variables or {}):
        seen += 1
        if commit.commit in edge:
            is_cut_off = True
        else:
            trail.follow(commit)
    unsettled = trail.unsettled(newest)
    return [finding for one in unsettled.values() for finding in _findings(one)], seen, is_cut_off


def _findings(one: Unsettled) -> Iterator[Finding]:
    """Yields one finding for each commit, with all that was illegal in it."""
    problems: dict[str, list[str]] = {}
    for illegal in one.found:
        problems.setdefault(illegal.commit, []).append(illegal.problem)
    task_id = one.found[0].task_id
    for commit, words in problems.items():
        yield fault(
            f"in {commit[:_SHOWN_DIGITS]} `{task_id}` {'; '.join(words)}",
            _fix(one),
            task=task_id,
            commit=commit,
        )


def _fix(one: Unsettled) -> str:
    """Returns how to settle it: taken back while nothing builds on it, else by a person's own decision.

    What is gone from a history no decision brings back.
    """
    commits = list(dict.fromkeys(illegal.commit for illegal in reversed(one.found)))
    loses_history = any(illegal.problem == HISTORY_CHANGED for illegal in one.found)
    if loses_history or (len(commits) == 1 and one.later == 0):
        typed = f"git -C {BOARD_FOLDER} -c core.hooksPath=/dev/null revert --no-edit {' '.join(commits)}"
        return f"`{typed}` reverts it"
    task_id = one.found[0].task_id
    return f"`gt show {task_id}`; your decision about it (a verdict, a status, `gt reopen`) resolves it"
