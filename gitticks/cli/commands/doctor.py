"""`gt doctor`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.doctor import Finding, Repair, Report, Severity, Topic
from gitticks.actions.doctor.diagnosis import diagnose, diagnose_range, repair_findings
from gitticks.cli.json import print_answer
from gitticks.cli.options import command
from gitticks.cli.render import Screen, Style, count_of, screen
from gitticks.cli.text import from_here, visible
from gitticks.errors import Exit, UsageError

_STYLES = {Severity.ERROR: Style.BAD, Severity.WARNING: Style.WAITS, Severity.NOTE: Style.FAINT}
_WIDTH = len(Severity.WARNING)
_NAME_WIDTH = max(len(topic) for topic in Topic)
_LOOKED_AT = {
    Topic.MACHINE: "git, the shell's `gt`, your identity, room on the disk, locks of the file system",
    Topic.REPOSITORY: "its kind, damage to the state branch, whether that was rewound, loose objects",
    Topic.LOCKS: "those held for long, and those left behind",
    Topic.SETTINGS: "every layer, agents, templates, a trial of the sandbox",
    Topic.BOARD: "its branch, its files, its hooks",
    Topic.INDEX: "damage, who may write it",
    Topic.FILES: "every task's file and history, what merges kept",
    Topic.TASKS: "links between tasks, impossible states",
    Topic.HISTORY: "who did what, commit by commit; the clock",
    Topic.WORKSPACES: "folders, tasks and branches that belong to nothing any more",
    Topic.SESSIONS: "agents that died",
}


@command("doctor", "gt doctor", "gt doctor --fix", "gt doctor --range origin/gitticks/state..gitticks/state")
@click.option("--fix", is_flag=True, help="Fix what can be fixed without losing anything.")
@click.option(
    "--full",
    is_flag=True,
    help="Read every object of the state branch completely and rebuild the index (slower).",
)
@click.option(
    "--range",
    "words",
    metavar="A..B",
    help="Only check these commits of a state branch for illegal changes.",
)
@click.option("-v", "--verbose", is_flag=True, help="List every check that ran.")
def doctor_command(context: Context, *, fix: bool, full: bool, words: str | None, verbose: bool) -> int:
    """Find problems, and say how to fix them.

    The exit code is 1 if an error was found, 0 if there are only warnings and notes.
    """
    if words is not None and (fix or full):
        raise UsageError("`--range` only checks commits", hint="leave out `--fix` and `--full`")
    if fix:
        context.require_person("repair", "`gt doctor` shows what is wrong; `gt ask` asks a person")
    report = diagnose(context, full=full) if words is None else diagnose_range(context, words)
    fixed: list[Repair] = []
    if fix:
        fixed = repair_findings(context, report.findings)
        report = diagnose(context, full=full) if fixed else report
    lines = [f"fixed: {repair.value}" for repair in fixed]
    lines += [*_lines(screen(), report, verbose=verbose), _last_line(report, may_fix=not fix)]
    print_answer(context, lines, findings=report.findings, fixed=fixed, looked_at=report.looked_at)
    return Exit.FAILED if report.count(Severity.ERROR) else Exit.DONE


def _lines(on: Screen, report: Report, *, verbose: bool) -> list[str]:
    """Returns the findings under the headings of their topics, each group followed by an empty line."""
    lines: list[str] = []
    topics = dict.fromkeys([*report.looked_at, *(one.topic for one in report.findings)])
    for topic in (one for one in Topic if one in topics):
        found = [one for one in report.findings if one.topic is topic]
        if found or verbose:
            lines.append(_heading(on, topic, is_well=not found, verbose=verbose))
            lines += [line for finding in found for line in _finding(on, finding)]
        if found:
            lines.append("")
    return lines if not lines or not lines[-1] else [*lines, ""]


def _heading(on: Screen, topic: Topic, *, is_well: bool, verbose: bool) -> str:
    if not verbose:
        return on.styled(topic.value, Style.STRONG)
    name = on.styled(topic.value, Style.STRONG) + " " * (_NAME_WIDTH - len(topic.value))
    return f"{name}  {'ok' if is_well else '  '}  {on.styled(_LOOKED_AT[topic], Style.FAINT)}"


def _finding(on: Screen, finding: Finding) -> list[str]:
    word = finding.severity.value.ljust(_WIDTH)
    lines = [f"  {on.styled(word, _STYLES[finding.severity])}  {visible(finding.what)}"]
    if finding.fix:
        lines.append(f"  {' ' * _WIDTH}  {visible(from_here(finding.fix))}")
    return lines


def _last_line(report: Report, *, may_fix: bool) -> str:
    """Returns one line that says no problems found, or how many of each there are and what fixes itself."""
    bad = [(severity, report.count(severity)) for severity in (Severity.ERROR, Severity.WARNING)]
    counts = [count_of(count, severity.value) for severity, count in bad if count] or ["no problems found"]
    notes = report.count(Severity.NOTE)
    if notes:
        counts.append(count_of(notes, Severity.NOTE.value))
    fixable = sum(finding.repair is not None for finding in report.findings)
    if not (fixable and may_fix):
        return ", ".join(counts)
    found = sum(count for _, count in bad) + notes
    which = f"{fixable} of them" if fixable < found else "it" if fixable == 1 else "them"
    return f"{', '.join(counts)}; `gt doctor --fix` fixes {which}"
