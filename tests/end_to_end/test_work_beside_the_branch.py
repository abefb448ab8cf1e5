"""An agent that commits beside its work branch: nothing becomes done with its work left out, and nothing is lost."""

from __future__ import annotations

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.support.runs import COMMIT, DONE, HANDOFF, NO_PERSON, RunProject, project

__all__ = ["project"]

SAY_DONE = f"{HANDOFF}echo '<promise>COMPLETE</promise>'\n"
OBEY = r"""eval "$(sed -n 's/.*: `\(git [^`]*\)`.*/\1/p' .gt/prompt.md | head -1)"; git commit -qam again"""


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (f"git checkout -q --detach\n{DONE}", "the work was committed on a detached HEAD"),
        (f"git checkout -q -b other\n{DONE}", "the work was committed on branch `other`"),
        (f"git branch -m other\n{DONE}", "the work was committed on branch `other`"),
        (f"{COMMIT}git checkout -q --detach HEAD~1\n{SAY_DONE}", "the workspace is on a detached HEAD"),
        (f"{COMMIT}git reset -q --hard HEAD~1\n{SAY_DONE}", "nothing was committed on"),
        (f"git worktree add -q -b other ../aside\n(cd ../aside; {COMMIT})\n{SAY_DONE}", "but elsewhere"),
        (f"git checkout -q --orphan other\n{DONE}", "the work was committed on branch `other`"),
        (
            f"{COMMIT}git checkout -q --orphan other\n{SAY_DONE}",
            "the workspace is on branch `other`, but only",
        ),
        (
            f"git checkout -q --orphan other\n{COMMIT}git branch -qM gitticks/work/k7f2\n{SAY_DONE}",
            "in common",
        ),
    ],
    ids=["detached", "branch", "renamed", "elsewhere", "reset", "worktree", "orphan", "unborn", "unrelated"],
)
def test_commits_beside_the_branch_go_back_to_the_agent(project: RunProject, first: str, said: str) -> None:
    project.settings(NO_PERSON)
    project.agent(f"if [ $GITTICKS_ITERATION = 1 ]; then\n{first}\nelse\n{OBEY}\n{SAY_DONE}fi")
    project.make()
    ran = project.run()
    failed = next(one for one in project.events("k7f2") if one.type is EventType.GATE_FAILED)
    assert failed.data["gate"] == "checks"
    assert said in str(failed.reason), failed.reason
    assert f"checks failed: {failed.reason}"[:60] in ran.out
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert "k7f2.txt" in project.files()
