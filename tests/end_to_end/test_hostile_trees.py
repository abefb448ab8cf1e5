"""Trees that reach out of a checkout or run something: no merge takes them, and a review names them first."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.runner.merges import head
from tests.support.projects import make_reviewing
from tests.support.repositories import git
from tests.support.runs import DONE, HANDOFF, NO_PERSON, NO_REVIEW, RunProject, project

__all__ = ["project"]

FIX = "git reset -q --soft main; git rm -qf --cached bad .gitmodules 2>/dev/null; rm -rf bad .gitmodules; date > good.txt; git add -A; git commit -qm fixed\n"
SAY_DONE = f"{HANDOFF}echo '<promise>COMPLETE</promise>'\n"


def modules(line: str) -> str:
    return f"printf '[submodule \"bad\"]\\n\\tpath = bad\\n\\turl = https://example.org/x\\n\\t{line}\\n' > .gitmodules"


@pytest.mark.damages  # some of it is what git's own check refuses too
@pytest.mark.parametrize(
    ("plant", "said"),
    [
        ("ln -s /etc/passwd bad", "leads out of the tree"),
        ("mkdir -p d; ln -s ../../../../outside d/bad; ln -s d/bad bad", "leads out of the tree"),
        ("ln -s .git/hooks bad", "git's own folder"),
        (modules("update = !touch pwned"), "is a command|gitmodulesUpdate"),
        (modules("url = ext::sh -c touch% pwned"), "can run a command|gitmodulesUrl"),
        (modules("url = -utouch"), "can run a command|gitmodulesUrl"),
    ],
    ids=["absolute", "climbing", "into-git", "update", "ext", "option"],
)
def test_such_work_goes_back_to_the_agent_with_the_reason(project: RunProject, plant: str, said: str) -> None:
    project.settings(NO_PERSON)
    clean = f"git rm -rqf d 2>/dev/null; {FIX}"
    project.agent(f"if [ $GITTICKS_ITERATION = 1 ]; then\n{plant}\n{DONE}else\n{clean}{SAY_DONE}fi")
    project.make()
    ran = project.run()
    failed = next(one for one in project.events("k7f2") if one.type is EventType.GATE_FAILED)
    assert re.search(said, str(failed.reason)), failed.reason
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert "good.txt" in project.files()
    assert not {"bad", ".gitmodules"} & set(project.files())


@pytest.mark.damages
def test_what_a_plain_git_cannot_even_add_is_refused_too(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(
        "blob=$(echo evil | git hash-object -w --stdin)\n"
        "hooks=$(printf '100755 blob %s\\tpost-checkout\\n' $blob | git mktree)\n"
        "top=$(printf '040000 tree %s\\t.GIT\\n' $hooks | git mktree)\n"
        "git update-ref HEAD $(git commit-tree -p HEAD -m evil $top)\n"
        f"git read-tree HEAD\n{SAY_DONE}"
    )
    project.make()
    project.settings("verify: {committed: false}\n")
    before = head(project)
    project.run("--task-iterations", "1")
    failed = next(one for one in project.events("k7f2") if one.type is EventType.GATE_FAILED)
    assert re.search("git's own folder|hasDotgit", str(failed.reason))
    assert head(project) == before


def test_the_merge_itself_refuses_what_was_approved_before(project: RunProject) -> None:
    workspace = make_reviewing(project)
    (workspace / "bad").symlink_to("/etc/passwd")
    git("add", "-A", at=workspace)
    git("commit", "-qm", "a link", at=workspace)
    project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
    before = head(project)
    ran = project.gt("approve", "k7f2")
    assert ran.code == 1
    assert "`bad`: the symbolic link leads out of the tree" in ran.seen
    assert head(project) == before
    assert not (project.path / "bad").is_symlink()
    assert project.stands() == (Status.WORKING, None)
    assert "leads out of the tree" in str(project.last(EventType.MERGE_FAILED).reason)


def test_a_review_names_first_what_acts_beyond_its_text_and_sums_up_what_nobody_reads(
    project: RunProject,
) -> None:
    workspace = make_reviewing(project)
    (workspace / "inner").symlink_to("login.txt")
    (workspace / ".envrc").write_text("touch pwned\n")
    (workspace / ".vscode").mkdir()
    (workspace / ".vscode/tasks.json").write_text("{}\n")
    (workspace / "picture.bin").write_bytes(b"\0\1\2" * 500)
    (workspace / "long.txt").write_text("".join(f"line {number}\n" for number in range(5000)))
    git("add", "-A", at=workspace)
    git("commit", "-qm", "more", at=workspace)
    project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
    shown = project.ok("review", "k7f2")
    first = shown.index("look at these first\n")
    assert "  .envrc: is read by your shell\n" in shown
    assert "  .vscode/tasks.json: is read by your editor\n" in shown
    assert "  inner: symbolic link to `login.txt`\n" in shown
    assert first < shown.index("diff --git")
    assert "line 4999" not in shown
    assert "not shown: long.txt (5,000 lines changed): git diff " in shown
    assert shown.rstrip().splitlines()[-1].startswith("not shown: picture.bin (binary)")
    told = json.loads(project.ok("review", "k7f2", "--json"))["review"]["look_first"]
    assert {one["path"] for one in told} == {".envrc", ".vscode/tasks.json", "inner"}
    assert project.ok("approve", "k7f2")
    assert Path(project.path / "inner").is_symlink()
