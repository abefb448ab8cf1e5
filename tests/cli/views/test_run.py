"""What a run says while it goes on."""

from __future__ import annotations

from tests.support.runs import DONE, NO_REVIEW, RunProject, project

__all__ = ["project"]


def test_why_checks_failed_is_said_once_an_iteration(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}verify: {{test: 'exit 3'}}\n")
    project.agent(DONE)
    project.make()
    ran = project.run()
    why = "tests failed (exit code 3): `exit 3`"
    said = [line.split("  ")[1] for line in ran.out.splitlines() if why in line]
    assert said == [*[f"checks failed: {why}"] * 4, f"stuck: crashed: {why}"]
    assert len(project.ok("log", "k7f2").split("checks failed")) == 5
