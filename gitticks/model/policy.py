"""The part of the settings that decisions depend on, resolved for one task."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gitticks.model.status import Isolation


class ReviewPolicy(StrEnum):
    """Who reviews work before a person sees it."""

    NONE = "none"
    AGENT = "agent"
    COUNCIL = "council"


class HumanPolicy(StrEnum):
    """Whether a person is always asked, or only where the task or a signal asks for one."""

    ALWAYS = "always"
    WHEN_REQUIRED = "when-required"


class MergeMode(StrEnum):
    """Whether gitticks merges approved work or leaves that to a person."""

    QUEUE = "queue"
    MANUAL = "manual"


class OnConflict(StrEnum):
    """What a merge conflict does to the task."""

    RETURN = "return"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class Policy:
    """What `decide` needs to know of the settings.

    `review_waiver` says why an agent's review is waived for this task although policy asks for one.
    `minimum_approval` is the weakest strength that closes work, from L0 (git's name alone) to L3 (a hardware key);
    with `four_eyes` nobody closes what they created.
    """

    review: ReviewPolicy = ReviewPolicy.AGENT
    human: HumanPolicy = HumanPolicy.ALWAYS
    isolation: Isolation = Isolation.TASK
    merge_mode: MergeMode = MergeMode.QUEUE
    on_conflict: OnConflict = OnConflict.RETURN
    review_limit: int = 2
    council_rounds: int = 3
    iterations: int = 10
    review_waiver: str | None = None
    minimum_approval: str = "L0"
    four_eyes: bool = False
