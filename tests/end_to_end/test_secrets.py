"""Secrets that agents print, write or commit: nothing of them is on the state branch, in a transcript or in a merge."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.status import Awaiting, Status
from tests.support.repositories import git
from tests.support.runs import COMMIT, RunProject, project

__all__ = ["project"]

TOKEN = "gh" + "p_q7Zp3LxVb9TnR2kWm8Jd5HsYf4Gc6Ea1UoNi"
VALUE = "wren-moss-41-lantern"
LEAKS = f"""
token=gh; token="${{token}}p_q7Zp3LxVb9TnR2kWm8Jd5HsYf4Gc6Ea1UoNi"
echo "printed $token $SHOP_API_KEY"
echo "complained $token" >&2
"$GT" note "noted $token $SHOP_API_KEY"
echo "learned $token $SHOP_API_KEY" >> "$GITTICKS_MAILBOX/learnings.md"
{COMMIT}
printf '\\n## Handoff\\n\\nused %s and %s\\n' "$token" "$SHOP_API_KEY" >> "$GITTICKS_MAILBOX/TASK.md"
echo "<promise>COMPLETE: with $token</promise>"
"""


@pytest.fixture(autouse=True)
def value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives agents a variable with a secret value."""
    monkeypatch.setenv("SHOP_API_KEY", VALUE)


def state_of(project: RunProject) -> str:
    """Returns everything that was ever on the state branch, with the messages of its commits."""
    return git("log", "-p", "--text", "gitticks/state", at=project.path)


def test_what_an_agent_leaks_reaches_neither_the_branch_nor_a_transcript(project: RunProject) -> None:
    project.agent(LEAKS)
    project.settings("review: none\n")
    project.make()

    ran = project.run()

    kept = list((project.path / ".git/gitticks/transcripts").rglob("*.log"))
    printed = "".join(path.read_text() for path in kept)
    state = state_of(project)
    for text in (ran.seen, printed, state):
        assert TOKEN not in text
        assert VALUE not in text
    assert "printed (masked GitHub token) (masked value of SHOP_API_KEY)" in printed
    assert "complained (masked GitHub token)" in printed
    for words in ("noted", "learned", "used"):
        assert f"{words} (masked GitHub token)" in state
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)


def test_what_people_say_by_command_is_masked_and_their_files_are_refused(project: RunProject) -> None:
    task_id = project.create(f"Push with {TOKEN}")
    project.ok("note", task_id, f"it is {VALUE}")
    file = Path(project.ok("path", task_id).strip())
    saved = file.read_text() + f"\n## Context\n\nuse {TOKEN}\n"
    file.write_text(saved)

    status = project.gt("status")

    assert "holds a secret: GitHub token" in " ".join(status.seen.split())
    assert file.read_text() == saved
    assert TOKEN not in state_of(project)
    assert VALUE not in state_of(project)
    refused = project.gt("note", task_id, "hello")
    assert TOKEN not in refused.seen
