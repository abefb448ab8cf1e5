"""What the client asks on its stdout is answered on its stdin, which ends with its result."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gitticks.agents.base import AgentReport, AgentSpec, Limits, PermissionHook, Request
from gitticks.agents.claude import Judge
from gitticks.agents.registry import invoke
from gitticks.agents.session import run_agent
from gitticks.model.settings import AgentKind, PermissionMode
from gitticks.model.task import Ending
from tests.support.agents import NOW, python_agent
from tests.support.waiting import LONGEST_SECONDS, until

HEAD = """
import json, sys

def say(**event):
    print(json.dumps(event), flush=True)

def ask(**request):
    say(type="control_request", request_id="r", request=request)
    return json.loads(sys.stdin.readline())["response"]

prompt = json.loads(sys.stdin.readline())["message"]["content"]
"""
END = """
say(type="assistant", message={"id": "m", "content": [{"type": "text", "text": said}]})
say(type="result", subtype="success", is_error=False, result=said)
sys.exit(len(sys.stdin.read()))
"""


def run(
    folder: Path, body: str, judge: Judge, prompt: str = "do it ✓", *, output_bytes: int = 64_000_000
) -> AgentReport:
    """Runs a program that plays the client; `said` is its last word."""
    spec = AgentSpec(
        "claude", AgentKind.CLAUDE, python_agent(folder, HEAD + body + END), mode=PermissionMode.INTERACTIVE
    )
    return run_agent(
        invoke(spec, Request(prompt, hook=PermissionHook(("hook",), 1, folder, folder), is_answered=True)),
        workspace=folder,
        environment={"PATH": os.environ["PATH"]},
        limits=Limits(total_seconds=LONGEST_SECONDS, output_bytes=output_bytes),
        now=lambda: NOW,
        judge=judge,
    )


def never(tool: str, given: Mapping[str, Any], use: str) -> str | None:
    """Is asked nothing."""
    raise AssertionError(tool)


def test_a_long_prompt_arrives_whole_and_the_result_ends_it(tmp_path: Path) -> None:
    prompt = "✓ long" * 100_000
    report = run(tmp_path, "said = str(len(prompt))", never, prompt)
    assert (report.ending, report.text) == (Ending.CLEAN, str(len(prompt)))


def test_a_yes_gives_back_what_was_given_and_a_no_its_reason(tmp_path: Path) -> None:
    def judge(tool: str, given: Mapping[str, Any], use: str) -> str | None:
        return None if (tool, given, use) == ("Bash", {"command": "ls"}, "t1") else "not that"

    body = """
first, second = (ask(subtype="can_use_tool", tool_name="Bash", input={"command": one}, tool_use_id="t1") for one in ("ls", "rm"))
said = json.dumps([first, second], sort_keys=True)
"""
    assert run(tmp_path, body, judge).text == (
        '[{"request_id": "r", "response": {"behavior": "allow", "updatedInput": {"command": "ls"}}, "subtype": "success"}, '
        '{"request_id": "r", "response": {"behavior": "deny", "message": "gitticks: not that"}, "subtype": "success"}]'
    )


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ('subtype="can_use_tool", tool_name="AskUserQuestion", input={}', "deny"),
        ('subtype="can_use_tool", tool_name="Bash", input={}', "deny"),  # it cannot be judged
        ('subtype="something_new"', "error"),
    ],
)
def test_what_cannot_be_judged_is_no(tmp_path: Path, request_: str, answer: str) -> None:
    body = (
        f"answer = ask({request_})\nsaid = answer.get('response', {{}}).get('behavior') or answer['subtype']"
    )
    assert run(tmp_path, body, never).text == answer


def test_a_client_that_reads_nothing_and_asks_nothing_ends_as_it_likes(tmp_path: Path) -> None:
    report = run(tmp_path, "import os\nos._exit(3)", never, "x" * 1_000_000)
    assert report.ending is Ending.CRASHED


def test_a_client_that_prints_more_than_is_heard_is_told_that_nobody_answers_any_more(tmp_path: Path) -> None:
    body = """
for number in range(1000):
    say(type="assistant", message={"id": str(number), "content": []}, padding="x" * 1000)
said = "read to the end: " + repr(sys.stdin.read())
"""
    report = run(tmp_path, body, never, output_bytes=400_000)
    assert (report.ending, report.text) == (Ending.CLEAN, "read to the end: ''")


def test_questions_without_end_take_no_threads_without_end(tmp_path: Path) -> None:
    is_over, asked = threading.Event(), list[str]()

    def judge(tool: str, given: Mapping[str, Any], use: str) -> str | None:
        asked.append(use)
        is_over.wait(LONGEST_SECONDS)
        return None

    body = """
for number in range(1000):
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": str(number)}
    print(json.dumps({"type": "control_request", "request_id": str(number), "request": request}))
sys.stdout.flush()
refused = [json.loads(sys.stdin.readline())["response"]["response"]["message"] for _ in range(1000 - 64)]
said = " ".join(set(refused))
"""
    try:
        report = run(tmp_path, body, judge)
        until(lambda: len(asked) == 64, "every question that is put")
    finally:
        is_over.set()
    assert report.text == "gitticks: too many questions at once"
    assert len(asked) == 64


def test_what_is_nested_too_deeply_to_be_given_back_is_no(tmp_path: Path) -> None:
    def judge(tool: str, given: Mapping[str, Any], use: str) -> str | None:
        raise RecursionError

    body = "said = ask(subtype='can_use_tool', tool_name='Bash', input={})['response']['behavior']"
    assert run(tmp_path, body, judge).text == "deny"
