"""Looks for what is broken, says how to mend it, and mends what can be mended safely."""

from gitticks.actions.doctor.diagnosis import diagnose, diagnose_range, mend
from gitticks.actions.doctor.finding import Finding, Repair, Report, Severity, Topic

__all__ = ["Finding", "Repair", "Report", "Severity", "Topic", "diagnose", "diagnose_range", "mend"]
