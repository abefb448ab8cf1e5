"""Looks through the history of the state branch for what nobody was allowed to do."""

from gitticks.actions.doctor.trail.checks import check_history, check_range

__all__ = ["check_history", "check_range"]
