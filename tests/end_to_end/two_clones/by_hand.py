"""What people write into files on the board, and commit themselves or leave to be taken up."""

from __future__ import annotations

from pathlib import Path

from gitticks.model.ids import TaskId, task_path
from tests.end_to_end.two_clones import by_command
from tests.end_to_end.two_clones.ledger import Place
from tests.end_to_end.two_clones.scene import Scene
from tests.support.clones import Clone
from tests.support.tasks import task_ids

_SHARED = 0.6
_MOST_TRIES = 4
"""The board's hook asks for a second try where the board was just brought in step."""


def edit(scene: Scene, clone: Clone) -> None:
    """Edits a task's file in one of many ways and saves it."""
    task = scene.task_of(clone)
    file = clone.board_file(task)
    if not file.exists():
        return
    text, word = file.read_text(), scene.ledger.new_word()
    how = scene.dice.choice(_EDITS)
    edited, place = how(text, word)
    if edited == text:
        return
    scene.say(clone, f"{how.__name__} of {task} by hand with {word}")
    save(scene, file, edited)
    if place is not None:
        scene.ledger.keep(word, task, place)
    if scene.dice.random() < 0.5:
        commit(scene, clone)


def save(scene: Scene, file: Path, text: str) -> None:
    """Saves in place, or aside and by renaming, as editors differ."""
    if scene.dice.random() < 0.5:
        file.write_text(text)
        return
    aside = file.with_name(".TASK.md.swp")
    aside.write_text(text)
    aside.replace(file)


def commit(scene: Scene, clone: Clone) -> bool:
    """Commits all edits by plain git; the hook may refuse some, and they stay."""
    for _ in range(_MOST_TRIES):
        done = scene.git(clone, "commit", "--quiet", "-am", "by hand")
        if done.returncode == 0:
            return True
    return False


def new_task(scene: Scene, clone: Clone) -> None:
    """Makes a folder with a task's file in it; now and then one id is used in both clones."""
    word = scene.ledger.new_word()
    shared = scene.dice.random() < _SHARED
    task = _twin(scene, clone) if shared else f"h{word}"
    file = clone.board / task_path(TaskId(task))
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    scene.say(clone, f"new task {task} by hand with {word}")
    save(scene, file, f"---\nid: {task}\ntitle: By hand {word}\nstatus: pending\n---\n\nSummary {word}.\n")
    scene.ledger.keep(word, task, Place.ANYWHERE)
    if not shared:
        scene.tasks.append(task)
    ran = scene.gt(clone, "status")
    assert ran.code == 0, ran.seen


def answer(scene: Scene, clone: Clone) -> None:
    """Writes an answer below a task's question, and commits it."""
    asking = [task for task in scene.tasks if by_command.awaits(clone, task, "input")]
    if not asking or clone.board_status():
        return
    task, word = scene.dice.choice(asking), scene.ledger.new_word()
    file = clone.board_file(task)
    text = file.read_text()
    if text.count("\n## Questions\n") != 1:
        return
    start = text.index("\n## Questions\n") + 1
    end = text.find("\n## ", start)
    entry = f"### 2099-03-04T05:00:00Z · human · Ada Lovelace\n\nBy hand {word}.\n"
    above, below = (text, "") if end < 0 else (text[:end], text[end:])
    scene.say(clone, f"answers {task} by hand with {word}")
    save(scene, file, above.rstrip("\n") + f"\n\n{entry}" + below)
    if commit(scene, clone):
        scene.ledger.keep(word, task, Place.ENTRY)
    else:
        _put_back(scene, clone, file)


def ask_for_a_state(scene: Scene, clone: Clone) -> None:
    """Asks in the file for a status or gives a verdict, and takes it back where the hook refuses it."""
    if clone.board_status():
        return
    task = scene.task_of(clone)
    file = clone.board_file(task)
    wish = scene.dice.choice(
        ("verdict: approved", "verdict: rejected", "status: working", "status: cancelled", "status: done")
    )
    text = file.read_text()
    edited = _below_status(text, wish) if wish.startswith("verdict") else _line(text, "status:", wish)
    if edited == text or "\nverdict:" in text:
        return
    scene.say(clone, f"asks for `{wish}` in {task}")
    save(scene, file, edited)
    if not commit(scene, clone) and clone.board_status():
        _put_back(scene, clone, file)


def open_editor(scene: Scene, clone: Clone) -> None:
    """Opens a task's file in an editor, which shows it for as long as it likes."""
    task = scene.task_of(clone)
    scene.editors[clone.path] = (task, clone.board_file(task).read_text())
    scene.say(clone, f"opens {task}")


def save_editor(scene: Scene, clone: Clone) -> None:
    """Saves what the editor shows with something added, whatever `gt` made of the file meanwhile.

    Plain git would commit the old text as it is, so the edit is left to be taken up. What the same person changed by
    hand meanwhile, they have before their eyes.
    """
    if clone.path not in scene.editors:
        return
    task, text = scene.editors[clone.path]
    present = clone.board_file(task).read_text()
    if task in clone.board_status() or (present != text and _updated(present) == _updated(text)):
        return
    del scene.editors[clone.path]
    word = scene.ledger.new_word()
    scene.say(clone, f"saves {task} with {word} out of an old editor")
    file = clone.board_file(task)
    save(scene, file, _own_section(text, word)[0])
    scene.gt(clone, "status")
    if task in clone.board_status():
        _put_back(scene, clone, file)
    else:
        scene.ledger.keep(word, task, Place.FILE)


def _twin(scene: Scene, clone: Clone) -> str:
    """Returns an id that some other clone has given to a task that is not known here, or else a new one."""
    known = {task for one in scene.clones for task in task_ids(one.store) if task.startswith("twin")}
    strange = sorted(known - {*task_ids(clone.store)})
    return str(scene.dice.choice(strange)) if strange else f"twin{len(known)}"


def _put_back(scene: Scene, clone: Clone, file: Path) -> None:
    assert scene.git(clone, "checkout", "HEAD", "--", str(file.relative_to(clone.board))).returncode == 0


def _title(text: str, word: str) -> tuple[str, Place | None]:
    return _line(text, "title:", f"title: By hand {word}"), None


def _priority(text: str, word: str) -> tuple[str, Place | None]:
    value = f"priority: {int(word[1:-1]) % 5}"
    return (_line(text, "priority:", value) if "\npriority:" in text else _below_status(text, value)), None


def _unknown_key(text: str, word: str) -> tuple[str, Place | None]:
    return _below_status(text, f"x-{word}: [a, b]  # {word[::-1]}"), Place.KEY


def _context(text: str, word: str) -> tuple[str, Place | None]:
    if "\n## Context\n" not in text:
        return text.rstrip("\n") + f"\n\n## Context\n\nLine {word}.\n", Place.FILE
    return text.replace("\n## Context\n\n", f"\n## Context\n\nLine {word}.\n", 1), Place.FILE


def _criteria(text: str, word: str) -> tuple[str, Place | None]:
    if "\n## Acceptance Criteria\n" not in text:
        return text.rstrip("\n") + f"\n\n## Acceptance Criteria\n\n- [ ] {word}\n", Place.FILE
    return text.replace(
        "\n## Acceptance Criteria\n\n", f"\n## Acceptance Criteria\n\n- [ ] {word}\n", 1
    ), Place.FILE


def _own_section(text: str, word: str) -> tuple[str, Place | None]:
    return text.rstrip("\n") + f"\n\n## Mine {word[::-1]}\n\nText {word}.\n", Place.FILE


def _note(text: str, word: str) -> tuple[str, Place | None]:
    entry = f"### 2026-03-04T05:0{int(word[1:-1]) % 10}:00Z · human · Ada Lovelace\n\nBy hand {word}.\n"
    if "\n## Notes\n" not in text:
        return text.rstrip("\n") + f"\n\n## Notes\n\n{entry}", Place.ENTRY
    return text.replace("\n## Notes\n\n", f"\n## Notes\n\n{entry}\n", 1), Place.ENTRY


def _line(text: str, start: str, line: str) -> str:
    """Returns the text with the first line that begins with `start` replaced."""
    place = text.index(f"\n{start}") + 1
    return text[:place] + line + text[text.index("\n", place) :]


def _updated(text: str) -> str:
    return next((line for line in text.splitlines() if line.startswith("updated:")), "")


def _below_status(text: str, line: str) -> str:
    place = text.index("\n", text.index("\nstatus:") + 1)
    return f"{text[:place]}\n{line}{text[place:]}"


_EDITS = (_title, _priority, _unknown_key, _unknown_key, _context, _criteria, _own_section, _note)
