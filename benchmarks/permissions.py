"""How long it takes to decide whether an agent may do something, by forty rules and by more than anybody writes."""

from __future__ import annotations

import time

from gitticks.model.settings import PermissionRule
from gitticks.workflow.permissions import Access, Grants, Operation, PolicyLayer, judge

_DECISIONS = 400


def measure_decision(rules: int) -> float:
    """Returns the seconds of one decision about a line of several commands, by so many rules in two places."""
    numbers = range(rules // 4)
    commands = tuple(
        PermissionRule(Operation.SHELL, commands=(f"tool{one} *", f"!tool{one} x")) for one in numbers
    )
    paths = tuple(PermissionRule(Operation.FILE_WRITE, paths=(f"src/{one}/**", "!**/x")) for one in numbers)
    layers = (
        PolicyLayer("config.yaml", commands, paths, is_project=True),
        PolicyLayer("git config", paths, commands),
    )
    judge(Access(Operation.SHELL, "true"), layers, Grants())  # rules are read once, and asked often
    begun = time.perf_counter()
    for number in range(_DECISIONS):
        line = f"cd a && NUMBER={number} make -j4 test | tee out && sh -c 'go vet; echo done'"
        judge(Access(Operation.SHELL, line), layers, Grants())
    return (time.perf_counter() - begun) / _DECISIONS
