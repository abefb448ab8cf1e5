"""`gt doctor`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.doctor import Finding, Severity, diagnose, mend
from gitticks.cli.json_output import print_object
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.render import Screen, Style, count_of, say, screen
from gitticks.cli.text import visible
from gitticks.errors import Exit

_STYLES = {Severity.ERROR: Style.BAD, Severity.WARNING: Style.WAITS, Severity.NOTE: Style.FAINT}
_WIDTH = len(Severity.WARNING)


@click.command("doctor", cls=Command, examples=("gt doctor", "gt doctor --fix"))
@click.option("--fix", is_flag=True, help="Mend what can be mended without taking anything from anybody.")
@json_option
@pass_context
def command(context: Context, fix: bool, as_json: bool) -> int:
    """Look for what is broken, and say how to mend it.

    The exit code is 1 if an error was found, 0 if there are only warnings and notes.
    """
    found = diagnose(context)
    mended = mend(context, found) if fix else []
    left = diagnose(context) if mended else found
    if as_json:
        print_object(findings=left, mended=mended)
    else:
        for repair in mended:
            say(f"mended: {repair.value}")
        for finding in left:
            say(*_lines(screen(), finding))
        if not left:
            say("all is well")
        elif not fix and any(finding.repair for finding in left):
            say(
                f"{count_of(sum(one.repair is not None for one in left), 'finding')} can be mended by `gt doctor --fix`",
                err=True,
            )
    return Exit.FAILED if any(one.severity is Severity.ERROR for one in left) else Exit.DONE


def _lines(on: Screen, finding: Finding) -> list[str]:
    word = finding.severity.value.ljust(_WIDTH)
    lines = [f"{on.styled(word, _STYLES[finding.severity])}  {visible(finding.what)}"]
    if finding.mend:
        lines.append(f"{' ' * _WIDTH}  {visible(finding.mend)}")
    return lines
