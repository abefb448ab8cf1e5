"""Approvals as strong as policy requires, with real keys: what holds, what is refused, and what the merge looks at again."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from gitticks.document.values import format_time
from gitticks.model.approval import NAMESPACE, SIGNATURE, statement_of
from gitticks.model.event import Event, EventType
from gitticks.model.status import Awaiting, Status
from tests.cli.support import Ran
from tests.support.keys import make_key, sign_by, signer_line
from tests.support.projects import Project
from tests.support.repositories import commit_file, git
from tests.support.runs import TO_REVIEW, RunProject, project
from tests.support.tasks import write_files

__all__ = ["project"]

ADDRESS = "ada@example.org"
SIGNERS = "allowed_signers"
SETTINGS = f"review: none\napprovals: {{minimum: L2, allowed_signers: {SIGNERS}}}\n"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Gives Ada's key."""
    return make_key(tmp_path, "ada")


@pytest.fixture
def reviewed(project: RunProject, key: Path) -> RunProject:
    """Gives a project where signatures are asked for, and a task whose work awaits a person."""
    git("config", "user.email", ADDRESS, at=project.path)
    commit_file(project.path, SIGNERS, signer_line(ADDRESS, key))
    project.settings(SETTINGS)
    project.make()
    project.run()
    assert project.stands() == TO_REVIEW
    return project


def approve(project: RunProject, key: Path, *more: str) -> Ran:
    """Approves the task with a signature."""
    return project.gt("approve", "k7f2", "--key", str(key), *more)


def verdict_of(project: RunProject) -> Event:
    """Returns the last verdict."""
    return project.last(EventType.VERDICT)


def rewrite(project: RunProject, **data: str) -> None:
    """Puts other values into the task's last verdict, as somebody could who pushes to the state branch."""
    path = "tasks/f2/k7f2/history.jsonl"
    lines = (project.store.read(path) or b"").decode().splitlines()
    at = max(number for number, line in enumerate(lines) if '"verdict":"approved"' in line)
    lines[at] = json.dumps({**json.loads(lines[at]), **data}, separators=(",", ":"))
    content = "".join(f"{line}\n" for line in lines).encode()
    store = project.store
    objects = store.objects
    from gitticks.git.identity import Identity

    made = objects.write_commit(
        (store.tip(),), {path: content}, author=Identity("Eve", "eve@x"), message="x\n"
    )
    objects.sync(made.objects) if hasattr(objects, "sync") else None
    git("update-ref", "refs/heads/gitticks/state", made.id, at=project.path)


def test_a_signed_approval_merges_and_is_verified_later(reviewed: RunProject, key: Path) -> None:
    ran = approve(reviewed, key)

    assert ran.code == 0, ran.seen
    assert reviewed.task("k7f2").status is Status.DONE
    verdict = verdict_of(reviewed)
    statement = statement_of("k7f2", verdict.data)
    assert statement is not None
    assert verdict.data["strength"] == "L2"
    assert statement.tree == git("rev-parse", f"{statement.head}^{{tree}}", at=reviewed.path).strip()
    assert reviewed.ok("log", "--verify") == "1 approval, 0 invalid; the others: 1 L2\n"
    [told] = json.loads(reviewed.ok("log", "--verify", "--json"))["approvals"]
    assert (told["task"], told["at"], told["problem"]) == ("k7f2", format_time(verdict.at), None)
    git("config", "--global", "blame.ignoreRevsFile", ".git-blame-ignore-revs", at=reviewed.path)
    assert reviewed.ok("log", "--verify") == "1 approval, 0 invalid; the others: 1 L2\n"
    git("config", "blame.ignoreRevsFile", ".git-blame-ignore-revs", at=reviewed.path)
    ran = reviewed.gt("log", "--verify")
    why = "the commit that brought it was not found: fatal: could not open object name list"
    assert (ran.code, why in ran.out) == (1, True), ran
    (reviewed.path / ".git-blame-ignore-revs").touch()
    (reviewed.path / "sub").mkdir()
    assert (
        reviewed.ok("log", "--verify", at=reviewed.path / "sub")
        == "1 approval, 0 invalid; the others: 1 L2\n"
    )


@pytest.mark.parametrize("depth", [[], ["--depth", "1"]])
def test_a_clone_that_is_behind_says_what_it_lacks_and_needs_no_branch_of_its_own(
    reviewed: RunProject, key: Path, depth: list[str]
) -> None:
    path = reviewed.path.parent / "behind"
    git("clone", "-q", *depth, reviewed.path.as_uri(), str(path), at=reviewed.path)
    behind = Project(path)
    commit_file(reviewed.path, "later.txt", "later\n")
    assert approve(reviewed, key).code == 0
    git("fetch", "-q", "origin", "gitticks/state:gitticks/state", at=path)
    behind.ok("trust", "--yes")

    ran = behind.gt("log", "--verify")

    assert ran.code == 1
    assert "L2 by Ada Lovelace cannot be verified here: `main` in this clone does not contain " in ran.out
    assert ran.out.endswith("1 approval, 0 invalid, 1 not verified\n")
    assert json.loads(behind.gt("log", "--verify", "--json").out)["approvals"][0]["can_verify"] is False
    found = re.search(r"`git (fetch .*)` brings it", ran.out)
    assert found is not None
    git(*found[1].split(), at=path)
    git("checkout", "-q", "--detach", at=path)
    git("branch", "-q", "-D", "main", at=path)
    assert behind.ok("log", "--verify") == "1 approval, 0 invalid; the others: 1 L2\n"


def test_a_base_that_was_rewritten_since_proves_nothing(reviewed: RunProject, key: Path) -> None:
    git("remote", "add", "origin", str(reviewed.path / "none"), at=reviewed.path)
    assert approve(reviewed, key).code == 0
    git("checkout", "-q", "--orphan", "main2", at=reviewed.path)
    git("commit", "-q", "-m", "another", at=reviewed.path)
    git("branch", "-q", "-M", "main", at=reviewed.path)

    ran = reviewed.gt("log", "--verify")

    assert ran.code == 1
    assert "is not valid: `main` never pointed to " in ran.out


def test_a_name_is_refused_where_a_signature_is_asked_for(reviewed: RunProject) -> None:
    for arguments, verb in (
        (("approve", "k7f2"), "approve"),
        (("review", "k7f2", "--accept"), "approve"),
        (("close", "k7f2"), "close"),
    ):
        ran = reviewed.gt(*arguments)
        assert ran.code == 3, ran.seen
        assert "no key is configured to sign your approvals" in ran.err
        assert f"`gt {verb} k7f2 --key ~/.ssh/id_ed25519`" in ran.err
    assert reviewed.stands() == TO_REVIEW


def test_what_a_person_did_is_closed_with_a_key_of_their_choice(reviewed: RunProject, key: Path) -> None:
    reviewed.make("m3xq")
    for task in ("k7f2", "m3xq"):
        reviewed.ok("close", task, "--key", str(key))
        assert reviewed.task(task).status is Status.DONE
    assert reviewed.merges() == ["k7f2"]
    assert reviewed.ok("log", "--verify") == "2 approvals, 0 invalid; the others: 2 L2\n"


@pytest.mark.parametrize(
    ("address", "is_same"), [(ADDRESS, True), ("ada@home.example", True), ("grace@example.org", False)]
)
def test_with_four_eyes_another_name_with_the_same_address_or_key_is_the_same_person(
    reviewed: RunProject, key: Path, address: str, is_same: bool
) -> None:
    used = key if is_same else make_key(key.parent, "grace")
    commit_file(reviewed.path, SIGNERS, signer_line(ADDRESS, key) + signer_line(address, used))
    reviewed.ok("config", "approvals.four_eyes", "true")
    git("config", "user.name", "Ada L", at=reviewed.path)
    git("config", "user.email", address, at=reviewed.path)

    ran = approve(reviewed, used)

    assert ran.code == (3 if is_same else 0), ran.seen
    assert ("by Ada Lovelace" in ran.err and "Ada L has the same address or key" in ran.err) is is_same


def test_a_verdict_in_a_file_is_a_name_alone(reviewed: RunProject) -> None:
    file = Path(reviewed.ok("path", "k7f2").strip())
    file.write_text(
        file.read_text().replace("\nawaiting: review\n", "\nawaiting: review\nverdict: approved\n")
    )

    ran = reviewed.gt("status")

    assert "needs an approval of strength L2" in " ".join(ran.seen.split())
    assert reviewed.stands() == TO_REVIEW


def test_a_merge_by_hand_is_a_name_alone(reviewed: RunProject) -> None:
    git("merge", "-q", "--no-edit", "gitticks/work/k7f2", at=reviewed.path)
    reviewed.gt("status")

    assert reviewed.stands() == (Status.REVIEWING, Awaiting.ESCALATION)


@pytest.mark.parametrize(
    ("signers", "why"),
    [
        ("bob@example.org {key}", "is not one of `ada@example.org`"),
        (f"{ADDRESS} {{other}}", "is not among the allowed signers"),
        (f'{ADDRESS} valid-before="20200101" {{key}}', "was not valid at that time"),
        (f'{ADDRESS} namespaces="git" {{key}}', "limit its key to other purposes"),
    ],
)
def test_a_key_that_may_not_sign_is_refused(
    project: RunProject, key: Path, tmp_path: Path, signers: str, why: str
) -> None:
    other = make_key(tmp_path, "other")
    keys = {
        name: file.with_name(f"{file.name}.pub").read_text()
        for name, file in (("key", key), ("other", other))
    }
    git("config", "user.email", ADDRESS, at=project.path)
    commit_file(project.path, SIGNERS, signers.format(**keys))
    project.settings(SETTINGS)
    project.make(status=Status.PENDING, awaiting=Awaiting.APPROVAL)

    ran = approve(project, key)

    assert ran.code == 3, ran.seen
    assert why in ran.err
    assert "`gt help sign-approvals`" in ran.err
    assert project.stands() == (Status.PENDING, Awaiting.APPROVAL)


def test_signers_that_stand_on_the_agents_branch_alone_do_not_count(
    project: RunProject, key: Path, tmp_path: Path
) -> None:
    git("config", "user.email", ADDRESS, at=project.path)
    commit_file(project.path, SIGNERS, signer_line("bob@example.org", make_key(tmp_path, "bob")))
    project.settings(SETTINGS)
    line = signer_line(ADDRESS, key).strip()
    project.agent(
        f"echo '{line}' > {SIGNERS}; git add -A; git commit -qm signers\n" + project.agent_file.read_text()
    )
    project.make()
    project.run()

    ran = approve(project, key)

    assert ran.code == 3, ran.seen
    assert "is not among the allowed signers" in ran.err


@pytest.mark.parametrize("is_variable", [False, True])
def test_signers_of_ones_own_do_not_replace_the_teams(
    reviewed: RunProject, tmp_path: Path, is_variable: bool
) -> None:
    own, mine = make_key(tmp_path, "own"), tmp_path / "mine"
    mine.write_text(signer_line(ADDRESS, own))
    environment = {"GITTICKS_CONFIG_APPROVALS_ALLOWED_SIGNERS": str(mine)} if is_variable else {}
    if not is_variable:
        git("config", "gitticks.approvals.allowed-signers", str(mine), at=reviewed.path)

    ran = reviewed.gt("approve", "k7f2", "--key", str(own), environment=environment)

    assert ran.code == 3, ran.seen
    assert "is not among the allowed signers" in ran.err
    assert "but config.yaml is stricter" in reviewed.gt("config", environment=environment).err


def test_signers_in_the_folder_where_agents_write_do_not_count(reviewed: RunProject, key: Path) -> None:
    reviewed.ok("config", "approvals.allowed_signers", "--unset")
    mine = reviewed.path / "mine"
    mine.write_text(signer_line(ADDRESS, key))
    git("config", "gitticks.approvals.allowed-signers", str(mine), at=reviewed.path)
    assert "where agents can write" in approve(reviewed, key).err

    elsewhere = reviewed.path.parent / "mine"
    mine.rename(elsewhere)
    git("config", "gitticks.approvals.allowed-signers", "~nosuch/mine", at=reviewed.path)
    assert "the allowed signers `/~nosuch/mine` cannot be read" in approve(reviewed, key).err
    assert "did not sign with `~nosuch/key`" in approve(reviewed, Path("~nosuch/key")).err
    git("config", "gitticks.approvals.allowed-signers", str(elsewhere), at=reviewed.path)
    assert approve(reviewed, key).code == 0


@pytest.mark.parametrize(
    "change",
    [
        {"head": "0" * 40},
        {"base": "other"},
        {"gates": "sha256:0"},
        {"policy": "sha256:0"},
        {"signer": "Bob <b@x>"},
    ],
)
def test_what_was_changed_after_it_was_signed_does_not_merge(
    reviewed: RunProject, key: Path, change: dict[str, str]
) -> None:
    assert approve(reviewed, key, "--no-wait").code == 0
    rewrite(reviewed, **change)
    before = git("rev-parse", "main", at=reviewed.path)

    ran = reviewed.gt("merge", "k7f2")

    assert git("rev-parse", "main", at=reviewed.path) == before
    assert reviewed.stands() == TO_REVIEW
    assert reviewed.last(EventType.VOIDED).reason
    assert "its approval is not valid" in ran.seen
    assert reviewed.gt("log", "--verify").code == 1


def test_another_tasks_signature_and_one_for_another_purpose_do_not_count(
    reviewed: RunProject, key: Path
) -> None:
    assert approve(reviewed, key, "--no-wait").code == 0
    statement = statement_of("m3xq", verdict_of(reviewed).data)
    assert statement is not None
    for signature, why in (
        (sign_by(key, statement.payload(), NAMESPACE), "for something else"),
        (sign_by(key, statement.payload(), "file"), "was made for `file`"),
        ("signed, believe me", "not an SSH signature"),
    ):
        rewrite(reviewed, **{SIGNATURE: signature})
        ran = reviewed.gt("log", "k7f2", "--verify")
        assert ran.code == 1
        assert why in ran.out
        assert ".gitticks/tasks/f2/k7f2/history.jsonl:" in ran.out
        assert git("rev-parse", "gitticks/state", at=reviewed.path)[:10] in ran.out
    assert reviewed.gt("merge", "k7f2").code != 0
    assert reviewed.stands() == TO_REVIEW


def test_gates_that_changed_since_void_an_approval(reviewed: RunProject, key: Path) -> None:
    assert approve(reviewed, key, "--no-wait").code == 0
    reviewed.ok("config", "verify.test", "true")

    ran = reviewed.gt("merge", "k7f2")

    assert "other quality gates" in ran.seen
    assert reviewed.stands() == TO_REVIEW
    assert approve(reviewed, key).code == 0
    assert reviewed.task("k7f2").status is Status.DONE


@pytest.mark.parametrize(
    ("setting", "value", "why"),
    [
        ("minimum", "L1", "policy requires confirmed on a terminal"),
        ("four_eyes", "true", "policy requires a second person, and Ada Lovelace created it or worked on it"),
    ],
)
def test_what_was_approved_by_a_name_does_not_merge_once_policy_asks_for_more(
    project: RunProject, setting: str, value: str, why: str
) -> None:
    project.settings("review: none\n")
    project.make()
    project.run()
    project.ok("approve", "k7f2", "--no-wait")
    project.ok("config", f"approvals.{setting}", value)

    ran = project.gt("merge", "k7f2")

    assert why in " ".join(ran.seen.split())
    assert project.stands() == TO_REVIEW


def test_what_was_approved_by_a_name_is_asked_about_once_a_person_merges_it_and_policy_asks_for_more(
    project: RunProject,
) -> None:
    project.settings("review: none\n")
    project.make()
    project.run()
    project.ok("approve", "k7f2", "--no-wait")
    project.ok("config", "approvals.minimum", "L1")
    git("merge", "-q", "--no-ff", "--no-edit", "gitticks/work/k7f2", at=project.path)

    project.ok("status")

    assert project.stands() == (Status.REVIEWING, Awaiting.ESCALATION)


@pytest.mark.parametrize("is_forged", [False, True])
def test_a_merge_by_hand_closes_what_was_signed_unless_the_signature_is_invalid(
    reviewed: RunProject, key: Path, is_forged: bool
) -> None:
    reviewed.ok("config", "merge.mode", "manual")
    assert approve(reviewed, key).code == 0
    assert reviewed.stands() == (Status.REVIEWING, Awaiting.WORK)
    if is_forged:
        rewrite(reviewed, **{SIGNATURE: "signed, believe me"})
    git("merge", "-q", "--no-ff", "--no-edit", "gitticks/work/k7f2", at=reviewed.path)

    reviewed.ok("status")

    assert reviewed.stands() == (
        (Status.REVIEWING, Awaiting.ESCALATION) if is_forged else (Status.DONE, None)
    )
    if is_forged:
        assert "though its approval is not valid: " in str(reviewed.last(EventType.AWAITING_SET).reason)


NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")


def commit_on_board(project: RunProject, line: str, *options: str) -> None:
    """Writes a line into the task's file in place of whose turn it is, and commits that with plain git."""
    project.save("k7f2", "awaiting: review\n", line)
    git(*options, "commit", "-qam", "tidy", at=project.board)


@pytest.fixture
def waiting(project: RunProject) -> RunProject:
    """Gives a task whose work awaits a person, where a name is enough."""
    project.settings("review: none\n")
    project.make()
    project.run()
    assert project.stands() == TO_REVIEW
    return project


def claimed(project: RunProject) -> str:
    head = project.task("k7f2").end_sha
    return f"approval: {{by: Ada Lovelace, at: 2026-11-27T17:20:00Z, head: {head}}}\n"


def test_an_approval_that_no_event_tells_of_does_not_merge(waiting: RunProject) -> None:
    commit_on_board(waiting, claimed(waiting), *NO_HOOKS)
    assert waiting.task("k7f2").is_merging
    before = git("rev-parse", "main", at=waiting.path)

    ran = waiting.run()

    words = "its approval is not valid: its history has no approval"
    assert git("rev-parse", "main", at=waiting.path) == before
    assert waiting.stands() == TO_REVIEW
    assert words in ran.seen
    for asked in (("list", "--awaiting"), ("inbox",), ("status",), ("show", "k7f2")):
        assert words in waiting.ok(*asked)
    waiting.ok("approve", "k7f2")
    assert waiting.task("k7f2").status is Status.DONE
    assert waiting.ok("log", "--verify") == "1 approval, 0 invalid; the others: 1 L0\n"


def test_a_verdict_committed_on_the_board_merges(waiting: RunProject) -> None:
    waiting.ok("hooks", "install")
    commit_on_board(waiting, "awaiting: review\nverdict: approved\n")

    waiting.run()

    assert waiting.task("k7f2").status is Status.DONE
    assert waiting.merges() == ["k7f2"]
    assert waiting.ok("log", "--verify") == "1 approval, 0 invalid; the others: 1 L0\n"


def test_work_that_was_merged_without_an_approval_is_found_later(waiting: RunProject) -> None:
    waiting.ok("approve", "k7f2")
    path = "tasks/f2/k7f2/history.jsonl"
    lines = (waiting.store.read(path) or b"").splitlines(keepends=True)
    write_files(waiting.store, {path: b"".join(one for one in lines if b'"verdict":"approved"' not in one)})

    ran = waiting.gt("log", "--verify")

    assert ran.code == 1
    assert ran.out.startswith("k7f2  merge by gitticks is not valid: its history has no approval\n")
    assert f".gitticks/{path}:" in ran.out
    assert ran.out.endswith("1 approval, 1 invalid\n")
