"""A program that plays a client with a hook: it finds the hook where gitticks put it, and asks before each tool.

It knows the flags, the settings and the shapes of what a hook is given and says that the real clients were seen with;
those are not installed here. What it is to use stands in a file, and what came of it is written into another.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.support.agents import write_program

_CLIENT = r"""
import json, os, pathlib, re, shlex, subprocess, sys

top, kind, *words = sys.argv[1:]
top = pathlib.Path(top)
is_asking = "stdio" in words
sys.stdin.readline() if is_asking else sys.stdin.read()


def hook():
    if kind == "claude":
        settings = json.loads(words[words.index("--settings") + 1])
        return settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    if kind == "codex":
        import tomllib

        given = [words[place + 1] for place, word in enumerate(words) if word == "-c"]
        settings = tomllib.loads(next(one for one in given if one.startswith("hooks.")))
        assert "--dangerously-bypass-hook-trust" in words
        return settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    settings = json.loads(pathlib.Path(os.environ["GEMINI_CLI_HOME"], ".gemini/settings.json").read_text())
    return settings["hooks"]["BeforeTool"][0]["hooks"][0]["command"]


def note(*words):
    with (top / "answers.jsonl").open("a") as file:
        file.write(json.dumps(words) + "\n")


def say(**event):
    print(json.dumps(event), flush=True)


def use(tool, given):
    call = {"session_id": "s-1", "cwd": os.getcwd(), "tool_name": tool, "tool_input": given, "tool_use_id": os.urandom(8).hex()}
    done = subprocess.run(hook(), shell=True, input=json.dumps(call), capture_output=True, text=True)
    said = json.loads(done.stdout) if done.stdout.strip() else {}
    said = said.get("hookSpecificOutput", said)
    decision = said.get("permissionDecision", said.get("decision", "none"))
    reason = said.get("permissionDecisionReason", said.get("reason", done.stderr))
    decision = "deny" if done.returncode == 2 else decision
    note(decision, reason)
    if is_asking and decision != "deny" and tool in ("Bash", "Skill"):
        request = {"subtype": "can_use_tool", "tool_name": tool, "input": given, "tool_use_id": call["tool_use_id"]}
        say(type="control_request", request_id="r-1", request=request)
        said = json.loads(sys.stdin.readline())["response"]
        assert (said["subtype"], said["request_id"]) == ("success", "r-1"), said
        said = said["response"]
        assert said["behavior"] == "deny" or said["updatedInput"] == given, said
        decision = said["behavior"]
        note("asked", decision)
    return decision != "deny"


say(type="system", subtype="init", model="m", session_id="s-1")
for tool, given in json.loads((top / "plan.json").read_text()):
    given = {key: value.replace("{here}", os.getcwd()) if isinstance(value, str) else value for key, value in given.items()}
    if use(tool, given) and tool == "Bash":
        subprocess.run(given["command"], shell=True)
with open(os.environ["GITTICKS_MAILBOX"] + "/TASK.md", "a") as file:
    file.write("\n## Handoff\n\n- DONE: it\n")
done = "<promise>COMPLETE</promise>"
if kind == "claude":
    say(type="assistant", message={"id": "m", "content": [{"type": "text", "text": done}]})
    say(type="result", subtype="success", is_error=False, result=done, total_cost_usd=0.01)
    if is_asking:
        assert sys.stdin.read() == ""  # as the real one, it ends when nothing else comes
elif kind == "codex":
    say(type="item.completed", item={"id": "i", "type": "agent_message", "text": done})
    say(type="turn.completed", usage={})
else:
    say(type="message", role="assistant", content=done)
    say(type="result", status="success", stats={})
"""


def make_client(folder: Path, kind: str, *uses: tuple[str, dict[str, Any]]) -> Path:
    """Makes a program that plays `kind` and uses tools one after the other; `{here}` in what they get is its workspace."""
    (folder / "plan.json").write_text(json.dumps(uses))
    (folder / "client.py").write_text(_CLIENT)
    program = folder / kind
    write_program(program, f'exec "{sys.executable}" "{folder}/client.py" "{folder}" {kind} "$@"\n')
    return program


def answers(folder: Path) -> list[tuple[str, str]]:
    """Returns what the client's hook said, decision and reason, in order."""
    file = folder / "answers.jsonl"
    return [tuple(json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []
