"""Whether an agent may do something: deny rules first, then allow rules, the mode, the default.

Each layer of settings speaks for itself. What one of them denies is denied, so that a project can only tighten what a
person allows; what a project leaves open a person may have answered once and for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from gitticks.model.settings import PermissionMode, PermissionRule
from gitticks.workflow.permission_patterns import (
    RuleIndex,
    allows_command,
    denies_command,
    is_harmless,
    learned_pattern,
    matches_host,
    matches_path,
)


class Operation(StrEnum):
    """What a rule can be about."""

    FILE_READ = "file_read"
    FILE_WRITE = "file_write"
    SHELL = "shell"
    NETWORK = "network"


class Answer(StrEnum):
    """What the rules say: yes, no, or ask a person."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


class Access(NamedTuple):
    """One thing that an agent wants to do.

    `target` is a path (relative to the workspace if it is in it), a command line or a host. `is_inside` is true for
    paths in the workspace.
    """

    operation: Operation
    target: str
    is_inside: bool = False


@dataclass(frozen=True)
class PolicyLayer:
    """The rules that come from one place; `default` is None where that place sets none.

    Those of `allow` that are `overruled` open nothing in a sandbox, since another place lists what may be let through.
    The project's layer is the team's `config.yaml`; all others are a person's own.
    """

    origin: str
    deny: tuple[PermissionRule, ...] = ()
    allow: tuple[PermissionRule, ...] = ()
    default: Answer | None = None
    is_project: bool = False
    overruled: frozenset[PermissionRule] = frozenset()

    @cached_property
    def denying(self) -> Mapping[str, RuleIndex]:
        """Returns the rules that deny, by their operation."""
        return _indexed(self.deny)

    @cached_property
    def allowing(self) -> Mapping[str, RuleIndex]:
        """Returns the rules that allow, by their operation."""
        return _indexed(self.allow)


class Grants(NamedTuple):
    """What the mode lets a client do without asking, besides the workspace's files.

    `commands` are patterns of commands, `is_walled` says that the client holds its commands in the workspace itself.
    """

    mode: PermissionMode = PermissionMode.AUTO_EDIT
    commands: tuple[str, ...] = ()
    is_walled: bool = False


class Ruling(NamedTuple):
    """What was decided and why; `rule` and `origin` are those that decided, if a rule did.

    `is_open` is true for a question that nobody set rules for: without a person the client's own mode may decide it.
    """

    answer: Answer
    reason: str
    rule: PermissionRule | None = None
    origin: str | None = None
    is_open: bool = False


_LONGEST_COMMAND = 131_071
"""What Linux takes as one argument; longer ones would also take seconds to judge."""
_ORDER = (Answer.DENY, Answer.ASK, Answer.ALLOW)
_MODES = tuple(PermissionMode)


def judge(access: Access, layers: Iterable[PolicyLayer], grants: Grants) -> Ruling:
    """Returns what the rules say of an access."""
    every = tuple(layers)
    return (
        _denied_for_length(access)
        or _denied_by_rule(access, every)
        or _denied_by_default(access, every)
        or _allowed_by_rule(access, every)
        or _granted(access, grants)
        or _by_default(every, grants)
    )


def _denied_for_length(access: Access) -> Ruling | None:
    if access.operation is not Operation.SHELL or len(access.target) <= _LONGEST_COMMAND:
        return None
    words = (
        f"a command of {len(access.target):,} characters is more than any shell takes as one: use a script"
    )
    return Ruling(Answer.DENY, words)


def strictness(ruling: Ruling) -> int:
    """Returns the place of a ruling in an order by which the strictest comes first."""
    return _ORDER.index(ruling.answer)


def is_looser(mode: PermissionMode, than: PermissionMode) -> bool:
    """True if a mode lets agents do more than another."""
    return _MODES.index(mode) > _MODES.index(than)


def rule_words(rule: PermissionRule) -> str:
    """Returns a rule as people read it, such as `shell: go test *`."""
    return f"{rule.operation}: {', '.join(rule.patterns)}" if rule.patterns else rule.operation


def matches(rule: PermissionRule, access: Access, *, to_deny: bool) -> bool:
    """True if a rule is about an access; one without patterns is about every use of its operation.

    Of a line with several commands a deny rule needs to match one, a rule that allows must match all.
    """
    if rule.operation != access.operation or not rule.patterns:
        return rule.operation == access.operation
    if access.operation is Operation.SHELL:
        return (denies_command if to_deny else allows_command)(rule.patterns, access.target)
    matched = matches_host if access.operation is Operation.NETWORK else matches_path
    return matched(rule.patterns, access.target)


def denied_writes(paths: Iterable[str], layers: Iterable[PolicyLayer]) -> Mapping[str, str]:
    """Returns which paths of the workspace a rule forbids to write, and the reason."""
    every = tuple(layers)
    found = {}
    for path in paths:
        ruling = _denied_by_rule(Access(Operation.FILE_WRITE, path, is_inside=True), every)
        if ruling is not None:
            found[path] = ruling.reason
    return found


def learned_rule(access: Access) -> PermissionRule:
    """Returns the rule that "always" remembers: the same kind of command, all of the file's folder, the host.

    Outside of the workspace it is the very path, which a glob takes with all that may be in it.
    """
    if access.operation is Operation.SHELL:
        return PermissionRule(access.operation, commands=(learned_pattern(access.target),))
    if access.operation is Operation.NETWORK:
        return PermissionRule(access.operation, hosts=(access.target,))
    if not access.is_inside:
        return PermissionRule(access.operation, paths=(access.target,))
    folder, _, name = access.target.rpartition("/")
    return PermissionRule(access.operation, paths=(f"{folder}/**" if folder else f"./{name}",))


def _indexed(rules: tuple[PermissionRule, ...]) -> Mapping[str, RuleIndex]:
    found: dict[str, list[PermissionRule]] = {}
    for rule in rules:
        found.setdefault(rule.operation, []).append(rule)
    return {
        operation: RuleIndex(
            some, is_shell=operation == Operation.SHELL, is_network=operation == Operation.NETWORK
        )
        for operation, some in found.items()
    }


def _about(indexes: Mapping[str, RuleIndex], access: Access) -> tuple[PermissionRule, ...]:
    index = indexes.get(access.operation)
    is_host = access.operation is Operation.NETWORK
    return () if index is None else index.about(access.target.rstrip(".") if is_host else access.target)


def _denied_by_rule(access: Access, layers: tuple[PolicyLayer, ...]) -> Ruling | None:
    for layer in layers:
        for rule in _about(layer.denying, access):
            if matches(rule, access, to_deny=True):
                reason = f"denied by the rule `{rule_words(rule)}` of {layer.origin}"
                return Ruling(Answer.DENY, reason, rule, layer.origin)
    return None


def _denied_by_default(access: Access, layers: tuple[PolicyLayer, ...]) -> Ruling | None:
    for layer in layers:
        if layer.default is Answer.DENY and _allowing(access, layer) is None:
            return Ruling(
                Answer.DENY,
                f"no rule allows it, and `permissions.default` of {layer.origin} is `deny`",
                origin=layer.origin,
            )
    return None


def heard_to_allow(layers: Iterable[PolicyLayer]) -> tuple[PolicyLayer, ...]:
    """Returns the layers whose rules may allow something, the person's first.

    A project does not take away the questions that a person wants.
    """
    every = tuple(layers)
    wants_questions = any(
        layer.default in (Answer.ASK, Answer.DENY) for layer in every if not layer.is_project
    )
    own = tuple(layer for layer in every if not layer.is_project)
    return own if wants_questions else (*own, *(layer for layer in every if layer.is_project))


def _allowed_by_rule(access: Access, layers: tuple[PolicyLayer, ...]) -> Ruling | None:
    for layer in heard_to_allow(layers):
        rule = _allowing(access, layer)
        if rule is not None:
            reason = f"allowed by the rule `{rule_words(rule)}` of {layer.origin}"
            return Ruling(Answer.ALLOW, reason, rule, layer.origin)
    return None


def _allowing(access: Access, layer: PolicyLayer) -> PermissionRule | None:
    near = _about(layer.allowing, access)
    found = next((rule for rule in near if matches(rule, access, to_deny=False)), None)
    if found is not None or not near or access.operation is not Operation.SHELL:
        return found
    # The commands of one line may be allowed by a rule each.
    rules = layer.allowing[Operation.SHELL].rules
    together = tuple(pattern for rule in rules for pattern in rule.commands)
    if len(rules) > 1 and all(rule.commands for rule in rules) and allows_command(together, access.target):
        return PermissionRule(Operation.SHELL, commands=together)
    return None


def _granted(access: Access, grants: Grants) -> Ruling | None:
    mode = grants.mode
    if mode is PermissionMode.YOLO:
        return Ruling(Answer.ALLOW, "allowed by the mode `yolo`, which asks nothing")
    reason = None
    if access.operation is Operation.FILE_READ and access.is_inside:
        reason = "reading in the workspace needs no permission"
    elif (
        access.operation is Operation.FILE_WRITE
        and access.is_inside
        and mode is not PermissionMode.INTERACTIVE
    ):
        reason = f"the mode `{mode}` allows edits in the workspace"
    elif access.operation is Operation.SHELL:
        reason = _granted_command(access.target, grants)
    return None if reason is None else Ruling(Answer.ALLOW, reason)


def _granted_command(command: str, grants: Grants) -> str | None:
    if grants.mode is PermissionMode.INTERACTIVE:
        return None
    if grants.mode is PermissionMode.AUTO_ALL:
        return "the mode `auto-all` allows commands"
    if grants.is_walled:
        return f"the mode `{grants.mode}` leaves commands to the client's own sandbox"
    if is_harmless(command, grants.commands):
        return "needed to hand off work, or only reads"
    return None


def _by_default(layers: tuple[PolicyLayer, ...], grants: Grants) -> Ruling:
    given = [layer for layer in layers if layer.default is not None]
    if not given:
        is_open = grants.mode is not PermissionMode.INTERACTIVE
        return Ruling(
            Answer.ASK,
            f"no rule applies, and the mode `{grants.mode}` does not allow it",
            is_open=is_open,
        )
    layer = min(given, key=lambda one: _ORDER.index(one.default or Answer.ASK))
    default = layer.default or Answer.ASK
    return Ruling(
        default,
        f"no rule applies, and `permissions.default` of {layer.origin} is `{default}`",
        origin=layer.origin,
    )
