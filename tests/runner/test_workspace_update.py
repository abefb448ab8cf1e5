"""What an agent learns of a base that moved and of others who change the same, and `workspace.update`."""

from __future__ import annotations

from pathlib import Path

from tests.support.agents import write_program
from tests.support.repositories import commit_file, git
from tests.support.runs import DONE, NO_REVIEW, TO_REVIEW, RunProject, project

__all__ = ["project"]


def two_iterations(project: RunProject, first: str, between: str = "true") -> Path:
    """Makes an agent that hands nothing over the first time; returns where its second prompt is kept."""
    prompt = project.path.parent / "prompt"
    move = write_program(project.path.parent / "move", between)
    once = f'if [ ! -e "{prompt}.first" ]; then touch "{prompt}.first"\n{first}{move}\nexit; fi\n'
    project.agent(
        f'{once}cp "$GITTICKS_MAILBOX/prompt.md" {prompt}\ngit log --format=%s > {prompt}.log\n{DONE}'
    )
    project.settings(NO_REVIEW)
    return prompt


def on_base(project: RunProject, file: str, text: str) -> str:
    return f"cd {project.path} && echo {text} > {file} && git add {file} && git commit -qm base"


COMMIT_SHARED = "echo mine > shared.txt; git add -A; git commit -qm mine\n"


def test_a_base_that_moved_is_merged_into_the_branch_between_iterations(project: RunProject) -> None:
    prompt = two_iterations(project, COMMIT_SHARED, on_base(project, "other.txt", "base"))
    project.settings("workspace: {update: between-iterations}\n")
    project.make()
    assert project.run().code == 3
    assert project.stands() == TO_REVIEW
    assert "`main` has 1 new commit, which were merged into your branch" in prompt.read_text()
    assert Path(f"{prompt}.log").read_text().splitlines()[0] == "Merge main into gitticks/work/k7f2"
    assert (project.workspace() / "other.txt").read_text() == "base\n"


def test_without_the_setting_the_agent_is_told_and_the_branch_stays(project: RunProject) -> None:
    prompt = two_iterations(project, COMMIT_SHARED, on_base(project, "other.txt", "base"))
    project.make()
    assert project.run().code == 3
    assert "`main` has 1 new commit: `git merge main` brings them in" in prompt.read_text()
    assert not (project.workspace() / "other.txt").exists()


def test_a_conflict_with_the_base_is_reported_and_changes_nothing(project: RunProject) -> None:
    prompt = two_iterations(project, COMMIT_SHARED, on_base(project, "shared.txt", "base"))
    project.settings("workspace: {update: between-iterations}\n")
    project.make()
    assert project.run().code == 3
    assert "`git merge main` and resolve the conflict" in prompt.read_text()
    assert Path(f"{prompt}.log").read_text().splitlines()[0] == "mine"


def test_uncommitted_work_is_left_alone(project: RunProject) -> None:
    prompt = two_iterations(project, "echo half > half.txt\n", on_base(project, "other.txt", "base"))
    project.settings("workspace: {update: between-iterations}\n")
    project.make()
    assert project.run().code == 3
    assert "which are merged once everything here is committed" in prompt.read_text()
    assert "half.txt" in git("show", "--name-only", "--format=", "gitticks/work/k7f2", at=project.path)


def test_others_who_change_the_same_are_named_in_the_next_prompt(project: RunProject) -> None:
    prompt = two_iterations(project, COMMIT_SHARED)
    project.make("m3xq")
    project.ok("start", "m3xq")
    commit_file(project.workspace("m3xq"), "shared.txt", "theirs\n")
    project.make()
    assert project.run("k7f2").code == 3
    told = "`m3xq`, which others work on at the same time, conflicts with your commits in `shared.txt`"
    assert told in prompt.read_text()
