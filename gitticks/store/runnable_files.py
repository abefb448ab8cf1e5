"""Tells at a glance which files of the state branch could hold what runs: every change is asked for it."""

from __future__ import annotations

from gitticks.document.scripts import may_hold_script
from gitticks.store.layout import CONFIG_PATH, PROMPTS_FOLDER, task_of_path


def may_run(path: str, content: bytes | None) -> bool:
    """True if a file could hold what runs; without parsing, and never false where it does."""
    if content is None:
        return False
    if path == CONFIG_PATH or path.startswith(f"{PROMPTS_FOLDER}/"):
        return True
    return task_of_path(path) is not None and may_hold_script(content)
