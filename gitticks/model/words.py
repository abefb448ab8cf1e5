"""The words of statuses and sections as plain text, for whoever answers before `enum` is loaded.

`Status` and `Section` are made of them, and equal them.
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

CONTEXT = "Context"
ACCEPTANCE = "Acceptance Criteria"
SCRIPT = "Script"
QUESTIONS = "Questions"
HANDOFF = "Handoff"
REVIEW = "Review"
NOTES = "Notes"
SECTIONS = (CONTEXT, ACCEPTANCE, SCRIPT, QUESTIONS, HANDOFF, REVIEW, NOTES)
