"""Rules about writing hold for commits too, which git makes without touching the file."""

from __future__ import annotations

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.support.repositories import git
from tests.support.runs import DONE, HANDOFF, NO_PERSON, RunProject, project

__all__ = ["project"]

DENY = "permissions: {deny: [{operation: file_write, paths: ['.github/**', infra/prod]}]}\n"
BLOB = "blob=$(echo evil | git hash-object -w --stdin)\n"
SAY_DONE = f"{HANDOFF}echo '<promise>COMPLETE</promise>'\n"


@pytest.mark.parametrize(
    ("plant", "path"),
    [
        (f"{BLOB}git update-index --add --cacheinfo 100644,$blob,.github/ci.yml\n", ".github/ci.yml"),
        ("mv infra old; mkdir -p infra/prod; echo evil > infra/prod/main; git add -A\n", "infra/prod/main"),
        ("git rm -q --cached infra/prod/main\n", "infra/prod/main"),
    ],
    ids=["index-alone", "folder-above-renamed", "removed"],
)
def test_a_commit_of_what_no_agent_may_write_goes_back(project: RunProject, plant: str, path: str) -> None:
    for name in (".github/ci.yml", "infra/prod/main"):
        (project.path / name).parent.mkdir(parents=True, exist_ok=True)
        (project.path / name).write_text("good\n")
    git("add", "-A", at=project.path)
    git("commit", "-qm", "begin", at=project.path)
    project.settings(f"{NO_PERSON}{DENY}")
    undo = "git rm -rqf old; git checkout -q main -- .github infra; echo x > x; git add x; git commit -qm undone\n"
    project.agent(
        f"if [ $GITTICKS_ITERATION = 1 ]; then\n{plant}git commit -qm evil\n{SAY_DONE}else\n{undo}{SAY_DONE}fi"
    )
    project.make()
    ran = project.run()
    failed = next(one for one in project.events("k7f2") if one.type is EventType.GATE_FAILED)
    assert f"agents may not write: `{path}` is denied by the rule `file_write: " in str(failed.reason)
    # A renamed folder's file was made anew, is guarded from then on as it is, and waits for a person.
    ends_as = Status.STUCK if plant.startswith("mv") else Status.DONE
    assert project.task("k7f2").status is ends_as, ran.seen
    assert git("show", f"main:{path}", at=project.path) == "good"


def test_what_no_rule_is_about_is_merged(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}{DENY}")
    project.agent(DONE)
    project.make()
    ran = project.run()
    assert project.task("k7f2").status is Status.DONE, ran.seen
