"""Secrets that agents print, write or commit: nothing of them is on the state branch, in a transcript or in a merge."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gitticks.model.status import Awaiting, Status
from tests.support.projects import SESSION
from tests.support.repositories import git
from tests.support.runs import COMMIT, DONE, NO_PERSON, RunProject, project
from tests.support.tasks import write_files

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


def test_what_an_agent_leaks_reaches_neither_the_branch_nor_a_transcript(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITTICKS_CONFIG_SANDBOX_PRESET", "none")  # behind walls it does not see the variable
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


def test_what_the_sandbox_keeps_from_an_agent_is_masked_all_the_same(project: RunProject) -> None:
    half = len(VALUE) // 2
    project.agent(
        f'value={VALUE[:half]}; value="${{value}}{VALUE[half:]}"\necho "printed $value"\necho "boom $value" >&2; exit 3\n'
    )
    project.make()

    ran = project.run("--json")

    printed = "".join(
        path.read_text() for path in (project.path / ".git/gitticks/transcripts").rglob("*.log")
    )
    for text in (ran.seen, printed, state_of(project)):
        assert VALUE not in text
    assert "printed (masked value of SHOP_API_KEY)" in printed
    assert "boom (masked value of SHOP_API_KEY)" in ran.seen


def test_what_people_say_by_command_is_masked_and_their_files_are_refused(project: RunProject) -> None:
    task_id = project.create(f"Push with {TOKEN}")
    assert "was masked before it was committed" in project.gt("note", task_id, f"and {TOKEN}").err
    assert "masked" not in project.gt("note", task_id, "and nothing").err
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


def test_settings_and_templates_with_a_secret_are_refused_and_older_ones_named(project: RunProject) -> None:
    refused = project.gt(
        "config", "notify", f"curl -H 'Authorization: Bearer {TOKEN}' https://chat.example.org"
    )
    assert "holds a secret: GitHub token" in refused.err
    file = project.board / "prompts/worker.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"Push with {TOKEN}.\n{{{{ task }}}}\n")
    git("add", "-f", "prompts", at=project.board)
    with pytest.raises(AssertionError, match="holds a secret: GitHub token"):
        git("commit", "-qm", "ours", at=project.board)
    assert TOKEN not in state_of(project)

    write_files(project.store, {"config.yaml": f"version: 1\nnotify: 'echo {TOKEN}'\n".encode()})
    assert project.gt("config", "parallel", "2").code == 0, (
        "what stands there already keeps nobody from working"
    )
    assert "config.yaml:2: holds a secret: GitHub token" in " ".join(project.gt("doctor").out.split())


COMMITS_TOKEN = f"""
token=gh; token="${{token}}p_q7Zp3LxVb9TnR2kWm8Jd5HsYf4Gc6Ea1UoNi"
printf 'one\\n%s\\n' "$token" > config.py
git add -A; git commit -qm config
git rm -q config.py; git commit -qm "take it out"
{DONE}"""
"""A token that the last commit has no more is in the history of the base all the same."""


def test_a_commit_with_a_secret_goes_back_to_its_agent_until_a_person_allows_it(project: RunProject) -> None:
    project.settings(NO_PERSON + "iterations: 2\n")
    project.agent(COMMITS_TOKEN)
    project.make()
    first = git("rev-parse", "main", at=project.path)

    ran = project.run()

    assert git("rev-parse", "main", at=project.path) == first
    assert "`config.py` line 2" in ran.seen
    assert "GitHub token" in ran.seen
    assert TOKEN not in ran.seen
    assert TOKEN not in state_of(project)
    prompt = (project.workspace() / ".gt/prompt.md").read_text()
    assert "the commits contain what looks like a secret" in prompt

    refused = project.gt("trust", "--secret", "k7f2")
    assert refused.code == 3
    assert "gt trust --secret k7f2 --yes" in refused.err
    in_session = project.gt("trust", "--secret", "k7f2", "--yes", environment=SESSION)
    assert in_session.code == 3
    project.ok("trust", "--secret", "k7f2", "--yes")
    assert "secret allowed" in project.ok("log", "k7f2")
    assert "a person allowed it" in project.ok("audit", "--json")
    assert "no secret that was not allowed" in project.ok("trust", "--secret", "k7f2")


IN_MESSAGES = f"""
token=gh; token="${{token}}p_q7Zp3LxVb9TnR2kWm8Jd5HsYf4Gc6Ea1UoNi"
key="$(printf -- '-----BEGIN %s KEY-----\\n%s\\n%s\\n-----END' PRIVATE \\
  MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgw lZ3vX8tQp2Rk7Yw5Jm4Nc9Bd6Hf1Gs0A)"
echo one > one; git add -A
git commit -qm "log in" -m "- tried with $token"
echo two > two; git add -A
git commit -qm "sign" -m "$key"
{DONE}"""


def test_a_message_with_a_secret_goes_back_though_its_lines_look_like_those_of_a_diff(
    project: RunProject,
) -> None:
    project.settings(NO_PERSON + "iterations: 2\n")
    project.agent(IN_MESSAGES)
    project.make()
    first = git("rev-parse", "main", at=project.path)

    ran = project.run()

    assert git("rev-parse", "main", at=project.path) == first
    prompt = (project.workspace() / ".gt/prompt.md").read_text()
    assert re.search(r"the message in [0-9a-f]{7}: GitHub token", prompt), ran.seen
    assert re.search(r"the message in [0-9a-f]{7}: private key", prompt), ran.seen


def test_a_merge_looks_again(project: RunProject) -> None:
    project.settings("review: none\n")
    project.make()
    project.run()
    workspace = project.workspace()
    (workspace / "late.py").write_text(f"token = '{TOKEN}'\n")
    git("add", "-A", at=workspace)
    git("commit", "-qm", "late", at=workspace)
    project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace).strip())

    ran = project.gt("approve", "k7f2")

    assert "looks like a secret" in ran.seen
    assert project.task("k7f2").status is Status.WORKING
