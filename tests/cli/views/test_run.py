"""What a run says while it goes on."""

from __future__ import annotations

from tests.cli.support import gt_on_terminal
from tests.support.runs import DONE, NO_REVIEW, RunProject, project

__all__ = ["project"]


def test_why_checks_failed_is_said_once_an_iteration(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}verify: {{test: 'exit 3'}}\n")
    project.agent(DONE)
    project.make()
    ran = project.run()
    why = "tests failed (exit code 3): `exit 3`"
    said = [line.split("  ")[1] for line in ran.out.splitlines() if why in line]
    assert said == [*[f"checks failed: {why}"] * 4, f"stuck: checks failed 4 times: {why}"]
    assert len(project.ok("log", "k7f2").split("checks failed")) == 6  # the last time also why it is stuck


def test_an_iteration_that_left_nothing_says_so_and_repeats_no_budget(project: RunProject) -> None:
    project.settings("iterations: 3\n")
    project.agent("true")
    project.make()
    said = [line.split("  ")[1].strip() for line in project.run().out.splitlines() if line.startswith("k7f2")]
    assert said.count("ended without a hand-off") == 2
    assert said[-1] == "stuck: 3 iterations without a hand-off"
    assert not [line for line in said if line.startswith("spent")]


def test_a_run_says_what_a_person_has_to_do(project: RunProject) -> None:
    project.agent("echo '<promise>EJECT: buy the certificate</promise>'")
    project.make()
    assert "waits for you: work: buy the certificate" in project.run().out


def test_on_a_terminal_the_lines_of_agents_keep_their_indent(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(f"printf 'tests:\\n\\tall pass\\n'\n{DONE}")
    project.make()
    assert "│     all pass" in gt_on_terminal("run", at=project.path).out
