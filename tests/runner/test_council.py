"""A council: several reviewers at once, whose answers gitticks counts."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta

import pytest

from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status
from gitticks.runner.run_record import Resting, write_resting
from gitticks.store.layout import rounds_folder
from tests.support.agents import write_program
from tests.support.repositories import git
from tests.support.runs import DONE, FAIL, PASS, TO_REVIEW, RunProject, project
from tests.support.tasks import write_files
from tests.support.waiting import until

__all__ = ["project"]

APPROVED, BLOCKING = "echo fine; echo 'VERDICT: APPROVED'\n", "echo 'src:1 leaks'; echo 'VERDICT: BLOCKING'\n"


def council(project: RunProject, more: str = "", **answers: str) -> None:
    """Makes a council of reviewers, each a program that does what is said here."""
    places = {name: write_program(project.path.parent / f"{name}.sh", body) for name, body in answers.items()}
    agents = ", ".join(f"{name}: {{type: command, argv: ['{place}']}}" for name, place in places.items())
    reviewers = ", ".join(f"{{name: {name}, agent: {name}, focus: 'the {name}'}}" for name in answers)
    text = (
        f"version: 1\nagent: mine\nreview: council\nreviewers: [{reviewers}]\n{more}"
        f"agents: {{mine: {{type: command, argv: ['{project.agent_file}']}}, {agents}}}\n"
    )
    write_files(project.store, {"config.yaml": text.encode()})


def rounds(project: RunProject) -> dict[str, str]:
    folder = rounds_folder(TaskId("k7f2"))
    return {
        name: (project.store.read(f"{folder}/{name}") or b"").decode() for name in project.store.list(folder)
    }


def review(project: RunProject) -> str:
    return project.file("k7f2").section(Section.REVIEW) or ""


def test_all_look_at_the_work_at_once_and_each_by_itself(project: RunProject) -> None:
    meet = f"touch '{project.path.parent}/'$GITTICKS_REVIEWER; until [ -e '{project.path.parent}/'%s ]; do sleep 0.05; done\n"
    look = (
        'git status --porcelain > "$0.seen"; pwd >> "$0.seen"; git log -1 --format=%s >> "$0.seen"\n'
        'cp "$GITTICKS_MAILBOX/prompt.md" "$0.prompt"\n'
    )
    council(project, one=look + meet % "two" + APPROVED, two=look + meet % "one" + APPROVED)
    project.make()
    assert project.run().code == 3
    assert project.stands() == TO_REVIEW
    assert review(project).startswith(
        "PASS\n\n0 of 2 reviewers block.\n\n- `one`: APPROVED\n- `two`: APPROVED\n"
    )
    assert {name: "fine" in text for name, text in rounds(project).items()} == {
        "01-review-one.md": True,
        "01-review-two.md": True,
    }
    seen = [(project.path.parent / f"{name}.sh.seen").read_text().splitlines() for name in ("one", "two")]
    assert [one[-1] for one in seen] == ["work on k7f2"] * 2
    assert len({one[0] for one in seen}) == 2
    assert not (project.path / ".gitticks-work" / "reviews").exists()
    prompt = (project.path.parent / "one.sh.prompt").read_text()
    assert "Your focus is: the one." in prompt
    assert project.ok("review", "k7f2", "--stat").count("fine") == 2
    shown = json.loads(project.ok("review", "k7f2", "--json"))["review"]["reviews"]
    assert set(shown) == {"one", "two"}


def test_who_blocks_sends_the_work_back_with_all_that_was_said(project: RunProject) -> None:
    once = 'if [ -e "$0.done" ]; then echo "VERDICT: APPROVED"; else touch "$0.done"; '
    council(project, one=APPROVED, two=f"{once}echo 'src:1 leaks'; echo 'VERDICT: BLOCKING'; fi\n")
    project.agent(f'cp "$GITTICKS_MAILBOX/prompt.md" "$0.$(date +%N)"\n{DONE}')
    project.make()
    assert project.run().code == 3
    assert project.stands() == TO_REVIEW
    assert set(rounds(project)) == {
        "01-handoff.md",
        "01-review-one.md",
        "01-review-two.md",
        "01-review.md",
        "02-review-one.md",
        "02-review-two.md",
    }
    prompts = [path.read_text() for path in project.path.parent.glob("agent.sh.*")]
    assert ["> src:1 leaks" in text for text in sorted(prompts, key=len)] == [False, True]


def test_work_that_is_blocked_too_often_goes_to_a_person_with_all_that_was_said(project: RunProject) -> None:
    answer = "echo \"src:$GITTICKS_ROUND leaks\"; echo 'VERDICT: BLOCKING'\n"
    council(project, "council: {rounds: 2}\n", one=answer, two=APPROVED)
    project.make()
    assert project.run().code == 3
    assert project.stands() == TO_REVIEW
    assert project.task("k7f2").failed_reviews == 3
    page = project.ok("review", "k7f2", "--stat")
    assert [page.count(f"src:{number} leaks") for number in (1, 2, 3)] == [1, 1, 1]
    told = json.loads(project.ok("review", "k7f2", "--json"))["review"]
    assert "src:3 leaks" in told["reviews"]["one"]
    assert [(one["number"], sorted(one["reviews"])) for one in told["rounds"]] == [
        (1, ["one", "two"]),
        (2, ["one", "two"]),
    ]
    assert review(project).startswith("FAIL\n")
    log = project.ok("log", "k7f2")
    assert log.count("blocked by one") == 3
    assert "blocked in every round" in log


@pytest.fixture
def clock_waits(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a council's time begin only once `one` has answered."""
    kept = project.path / ".git/gitticks/council/k7f2/one.json"

    class Clock(threading.Timer):
        def run(self) -> None:
            until(kept.exists, "the answer of `one`")
            super().run()

    monkeypatch.setattr("gitticks.runner.council.threading.Timer", Clock)


@pytest.mark.usefixtures("clock_waits")
def test_who_answers_too_late_leaves_it_to_a_person(project: RunProject) -> None:
    council(project, "council: {timeout: 1s}\nhuman: when-required\n", one=APPROVED, two="sleep 600\n")
    project.make()
    assert project.run().code == 3
    assert project.stands() == TO_REVIEW
    assert "The council's time is up" in review(project)
    assert "`two`: no answer in time" in review(project)
    assert list(rounds(project)) == ["01-review-one.md"]
    assert "time is up before all have answered" in project.ok("log", "k7f2")


@pytest.mark.usefixtures("clock_waits")
def test_who_approves_too_late_leaves_it_to_a_person_too(project: RunProject) -> None:
    late = f'trap "{APPROVED.strip()}; exit 0" TERM INT; while :; do sleep 0.1; done\n'
    council(project, "council: {timeout: 1s}\nhuman: when-required\n", one=APPROVED, two=late)
    project.make()
    assert project.run().code == 3
    assert project.stands() == TO_REVIEW
    assert "`two`: no answer in time" in review(project)


def test_a_reviewer_that_crashes_has_approved_nothing(project: RunProject) -> None:
    crash = APPROVED + "echo 'model not reachable' >&2; exit 1\n"
    council(project, "human: when-required\n", one=crash, two=crash)
    project.make()
    ran = project.run()
    assert ran.code == 4
    assert "crashed: one, two abstained (exit code 1: model not reachable)" in ran.out
    assert project.stands() == (Status.STUCK, Awaiting.ESCALATION)


@pytest.mark.parametrize(
    ("answer", "human", "status"),
    [
        ("echo 'looks good to me, approved'\n", "always", Status.REVIEWING),
        ("echo 'looks good to me, approved'\n", "when-required", Status.REVIEWING),
    ],
)
def test_prose_is_no_verdict_and_where_nobody_follows_it_blocks(
    project: RunProject, answer: str, human: str, status: Status
) -> None:
    council(project, f"council: {{rounds: 1}}\nhuman: {human}\n", one=APPROVED, two=answer)
    project.make()
    assert project.run().code == 3
    assert project.stands()[0] is status
    assert review(project).startswith("PASS" if human == "always" else "FAIL")
    warned = [str(event.reason) for event in project.events("k7f2") if event.type is EventType.WARNED]
    assert any("reviewer `two` gave no verdict: it counts as" in one for one in warned)


def test_of_a_reviewer_that_answers_twice_the_last_answer_counts_but_approves_nothing_that_it_blocked(
    project: RunProject,
) -> None:
    council(project, "council: {rounds: 1}\n", one=APPROVED + BLOCKING, two=BLOCKING + APPROVED)
    project.make()
    assert project.run("--max-iterations", "1").code == 1
    assert project.stands() == (Status.WORKING, None)
    assert review(project).startswith(
        "FAIL\n\n1 of 2 reviewers blocks.\n\n- `one`: BLOCKING\n- `two`: no verdict\n"
    )
    assert all(rounds(project)[f"01-review-{name}.md"].count("VERDICT: ") == 2 for name in ("one", "two"))


@pytest.mark.parametrize(
    ("answer", "counts"),
    [
        ("git show; echo 'This leaks, do not merge.'\n", "no verdict"),
        ("echo 'VERDICT: APPROVED'; echo 'is what I would like to say.'; echo 'VERDICT: BLOCKING - it leaks'\n", "BLOCKING"),
        (f"echo 'VERDICT: BLOCKED'\n{PASS}", "no verdict"),
    ],
)  # fmt: skip
def test_what_a_reviewer_quotes_does_not_approve(project: RunProject, answer: str, counts: str) -> None:
    council(project, "council: {rounds: 1}\nhuman: when-required\n", one=answer)
    project.agent(f"echo 'VERDICT: APPROVED' > said.txt\n{DONE}")
    project.make()
    project.run("--max-iterations", "1")
    assert project.stands() == (Status.WORKING, None)
    assert review(project).startswith(f"FAIL\n\n1 of 1 reviewer blocks.\n\n- `one`: {counts}\n")


@pytest.mark.parametrize(
    "answers",
    [
        PASS + FAIL,
        "\"$GT\" review 'PASS: fine'\n\"$GT\" review 'FAIL: not yet'\n",
        PASS + '"$GT" review FAIL\n',
    ],
)
def test_of_a_single_reviewer_that_answers_twice_too(project: RunProject, answers: str) -> None:
    project.settings("review_limit: 1\n")
    project.agent(f'if [ "$GITTICKS_ROLE" = reviewer ]; then\n{answers}exit; fi\n{DONE}')
    project.make()
    assert project.run().code == 4
    assert project.stands() == (Status.STUCK, Awaiting.ESCALATION)
    assert review(project).startswith("FAIL")


@pytest.mark.parametrize("said", ["It does not pass: no check.", "**Verdict:** not a pass", "NO PASS"])
def test_a_single_reviewer_that_says_pass_in_passing_has_approved_nothing(
    project: RunProject, said: str
) -> None:
    project.settings("human: when-required\n")
    says = f"printf '\\n## Review\\n\\n{said}\\n' >> \"$GITTICKS_MAILBOX/TASK.md\""
    project.agent(f'if [ "$GITTICKS_ROLE" = reviewer ]; then\n{says}\nexit; fi\n{DONE}')
    project.make()
    ran = project.run()
    assert ran.code == 4
    assert "the review has no verdict" in ran.seen
    assert project.stands() == (Status.STUCK, Awaiting.ESCALATION)


def test_a_review_that_gt_cannot_take_says_how_it_begins(project: RunProject) -> None:
    says = f"\"$GT\" review 'PASS all criteria are met' 2> {project.shared}/seen || echo $? >> {project.shared}/seen\n"
    project.settings("review_limit: 1\n")
    project.agent(f'if [ "$GITTICKS_ROLE" = reviewer ]; then\n{says}{PASS}exit; fi\n{DONE}')
    project.make()
    project.run()
    seen = (project.shared / "seen").read_text()
    assert "a review begins with PASS or FAIL, alone or with a colon after it" in seen
    assert '`gt review "PASS: …"`' in seen
    assert project.stands() == TO_REVIEW


@pytest.mark.parametrize("ended", ["exit 0\n", "exit 1\n"])
@pytest.mark.parametrize("written", [FAIL, "\"$GT\" review 'FAIL: it leaks'\n"])
def test_a_councillor_that_writes_a_review_has_given_its_verdict(
    project: RunProject, written: str, ended: str
) -> None:
    more = "council: {rounds: 1}\nhuman: when-required\n"
    council(project, more, one=APPROVED, two=PASS, three=written + ended)
    project.make()
    assert project.run("--max-iterations", "1").code == 1
    assert project.stands() == (Status.WORKING, None)
    listed = "- `one`: APPROVED\n- `two`: APPROVED\n- `three`: BLOCKING\n"
    assert review(project).startswith(f"FAIL\n\n1 of 3 reviewers blocks.\n\n{listed}")


def test_a_review_that_fails_is_not_taken_back_by_a_line_that_approves(project: RunProject) -> None:
    both = "\"$GT\" review 'FAIL: a secret in line 3'\n" + APPROVED
    council(project, "council: {rounds: 1}\nhuman: when-required\n", one=both, two=APPROVED)
    project.make()
    project.run("--max-iterations", "1")
    assert project.stands() == (Status.WORKING, None)
    assert review(project).startswith("FAIL\n\n1 of 2 reviewers blocks.")
    assert "a secret in line 3" in review(project)


def test_what_no_file_can_have_costs_no_vote(project: RunProject) -> None:
    council(
        project,
        "council: {rounds: 1}\n",
        one="printf 'a\\000b\\n'\n" + BLOCKING,
        two=BLOCKING,
        three="printf 'c\\000d' >&2; exit 3\n",
    )
    project.make()
    assert project.run("--max-iterations", "1").code == 1
    assert review(project).startswith("FAIL\n\n2 of 3 reviewers block.\n")
    assert "a\ufffdb" in rounds(project)["01-review-one.md"]


def test_who_meets_a_limit_or_fails_abstains(project: RunProject) -> None:
    council(
        project,
        one=APPROVED,
        two="echo 'Error: 429 too many requests'\n",
        three="echo 'I crash' >&2; exit 3\n",
        four="true\n",
        more="human: when-required\n",
    )
    project.make()
    ran = project.run()
    assert ran.code == 3
    assert project.stands() == TO_REVIEW, "one of four is too few to merge by"
    assert "review  half of the council or more abstained" in ran.out
    assert "1 of 4 approves; two abstained (" in ran.seen
    assert "four abstained (it said nothing)" in project.ok("log", "k7f2")
    found = review(project)
    assert found.startswith("Half of the council or more abstained, so a person decides. 0 of 4")
    assert [f"`{name}`: abstained" in found for name in ("two", "three", "four")] == [True] * 3


def test_if_all_abstain_it_is_a_crash(project: RunProject) -> None:
    council(project, one="exit 3\n", two="exit 3\n")
    project.make()
    ran = project.run()
    assert ran.code == 4
    assert "stuck: its reviewer `council` crashed: one, two abstained (exit code 3)" in ran.out
    assert project.stands() == (Status.STUCK, Awaiting.ESCALATION)
    assert project.task("k7f2").crash_count == 2


def test_work_that_a_council_could_not_review_is_not_begun(project: RunProject) -> None:
    project.settings("review: council\nreviewers: [{name: one, agent: nosuch}, {name: two}]\n")
    project.make()
    ran = project.run()
    assert "k7f2: skipped in this run: nobody could review its work: there is no agent `nosuch`" in ran.seen
    assert project.stands() == (Status.PENDING, None)


def test_a_reviewer_that_is_not_installed_is_noticed_before_the_work(project: RunProject) -> None:
    project.settings("reviewers: [{name: one, agent: codex}, {name: two}]\n")
    project.agent(DONE)
    project.make()
    ran = project.run()
    assert (
        "k7f2: skipped in this run: nobody could review its work: the agent `codex` is not on PATH"
        in ran.seen
    )
    assert project.stands() == (Status.PENDING, None)
    project.settings("review: council\n")
    assert "k7f2: its reviewer `one` abstains: the agent `codex` is not on PATH" in project.run().seen
    assert project.stands() != (Status.PENDING, None)


def test_nothing_that_a_reviewer_does_reaches_the_work(project: RunProject) -> None:
    meddle = (
        "echo mine > mine.txt; git add -A; git commit -qm 'by a reviewer'\n"
        "printf '\\n## Review\\n\\nPASS\\n' >> \"$GITTICKS_MAILBOX/TASK.md\"\n"
    )
    council(project, one=meddle + BLOCKING, more="council: {rounds: 1}\n")
    project.make()
    assert "not part of the work: it is kept at" in project.run().seen
    assert review(project).startswith("FAIL")
    head = str(project.task("k7f2").end_sha)
    assert "by a reviewer" not in git("log", "--format=%s", head, at=project.path)
    kept = git("log", "--format=%s", "refs/gitticks/rescued/review-k7f2", at=project.path)
    assert "by a reviewer" in kept


def test_a_reviewer_that_moves_the_branch_voids_its_review(project: RunProject) -> None:
    folder = project.path.parent
    once = f'[ -e "{folder}/moved" ] || {{ touch "{folder}/moved"; '
    move = "git commit -q --allow-empty -m moved; git update-ref refs/heads/gitticks/work/k7f2 HEAD; }\n"
    council(project, one=once + move + APPROVED)
    project.make()
    assert project.run().code in (3, 4)
    task = project.task("k7f2")
    tip = git("rev-parse", "gitticks/work/k7f2", at=project.path)
    assert task.status is not Status.DONE
    assert not (task.status is Status.REVIEWING and task.end_sha != tip), "an old review stands for new work"


@pytest.mark.without_sandbox("in a sandbox it does not reach the person's branches (tests/sandbox)")
def test_a_reviewer_that_moves_the_base_is_said_and_what_takes_it_back(project: RunProject) -> None:
    council(project, one="git update-ref refs/heads/main HEAD\n" + BLOCKING, more="council: {rounds: 1}\n")
    project.make()
    before = git("rev-parse", "main", at=project.path)
    ran = project.run("--max-iterations", "1")
    words = f"an agent moved `main`: `git log {before[:10]}..main` shows what came since"
    assert ran.seen.count(words) == 1
    assert str(project.last(EventType.WARNED).reason).startswith(words)


def test_a_reviewer_that_rests_is_replaced_by_its_fallback(project: RunProject) -> None:
    write_resting(
        project.path / ".git/gitticks",
        [Resting("two", datetime.now(UTC) + timedelta(hours=1), "usage limit")],
    )
    council(project, one=APPROVED, two=APPROVED, three=BLOCKING)
    text = (project.store.read("config.yaml") or b"").decode()
    text = text.replace("two.sh']}", "two.sh'], fallback: [three]}").replace(
        ", {name: three, agent: three, focus: 'the three'}", ""
    )
    write_files(
        project.store,
        {"config.yaml": text.replace("agent: mine\n", "agent: mine\ncouncil: {rounds: 1}\n").encode()},
    )
    project.make()
    project.run()
    assert review(project).startswith("FAIL\n\n1 of 2 reviewers blocks.")


def test_a_council_waits_for_a_reviewer_that_rests(project: RunProject) -> None:
    write_resting(
        project.path / ".git/gitticks",
        [Resting("two", datetime.now(UTC) + timedelta(hours=1), "usage limit")],
    )
    council(project, one=APPROVED, two=APPROVED)
    project.make()
    ran = project.run()
    assert "`two` rests for" in ran.seen
    assert project.stands() == (Status.AGENT_REVIEW, None)
    assert project.run("--no-rest").code == 3
    assert project.stands() == TO_REVIEW


def test_an_agent_that_several_reviewers_share_rests_once(project: RunProject) -> None:
    limited = """echo '{"gitticks": "usage-limit", "retry_after": 3600, "message": "used up"}'; exit 75\n"""
    council(project, one=limited)
    text = (project.store.read("config.yaml") or b"").decode()
    text = text.replace("focus: 'the one'}", "focus: 'the one'}, {name: two, agent: one}")
    write_files(project.store, {"config.yaml": text.encode()})
    project.make()
    assert project.run().seen.count("warning: `one` rests") == 1


def test_a_long_answer_is_short_in_the_review_and_whole_in_its_file(project: RunProject) -> None:
    long = "i=0; while [ $i -lt 2000 ]; do echo line $i leaks; i=$((i+1)); done\n"
    once = 'if [ -e "$0.done" ]; then echo "VERDICT: APPROVED"; exit; fi; touch "$0.done"\n'
    council(project, one=f"{once}{long}{BLOCKING}")
    project.agent(f'cp "$GITTICKS_MAILBOX/prompt.md" "{project.path.parent}/last"\n{DONE}')
    project.make()
    assert project.run().code == 3
    found = rounds(project)
    assert "characters left out" in found["01-review.md"]
    assert len(found["01-review.md"]) < 8_000
    assert "line 1000 leaks" in found["01-review-one.md"]
    assert "> line 1000 leaks" in (project.path.parent / "last").read_text()
