"""The settings' page, made from the table that reads them, so that it cannot name one that is not there.

`python -m tools.settings_reference` fails if the page is stale; `--write` renews it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from gitticks.document.settings_table import ANY, SETTINGS, Setting
from gitticks.model.settings import Settings
from tools.page import check_or_write

PAGE = Path("docs/reference/settings.md")
GENERAL = "General"
OPENING = """\
# Settings

<!-- written by `make docs` from the table that reads the settings; edit gitticks/document/settings_table.py -->

Team settings stand in `config.yaml` on the state branch.
With no file every default holds.
`gt config` lists all settings with their values and where each comes from.
`gt config KEY VALUE` sets one for the team, and `gt config KEY --unset` removes it.
`gt config KEY --explain` says what this page says.

Four layers are put over one another, and the later one wins:

1. `config.yaml`
2. `git config gitticks.KEY` for one clone or one person; git allows no `_` there, so `review_limit` is `gitticks.review-limit`
3. the environment: `GITTICKS_CONFIG_` and the key in capitals with `_` for `.`, as in `GITTICKS_CONFIG_VERIFY_TEST`
4. flags of the command

Where the table says *merged by rule*, a later layer cannot loosen what an earlier one demands: the stricter value holds, and `gt config` says which layer it comes from.
An unknown key or a wrong value is an error that names the file, the line and the column.
Times are written as `90s`, `30m`, `2h`, `14d` or seconds; sizes as `200kB`, `64MB` or bytes.
`*` stands for a name that you choose.

**Not in effect** marks what this release reads and checks, but does not act on yet.
"""
NOT_IN_EFFECT = (
    "agents.*.fallback",
    "approvals.allowed_signers",
    "budget.epic.",
    "budget.run.duration",
    "budget.run.iterations",
    "budget.run.tokens",
    "budget.task.",
    "checkpoint_every",
    "claims.",
    "council.rule",
    "council.timeout",
    "keep.",
    "merge.push",
    "permissions.allow",
    "permissions.default",
    "permissions.deny",
    "permissions.timeout",
    "prices.",
    "sandbox.allowed_hosts",
    "sandbox.allowed_paths",
    "sandbox.denied_hosts",
    "sandbox.denied_paths",
    "sandbox.max_process_time",
    "workspace.update",
)
"""Names, or their beginnings up to a dot, of settings that nothing reads yet."""
NOTES = {
    "approvals.minimum": "this release can give L0 only, so any other value lets nobody approve",
    "review": "`council` is not in effect: it runs one reviewer, as `agent` does",
    "reviewers": "only the first one is asked, and its focus is not in effect",
    "sync.auto": "`push` after a command that changed tasks, `both` also after one that looks at the branch itself, such as `gt status`; a run shares while it goes on, and with `both` it asks the remote before it begins and every `--poll`",
    "sandbox.preset": "`permissive` builds no walls in this release, and `strict` is refused",
}


def is_in_effect(setting: Setting) -> bool:
    """True if this release acts on the setting."""
    return not any(
        setting.name.startswith(name) if name.endswith(".") else setting.name == name
        for name in NOT_IN_EFFECT
    )


def row_of(setting: Setting) -> str:
    """Returns a setting's line of the table."""
    notes = [setting.explanation]
    if setting.combine is not None:
        notes.append("*merged by rule*")
    if setting.name in NOTES:
        notes.append(NOTES[setting.name])
    if not is_in_effect(setting):
        notes.append("**not in effect**")
    wanted = f"{setting.kind.wanted}{' or null' if setting.kind.is_nullable else ''}"
    return f"| `{setting.name}` | {wanted} | {_default(setting)} | {'; '.join(notes)} |\n"


def _default(setting: Setting) -> str:
    if ANY in setting.keys:
        return ""
    value: object = Settings()
    for key in setting.keys:
        value = getattr(value, key)
    return "`null`" if value is None else f"`{setting.kind.show(value)}`"


def page_of(settings: Iterable[Setting]) -> str:
    """Returns the whole page, with a heading for each group."""
    parts = [OPENING]
    groups: dict[str, list[Setting]] = {GENERAL: []}
    for setting in settings:
        groups.setdefault(setting.keys[0] if len(setting.keys) > 1 else GENERAL, []).append(setting)
    for group, members in groups.items():
        parts.append(f"\n## {group}\n\n| setting | holds | default | what for |\n|---|---|---|---|\n")
        parts.extend(map(row_of, members))
    return "".join(parts)


def main(arguments: list[str]) -> int:
    """Compares the page with the settings' table, or writes it; returns the exit code."""
    return check_or_write(
        arguments, "tools.settings_reference", PAGE, lambda _present: page_of(SETTINGS), "the settings"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
