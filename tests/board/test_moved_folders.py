"""A folder that was put back where it belongs is one change of each file, however many there are."""

from __future__ import annotations

from gitticks.board.moved_folders import join_moves
from gitticks.git.objects import Change
from gitticks.model.ids import TaskId, task_path


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
