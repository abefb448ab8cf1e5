"""The permission rules in effect, each with its origin: settings and people's answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, NamedTuple

from gitticks.document.settings import Given, Layer
from gitticks.document.settings_layers import ALLOW, FLAG, merge_layers
from gitticks.errors import NotFoundError
from gitticks.git.files import write_synced
from gitticks.git.locks import hold_lock
from gitticks.git.repository import Repository
from gitticks.model.settings import PermissionRule
from gitticks.safe_read import read_plain_file
from gitticks.store.settings import setting_layers
from gitticks.workflow.permissions import Answer, PolicyLayer

LEARNED_FILE = "permission-rules.jsonl"
LEARNED_ORIGIN = "your answers"
_DENY, _DEFAULT = ("permissions", "deny"), ("permissions", "default")


class LearnedRule(NamedTuple):
    """A rule that a person made by an answer, counted from 1; `answer` says whether it allows or denies."""

    number: int
    answer: Answer
    rule: PermissionRule
    at: str


def policy_layers(
    repository: Repository, environment: Mapping[str, str], overrides: Mapping[str, str]
) -> tuple[PolicyLayer, ...]:
    """Returns the rules of every place that has any: the project's, the person's, the answers', the flags'."""
    project, *personal = setting_layers(repository, environment, overrides)
    learned = _learned_layer(repository)
    overruled = frozenset(
        (one.origin, rule)
        for one in merge_layers((project, *personal, learned)).overruled
        if one.name == ".".join(ALLOW) and isinstance(one.value, tuple)
        for rule in one.value
    )
    given = [
        _layer(project, overruled, is_project=True),
        *(_layer(one, overruled) for one in (*personal, learned)),
    ]
    return tuple(layer for layer in given if layer.deny or layer.allow or layer.default is not None)


def _learned_layer(repository: Repository) -> Layer:
    learned = learned_rules(repository)
    kinds = ((_DENY, Answer.DENY), (ALLOW, Answer.ALLOW))
    rules = {keys: tuple(one.rule for one in learned if one.answer is answer) for keys, answer in kinds}
    return Layer({keys: Given(some, LEARNED_ORIGIN) for keys, some in rules.items()})


def _layer(
    layer: Layer, overruled: frozenset[tuple[str, object]], *, is_project: bool = False
) -> PolicyLayer:
    given = {keys: layer.given[keys] for keys in (_DENY, ALLOW, _DEFAULT) if keys in layer.given}
    values: dict[tuple[str, ...], Any] = {keys: one.value for keys, one in given.items()}
    return PolicyLayer(
        _origins({one.origin for one in given.values()}),
        values.get(_DENY, ()),
        values.get(ALLOW, ()),
        Answer(values[_DEFAULT]) if _DEFAULT in values else None,
        is_project,
        frozenset(rule for rule in values.get(ALLOW, ()) if (given[ALLOW].origin, rule) in overruled),
    )


def _origins(names: set[str]) -> str:
    """Returns where a place's rules stand; the parts of one place are named once."""
    places = {name.rpartition(".")[0] for name in names}
    if len(names) > 1 and len(places) == 1:
        names = {f"{places.pop()}.*"}
    return ", ".join(sorted(map(_origin, names))) or "settings"


def _origin(name: str) -> str:
    if name == LEARNED_ORIGIN:
        return name
    return "the flags of this run" if name.startswith(FLAG) else f"`{name}`"


def learned_rules(repository: Repository) -> tuple[LearnedRule, ...]:
    """Returns what people answered for good in this clone; lines that are none are left alone."""
    found = (one for one in map(_read, _lines(repository)) if one is not None)
    return tuple(LearnedRule(number, *one) for number, one in enumerate(found, start=1))


def learn(repository: Repository, answer: Answer, rule: PermissionRule, at: datetime) -> None:
    """Remembers an answer as a rule; one that is known already is not written twice."""
    with _locked(repository):
        if not any((one.answer, one.rule) == (answer, rule) for one in learned_rules(repository)):
            _write(repository, [*_lines(repository), _line(answer, rule, at.isoformat())])


def forget(repository: Repository, numbers: Iterable[int]) -> tuple[LearnedRule, ...]:
    """Drops rules by their numbers and returns them.

    Raises:
        NotFoundError: there is no rule of such a number; then none is dropped.
    """
    with _locked(repository):
        known = learned_rules(repository)
        wanted = set(numbers)
        missing = wanted - {one.number for one in known}
        if missing:
            raise NotFoundError(
                f"there is no rule with number {min(missing)}",
                hint="`gt permissions rules` shows them with their numbers",
            )
        lines = _lines(repository)
        of_rules = [line for line in lines if _read(line) is not None]
        for number in sorted(wanted):
            lines.remove(of_rules[number - 1])
        _write(repository, lines)
        return tuple(one for one in known if one.number in wanted)


def _locked(repository: Repository) -> AbstractContextManager[object]:
    return hold_lock(repository.own_file(f"{LEARNED_FILE}.lock"))


def _line(answer: Answer, rule: PermissionRule, at: str) -> str:
    parts = {name: part for name, part in rule._asdict().items() if part}
    return json.dumps({"answer": answer, **parts, "at": at})


def _read(line: str) -> tuple[Answer, PermissionRule, str] | None:
    try:
        body = json.loads(line)
        lists = {name: tuple(map(str, body.get(name, ()))) for name in ("paths", "commands", "hosts")}
        rule = PermissionRule(str(body["operation"]), **lists)
        return Answer(body["answer"]), rule, str(body.get("at", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _lines(repository: Repository) -> list[str]:
    try:
        text = read_plain_file(repository.own_file(LEARNED_FILE)).decode("utf-8", "replace")
    except OSError:
        return []
    return [line for line in text.split("\n") if line.strip()]


def _write(repository: Repository, lines: list[str]) -> None:
    content = "".join(f"{line}\n" for line in lines).encode()
    write_synced(repository.own_file(LEARNED_FILE), content, mode=0o600)
