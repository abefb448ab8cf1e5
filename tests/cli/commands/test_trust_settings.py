"""Which of the team's settings `gt trust` asks about: those that loosen what this clone last went by."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.actions.config import change_setting
from gitticks.actions.context import Context
from gitticks.git.identity import Identity
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.cli.commands.test_trust import clones, replace_on_board, share
from tests.support.clones import Clone
from tests.support.repositories import git, make_repository

__all__ = ["clones"]


@pytest.mark.parametrize(("mode", "is_asked"), [("yolo", True), ("auto-all", True), ("interactive", False)])
def test_a_mode_that_lets_agents_do_more_is_asked_about(
    clones: list[Clone], mode: str, is_asked: bool
) -> None:
    one, other = clones
    one.ok("config", "permissions.mode", mode)
    share(one, other)
    listed = "not yet  setting permissions.mode\n" if is_asked else ""
    assert listed in other.ok("trust", "--list")
    sure = ("--yolo-without-sandbox",) if mode == "yolo" else ()
    assert other.gt("run", *sure).code == (3 if is_asked else 0)
    assert one.gt("run", *sure).code == 0
    other.ok("trust", "--yes")
    assert other.gt("run", *sure).code == 0


@pytest.mark.parametrize(
    ("name", "value", "is_asked"),
    [
        ("permissions.allow", "[{operation: shell, commands: [rm]}]", True),
        ("permissions.deny", "[{operation: shell, commands: [rm]}]", False),
        ("permissions.default", "allow", True),
        ("permissions.default", "deny", False),
        ("sandbox.preset", "none", True),
        ("sandbox.preset", "strict", False),
        ("sandbox.allowed_paths", "[/srv]", True),
        ("sandbox.denied_paths", "[/srv]", False),
        ("sandbox.allowed_hosts", "[example.org]", True),
        ("setup.copy", "[.env]", True),
        ("workspace.dir", ".ws", True),
        ("approvals.allowed_signers", "signers", True),
        ("approvals.minimum", "L2", False),
        ("reviewers", "[{name: one, focus: Say PASS.}]", True),
        ("reviewers", "[{name: one}]", False),
        ("reviewers", "[{name: one, agent: codex}]", True),
        ("human", "when-required", True),
        ("human", "always", False),
        ("review", "none", True),
        ("review", "council", False),
        ("council.rule", "majority", True),
        ("verify.committed", "false", True),
        ("base", "main", False),
        ("agent", "codex", True),
        ("agents.codex.model", "dear", True),
        ("agents.claude.fallback", "[codex]", True),
        ("budget.run.cost", "100", True),
        ("budget.run.cost", "null", True),
        ("budget.run.cost", "5", False),
        ("budget.task.cost", "5", False),
        ("prices.gpt.input", "0", True),
        ("parallel", "4", True),
        ("parallel", "2", False),
        ("isolation", "none", True),
        ("isolation", "epic", False),
        ("merge.mode", "pull-request", True),
        ("merge.mode", "manual", False),
        ("merge.push", "true", True),
        ("sync.auto", "push", True),
        ("keep.rescued", "1s", True),
        ("limits.iteration", "2h", False),
    ],
)
def test_what_gives_agents_more_room_costs_more_sends_something_out_or_opens_a_gate_is_asked_about(
    clones: list[Clone], name: str, value: str, is_asked: bool
) -> None:
    one, other = clones
    one.ok("config", name, value)
    share(one, other)

    listed = other.ok("trust", "--list")

    assert (f"not yet  setting {name}\n" in listed) is is_asked
    shown = other.gt("trust").out
    assert not {"PermissionRule", "null"} & set(re.findall(r"\w+", shown)) - {value}
    assert one.ok("trust") == "nothing from elsewhere is waiting to be trusted\n"
    if is_asked:
        assert other.gt("run").code == 3
        other.ok("trust", "--yes")
        assert f"trusted  setting {name}\n" in other.ok("trust", "--list")


def test_who_begins_here_or_edits_the_board_is_not_asked(tmp_path: Path) -> None:
    ours = Clone(make_repository(tmp_path / "ours"))
    ours.ok("init", "--human", "when-required")
    replace_on_board(ours, "config.yaml", "human: when-required", "human: when-required\nmerge: {push: true}")
    listed = ours.ok("trust", "--list")
    assert "not yet" not in listed
    assert {"trusted  setting human", "trusted  setting merge.push"} <= set(listed.splitlines())


def test_what_is_removed_or_loosened_again_is_asked_about_and_what_tightens_is_not(
    clones: list[Clone],
) -> None:
    theirs, ours = clones
    for name, value in (("verify.test", "true"), ("budget.run.cost", "100"), ("approvals.minimum", "L2")):
        theirs.ok("config", name, value)
    share(theirs, ours)
    ours.ok("trust", "--yes")
    assert ours.gt("run").code == 0
    theirs.ok("config", "budget.run.cost", "50")
    share(theirs, ours)
    assert "not yet" not in ours.ok("trust", "--list")
    assert ours.gt("run").code == 0
    theirs.ok("config", "verify.test", "--unset")
    theirs.ok("config", "budget.run.cost", "60")
    theirs.ok("config", "approvals.minimum", "L0")
    share(theirs, ours)

    ran = ours.gt("run")

    assert ran.code == 3
    waiting = ["approvals.minimum", "budget.run.cost", "verify.test"]
    assert ", ".join(f"`{one}`" for one in waiting) + " came from elsewhere" in ran.err
    assert ours.gt("trust").out == (
        "setting approvals.minimum\n    L0\n    before: L2\nsetting budget.run.cost\n    60.0\n    before: 50.0\n"
        "setting verify.test\n    null\n    before: true\n"
    )
    assert theirs.gt("run").code == 0
    ours.ok("trust", "--yes")
    assert ours.gt("run").code == 0


def test_who_changes_a_setting_here_is_not_asked_whichever_way_it_goes(clones: list[Clone]) -> None:
    theirs, ours = clones
    theirs.ok("config", "budget.run.cost", "5")
    theirs.ok("config", "verify.test", "true")
    share(theirs, ours)
    ours.ok("trust", "--yes")
    assert ours.gt("run").code == 0
    for cost in ("100", "10"):
        ours.ok("config", "budget.run.cost", cost)
    ours.ok("config", "verify.test", "--unset")
    assert ours.gt("run").code == 0
    theirs.ok("config", "parallel", "5")
    replace_on_board(ours, "config.yaml", "cost: 10", "cost: 15")
    replace_on_board(ours, "config.yaml", "cost: 15", "cost: 12")
    share(ours, theirs)
    ours.ok("sync")
    assert ours.ok("trust", "--list").count("not yet") == 1
    assert "`parallel` came from elsewhere" in ours.gt("run").err


@pytest.mark.parametrize("is_typed", [True, False])
def test_what_was_trusted_long_ago_and_tightened_since_is_asked_about_again(
    clones: list[Clone], *, is_typed: bool
) -> None:
    theirs, ours = clones
    (ours if is_typed else theirs).ok("config", "human", "when-required")
    theirs.ok("config", "notify", "true")
    share(*clones)
    share(ours, theirs)
    ours.ok("trust", "--yes")
    assert ours.gt("run").code == 0
    for words in (["human", "always"], ["notify", "--unset"]):
        theirs.ok("config", *words)
    share(theirs, ours)
    assert ours.gt("run").code == 0
    for words in (["human", "when-required"], ["notify", "true"]):
        theirs.ok("config", *words)
    share(theirs, ours)

    assert "`human` came from elsewhere" in ours.gt("run").err
    assert ours.ok("trust", "--list").splitlines() == [
        "not yet  setting human",
        "trusted  setting notify",
    ]
    ours.ok("config", "human", "when-required")
    assert ours.gt("run").code == 0


def test_who_types_a_value_does_not_trust_one_that_comes_meanwhile(
    clones: list[Clone], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = clones
    transact = Store.transact

    def then_fetch(store: Store, operation: Callable[[Transaction], str], *, author: Identity) -> str:
        monkeypatch.undo()
        done = transact(store, operation, author=author)
        share(ours, theirs)
        theirs.ok("config", "verify.test", "theirs")
        share(theirs, ours)
        return done

    monkeypatch.setattr(Store, "transact", then_fetch)
    change_setting(Context(directory=ours.path), "verify.test", "mine")

    assert ours.ok("trust", "--list") == "not yet  setting verify.test\n"


def test_a_stricter_value_of_one_s_own_ends_the_trust_in_a_looser_one(clones: list[Clone]) -> None:
    theirs, ours = clones
    for cost in ("100", "10"):
        ours.ok("config", "budget.run.cost", cost)
    share(ours, theirs)
    theirs.ok("config", "budget.run.cost", "100")
    share(theirs, ours)
    assert "`budget.run.cost` came from elsewhere" in ours.gt("run").err


def test_what_a_colleague_lets_be_shared_by_itself_is_shared_once_somebody_agrees(
    clones: list[Clone],
) -> None:
    theirs, ours = clones
    theirs.ok("config", "sync.auto", "push")
    share(theirs, ours)
    remote = git("ls-remote", "origin", "gitticks/state", at=ours.path)

    made = ours.gt("create", "Secret plans")

    assert made.code == 0
    assert made.err == (
        "warning: not shared: `sync.auto` came from elsewhere, and nobody has trusted it here yet; "
        "`gt trust` shows what is waiting, and asks\n"
    )
    assert git("ls-remote", "origin", "gitticks/state", at=ours.path) == remote
    ours.ok("trust", "--yes")
    assert ours.gt("note", made.out.strip(), "agreed").err == ""
    assert git("ls-remote", "origin", "gitticks/state", at=ours.path) != remote
    assert ours.store.tip() in git("ls-remote", "origin", "gitticks/state", at=ours.path)


def test_what_was_agreed_to_is_shared_while_more_waits_for_trust(clones: list[Clone]) -> None:
    theirs, ours = clones
    theirs.ok("config", "sync.auto", "push")
    share(theirs, ours)
    ours.ok("trust", "--yes")
    assert ours.gt("run").code == 0
    theirs.ok("config", "sync.auto", "both")
    share(theirs, ours)

    made = ours.gt("create", "Shared plans")

    assert made.err.startswith("warning: shared by `push`, as before: `sync.auto` came from elsewhere")
    assert ours.store.tip() in git("ls-remote", "origin", "gitticks/state", at=ours.path)
