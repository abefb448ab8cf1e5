"""What a person should mend in the text of tasks: a section that stands there twice, of which only the last counts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Severity
from gitticks.document.sections import read_body
from gitticks.document.texts import Source
from gitticks.model.ids import BOARD_FOLDER, task_path
from gitticks.model.words import SECTIONS
from gitticks.store.index import open_index

_NAMES = "|".join(name.replace(" ", r"[ \t]+") for name in SECTIONS)
_NAMED = re.compile(rf"^[ \t#]*({_NAMES})[ \t#\r]*$".encode(), re.IGNORECASE | re.MULTILINE)
"""Lines that may be the heading of a section, in code and quotes too; headings themselves take longer to find."""


def check_texts(context: Context) -> Iterator[Finding]:
    """Yields the open tasks in which a section stands twice: what is in the first one reaches nobody.

    A conflict, which keeps both sides' section, is another check's.
    """
    with open_index(context.repository) as index:
        doubtful = [task_id for task_id, data, _ in index.texts(open_only=True) if _names_one_twice(data)]
        conflicts = index.conflicts()
        bodies = [(task_id, *index.body(task_id)) for task_id in doubtful if task_id not in conflicts]
    for task_id, text, first_line in bodies:
        body = read_body(Source(text, f"{BOARD_FOLDER}/{task_path(task_id)}", first_line))
        for warning in body.warnings:
            yield Finding(Severity.WARNING, warning, f"`gt edit {task_id}` opens it", task=task_id)


def _names_one_twice(data: bytes) -> bool:
    names = [b" ".join(name.lower().split()) for name in _NAMED.findall(data)]
    return len(names) > len(set(names))
