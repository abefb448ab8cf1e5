"""Task ids: alphabet, length, and the path of a task on the branch."""

from __future__ import annotations

from collections.abc import Callable
from typing import NewType

TaskId = NewType("TaskId", str)

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 in lower case: no i, l, o or u, which are misread or spell words."""

LETTERS = ALPHABET[10:]
SHORTEST = 4
BOARD_FOLDER = ".gitticks"
"""Where people find the branch: the folder of the board, from the repository's root."""
WORK_BRANCH = "gitticks/work/"
"""What the names of branches of work begin with; the rest is the id of their task or epic."""

LONGEST = 64
_STEPS_BEHIND = 64
"""An id behind another one is at most this part of all ids away, so that a second's tasks have room in a row."""
_PARTS_OF_ROOM = 8
"""What is left behind an id is not taken up by the next few."""
_TRIES_BEHIND = 8
_TO_BASE_32 = str.maketrans(ALPHABET, "0123456789abcdefghijklmnopqrstuv")
"""To the digits of `int(text, 32)`."""
LETTERS_AND_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def is_valid_id(text: str) -> bool:
    """True for `[0-9a-z][0-9a-z-]{0,63}`; the only test that is before a name becomes a path."""
    return (
        0 < len(text) <= LONGEST
        and text[0] in LETTERS_AND_DIGITS
        and not text.strip(LETTERS_AND_DIGITS + "-")  # nothing is left only where every sign is one of these
    )


def id_length(count: int) -> int:
    """Returns max(4, ⌈log₃₂(100·n²)⌉): at that length a new id meets an old one in under one of a hundred tries."""
    length = SHORTEST
    while 32**length < 100 * count * count:
        length += 1
    return length


def new_id(
    is_taken: Callable[[TaskId], bool],
    count: int,
    random_number: Callable[[int], int],
    after: TaskId | None = None,
) -> TaskId:
    """Returns an id that is not taken; it begins with a letter, so no tool reads it as a number.

    It sorts behind `after` while there is room: tasks that were made in one second are worked on in the order of ids.
    """
    length = id_length(count + 1)
    if after is not None and len(after) == length and after[0] in LETTERS and not after.strip(ALPHABET):
        number = int(after.translate(_TO_BASE_32), 32)
        room = 32**length - 1 - number
        step = max(1, min(32**length // _STEPS_BEHIND, room // _PARTS_OF_ROOM))
        for _ in range(_TRIES_BEHIND):
            candidate = _spelled(number + 1 + random_number(step), length)
            if len(candidate) == length and not is_taken(candidate):
                return candidate
    while True:
        tail = "".join(ALPHABET[random_number(32)] for _ in range(length - 1))
        candidate = TaskId(LETTERS[random_number(len(LETTERS))] + tail)
        if not is_taken(candidate):
            return candidate


def _spelled(number: int, length: int) -> TaskId:
    signs = ""
    while number or len(signs) < length:
        number, digit = divmod(number, 32)
        signs = ALPHABET[digit] + signs
    return TaskId(signs)


def shard(task_id: TaskId) -> str:
    """Returns the folder between `tasks/` and the task: the id's last two alphanumerics, padded with 0."""
    last = task_id[-2:]
    if "-" not in last and len(last) == len("00"):
        return last
    return task_id.replace("-", "")[-2:].rjust(2, "0")


def sharing_epic(task_id: str, branch: str | None) -> TaskId | None:
    """Returns the epic whose branch of work a task shares, and with which it is merged; None if the branch is its own."""
    if branch is None or not branch.startswith(WORK_BRANCH) or branch == WORK_BRANCH + task_id:
        return None
    return TaskId(branch.removeprefix(WORK_BRANCH))


def task_folder(task_id: TaskId) -> str:
    """Returns the task's folder on the state branch, such as `tasks/f2/k7f2`."""
    return f"tasks/{shard(task_id)}/{task_id}"


def task_path(task_id: TaskId) -> str:
    """Returns the path of the task's TASK.md on the state branch."""
    return f"tasks/{shard(task_id)}/{task_id}/TASK.md"
