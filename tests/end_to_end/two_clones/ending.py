"""Brings both clones to one state, and looks whether everything is there."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping

from gitticks.document.taskfile import TaskFile
from gitticks.model.ids import TaskId, task_folder, task_path
from gitticks.model.notes import Section
from tests.end_to_end.two_clones import by_command, by_git, by_hand
from tests.end_to_end.two_clones.ledger import Kept, Place, files_of, histories
from tests.end_to_end.two_clones.scene import Scene
from tests.support.clones import Clone
from tests.support.repositories import fsck_problems, git

_ROUNDS = 3
_MOST_CYCLES = 10
_MARK = re.compile(r"^<!-- gitticks conflict: .*-->\n", re.MULTILINE)


def end(scene: Scene) -> None:
    """Lets everybody commit and share what they have, choose where both wrote, and share that."""
    for clone in scene.clones:
        if clone.path in scene.offline:
            scene.go_online(clone)
        by_git.conclude_merge(scene, clone)
        by_git.take_back(scene, clone)
        by_command.look(scene, clone)
        if clone.board_status():
            by_hand.commit(scene, clone)
    share(scene)
    settle(scene, scene.clones[0])
    take_cycles_apart(scene, scene.clones[0])
    share(scene)


def share(scene: Scene) -> None:
    """Syncs in turn until both have all."""
    for _ in range(_ROUNDS):
        for clone in scene.clones:
            by_command.sync(scene, clone)


def settle(scene: Scene, clone: Clone) -> None:
    """Keeps both texts of every conflict."""
    for file in clone.board.glob("tasks/*/*/TASK.md"):
        text = file.read_text()
        if _MARK.search(text):
            scene.say(clone, f"settles {file.parent.name}")
            file.write_text(_MARK.sub("", text))
    if clone.board_status():
        assert by_hand.commit(scene, clone)


def take_cycles_apart(scene: Scene, clone: Clone) -> None:
    """Types what the doctor says of cycles, which two clones make together without either being wrong."""
    for _ in range(_MOST_CYCLES):
        found = json.loads(clone.gt("doctor", "--json").out)["findings"]
        cycle = next((one for one in found if "in a cycle" in one["what"]), None)
        if cycle is None:
            return
        scene.say(clone, cycle["what"])
        words = cycle["fix"].strip("`").split()
        assert scene.gt(clone, *words[1:]).code == 0


def check(scene: Scene) -> None:
    """Asserts that both clones and the remote have the same, all of it, and that nothing is broken."""
    one, other = scene.clones
    assert one.tip() == other.tip()
    for folder in (one.path, other.path, scene.remote):
        assert fsck_problems(folder) == ""
    files = files_of(one.store.objects, one.tip())
    missing = [kept for kept in scene.ledger.words.values() if not _stands(files, kept)]
    assert not missing, missing
    assert_histories(scene, one)
    for clone in scene.clones:
        assert clone.board_status() == ""
        doctor = clone.gt("doctor")
        assert doctor.code == 0, doctor.seen
    assert _listed(one) == _listed(other)


def _listed(clone: Clone) -> list[dict[str, object]]:
    tasks = json.loads(clone.ok("list", "--all", "--json"))["tasks"]
    return [{**task, "path": None} for task in tasks]


def assert_histories(scene: Scene, clone: Clone) -> None:
    """Asserts that every event that was ever seen is there, and no more often than it was."""
    found = histories(clone.store.objects, clone.tip())
    whole = sum(found.values(), Counter[bytes]())
    for path, lines in scene.ledger.lines.items():
        is_twin = "/twin" in path
        here = whole if is_twin else found.get(path, Counter())
        lost = [line for line in lines if not here[line]]
        assert not lost, (path, lost)
        more = [] if is_twin else [line for line in here if here[line] > lines[line]]
        doubled = [line for line in more if here[line] > _times_made(clone, path, line)]
        assert not doubled, (path, doubled)


def _times_made(clone: Clone, path: str, line: bytes) -> int:
    """Returns how many commits brought a line: both clones may do the same within one second."""
    asked = ["log", "--all", "--no-merges", "--format=%H", f"-S{line.decode()}", "--", path]
    return len(git(*asked, at=clone.path).split())


def _stands(files: Mapping[str, bytes], kept: Kept) -> bool:
    if kept.place is Place.ANYWHERE:
        return any(kept.word.encode() in data for data in files.values())
    folder = task_folder(TaskId(kept.task))
    if kept.place is Place.FOLDER:
        return any(
            kept.word.encode() in data for path, data in files.items() if path.startswith(f"{folder}/")
        )
    data = files.get(task_path(TaskId(kept.task)))
    if data is None:
        return False
    file = TaskFile.parse(data, kept.task)
    match kept.place:
        case Place.ENTRY:
            entries = [*file.entries(Section.NOTES), *file.entries(Section.QUESTIONS)]
            return sum(entry.text.count(kept.word) for entry in entries) == 1
        case Place.KEY:
            return file.frontmatter.text.count(f"x-{kept.word}:") == 1
        case Place.LABEL:
            return file.task.labels.count(kept.word) == 1
        case _:
            return kept.word in data.decode()
