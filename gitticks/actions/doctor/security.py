"""Checks what agents may have left or bypassed: the repository's folder, the audit chains, secrets."""

from __future__ import annotations

from collections.abc import Iterator

from gitticks.actions.audit import verify_audit
from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Severity
from gitticks.actions.edit_checks import refuse_secrets
from gitticks.errors import DocumentError
from gitticks.store.layout import CONFIG_PATH, PROMPTS_FOLDER
from gitticks.store.left_behind import left_behind


def check_left_behind(context: Context) -> Iterator[Finding]:
    """Yields what of hooks, settings and attributes changed during agents' sessions, and nobody agreed to."""
    for one in left_behind(context.repository):
        yield Finding(
            Severity.WARNING,
            f"{one.words}, and nothing is run or merged meanwhile",
            "`gt trust` shows it, and asks",
        )


def check_audit(context: Context) -> Iterator[Finding]:
    """Yields the lines of the audit that were changed, or are gone."""
    for problem in verify_audit(context).problems:
        yield Finding(Severity.ERROR, problem, "`gt log` shows which commits touched it")


def check_secrets(context: Context) -> Iterator[Finding]:
    """Yields the settings and templates of the team that hold a secret."""
    store = context.store
    parts = f"{PROMPTS_FOLDER}/parts"
    folders = [
        f"{folder}/{name}" for folder in (PROMPTS_FOLDER, parts) for name in sorted(store.list(folder))
    ]
    for path in (CONFIG_PATH, *folders):
        try:
            refuse_secrets(context, store.read(path) or b"", path)
        except DocumentError as error:
            yield Finding(Severity.WARNING, error.message, error.hint)
