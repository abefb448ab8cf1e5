"""The state branch: its tip, the paths on it, and the files that every state branch has.

| path | purpose | if missing |
|---|---|---|
| `.gitattributes` | lets plain git merge tasks by our driver and JSON lines by union | plain text merges |
| `config.yaml` | the team's settings, after the number of the format | every default |
| `prompts/` | templates that replace ours | ours |
| `tasks/<xx>/<id>/TASK.md` | the task | no such task |
| `…/history.jsonl` | its events, appended | none yet |
| `…/worklog.md` | an entry for each iteration | none yet |
| `…/rounds/NN-….md` | hand-offs and reviews of earlier rounds | none yet |
| `…/audit.jsonl` | permission decisions | none yet |
| `…/scratchpad.md` | learnings carried between iterations | none yet |
| `…/checkpoints/NNNN.json` | states that `gt resume` can go back to | none yet |
| `…/` and any other name | what people put beside the task | none |
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from gitticks.errors import DocumentError, GitticksError, NotFoundError
from gitticks.git.refs import is_object_id, logged, read_ref, way_back
from gitticks.model.ids import TaskId, is_valid_id, shard, task_folder
from gitticks.safe_read import read_json

if TYPE_CHECKING:
    from gitticks.document.taskfile import TaskFile
    from gitticks.git.repository import Repository
    from gitticks.model.event import Event


STATE_BRANCH = "gitticks/state"
STATE_REF = f"refs/heads/{STATE_BRANCH}"

FORMAT = 1
"""The number that `config.yaml` begins with; a state branch of a newer format is only read."""

ATTRIBUTES_PATH = ".gitattributes"
CONFIG_PATH = "config.yaml"
PROMPTS_FOLDER = "prompts"
TASKS_FOLDER = "tasks"
TASK_FILE = "TASK.md"
HISTORY_FILE = "history.jsonl"
AUDIT_FILE = "audit.jsonl"
WORKLOG_FILE = "worklog.md"
SCRATCHPAD_FILE = "scratchpad.md"
ROUNDS_FOLDER = "rounds"
CHECKPOINTS_FOLDER = "checkpoints"

ATTRIBUTES = """\
TASK.md merge=gitticks
*.jsonl merge=union
"""

BOARD_JOURNAL = "board.json"
"""In the clone's own folder: what the board saw last; it outlives the board and the branch."""

OCCUPANT_FILE = "gitticks-task"
"""In a workspace's own git directory: the id of the task which it was last prepared for."""

_ROUND_DIGITS = 2
_SCRIPT = b"script"
_WITHOUT_SIGNS = str.maketrans("#*_", "   ")
_FORMAT_LINE = rb"(?m)^version:[ \t]*([0-9]{1,9})[ \t]*(?:#.*)?\r?$"
_ENDING = ".md"
HANDOFF, REVIEW = "handoff", "review"


def remote_state_ref(remote: str) -> str:
    """Returns the ref at which a clone remembers a remote's state branch."""
    return f"refs/remotes/{remote}/{STATE_BRANCH}"


def task_of_path(path: str) -> TaskId | None:
    """Returns the task whose TASK.md is at `path`; None for every other path, also one in the wrong folder."""
    tasks, _, rest = path.partition("/")
    between, _, rest = rest.partition("/")
    name, _, file = rest.partition("/")
    if tasks != TASKS_FOLDER or file != TASK_FILE or not is_task_folder(between, name):
        return None
    return TaskId(name)


def may_run(path: str, content: bytes | None) -> bool:
    """True if a file could hold what runs; without parsing, and never false where it does."""
    if content is None:
        return False
    if path == CONFIG_PATH or path.startswith(f"{PROMPTS_FOLDER}/"):
        return True
    text = content.lower()
    return (
        _SCRIPT in text and task_of_path(path) is not None and any(map(_may_head_script, text.splitlines()))
    )


def _may_head_script(line: bytes) -> bool:
    """True if a line begins with the word, after signs and white space at most."""
    before, word, _ = line.partition(_SCRIPT)
    return bool(word) and not before.decode("utf-8", "replace").translate(_WITHOUT_SIGNS).strip()


def task_around(path: str) -> TaskId | None:
    """Returns the task in whose folder a path lies; None for every other path."""
    folder = path.split("/", 3)
    is_inside = len(folder) == 4 and folder[0] == TASKS_FOLDER  # noqa: PLR2004 - tasks, between, id, what is in it
    return TaskId(folder[2]) if is_inside and is_task_folder(folder[1], folder[2]) else None


def is_task_folder(folder_between: str, name: str) -> bool:
    """True if `tasks/<folder_between>/<name>` is where a task of that name belongs."""
    return is_valid_id(name) and shard(TaskId(name)) == folder_between


def history_path(task_id: TaskId) -> str:
    """Returns the path of the task's events."""
    return f"{task_folder(task_id)}/{HISTORY_FILE}"


def events_of(history: bytes | None) -> tuple[Event, ...]:
    """Returns the events of a history.jsonl that can be understood, in file order; none if the file is missing."""
    if not history:
        return ()
    from gitticks.document.history import (
        read_history,  # which takes as long as a page, and many have no history
    )

    return read_history(history).events


def audit_path(task_id: TaskId) -> str:
    """Returns the path of the decisions about what the task's agents wanted to do."""
    return f"{task_folder(task_id)}/{AUDIT_FILE}"


def worklog_path(task_id: TaskId) -> str:
    """Returns the path of the task's worklog."""
    return f"{task_folder(task_id)}/{WORKLOG_FILE}"


def scratchpad_path(task_id: TaskId) -> str:
    """Returns the path of the learnings carried between iterations."""
    return f"{task_folder(task_id)}/{SCRATCHPAD_FILE}"


def rounds_folder(task_id: TaskId) -> str:
    """Returns the folder of earlier rounds' hand-offs and reviews."""
    return f"{task_folder(task_id)}/{ROUNDS_FOLDER}"


def checkpoints_folder(task_id: TaskId) -> str:
    """Returns the folder of the checkpoints of a task's or an epic's workspace."""
    return f"{task_folder(task_id)}/{CHECKPOINTS_FOLDER}"


def next_round_path(names: Iterable[str], task_id: TaskId, kind: str) -> str:
    """Returns where the next artifact of `kind` (`handoff`, `review`, `review-<councillor>`) is kept.

    Within a round come the councillors' reviews, then the hand-off, and `NN-review.md` last: it is put aside only
    when the next round's review begins, and so it closes its number.
    """
    taken = set(names)
    number = max((found for name in taken if (found := _round_of(name)) is not None), default=1)
    if taken & {f"{number:02}-{kind}.md", f"{number:02}-review.md"}:
        number += 1
    return f"{rounds_folder(task_id)}/{number:02}-{kind}.md"


def _round_of(name: str) -> int | None:
    """Returns the number of the round that a file's name begins with; None for a foreign file."""
    digits, dash, _ = name.partition("-")
    is_number = digits.isascii() and digits.isdecimal() and len(digits) >= _ROUND_DIGITS
    return int(digits) if is_number and dash else None


def format_of(config: bytes | None) -> int:
    """Returns the number of the format that a `config.yaml` names; the present one where it names none."""
    import re  # which reading commands do without

    match = re.search(_FORMAT_LINE, config or b"")
    return int(match[1]) if match else FORMAT


def refuse_newer_format(config: bytes | None) -> None:
    """Leaves a branch alone that a newer gitticks wrote: what it means by its files is not known here.

    Raises:
        GitticksError: the format is newer.
    """
    error = newer_format(config)
    if error is not None:
        raise error


def newer_format(config: bytes | None) -> GitticksError | None:
    """Returns why a branch can only be read; None for one of this format."""
    found = format_of(config)
    if found <= FORMAT:
        return None
    return GitticksError(
        f"the tasks are kept in format {found}, newer than this gitticks, which knows format {FORMAT}: "
        "it can read them, not change them",
        hint="`pipx upgrade gitticks`",
    )


def check_place(file: TaskFile, task_id: TaskId) -> None:
    """Refuses a file that names another task than the folder it is in."""
    if file.task.id != task_id:
        raise DocumentError(
            f"`id` is `{file.task.id}`, but the folder is that of `{task_id}`",
            path=file.path,
            line=line_of(file, "id"),
            hint=f"write `id: {task_id}`; a separate task belongs in `tasks/{shard(file.task.id)}/{file.task.id}/`",
        )


def line_of(file: TaskFile, key: str) -> int | None:
    """Returns the line, counted from 1, on which a field of the frontmatter stands; None if it is not there."""
    from gitticks.document.texts import line_starts

    node = file.frontmatter.tree.get(key)
    if node is None:
        return None
    return 1 + sum(1 for start in line_starts(file.frontmatter.yaml) if start <= node.start)


def state_tip(repository: Repository) -> str:
    """Returns the state branch's newest commit.

    Raises:
        NotFoundError: there is no state branch; the hint says how to get one.
        GitticksError: there was one, and its ref is damaged or gone.
    """
    tip = read_ref(repository.common_place, STATE_REF)
    if tip is None:
        refuse_lost_branch(repository)
        raise no_tasks(repository)
    return tip


def no_tasks(repository: Repository) -> NotFoundError:
    """Returns the error for a repository without a state branch; a fetched one of `origin` needs only to be taken."""
    if read_ref(repository.common_place, remote_state_ref("origin")) is not None:
        return NotFoundError(
            "this clone does not have the tasks of `origin` yet", hint="`gt init` fetches them"
        )
    if repository.project_place is None:
        from shlex import quote

        return NotFoundError(
            "this bare repository has no tasks yet",
            hint=f"`gt init` in a clone sets them up, `git clone {quote(repository.common_place)}`, and `gt sync` there pushes them here",
        )
    return NotFoundError("this repository has no tasks yet", hint="`gt init` sets them up")


def refuse_lost_branch(repository: Repository) -> None:
    """Refuses to take a branch that was here and is gone for one that never was.

    One whose making was killed has a log too, of its beginning alone, and there is nothing in it that could be lost.

    Raises:
        GitticksError: its log, or the board, knows where it stood; the hint is the command that brings it back.
    """
    seen = _seen_by_board(repository)
    if seen is not None or len(list(islice(logged(repository.common_dir, STATE_REF), 2))) > 1:
        knows = "the board has seen it" if seen else f"`{STATE_REF}` has a log"
        raise GitticksError(
            f"the branch `{STATE_BRANCH}` is missing, but it existed here: {knows}",
            hint=way_back(repository.common_dir, STATE_REF, seen=seen),
        )


def _seen_by_board(repository: Repository) -> str | None:
    """Returns the commit that the board last followed; None if it is not known, or not in this repository."""
    seen = read_json(repository.own_file(BOARD_JOURNAL), itemgetter("base"), None)
    is_here = isinstance(seen, str) and is_object_id(seen) and repository.objects.has(seen)
    return seen if is_here else None


class Round(NamedTuple):
    """One earlier round: its number, and its texts by kind: `handoff`, `review`, `review-<councillor>`."""

    number: int
    texts: dict[str, str]

    @property
    def handoff(self) -> str | None:
        """Returns what was handed off."""
        return self.texts.get(HANDOFF)

    @property
    def review(self) -> str | None:
        """Returns what the review said."""
        return self.texts.get(REVIEW)

    @property
    def councillors(self) -> dict[str, str]:
        """Returns what the members of a council answered, by their names."""
        begin = f"{REVIEW}-"
        return {kind.removeprefix(begin): text for kind, text in self.texts.items() if kind.startswith(begin)}


def read_rounds(repository: Repository, commit: str, task_id: TaskId) -> tuple[Round, ...]:
    """Returns the earlier rounds of a task at a commit, by their numbers; foreign files are left out."""
    objects = repository.objects
    folder = objects.find(objects.tree_of(commit), rounds_folder(task_id))
    if folder is None or not folder.is_tree:
        return ()
    found: dict[int, dict[str, str]] = {}
    for name, entry in objects.folder(folder.object_id).items():
        number, dash, rest = name.partition("-")
        if entry.is_file and dash and rest.endswith(_ENDING) and number.isascii() and number.isdecimal():
            text = objects.read_blob(entry.object_id).decode("utf-8", "replace")
            found.setdefault(int(number), {})[rest.removesuffix(_ENDING)] = text.strip("\n")
    return tuple(Round(number, found[number]) for number in sorted(found))
