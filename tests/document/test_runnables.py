"""Which settings need somebody's trust, and what a run does without those that nobody has trusted."""

from __future__ import annotations

from gitticks.document.runnables import held_back, runnables_of_layer
from gitticks.document.settings import file_layer

KEPT = file_layer("agents:\n  mine: {argv: [a], model: m}\npermissions: {default: ask}\nlimits: {idle: 1m}\n")


def values(text: str, trusted: str = "") -> dict[str, object]:
    known = {one.digest for one in runnables_of_layer(file_layer(trusted))}
    held = held_back(KEPT, file_layer(text), known)
    return {".".join(keys): given.value for keys, given in held.given.items()}


def test_what_nobody_has_trusted_stays_as_it_was_and_the_rest_is_taken() -> None:
    found = values("permissions: {default: allow, mode: yolo}\nlimits: {idle: 2m}\n")
    assert found == {"permissions.default": "ask", "limits.idle": 120}
    trusted = "permissions: {default: allow}"
    assert values(trusted, trusted) == {"permissions.default": "allow"}


def test_of_an_agent_s_entry_all_or_nothing_is_taken() -> None:
    mine = "agents:\n  mine: {argv: [a], prompt: file, args: [-x]}\n"
    assert values(mine, "agents: {mine: {argv: [a]}}") == {
        "agents.mine.argv": ("a",),
        "agents.mine.model": "m",
    }
    assert values(mine, mine).keys() == {"agents.mine.argv", "agents.mine.prompt", "agents.mine.args"}
    assert values("agents:\n  other: {argv: [b], prompt: file}\n") == {}
