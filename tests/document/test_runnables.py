"""Which settings need somebody's trust, and what a run does without those that nobody has trusted."""

from __future__ import annotations

from gitticks.document.runnables import changed_settings, held_back, runnables_of_layer
from gitticks.document.settings import Layer, file_layer

KEPT = file_layer("agents:\n  mine: {argv: [a], model: m}\npermissions: {default: ask}\nlimits: {idle: 1m}\n")


def values(text: str, trusted: str = "") -> dict[str, object]:
    known = runnables_of_layer(file_layer(trusted))
    new = file_layer(text)
    held = held_back(KEPT, new, [one for one in runnables_of_layer(new) if one not in known])
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


def names(text: str, agreed: str = "") -> list[str]:
    return [f"{one.name} {one.text}" for one in runnables_of_layer(file_layer(text), file_layer(agreed))]


def test_what_is_looser_than_agreed_to_needs_trust_and_so_does_what_was_removed() -> None:
    agreed = "human: when-required\nbudget: {run: {cost: 100}, task: {cost: 5}}\npermissions: {deny: [{operation: network}]}\n"
    assert names(agreed, agreed) == []
    assert names("budget: {run: {cost: 50}}", agreed) == ["budget.task.cost null", "permissions.deny []"]
    assert names(agreed.replace("100", "101"), agreed) == ["budget.run.cost 101.0"]
    assert names("", "verify: {test: make, committed: true}\napprovals: {four_eyes: true}\n") == [
        "approvals.four_eyes false",
        "verify.test null",
    ]
    assert names("", "agents: {mine: {mode: interactive, prompt: file}}") == ["agents.mine.mode null"]


def test_what_runs_needs_trust_whatever_was_agreed_to() -> None:
    assert names("notify: x", "notify: x") == ["notify x"]


def test_what_changed_is_named_whichever_way_it_went() -> None:
    before, after = (
        "human: always\nparallel: 8\nagent: a\n",
        "human: always\nparallel: 2\nlimits: {idle: 1m}\n",
    )
    changed = changed_settings(file_layer(before), file_layer(after))
    assert [(one.name, one.text) for one in changed] == [
        ("parallel", "2"),
        ("agent", "null"),
        ("limits.idle", "60"),
    ]
    assert [one.name for one in changed_settings(Layer(), file_layer("human: always"))] == ["human"]


def test_what_somebody_else_removed_stays_too() -> None:
    assert held_back(KEPT, Layer(), runnables_of_layer(Layer(), KEPT)).given.keys() == {
        ("agents", "mine", "argv"),
        ("agents", "mine", "model"),
    }
