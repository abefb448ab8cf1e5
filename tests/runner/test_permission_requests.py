"""Permission requests: who is asked, what is shown of them, what an answer does, and what is told of a refusal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.git.repository import discover
from gitticks.model.audit import AuditEntry, Decided, UserAction
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.settings import PermissionRule
from gitticks.runner.permissions import refusals
from gitticks.runner.prompt import find_setbacks
from gitticks.runner.questions import Question, Questions
from gitticks.store.permissions import LEARNED_FILE, forget, learn, learned_rules
from gitticks.workflow.permissions import Access, Answer, Operation, learned_rule
from tests.cli.support import command, gt_on_terminal
from tests.end_to_end.test_run_events import require_valid
from tests.runner.test_permissions import BASH, DENIES, audit_of, set_up
from tests.support.hooked_clients import answers
from tests.support.runs import RunProject, project
from tests.support.terminals import shown_till
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


def test_without_anybody_attached_a_question_is_no(project: RunProject) -> None:
    folder = set_up(project, "claude", (BASH, {"command": "make"}), settings="permissions: {default: ask}\n")
    project.run()
    [(decision, reason)] = answers(folder)
    assert (decision, "nobody was there to ask" in reason) == ("deny", True)
    assert audit_of(project).entries[0].user_action is UserAction.NOBODY


def test_where_nobody_set_rules_the_clients_own_mode_decides(project: RunProject) -> None:
    folder = set_up(project, "claude", (BASH, {"command": "make"}))
    project.run()
    assert answers(folder)[0][0] == "none"
    assert audit_of(project).entries[0].user_action is UserAction.LEFT


@pytest.mark.parametrize(
    ("words", "decision", "action"),
    [
        (("allow",), "allow", UserAction.APPROVED),
        (("deny",), "deny", UserAction.REJECTED),
    ],
)
def test_a_person_who_is_attached_is_asked(
    project: RunProject, words: tuple[str, ...], decision: str, action: UserAction
) -> None:
    folder = set_up(project, "claude", (BASH, {"command": "make"}))
    questions = Questions(project.path / ".git/gitticks")
    with questions.attached(), project.running() as process:
        until(questions.open)
        shown = project.gt("permissions")
        assert "make" in shown.out
        assert "k7f2" in shown.out
        for look in ("inbox", "status"):
            said = project.ok(look)
            assert "k7f2  claude wants shell:  " in said
            assert "\n        make\n" in said
        number = str(json.loads(project.ok("permissions", "--json"))["questions"][0]["number"])
        waits = json.loads(project.ok("inbox", "--json"))["requests"]
        assert [str(one["number"]) for one in waits] == [number]
        assert f"gt permissions allow {number} · gt permissions deny {number}\n" in project.ok("inbox")
        project.ok("permissions", *words, number)
        process.wait(LONGEST_SECONDS)
    assert answers(folder)[0][0] == decision
    assert audit_of(project).entries[0].user_action is action
    assert questions.open() == ()
    assert project.gt("permissions", "allow", "1").code != 0


def test_claude_is_answered_when_it_asks_itself_as_its_hook_was(project: RunProject) -> None:
    rules = "{mode: interactive, allow: [{operation: shell}], deny: [{operation: shell, commands: [make]}]}"
    folder = set_up(
        project,
        "claude",
        (BASH, {"command": f"echo ghp_{'a1B2' * 9} > kept"}),  # what is masked elsewhere comes back as it was
        (BASH, {"command": "make"}),
        ("Skill", {"skill": "review"}),
        settings=f"permissions: {rules}\n",
    )
    project.run("--max-iterations", "1")
    said = answers(folder)
    assert [one for one, _ in said] == ["allow", "asked", "deny", "none", "asked"]
    assert {answer for one, answer in said if one == "asked"} == {"allow"}
    assert [one.target for one in audit_of(project).entries if one.decision is Decided.DENIED] == ["make"]
    assert len(audit_of(project).entries) == 2


def put(questions: Questions, target: str) -> Question:
    access = Access(Operation.SHELL, target)
    rule, at = learned_rule(access), datetime.now(UTC)
    return questions.ask(TaskId("k7f2"), "claude", access, "why", rule, at=at, seconds=int(LONGEST_SECONDS))


@pytest.mark.parametrize("words", [("permissions",), ("inbox",), ("status",)])
def test_all_of_what_is_asked_for_is_shown_on_a_narrow_terminal(
    project: RunProject, words: tuple[str, ...]
) -> None:
    questions = Questions(project.path / ".git/gitticks")
    put(questions, "echo " + "harmless " * 30 + "&& rm -rf /srv/data")
    shown = gt_on_terminal(*words, at=project.path, columns=50).out
    assert shown.count("harmless") == 30
    assert "/srv/data" in shown


def test_no_number_names_two_requests_however_many_ask_at_once(tmp_path: Path) -> None:
    over = threading.Event()
    over.set()

    def ask(number: int) -> int:
        questions = Questions(tmp_path)
        question = put(questions, f"make {number}")
        questions.wait(question, over, 1)  # nobody answers, and the request is closed
        return question.number

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(ask, range(100))) == list(range(1, 101))


def test_no_answer_for_good_is_lost_however_many_are_given_at_once(project: RunProject) -> None:
    repository = discover(project.path)

    def remember(number: int) -> None:
        rule = PermissionRule("shell", commands=(f"make {number}",))
        learn(repository, Answer.DENY, rule, datetime.now(UTC))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(remember, range(30)))
    assert len(learned_rules(repository)) == 30


def test_answers_for_good_stay_whatever_is_in_them_and_with_what_only_a_later_version_reads(
    project: RunProject,
) -> None:
    repository = discover(project.path)
    later = '{"answer": "perhaps", "operation": "shell"}'
    repository.own_file(LEARNED_FILE).write_text(f"{later}\n[]\n", "utf-8")
    commands = ["echo a\u2028b\u2029c\x85d\re", "cat caf\udce9"]
    for one in ("make", *commands):
        learn(repository, Answer.DENY, PermissionRule("shell", commands=(one,)), datetime.now(UTC))
    forget(repository, [1])
    assert [one.rule.commands for one in learned_rules(repository)] == [(one,) for one in commands]
    assert repository.own_file(LEARNED_FILE).read_text("utf-8").startswith(f"{later}\n[]\n")


def test_who_waits_is_shown_the_next_request_once_one_is_answered_elsewhere(project: RunProject) -> None:
    questions = Questions(project.path / ".git/gitticks")
    ours, theirs = pty.openpty()
    waiting = command("permissions", "--wait")
    with subprocess.Popen(
        waiting, cwd=project.path, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        try:
            for target in ("make first", "make second"):
                put(questions, target)
            shown_till(ours, b"make first", b"never: ")
            os.write(ours, b"Y")  # half of an answer, which is none to the next request
            project.ok("permissions", "deny", "1")
            shown_till(ours, b"no longer open", b"make second", b"never: ")
            os.write(ours, b"n\n")
            until(lambda: not questions.open())
            process.send_signal(signal.SIGINT)
            process.wait(LONGEST_SECONDS)
        finally:
            process.kill()
    os.close(ours)
    assert '"allows": false, "always": false' in (questions._folder / "2.answer").read_text()


def test_always_is_asked_once(project: RunProject) -> None:
    folder = set_up(project, "claude", (BASH, {"command": "go test ./a"}), (BASH, {"command": "go test ./b"}))
    questions = Questions(project.path / ".git/gitticks")
    with questions.attached(), project.running() as process:
        until(questions.open)
        said = project.ok("permissions", "allow", "--all", "--always")
        assert "`shell: go test`" in said
        process.wait(LONGEST_SECONDS)
    assert [one for one, _ in answers(folder)] == ["allow", "allow"]
    assert [one.user_action for one in audit_of(project).entries] == [UserAction.APPROVED_ALWAYS, None]
    assert "your answers" in project.ok("permissions", "rules")
    assert project.ok("permissions", "explain", "shell", "go", "test", "./c").startswith("allow")
    project.ok("permissions", "forget", "1")
    assert project.ok("permissions", "explain", "shell", "go", "test", "./c").startswith("ask")


def test_a_question_that_nobody_answers_is_no_after_a_time(project: RunProject) -> None:
    folder = set_up(project, "claude", (BASH, {"command": "make"}), settings="permissions: {timeout: 1s}\n")
    with Questions(project.path / ".git/gitticks").attached():
        _, events = project.events_of_run()
    [asked] = [one for one in events if one["event"] == "permission.asked"]
    require_valid([asked])
    assert (asked["operation"], asked["target"]) == ("shell", "make")
    assert answers(folder)[0][0] == "deny"
    assert audit_of(project).entries[0].user_action is UserAction.TIMED_OUT


def test_what_was_refused_is_told_by_the_run_the_log_the_status_and_the_next_prompt(
    project: RunProject,
) -> None:
    settings = f"{DENIES}  timeout: 1s\n"
    set_up(project, "claude", (BASH, {"command": "make"}), (BASH, {"command": "sudo ls"}), settings=settings)
    with Questions(project.path / ".git/gitticks").attached():
        said = project.run().err
    assert "`claude` was refused shell `make`: nobody answered in time" in said
    by_rule = "denied by the rule `shell: sudo` of `config.yaml`"
    refused = ["shell: make (nobody answered in time)", f"shell: sudo ls ({by_rule})"]
    assert project.last(EventType.SESSION_ENDED).data["denied"] == refused
    assert f"not allowed: {', '.join(refused)}" in project.ok("log", "k7f2")
    project.ok("reject", "k7f2", "more")
    assert f"not allowed\n  k7f2  claude: {', '.join(refused)}" in project.ok("status")
    assert find_setbacks(project.store.history(TaskId("k7f2"))).denied == tuple(refused)


def test_what_a_client_lists_of_what_its_hook_refused_is_said_once() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    rejected = AuditEntry(
        at, 1, None, "claude", "shell", "make\n  test", Decided.ASKED, "why", UserAction.REJECTED
    )
    denied = rejected._replace(
        operation="file_write", target="a.txt", decision=Decided.DENIED, reason="a rule", user_action=None
    )
    allowed = rejected._replace(target="ls", user_action=UserAction.APPROVED)
    listed = ("Bash: make test", "Write: /w/a.txt", "Bash: ls", "Skill")
    assert refusals(listed, [rejected, denied, allowed]) == (
        ("Bash: ls", "Skill"),
        ("shell: make test (a person said no)", "file_write: a.txt (a rule)"),
    )
