"""The tests here run agents."""

from __future__ import annotations

from tests.support.runs import project

__all__ = ["project"]
