"""A council's session: its reviewers in parallel, each in its own checkout, their answers, and the result."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitticks.agents.base import AgentReport, AgentSpec
from gitticks.agents.prices import with_cost
from gitticks.agents.process import AT_ONCE, GRACEFUL, StopRequest
from gitticks.agents.trouble import classify_limit
from gitticks.document.texts import encodable
from gitticks.document.verdict_line import has_verdict_line, last_verdict, review_outcome
from gitticks.errors import GitticksError
from gitticks.model.notes import ReviewOutcome
from gitticks.model.settings import CouncilSettings, Price
from gitticks.model.task import Ending, Task, Usage
from gitticks.runner.mailbox import Delivery
from gitticks.runner.outbox import Request, RequestKind
from gitticks.runner.places.permission_socket import HookAnswer, ToolCall
from gitticks.runner.places.place import Heard, Place, SessionOrder, SessionResult, Work
from gitticks.runner.reviewing import Reviewer
from gitticks.runner.run_record import write_json
from gitticks.runner.transcripts import COUNCIL_FOLDER
from gitticks.safe_read import read_json
from gitticks.workflow.council import VOICES, Answer, Tally, Voice, ending_of, judge_answer, tally

_LONGEST_ANSWER = 60_000
_COUNTED = {"usage": Usage()._asdict(), "cost": 0, "cached_tokens": 0, "is_estimate": False, "warnings": ()}
"""What is kept of an answer whose session took something that is counted."""


class _Seat:
    """One reviewer at work: what it says continues under its name, and of what it asks for only notes are taken."""

    def __init__(self, order: SessionOrder, heard: Heard, lock: threading.Lock) -> None:
        self.name = order.reviewer
        self.order = order
        self.stop = StopRequest()
        self._heard = heard
        self._lock = lock

    def begin(self) -> None:
        with self._lock:
            self._heard.begin()

    def end(self) -> None:
        """Only the end of all is the session's."""

    def say(self, text: str) -> None:
        self._heard.say(f"[{self.name}] {text}")

    def line(self, line: str) -> None:
        with self._lock:
            self._heard.line(f"[{self.name}] {line}")

    def warn(self, message: str) -> None:
        self._heard.warn(f"{self.name}: {message}")

    def name_session(self, session_id: str) -> None:
        """A reviewer never continues with an earlier session."""

    def wants_checks(self, _end: AgentReport | Request, _delivery: Delivery) -> bool:
        return False

    def request(self, request: Request, _work: Work) -> float | None:
        if request.kind not in (RequestKind.NOTE, RequestKind.COMPLETE):
            self.warn("in a council only a reviewer's verdict counts")
        return None

    def permit(self, agent: AgentSpec, call: ToolCall, workspace: Path) -> HookAnswer:
        return self._heard.permit(replace(agent, reviewer=self.name), call, workspace)

    def saw(self, agent: AgentSpec, call: ToolCall, workspace: Path) -> None:
        self._heard.saw(replace(agent, reviewer=self.name), call, workspace)

    def refuse(self, error: GitticksError) -> None:
        self.warn(error.message)


def hold_council(
    place: Place,
    orders: Sequence[SessionOrder],
    settings: CouncilSettings,
    kept: KeptAnswers,
    *,
    prices: Mapping[str, Price],
    person_follows: bool,
    stop: StopRequest,
    heard: Heard,
) -> tuple[SessionResult, tuple[tuple[str, AgentReport], ...]]:
    """Asks every reviewer, for as long as a council may take, and returns what they come to.

    That is a session's result whose delivery holds the review, and each agent's own report.
    `kept` are the answers that are there already, of a council that came to no end. `person_follows` says that a person
    looks at the work afterwards.
    """
    lock = threading.Lock()
    seats = [_Seat(order, heard, lock) for order in orders]
    is_late = threading.Event()

    def stop_all(letter: bytes = GRACEFUL) -> None:
        for seat in seats:
            seat.stop.request(at_once=letter == AT_ONCE)

    def give_up() -> None:
        is_late.set()
        stop_all()

    clock = threading.Timer(settings.timeout, give_up)
    with ThreadPoolExecutor(len(seats)) as pool, stop.listening(stop_all):
        clock.start()
        try:
            futures = [pool.submit(_ask, place, seat, kept, prices) for seat in seats]
            results = [future.result() for future in futures]
        finally:
            clock.cancel()
            stop_all()
    heard.end()
    reports = tuple(
        (seat.order.agent.name, result.report) for seat, result in zip(seats, results, strict=True)
    )
    # Who had answered before the stop has answered.
    if stop.is_requested and any(one.ending is Ending.STOPPED for _, one in reports):
        report = together([one for _, one in reports], Ending.STOPPED)
        return SessionResult(report, workspace=_begun(results).workspace), reports
    answers = [
        _answer(seat.name, one, is_late=is_late.is_set()) for seat, one in zip(seats, results, strict=True)
    ]
    counted = tally(answers, settings.rule, person_follows=person_follows)
    return _sum(results, answers, counted), reports


def _ask(place: Place, seat: _Seat, kept: KeptAnswers, prices: Mapping[str, Price]) -> SessionResult:
    """Returns the result of a reviewer's session with its cost, or the kept answer of an earlier one."""
    earlier, agent = kept.find(seat.name), seat.order.agent
    if earlier is not None:
        seat.say("has answered before")
        result = SessionResult(earlier, Work(Delivery(review=earlier.text), seat.order.plan.commit))
    else:
        result = place.hold(seat.order, seat.stop, seat)
        answer = _answer(seat.name, result, is_late=False)
        given = AgentReport(Ending.CLEAN, messages=(answer.text,))
        again = _answer(seat.name, SessionResult(given, Work(Delivery(review=answer.text))), is_late=False)
        # A text that was shortened may say otherwise, and then it is asked for again.
        if answer.voice in VOICES.values() and again.voice is answer.voice:
            kept.keep(seat.name, answer.text, answer.voice, result.report)
    return replace(result, report=with_cost(result.report, agent.kind, prices, model=agent.model))


def _said(result: SessionResult) -> tuple[str, ReviewOutcome]:
    """Returns what a reviewer answered and its verdict: that of its last line, or else of its `## Review`.

    A `## Review` that says FAIL blocks whatever the line says: of two words of one reviewer none is lost.
    """
    report, review = result.report, result.work.delivery.review
    last = (report.final_message or "").strip()
    # Of some agents every line is a message, so that a verdict alone says nothing of what led to it.
    is_whole = "\n" in last and last_verdict(last) is not ReviewOutcome.UNCLEAR
    text = last if is_whole else report.text
    outcome = last_verdict(text)
    if outcome is ReviewOutcome.UNCLEAR and review:
        judged = last_verdict(review)
        judged = review_outcome(review) if judged is ReviewOutcome.UNCLEAR else judged
        if judged is ReviewOutcome.FAIL or not has_verdict_line(text):
            text, outcome = review, judged
    elif review and outcome is ReviewOutcome.PASS and review_outcome(review) is ReviewOutcome.FAIL:
        outcome = ReviewOutcome.FAIL
        text = text if review in text else f"{review}\n\n{text}"
    return encodable(text[-_LONGEST_ANSWER:]), outcome


def _answer(name: str, result: SessionResult, *, is_late: bool) -> Answer:
    report, (text, outcome) = result.report, _said(result)
    limit = classify_limit(text)
    return judge_answer(
        name,
        text,
        outcome,
        report.ending,
        encodable(report.detail),
        limit=limit.detail if limit else None,
        is_late=is_late,
    )


def _sum(results: Sequence[SessionResult], answers: Sequence[Answer], counted: Tally) -> SessionResult:
    """Returns the one result of all: without a decision none of them did its work, and that is how it ended."""
    reports = [one.report for one in results]
    ending = ending_of(counted, [one.ending for one in reports])
    spoke = ending is Ending.CLEAN
    works = [one.work for one in results]
    begun = _begun(results)
    delivery = replace(
        begun.work.delivery,
        review=counted.review if spoke else None,
        answers={one.name: one.text for one in answers if one.text.strip()},
        undecided=counted.undecided,
        notes=tuple(note for work in works for note in work.delivery.notes),
        questions=tuple(one for work in works for one in work.delivery.questions),
        learnings="\n".join(filter(None, (work.delivery.learnings.strip() for work in works))),
        warnings=tuple(one for work in works for one in work.delivery.warnings),
    )
    report = together(reports, ending)
    report = replace(
        report, detail="" if spoke else counted.abstained, warnings=(*counted.warnings, *report.warnings)
    )
    warnings = tuple(dict.fromkeys(one for work in works for one in work.warnings))
    return SessionResult(report, Work(delivery, begun.work.head, None, warnings), begun.workspace)


def _begun(results: Sequence[SessionResult]) -> SessionResult:
    """Returns one that got a checkout, since others do not know what it was given."""
    return next((one for one in results if one.workspace is not None), results[0])


def together(reports: Sequence[AgentReport], ending: Ending) -> AgentReport:
    """Returns one report of what all of them took."""
    usage = Usage(
        tokens_in=sum(one.usage.tokens_in for one in reports),
        tokens_out=sum(one.usage.tokens_out for one in reports),
        cost=sum(one.spent.cost for one in reports),
        seconds=max((one.usage.seconds for one in reports), default=0.0),
    )
    resets = [one.resets_at for one in reports if one.resets_at is not None]
    return AgentReport(
        ending,
        usage=usage,
        # The others' counts, as `usage` has it, also where one has no price.
        cost=None if any(one.is_unpriced for one in reports) else usage.cost,
        cost_source=next((one.cost_source for one in reports if one.cost_source), None),
        denied=tuple(what for one in reports for what in one.denied),
        is_estimate=any(one.is_estimate for one in reports),
        warnings=tuple(warning for one in reports for warning in one.warnings),
        resets_at=min(resets, default=None),
    )


class KeptAnswers:
    """A council's answers, kept in the clone until all are there, so that a killed run does not ask again.

    They are about one round of a task and one state of its work, `end_sha`, and each is its reviewer's, with the agent
    and the focus that it had; those about another one count no more.
    """

    def __init__(self, own_dir: Path, task: Task, reviewers: Sequence[Reviewer]) -> None:
        self._folder = own_dir / COUNCIL_FOLDER / task.id
        self._about = {"round": task.review_round, "end_sha": task.end_sha}
        self._asked = {one.name: [one.agent.name, one.agent.model, one.focus] for one in reviewers}

    def outdated(self) -> list[str]:
        """Returns of each answer about this work that counts no more why that is, in words."""
        found = []
        for path in sorted(self._folder.glob("*.json")):
            name = path.stem
            body: dict[str, Any] = read_json(path, dict, {})
            if not self._is_about_this(body) or body.get("asked") == self._asked.get(name):
                continue
            why = "its agent or focus has changed, so it is asked again"
            why = why if name in self._asked else "it is a reviewer no more"
            found.append(f"`{name}` had answered {body.get('verdict')}, which does not count: {why}")
        return found

    def _is_about_this(self, body: dict[str, Any]) -> bool:
        return self._about.items() <= body.items()

    def find(self, reviewer: str) -> AgentReport | None:
        """Returns the kept result of a reviewer's session; None if there is none or it cannot be read."""

        def make(body: Any) -> AgentReport | None:
            if not self._is_about_this(body) or body["asked"] != self._asked.get(reviewer):
                return None
            return AgentReport(
                Ending.CLEAN,
                messages=(str(body["text"]),),
                usage=Usage(**body["usage"]),
                cost=None if body["cost"] is None else float(body["cost"]),
                cached_tokens=int(body["cached_tokens"]),
                model=body["model"],
                is_estimate=bool(body["is_estimate"]),
                warnings=tuple(map(str, body["warnings"])),
            )

        return read_json(self._folder / f"{reviewer}.json", make, None)

    def keep(self, reviewer: str, text: str, voice: Voice, report: AgentReport) -> None:
        """Keeps an answer with what it took; where nothing can be written it is asked for again."""
        body = {
            **self._about,
            "asked": self._asked.get(reviewer),
            "verdict": voice,
            "text": text,
            "usage": report.usage._asdict(),
            "cost": report.cost,
            "cached_tokens": report.cached_tokens,
            "model": report.model,
            "is_estimate": report.is_estimate,
            "warnings": report.warnings,
        }
        with contextlib.suppress(OSError):
            write_json(self._folder / f"{reviewer}.json", body)

    def note_counted(self) -> None:
        """Notes that what the answers took is counted, so that the council that uses them adds nothing."""
        for path in self._folder.glob("*.json"):
            body: dict[str, Any] = read_json(path, dict, {})
            with contextlib.suppress(OSError):
                write_json(path, {**body, **_COUNTED})

    def forget(self) -> None:
        """Drops the answers, since the council has come to its end."""
        shutil.rmtree(self._folder, ignore_errors=True)
