"""Turns permission rules for files and hosts into sandbox settings; rules for commands cannot be enforced by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gitticks.model.settings import PermissionRule
from gitticks.sandbox.walls import Walls
from gitticks.workflow.permissions import Answer, Operation, PolicyLayer, heard_to_allow

_EVERY_HOST = "*"


def with_rules(walls: Walls, layers: Iterable[PolicyLayer]) -> Walls:
    """Returns a sandbox that blocks what the rules deny and lets through what they allow.

    What may not be read is hidden, what may not be written is read-only, as far as it exists when the walls are built.
    A rule that takes something back with `!`, or is about every file, cannot be a wall. Paths in the workspace need no
    door.
    """
    every = tuple(layers)
    denied = [rule for layer in every for rule in layer.deny]
    allowed = [rule for layer in heard_to_allow(every) for rule in layer.allow]
    hosts = (*walls.hosts, *_hosts(allowed))
    if any(layer.default is Answer.DENY for layer in every) or _is_network_denied(denied):
        hosts = tuple(host for host in hosts if host != _EVERY_HOST)
    return replace(
        walls,
        hidden=_united(walls.hidden, _globs(denied, Operation.FILE_READ)),
        pinned=_united(walls.pinned, _globs(denied, Operation.FILE_WRITE)),
        readable=_united(walls.readable, _places(allowed, Operation.FILE_READ)),
        writable=_united(walls.writable, _places(allowed, Operation.FILE_WRITE)),
        hosts=() if _is_network_denied(denied) else _united(hosts),
        denied_hosts=_united(walls.denied_hosts, (host for rule in denied for host in _positive(rule.hosts))),
    )


def _united(*lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for some in lists for one in some))


def _hosts(rules: Iterable[PermissionRule]) -> Iterable[str]:
    for rule in rules:
        if rule.operation == Operation.NETWORK:
            yield from _positive(rule.hosts) if rule.hosts else (_EVERY_HOST,)


def _is_network_denied(rules: Iterable[PermissionRule]) -> bool:
    return any(
        rule.operation == Operation.NETWORK and (not rule.hosts or _EVERY_HOST in rule.hosts)
        for rule in rules
    )


def _globs(rules: Iterable[PermissionRule], operation: Operation) -> Iterable[str]:
    """Yields the paths and globs of rules as the sandbox reads them: a bare name is a file anywhere."""
    for rule in rules:
        if rule.operation == operation:
            for path in _positive(rule.paths):
                is_name = "/" not in path.rstrip("/") and path != "**"
                plain = path.removeprefix("./").removesuffix("/**").rstrip("/")
                if plain and plain != "**":
                    yield f"**/{plain}" if is_name else plain


def _places(rules: Iterable[PermissionRule], operation: Operation) -> Iterable[str]:
    """Yields the folders and files outside of the workspace that rules open, by their beginning without a glob."""
    for rule in rules:
        if rule.operation == operation:
            for path in _positive(rule.paths):
                plain = path.removesuffix("/**").rstrip("/")
                if plain.startswith(("/", "~/")) and not any(sign in plain for sign in "*?["):
                    yield plain


def _positive(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return () if any(one.startswith("!") for one in patterns) else patterns
