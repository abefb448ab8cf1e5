from __future__ import annotations

from gitticks.model.settings import HumanPolicy, MergeMode, OnConflict, Policy, ReviewPolicy, Settings
from gitticks.model.status import Isolation


def test_the_policy_without_settings_is_that_of_the_default_settings() -> None:
    policy, settings = Policy(), Settings()
    assert policy == Policy(
        review=settings.review,
        human=settings.human,
        isolation=settings.isolation,
        merge_mode=settings.merge.mode,
        on_conflict=settings.merge.on_conflict,
        review_limit=settings.review_limit,
        council_rounds=settings.council.rounds,
        iterations=settings.iterations,
    )
    assert policy.review_waiver is None


def test_without_settings_an_agent_reviews_and_a_person_is_always_asked() -> None:
    assert Policy() == Policy(
        ReviewPolicy.AGENT,
        HumanPolicy.ALWAYS,
        Isolation.TASK,
        MergeMode.QUEUE,
        OnConflict.RETURN,
        review_limit=2,
        council_rounds=3,
        iterations=10,
    )
