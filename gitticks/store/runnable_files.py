"""Tells at a glance which files of the state branch could hold what runs: every change is asked for it."""

from __future__ import annotations

from gitticks.store.layout import CONFIG_PATH, PROMPTS_FOLDER, task_of_path

_SCRIPT = b"script"
_BEFORE_A_HEADING = b" \t#*_"


def may_run(path: str, content: bytes | None) -> bool:
    """True if a file could hold what runs; without parsing, and never false where it does."""
    if content is None:
        return False
    if path == CONFIG_PATH or path.startswith(f"{PROMPTS_FOLDER}/"):
        return True
    return task_of_path(path) is not None and _has_script_on_a_line(content.lower())


def _has_script_on_a_line(content: bytes) -> bool:
    """True if a line begins with the word, after signs at most: the headings of scripts are among these lines."""
    at = content.find(_SCRIPT)
    while at != -1:
        before = content[content.rfind(b"\n", 0, at) + 1 : at]
        if not before.strip(_BEFORE_A_HEADING):
            return True
        at = content.find(_SCRIPT, at + 1)
    return False
