"""The table of what becomes of a file that a person saved or staged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitticks.board.judge_edit import Ruling, SavedEdit, id_inside, join_moves, judge_edit
from gitticks.board.skip_reasons import why_left, why_refused
from gitticks.git.objects import Change
from gitticks.model.ids import TaskId, task_path

TASK = "tasks/f2/k7f2/TASK.md"
BESIDE = "tasks/f2/k7f2/shot.png"

KINDS = {
    TASK: Ruling.TASK,
    "tasks/an/aplan/TASK.md": Ruling.TASK,
    "tasks/zz/k7f2/TASK.md": Ruling.WRONG_FOLDER,
    "tasks/k7f2/TASK.md": Ruling.WRONG_FOLDER,
    "tasks/f2/Some Name/TASK.md": Ruling.WRONG_FOLDER,
    "TASK.md": Ruling.WRONG_FOLDER,
    "tasks/f2/k7f2/history.jsonl": Ruling.ENGINE,
    "tasks/f2/k7f2/audit.jsonl": Ruling.ENGINE,
    "tasks/copy/history.jsonl": Ruling.ENGINE,
    "config.yaml": Ruling.TEAM,
    "prompts/worker.md": Ruling.TEAM,
    "prompts/more/own.txt": Ruling.TEAM,
    f"{TASK}.refused": Ruling.NOTE,
    "config.yaml.refused": Ruling.NOTE,
    "prompts/worker.md.refused": Ruling.NOTE,
    f"{BESIDE}.refused": Ruling.FOREIGN,
    BESIDE: Ruling.BESIDE,
    "tasks/f2/k7f2/more/a b.txt": Ruling.BESIDE,
    "tasks/f2/k7f2/scratchpad.md": Ruling.BESIDE,
    "tasks/f2/k7f2/worklog.md": Ruling.RECORD,
    "tasks/f2/k7f2/rounds/01-handoff.md": Ruling.RECORD,
    "tasks/f2/k7f2/checkpoints/0001.json": Ruling.RECORD,
    "tasks/f2/k7f2/.idea/x": Ruling.FOREIGN,
    "tasks/f2/k7f2/draft.tmp": Ruling.FOREIGN,
    "tasks/f2/k7f2/TASK.md.new": Ruling.FOREIGN,
    "tasks/f2/k7f2/TASK.md.save": Ruling.FOREIGN,
    "tasks/f2/k7f2/TASK.md.save.12": Ruling.FOREIGN,
    "tasks/f2/plain.txt": Ruling.FOREIGN,
    ".obsidian/app.json": Ruling.FOREIGN,
    "foo.txt": Ruling.FOREIGN,
}


@pytest.mark.parametrize(("path", "ruling"), KINDS.items(), ids=KINDS)
def test_where_a_file_lies_says_what_becomes_of_it(path: str, ruling: Ruling) -> None:
    assert judge_edit(SavedEdit(path, None, b"new")) is ruling
    assert judge_edit(SavedEdit(path, b"old", b"new")) is ruling


REMOVED = {
    TASK: Ruling.TASK_REMOVED,
    "tasks/zz/k7f2/TASK.md": Ruling.TASK_REMOVED,
    "tasks/f2/Some Name/TASK.md": Ruling.REMOVED,
    "TASK.md": Ruling.REMOVED,
    "tasks/f2/k7f2/history.jsonl": Ruling.ENGINE,
    "config.yaml": Ruling.REMOVED,
    f"{TASK}.refused": Ruling.REMOVED,
    BESIDE: Ruling.REMOVED,
    "tasks/f2/k7f2/worklog.md": Ruling.REMOVED,
    "foo.txt": Ruling.REMOVED,
}


@pytest.mark.parametrize(("path", "ruling"), REMOVED.items(), ids=REMOVED)
def test_a_task_is_not_removed_and_other_files_are_by_a_commit(path: str, ruling: Ruling) -> None:
    assert judge_edit(SavedEdit(path, b"old", None)) is ruling


def test_a_task_is_known_by_the_id_inside_where_its_folder_has_no_such_name() -> None:
    edit = SavedEdit("tasks/f2/Some Name/TASK.md", b"---\nid: k7f2\n", None)
    assert judge_edit(edit) is Ruling.TASK_REMOVED


@pytest.mark.parametrize("line", [b"id: k7f2", b'id: "k7f2"\r', b"id: k7f2 # mine", b"id: k7f2\t\r"])
def test_the_id_inside_is_that_of_the_frontmatter_however_its_line_ends(line: bytes) -> None:
    assert id_inside(b"---\n" + line + b"\ntitle: a\n---\nid: other\n") == "k7f2"
    assert id_inside(b"---\n#" + line + b"\ntitle: a\n---\n" + line) is None


@pytest.mark.parametrize(
    "path", [TASK, "tasks/zz/k7f2/TASK.md", "config.yaml", "tasks/f2/k7f2/history.jsonl"]
)
def test_what_nobody_can_take_up_now_goes_before_what_it_is(path: str) -> None:
    edit = SavedEdit(path, b"old", b"new")
    assert judge_edit(replace(edit, is_conflict=True, rest_seconds=0.1)) is Ruling.CONFLICT
    assert judge_edit(replace(edit, rest_seconds=0.1)) is Ruling.YOUNG
    assert judge_edit(replace(edit, content=None, is_plain=False)) is Ruling.NOT_PLAIN


def test_what_is_beside_a_task_goes_to_everybody_only_if_it_may() -> None:
    assert judge_edit(SavedEdit(BESIDE, None, b"x", is_executable=True)) is Ruling.EXECUTABLE
    assert judge_edit(SavedEdit(BESIDE, None, None, is_large=True)) is Ruling.LARGE
    assert judge_edit(SavedEdit("config.yaml", None, None, is_large=True)) is Ruling.TEAM


COMMITTED = {
    *(Ruling.TASK, Ruling.BESIDE, Ruling.TEAM, Ruling.YOUNG, Ruling.REMOVED, Ruling.FOREIGN, Ruling.RECORD),
    *(Ruling.LARGE, Ruling.EXECUTABLE),
}
"""What a person may commit, if nothing is wrong with what it holds."""


@pytest.mark.parametrize("ruling", Ruling)
def test_there_are_words_for_all_that_stays(ruling: Ruling) -> None:
    edit = SavedEdit(TASK, b"old", b"new")
    is_taken = ruling in {Ruling.TASK, Ruling.BESIDE, Ruling.TEAM}
    assert (why_left(edit, ruling) is None) is is_taken
    assert (why_refused(edit, ruling) is None) is (ruling in COMMITTED)


def test_a_file_that_left_a_wrong_folder_for_the_right_one_is_one_change() -> None:
    left = Change("tasks/xx/k7f2/TASK.md", "a", None)
    assert join_moves([left, Change("tasks/f2/k7f2/TASK.md", None, "b")]) == (
        Change("tasks/f2/k7f2/TASK.md", "a", "b"),
    )
    renamed = Change("tasks/f2/K7F2/TASK.md", "a", None)
    assert join_moves([renamed, Change("tasks/f2/k7f2/TASK.md", None, "a")]) == (
        Change("tasks/f2/k7f2/TASK.md", "a", "a"),
    )
    assert join_moves([left, Change("tasks/f3/k7f3/TASK.md", None, "b")]) == (
        left,
        Change("tasks/f3/k7f3/TASK.md", None, "b"),
    )


def test_as_many_folders_as_a_repository_has_are_joined_at_once() -> None:
    ids = [TaskId(f"k{number:05}") for number in range(10_000)]
    left = [Change(f"tasks/zz/{one}/TASK.md", f"old {one}", None) for one in ids]
    came = [Change(task_path(one), None, f"new {one}") for one in ids]
    assert [(one.old, one.new) for one in join_moves([*left, *came])] == [
        (f"old {one}", f"new {one}") for one in ids
    ]
