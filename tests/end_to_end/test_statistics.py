"""What a run, a question, an answer and an approval come to in `gt stats`."""

from __future__ import annotations

import json
import sys

from gitticks.model.status import Awaiting, Status
from tests.support.agents import write_program
from tests.support.runs import RunProject, project

__all__ = ["project"]

CLIENT = """\
import json, os, sys

prompt = sys.stdin.read()
is_reviewer = os.environ["GITTICKS_ROLE"] == "reviewer"
section, text = ("Review", "PASS: fine") if is_reviewer else ("Handoff", "- DONE: it")
words = "I looked." if is_reviewer else "<promise>INPUT_NEEDED: Which tone?</promise>"
if is_reviewer or "Friendly." in prompt:
    with open(os.environ["GITTICKS_MAILBOX"] + "/TASK.md", "a") as file:
        file.write(f"\\n## {section}\\n\\n{text}\\n")
    words = words if is_reviewer else "<promise>COMPLETE</promise>"
said = {"id": "m", "content": [{"type": "text", "text": words}]}
spent = {"input_tokens": 1000, "output_tokens": 20}
print(json.dumps({"type": "assistant", "session_id": "s", "message": said}))
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": words, "session_id": "s",
                  "usage": spent, "total_cost_usd": 0.125}), flush=True)
"""


def test_the_figures_of_a_task_from_its_question_to_its_end(project: RunProject) -> None:
    top = project.shared
    (top / "client.py").write_text(CLIENT)
    program = write_program(top / "claude", f'exec {sys.executable} -IS {top}/client.py "$@"')
    project.ok("config", "agents.claude.argv", json.dumps([str(program)]))
    project.ok("config", "agent", "claude")
    project.make(body="Choose a tone.\n")
    assert project.run().code == 3
    assert project.stands() == (Status.CLARIFICATION, Awaiting.INPUT)
    asking = json.loads(project.ok("stats", "--json"))
    assert (asking["total"]["open"], asking["total"]["sessions"]) == (1, 1)
    project.ok("respond", "k7f2", "Friendly.")
    assert project.run().code == 3
    project.ok("approve", "k7f2")
    found = json.loads(project.ok("stats", "--json"))
    total = found["total"]
    assert (total["done"], total["open"], total["rounds"], total["failed_reviews"]) == (1, 0, 1, 0)
    assert (total["sessions"], total["cost"], total["tokens_in"], total["tokens_out"]) == (3, 0.375, 3000, 60)
    assert total["waits"]["waiting"] == 0
    assert [(one["name"], one["done"], one["sessions"]) for one in found["agents"]] == [("claude", 1, 3)]
    assert any(week["cost"] > 0 for week in found["weeks"])
    assert "$0.38" in project.ok("stats")
