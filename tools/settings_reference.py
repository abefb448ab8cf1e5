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

Team settings are in `config.yaml` on the state branch.
Without that file the defaults apply.
`gt config` lists all settings with their values and where each comes from.
`gt config KEY VALUE` sets one for the team, and `gt config KEY --unset` removes it.
`gt config KEY --explain` prints what this page says.

There are four layers, and the later one wins:

1. `config.yaml`
2. `git config gitticks.KEY` for one clone or one person; git allows no `_` there, so `review_limit` is `gitticks.review-limit`
3. the environment: `GITTICKS_CONFIG_` and the key in capitals with `_` for `.`, as in `GITTICKS_CONFIG_VERIFY_TEST`
4. flags of the command

For settings marked *merged by rule*, a later layer cannot loosen what an earlier one demands: the stricter value wins, and `gt config` says which layer it comes from.
If a colleague's change loosens such a setting, or one marked *asked about*, your clone [asks you](../explanation/security.md#what-is-guaranteed) before a run starts with it there. It also asks about what runs something: `agents`, the commands of `verify`, `setup.run`, `notify` and what reviewers are told. A first `base` is not asked about, only another one.
An unknown key or a wrong value is an error that names the file, the line and the column.
A run that is active takes up `agents`, `budget`, `iterations` and `limits` from a changed `config.yaml` before it starts the next session. Most others hold from the next run on; [permissions](../how-to/say-what-agents-may-do.md#the-mode) and approvals count at once. The run names the settings that changed. What came from elsewhere and has to be [trusted](../explanation/security.md) first is left out until somebody types `gt trust`, and the run says so once. While `config.yaml` cannot be read, a run that is active keeps the settings it has and warns of it once, and `gt status` says so.
Durations are written as `90s`, `30m`, `2h`, `14d` or seconds; sizes as `200kB`, `64MB` or bytes.
`*` stands for a name that you choose.

`git config` also holds what is not a setting, but yours alone: [aliases](commands.md) under `gitticks.alias.*`, and [the look of the interface](../how-to/a-day-in-the-interface.md#make-it-yours) under `gitticks.ui.*`.
"""
NOTES = {
    "sync.auto": "`push` after a command that changed tasks, `both` also after one that reads the branch, such as `gt status`; a run shares while it is active, and with `both` it asks the remote before it starts and every `--poll`",
}


def row_of(setting: Setting) -> str:
    """Returns a setting's line of the table."""
    notes = [setting.explanation]
    if setting.name in NOTES:
        notes.append(NOTES[setting.name])
    if setting.combine is not None:
        notes.append("*merged by rule*")
    if setting.asks is not None:
        notes.append("*asked about*")
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
