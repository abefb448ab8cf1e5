"""Looks for what is broken, says how to fix it, and fixes what can be fixed safely."""

from gitticks.actions.doctor.diagnosis import diagnose, diagnose_range, repair_findings
from gitticks.actions.doctor.finding import Finding, Repair, Report, Severity, Topic

__all__ = [
    "Finding",
    "Repair",
    "Report",
    "Severity",
    "Topic",
    "diagnose",
    "diagnose_range",
    "repair_findings",
]
