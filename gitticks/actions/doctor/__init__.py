"""Looks for what is broken, says how to mend it, and mends what can be mended safely."""

from gitticks.actions.doctor.diagnosis import diagnose, mend
from gitticks.actions.doctor.finding import Finding, Repair, Severity

__all__ = ["Finding", "Repair", "Severity", "diagnose", "mend"]
