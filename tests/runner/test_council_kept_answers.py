"""What a council had answered when its run was killed: what counts in the next one, and who is asked again."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path

from gitticks.agents.base import AgentReport
from gitticks.flocks import is_lock_held
from gitticks.model.event import EventType
from gitticks.model.task import Ending, Usage
from gitticks.runner.council import KeptAnswers
from gitticks.workflow.council import Voice
from tests.runner.test_council import APPROVED, BLOCKING, council, review, rounds
from tests.runner.test_session_costs import told
from tests.support.agents import processes_with
from tests.support.repositories import git
from tests.support.runs import COMMIT, FAIL, HANDOFF, TO_REVIEW, RunProject, project
from tests.support.tasks import make_task, write_files
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


def test_what_a_crashed_reviewer_approved_is_not_kept_for_the_next_run(project: RunProject) -> None:
    slow = 'if [ -e "$0.done" ]; then echo "VERDICT: APPROVED"; else touch "$0.done"; sleep 600; fi\n'
    crash = f'echo x >> "$0.asked"\n{APPROVED}exit 1\n'
    council(project, "human: when-required\n", one=crash, two=slow, three=APPROVED)
    project.make()
    kept = project.path / ".git/gitticks/council/k7f2"
    with project.running() as process:
        until(
            lambda: (
                (kept / "three.json").exists()
                and (project.path.parent / "one.sh.asked").exists()
                and (project.path.parent / "two.sh.done").exists()
            ),
            "two answers",
        )
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_with(project.mark), "the end of every reviewer")
    assert project.run().code == 0
    assert (project.path.parent / "one.sh.asked").read_text().count("x") == 2
    assert "`one`: abstained (exit code 1)" in review(project)


def test_a_killed_run_asks_the_council_again(project: RunProject) -> None:
    slow = 'if [ -e "$0.done" ]; then echo "VERDICT: APPROVED"; else touch "$0.done"; sleep 600; fi\n'
    council(project, one=slow, two=slow)
    project.make()
    with project.running() as process:
        until(lambda: len(list(project.path.parent.glob("*.sh.done"))) == 2, "both reviewers")
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_with(project.mark), "the end of every reviewer")
    assert project.run().code == 3
    assert project.stands() == TO_REVIEW
    assert not (project.path / ".gitticks-work" / "reviews").exists()


def test_a_killed_run_asks_only_who_has_not_answered(project: RunProject) -> None:
    count = 'echo x >> "$0.asked"\n'
    slow = 'if [ -e "$0.done" ]; then echo "VERDICT: APPROVED"; else touch "$0.done"; sleep 600; fi\n'
    council(project, one=count + BLOCKING, two=count + slow, more="council: {rounds: 1}\n")
    project.make()
    kept = project.path / ".git/gitticks/council/k7f2/one.json"
    with project.running() as process:
        until(lambda: kept.exists() and (project.path.parent / "two.sh.done").exists(), "an answer")
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_with(project.mark), "the end of every reviewer")
    project.run()
    asked = [(project.path.parent / f"{name}.sh.asked").read_text().count("x") for name in ("one", "two")]
    assert asked == [2, 3], "each once more in the second round"
    assert "src:1 leaks" in rounds(project)["01-review-one.md"]
    assert not kept.exists()


def test_what_an_answer_took_before_a_stop_is_counted_once(project: RunProject) -> None:
    up = project.shared / "up"
    slow = f"if [ ! -e '{up}' ]; then touch '{up}'; exec sleep 600; fi\n{APPROVED}"
    council(project, one=told(cost=1) + APPROVED, two=slow)
    project.make()
    kept = project.path / ".git/gitticks/council/k7f2/one.json"
    with project.running() as process:
        until(lambda: kept.exists() and up.exists(), "an answer")
        told_then = kept.read_bytes()
        project.ok("stop", "k7f2")
        process.communicate()
    kept.write_bytes(told_then)  # all that a run leaves that is killed once this end is written
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "stopped"
    assert project.task("k7f2").usage.cost == 1
    assert project.run("k7f2").code == 3
    assert project.task("k7f2").usage.cost == 1


def test_a_limit_that_one_met_before_a_stop_lets_its_agent_rest(project: RunProject) -> None:
    said = json.dumps({"gitticks": "usage-limit", "retry_after": 7200, "message": "5 hours are spent"})
    met, up = project.shared / "met", project.shared / "up"
    slow = f"touch {up}; exec sleep 600\n"
    council(project, one=f"echo '{said}'\ntouch {met}\nexit 75\n", two=slow)
    project.make()
    lock_of_one = project.path / ".git/gitticks/sessions/k7f2.tree"
    with project.running() as process:
        until(lambda: met.exists() and up.exists() and not is_lock_held(lock_of_one), "the limit")
        project.ok("stop", "k7f2")
        out, _ = process.communicate()
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "stopped"
    assert "`one` rests for" in out


def test_an_answer_that_would_count_otherwise_is_asked_for_again(project: RunProject) -> None:
    said = "printf 'All checks pass, but:\\n\\nFAIL, not yet\\n\\nVERDICT: APPROVED\\n'\n"
    slow = 'if [ -e "$0.done" ]; then echo "VERDICT: APPROVED"; else touch "$0.done"; sleep 600; fi\n'
    council(project, one=f'{said}{FAIL}echo x >> "$0.asked"\n', two=slow, three=APPROVED)
    project.make()
    files = [project.path.parent / name for name in ("one.sh.asked", "two.sh.done")]
    files.append(project.path / ".git/gitticks/council/k7f2/three.json")
    with project.running() as process:
        until(lambda: all(file.exists() for file in files), "two answers")
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_with(project.mark), "the end of every reviewer")
    project.run("--max-iterations", "1")
    assert files[0].read_text().count("x") > 1
    assert "`one`: BLOCKING" in review(project)


def test_a_kept_answer_has_all_that_its_price_depends_on(tmp_path: Path) -> None:
    kept = KeptAnswers(tmp_path, make_task("k7f2"), ())
    usage = Usage(tokens_in=1000, tokens_out=10, seconds=2.0)
    report = AgentReport(
        Ending.CLEAN, usage=usage, cached_tokens=900, model="m", is_estimate=True, warnings=("odd",)
    )
    kept.keep("one", "VERDICT: APPROVED", Voice.APPROVED, report)
    assert kept.find("one") == replace(report, messages=("VERDICT: APPROVED",))


def test_an_answer_about_other_work_is_not_kept(project: RunProject) -> None:
    folder = project.path / ".git/gitticks"
    kept = KeptAnswers(folder, replace(make_task("k7f2"), end_sha="a" * 40, review_round=1), ())
    kept.keep("one", "VERDICT: BLOCKING", Voice.BLOCKING, AgentReport(Ending.CLEAN))
    council(project, one=APPROVED)
    project.make()
    assert project.run().code == 3
    assert review(project).startswith("PASS")


def test_an_answer_of_a_review_that_a_person_ended_is_asked_for_again(project: RunProject) -> None:
    count = 'echo x >> "$0.asked"\n'
    slow = 'if [ -e "$0.done" ]; then echo "VERDICT: APPROVED"; else touch "$0.done"; sleep 600; fi\n'
    council(project, one=told(cost=1) + count + APPROVED, two=slow)
    project.agent(f"[ -e k7f2.txt ] || {{ {COMMIT}}}\n{HANDOFF}echo '<promise>COMPLETE</promise>'\n")
    project.make()
    kept = project.path / ".git/gitticks/council/k7f2/one.json"
    with project.running() as process:
        until(lambda: kept.exists() and (project.path.parent / "two.sh.done").exists(), "an answer")
        head = project.task("k7f2").end_sha
        project.ok("review", "k7f2", "--reject", "wrong", "--no-resume")
        process.communicate(timeout=LONGEST_SECONDS)
    assert project.stands() == TO_REVIEW
    assert (project.task("k7f2").end_sha, project.task("k7f2").review_round) == (head, 2)
    assert (project.path.parent / "one.sh.asked").read_text().count("x") == 2
    assert project.task("k7f2").usage.cost == 2, "each answer was paid for"


def test_an_answer_of_another_order_is_said_and_not_counted(project: RunProject) -> None:
    count = 'echo x >> "$0.asked"\n'
    slow = 'if [ -e "$0.done" ]; then echo "VERDICT: APPROVED"; else touch "$0.done"; sleep 600; fi\n'
    council(project, one=count + APPROVED, two=count + slow, three=BLOCKING)
    project.make()
    kept = project.path / ".git/gitticks/council/k7f2"
    with project.running() as process:
        answered = {"one.json", "three.json"}
        until(
            lambda: (
                kept.exists()
                and {one.name for one in kept.iterdir()} == answered
                and (project.path.parent / "two.sh.done").exists()
            ),
            "two answers",
        )
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_with(project.mark), "the end of every reviewer")
    text = (project.store.read("config.yaml") or b"").decode()
    text = text.replace(", {name: three, agent: three, focus: 'the three'}", "").replace("'the one'", "docs")
    write_files(project.store, {"config.yaml": text.encode()})
    seen = project.run().seen
    assert "`three` had answered BLOCKING, which does not count: it is a reviewer no more" in seen
    again = "its agent or focus has changed, so it is asked again"
    assert f"`one` had answered APPROVED, which does not count: {again}" in seen
    asked = [(project.path.parent / f"{name}.sh.asked").read_text().count("x") for name in ("one", "two")]
    assert asked == [2, 2]


def test_what_a_killed_reviewer_committed_is_kept(project: RunProject) -> None:
    meddle = 'echo mine > mine.txt; git add -A; git commit -qm "by a reviewer"; touch "$0.done"; sleep 600\n'
    council(project, one=meddle)
    project.make()
    with project.running() as process:
        until((project.path.parent / "one.sh.done").exists, "the commit")
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_with(project.mark), "the end of every reviewer")
    until(lambda: "kept at `refs/gitticks/rescued/review-k7f2`" in project.gt("health").seen)
    kept = git("log", "--format=%s", "refs/gitticks/rescued/review-k7f2", at=project.path)
    assert "by a reviewer" in kept
