"""`gt audit`: what is shown, exported and verified."""

from __future__ import annotations

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.model.audit import AuditEntry, Decided, UserAction
from gitticks.model.ids import TaskId
from gitticks.store.audit import PendingAudit
from gitticks.store.layout import audit_path
from tests.support.projects import Project
from tests.support.repositories import make_repository
from tests.support.tasks import write_files

K7F2, M3XQ = TaskId("k7f2"), TaskId("m3xq")
AT = datetime(2026, 11, 23, 12, 0, 0, 125, tzinfo=UTC)
SHELL = AuditEntry(AT, 1, None, "claude", "shell", "go test", Decided.ALLOWED, "a rule")
DENIED = SHELL._replace(timestamp=AT.replace(second=1), target="=sudo ls", decision=Decided.DENIED)
ASKED = SHELL._replace(
    timestamp=AT.replace(second=2),
    operation="network",
    decision=Decided.ASKED,
    user_action=UserAction.REJECTED,
)
OTHER = SHELL._replace(timestamp=AT.replace(second=3), agent="codex")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    make_repository(tmp_path)
    found = Project(tmp_path)
    found.ok("init")
    for task_id, entries in ((K7F2, (SHELL, DENIED, ASKED)), (M3XQ, (OTHER,))):
        found.make(task_id)
        pending = PendingAudit(tmp_path / ".git/gitticks", task_id)
        for entry in entries:
            pending.note(entry)
        found.store.transact(pending.write, author=ENGINE_IDENTITY)
        pending.forget()
    return found


def targets(project: Project, *words: str) -> list[tuple[str, str]]:
    found = json.loads(project.ok("audit", *words, "--json"))["decisions"]
    return [(one["task"], one["target"]) for one in found]


def test_decisions_are_shown_in_the_order_of_time(project: Project) -> None:
    assert targets(project) == [
        ("k7f2", "go test"),
        ("k7f2", "=sudo ls"),
        ("k7f2", "go test"),
        ("m3xq", "go test"),
    ]
    shown = project.ok("audit")
    assert "asked: rejected" in shown
    assert shown.endswith("\n2 allowed, 2 denied\n")
    left = ASKED._replace(timestamp=AT.replace(second=9), user_action=UserAction.LEFT)
    PendingAudit(project.path / ".git/gitticks", M3XQ).note(left)
    assert project.ok("audit").endswith("\n2 allowed, 2 denied, 1 left to the client\n")


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("m3xq",), 1),
        (("k7f2", "m3xq"), 4),
        (("--operation", "network"), 1),
        (("--agent", "codex"), 1),
        (("--decision", "denied"), 1),
        (("--refused",), 2),
        (("-n", "2"), 2),
    ],
)
def test_filters(project: Project, words: tuple[str, ...], count: int) -> None:
    assert len(targets(project, *words)) == count


def test_since_looks_back(project: Project) -> None:
    later = project.gt("audit", "--since", "1h", "--json", now=AT.replace(hour=14))
    assert json.loads(later.out)["decisions"] == []
    assert (
        len(
            json.loads(project.gt("audit", "--since", "3h", "--json", now=AT.replace(hour=14)).out)[
                "decisions"
            ]
        )
        == 4
    )


def test_a_table_is_safe_in_a_spreadsheet(project: Project) -> None:
    rows = list(csv.DictReader(io.StringIO(project.ok("audit", "--csv"))))
    assert [row["target"] for row in rows][:2] == ["go test", "'=sudo ls"]
    assert rows[2]["user_action"] == "rejected"


def test_what_is_not_committed_yet_is_shown_too(project: Project) -> None:
    PendingAudit(project.path / ".git/gitticks", M3XQ).note(OTHER._replace(target="new"))
    assert targets(project, "m3xq") == [("m3xq", "go test"), ("m3xq", "new")]


def test_a_commit_that_was_made_before_a_crash_adds_nothing_twice(project: Project) -> None:
    pending = PendingAudit(project.path / ".git/gitticks", M3XQ)
    pending.note(OTHER)  # as it stood when the crash kept it from being forgotten
    project.store.transact(pending.write, author=ENGINE_IDENTITY)
    assert len(targets(project, "m3xq")) == 1
    assert "whole and unchanged" in project.ok("audit", "verify")


def test_what_is_noted_while_others_are_forgotten_stays(project: Project) -> None:
    own_dir = project.path / ".git/gitticks"
    first, second = PendingAudit(own_dir, M3XQ), PendingAudit(own_dir, M3XQ)
    first.note(OTHER._replace(target="first"))
    for one in (first, second):
        project.store.transact(one.write, author=ENGINE_IDENTITY)
    first.forget()
    first.note(OTHER._replace(target="longer than what was forgotten"))
    second.forget()

    def note(number: int) -> None:
        PendingAudit(own_dir, M3XQ).note(OTHER._replace(target=f"at once {number}"))

    with ThreadPoolExecutor(4) as pool:
        noted = [pool.submit(note, number) for number in range(40)]
        while not all(one.done() for one in noted):
            project.store.transact(first.write, author=ENGINE_IDENTITY)
            first.forget()
    assert len({target for _, target in targets(project, "m3xq")}) == 43


def test_verify_names_what_was_changed_and_what_vanished(project: Project) -> None:
    assert project.ok("audit", "verify").strip() == "4 lines in 2 files: whole and unchanged"
    data = project.store.read(audit_path(K7F2)) or b""
    lines = data.splitlines(True)
    write_files(project.store, {audit_path(K7F2): data.replace(b"sudo", b"echo")})
    ran = project.gt("audit", "verify")
    assert (ran.code, f"{audit_path(K7F2)}:2: its content was" in ran.err) == (3, True)
    write_files(project.store, {audit_path(K7F2): b"".join(lines[:2])})
    assert "audit.jsonl" in " ".join(project.gt("doctor").out.split())
    ran = project.gt("audit", "verify", "k7f2")
    assert ran.code != 0
    assert (
        "are missing\
"
        in ran.err
    )
    assert "1 line in 1 file" in project.ok("audit", "verify", "m3xq")


def test_mistakes_are_answered(project: Project) -> None:
    assert project.gt("audit", "--csv", "--json").code == 2
    assert "there is no task `zz`" in project.gt("audit", "zz").err
    assert project.gt("audit", "--since", "soon").code == 2
