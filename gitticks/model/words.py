"""The words of statuses, phases and sections as plain text, for whoever answers before `enum` is loaded.

`Status`, `Phase` and `Section` are made of them, and equal them.
"""

from __future__ import annotations

PENDING = "pending"
CLARIFICATION = "clarification"
WORKING = "working"
AGENT_REVIEW = "agent-review"
REVIEWING = "reviewing"
STUCK = "stuck"
DONE = "done"
CANCELLED = "cancelled"
STATUSES = frozenset({PENDING, CLARIFICATION, WORKING, AGENT_REVIEW, REVIEWING, STUCK, DONE, CANCELLED})

OPEN = "open"
IN_PROGRESS = "in_progress"
IN_REVIEW = "in_review"
CLOSED = "closed"
PHASES = {
    PENDING: OPEN,
    CLARIFICATION: IN_PROGRESS,
    WORKING: IN_PROGRESS,
    STUCK: IN_PROGRESS,
    AGENT_REVIEW: IN_REVIEW,
    REVIEWING: IN_REVIEW,
    DONE: CLOSED,
    CANCELLED: CLOSED,
}
"""The phase of each status, in the order of the phases."""
STATUS_MEANINGS = {
    PENDING: "nobody has begun",
    CLARIFICATION: "an agent asked, a person answers",
    WORKING: "a worker is at it, or will be again",
    AGENT_REVIEW: "handed off; a reviewer looks at it",
    REVIEWING: "reviewed; a person decides, or the merge is pending",
    STUCK: "no agent gets on with it; a person decides",
    DONE: "closed, and merged where there was code",
    CANCELLED: "given up",
}
"""What each status means, in the order along the way."""

AWAITING_MEANINGS = {
    "work": "a person does the work, or a part of it",
    "approval": "the work needs somebody's consent",
    "input": "a question needs an answer",
    "review": "the code needs a look",
    "content": "texts or designs need a look",
    "escalation": "something is wrong that an agent cannot settle",
    "checkpoint": "a phase is finished, and the next may need direction",
}
"""Why it is a person's turn, by the word for it."""
ANSWERED = frozenset({"input", "escalation", "checkpoint"})
"""What ends with an answer; the rest ends with work that is done, or with a verdict on it."""

CONTEXT = "Context"
ACCEPTANCE = "Acceptance Criteria"
SCRIPT = "Script"
QUESTIONS = "Questions"
HANDOFF = "Handoff"
REVIEW = "Review"
NOTES = "Notes"
SECTIONS = (CONTEXT, ACCEPTANCE, SCRIPT, QUESTIONS, HANDOFF, REVIEW, NOTES)
