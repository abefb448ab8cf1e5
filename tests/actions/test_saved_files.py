"""Files beside tasks are taken up as what they belong to; settings and templates count once they are committed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.saved_edits import take_up_all
from gitticks.board.checkout_state import TakenUp
from gitticks.board.ignored import is_dropping
from gitticks.board.skip_reasons import LARGEST_BYTES, place_of
from gitticks.store.runnable_files import runnables_of_file
from gitticks.store.trust import require_trusted
from tests.support.projects import SESSION, Project, make_project
from tests.support.repositories import git

FOLDER = "tasks/f2/k7f2"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2")
    return project


def _put(project: Project, path: str, content: bytes = b"\0image") -> Path:
    file = project.board / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def _take_up(project: Project) -> TakenUp:
    return take_up_all(Context(directory=project.path))


def test_files_beside_a_task_are_committed_as_the_persons_in_one_commit(project: Project) -> None:
    paths = (f"{FOLDER}/more/a b.txt", f"{FOLDER}/scratchpad.md", f"{FOLDER}/shot.png")
    for path in paths:
        _put(project, path)
    assert _take_up(project) == TakenUp(paths)
    log = git("log", "-1", "--format=%an|%s|%(trailers:only,unfold)", "gitticks/state", at=project.path)
    assert log.split() == [
        *("Ada", "Lovelace|k7f2:", "more/a", "b.txt,", "scratchpad.md,", "shot.png|Task:", "k7f2"),
        *("Actor:", "human", "Ada", "Lovelace"),
    ]
    assert {path: project.store.read(path) for path in paths} == dict.fromkeys(paths, b"\0image")
    assert project.board_status() == ""
    assert _take_up(project) == TakenUp()


def test_many_files_are_named_shortly(project: Project) -> None:
    for number in range(5):
        _put(project, f"{FOLDER}/{number}.png")
    _take_up(project)
    assert project.subject() == "k7f2: 0.png, 1.png, 2.png and 2 more"


def test_an_edited_file_is_taken_up_and_a_removed_one_is_not(project: Project) -> None:
    path = f"{FOLDER}/shot.png"
    file = _put(project, path)
    _take_up(project)
    _put(project, path, b"better")
    assert _take_up(project).paths == (path,)
    file.unlink()
    found = _take_up(project)
    assert found.paths == ()
    assert found.left[path] == (
        f"deleted, not committed; `git -C .gitticks checkout HEAD -- {path}` restores it, "
        f'`git -C .gitticks commit -m "…" {path}` deletes it'
    )
    assert project.store.read(path) == b"better"


def test_a_new_tasks_files_wait_for_the_task(project: Project) -> None:
    _put(project, "tasks/an/aplan/TASK.md", b"---\nid: aplan\n")
    _put(project, "tasks/an/aplan/sketch.svg")
    found = _take_up(project)
    assert found.paths == ()
    assert found.left["tasks/an/aplan/sketch.svg"].startswith("left alone: there is no task `aplan` yet")
    _put(project, "tasks/an/aplan/TASK.md", b"---\nid: aplan\ntitle: Plan\nstatus: pending\n---\n")
    assert _take_up(project).paths == ("tasks/an/aplan/TASK.md", "tasks/an/aplan/sketch.svg")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("foo.txt", "left alone: it is not a file of gitticks, `git -C .gitticks add foo.txt` and a commit"),
        (
            "a b.txt",
            "left alone: it is not a file of gitticks, `git -C .gitticks add 'a b.txt'` and a commit",
        ),
        ("tasks/zz/notes.txt", "left alone: it is not a file of gitticks"),
        (f"{FOLDER}/.env", "left alone: it is not a file of gitticks"),
        (f"{FOLDER}/a.orig", "left alone: it is not a file of gitticks"),
        (f"{FOLDER}/rounds/01-review.md", "left alone: gitticks writes that itself"),
        (f"{FOLDER}/history.jsonl", "edited, refused: it can only be written by gitticks"),
    ],
)
def test_what_is_not_a_persons_own_is_left_alone_and_named(project: Project, path: str, words: str) -> None:
    tip = project.tip()
    file = _put(project, path, b"mine\n")
    assert _take_up(project).left[path].startswith(words)
    assert (project.tip(), file.read_bytes()) == (tip, b"mine\n")


def test_another_tools_folder_is_named_once_and_can_be_shared_as_is_said(project: Project) -> None:
    for name in ("a.json", "plugins/b.json"):
        _put(project, f".obsidian/{name}")
    words = _take_up(project).left
    assert list(words) == [".obsidian/"]
    assert "`git -C .gitticks add .obsidian/`" in words[".obsidian/"]
    git("add", ".obsidian/", at=project.board)
    git("commit", "-qm", "share it", at=project.board)
    assert _take_up(project) == TakenUp()


def test_what_editors_leave_about_is_not_named(project: Project) -> None:
    for name in (".TASK.md.swp", "TASK.md~", "#TASK.md#", ".#TASK.md", ".DS_Store", "4913"):
        _put(project, f"{FOLDER}/{name}")
    assert _take_up(project) == TakenUp()


def test_what_is_no_plain_file_too_large_or_executable_is_left(project: Project) -> None:
    (project.board / FOLDER / "link").symlink_to("/etc/hostname")
    _put(project, f"{FOLDER}/run.sh").chmod(0o755)
    with _put(project, f"{FOLDER}/film.mp4").open("wb") as film:
        film.truncate(LARGEST_BYTES + 1)
    found = _take_up(project)
    assert found.paths == ()
    assert [words[:40] for words in found.left.values()] == [
        "left alone: it is larger than 10 MB, `gi",
        "left alone: it is not a regular file",
        "left alone: it is executable, `git -C .g",
    ]


def test_where_git_takes_no_notice_of_modes_every_file_is_taken_up(project: Project) -> None:
    git("config", "core.fileMode", "false", at=project.path)
    _put(project, f"{FOLDER}/shot.png").chmod(0o755)
    assert _take_up(project).paths == (f"{FOLDER}/shot.png",)
    assert project.board_status() == ""


def test_a_program_that_a_person_committed_stays_one(project: Project) -> None:
    _put(project, f"{FOLDER}/run.sh").chmod(0o755)
    git("add", "-A", at=project.board)
    git("commit", "-qm", "mine", at=project.board)
    project.ok("note", "k7f2", "hello")
    assert project.board_status() == ""


def test_what_git_would_convert_is_left_to_git(project: Project) -> None:
    (project.path / ".git/info/attributes").write_text("*.psd filter=lfs\n")
    _put(project, f"{FOLDER}/a.psd")
    _put(project, f"{FOLDER}/b.png")
    found = _take_up(project)
    assert found.paths == (f"{FOLDER}/b.png",)
    assert found.left[f"{FOLDER}/a.psd"].startswith("left alone: git converts it, ")


@pytest.mark.parametrize(("path", "is_new"), [("config.yaml", False), ("prompts/worker.md", True)])
def test_settings_and_templates_count_once_they_are_committed(
    project: Project, path: str, is_new: bool
) -> None:
    tip = project.tip()
    content = (project.store.read(path) or b"version: 1\n") + b"parallel: 2\n"
    _put(project, path, content)
    found = _take_up(project)
    typed = f'git -C .gitticks commit -m "…" {path}'
    typed = f"git -C .gitticks add {path} && {typed}" if is_new else typed
    assert found == TakenUp((), {path: f"edited, counts once it is committed: `{typed}`"})
    assert project.tip() == tip
    assert f"`.gitticks/{path}` is edited, counts once it is committed" in project.gt("run").err
    git("add", path, at=project.board)
    git("commit", "-qm", "mine", path, at=project.board)
    assert project.store.read(path) == content
    require_trusted(project.store.repository, runnables_of_file(path, content))
    assert _take_up(project) == TakenUp()


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        ("config.yaml", b"version: 1\nparalel: 3\n", "line 2: there is no setting `paralel`"),
        ("config.yaml", b"version: 1\nparallel: [\n", "line 2: "),
        ("config.yaml", b"\xff\xfe", "line 1: this is not UTF-8"),
        ("config.yaml", b"version: 2\n", "the state branch has format 2"),
        ("prompts/worker.md", b"{% if %}\n", "the prompt template `worker.md:1` is broken"),
        ("prompts/worker.md", b"\0", "NUL"),
    ],
)
def test_broken_settings_and_templates_get_a_note_until_they_are_fixed(
    project: Project, path: str, content: bytes, words: str
) -> None:
    before = project.store.read(path)
    file = _put(project, path, content)
    note = file.with_name(f"{file.name}.refused")
    found = _take_up(project)
    assert found.has_refused
    assert words in found.left[path]
    assert words in note.read_text()
    assert file.read_bytes() == content
    assert f"{file.name}.refused" not in project.board_status()
    if before is None:
        file.unlink()
    else:
        file.write_bytes(before)
    assert _take_up(project) == TakenUp()
    assert not note.exists()


def test_a_removed_config_is_named_with_the_way_back(project: Project) -> None:
    (project.board / "config.yaml").unlink()
    assert (
        "`git -C .gitticks checkout HEAD -- config.yaml` restores it" in _take_up(project).left["config.yaml"]
    )


def test_an_agents_session_takes_up_no_file(project: Project) -> None:
    _put(project, f"{FOLDER}/shot.png")
    tip = project.tip()
    assert project.gt("status", environment=SESSION).code == 0
    assert project.tip() == tip


def test_what_is_staged_is_left_to_its_commit(project: Project) -> None:
    path = f"{FOLDER}/shot.png"
    _put(project, path)
    git("add", path, at=project.board)
    assert _take_up(project) == TakenUp((), {path: "edited, not committed"})
    assert project.gt("status").err.endswith('`git -C .gitticks commit -am "…"`\n')


def test_the_hint_does_not_say_commit_where_that_would_not_help(project: Project) -> None:
    _put(project, "foo.txt")
    ran = project.gt("status")
    assert ".gitticks/foo.txt  left alone: " in ran.out
    assert "commit -am" not in ran.err


def test_stored_files_are_sound(project: Project) -> None:
    _put(project, f"{FOLDER}/shot.png")
    _take_up(project)
    objects = project.store.repository.objects
    entry = objects.find(objects.tree_of(project.tip()), f"{FOLDER}/shot.png")
    assert entry is not None
    assert (entry.is_file, git("cat-file", "-t", entry.object_id, at=project.path)) == (True, "blob")


@pytest.mark.parametrize(("path", "expected"), [("a/.b/c", "a/.b/"), (".x/y/z", ".x/"), ("a/b/.c", "a/b/.c")])
def test_place_of_names_the_first_hidden_folder(path: str, expected: str) -> None:
    assert place_of(path) == expected


@pytest.mark.parametrize("name", ["sedation", "notes.txt", "a.swp", "x#y", ".env", "TASK.md"])
def test_a_persons_file_is_no_dropping(name: str) -> None:
    assert not is_dropping(f"{FOLDER}/{name}")


def test_a_record_that_was_made_by_hand_is_named_with_what_takes_it_away(project: Project) -> None:
    made = _put(project, f"{FOLDER}/audit.jsonl", b"{}\n")
    [words] = _take_up(project).left.values()
    assert words.endswith(f"can only be written by gitticks; `rm .gitticks/{FOLDER}/audit.jsonl` removes it")
    made.unlink()
    assert _take_up(project) == TakenUp()


def test_a_tasks_file_in_other_letters_is_told_its_name(project: Project) -> None:
    """What is said to do takes the task up, and what waits for it."""
    file = _put(project, "tasks/n1/plan1/task.md", b"---\nid: plan1\ntitle: Plan\nstatus: pending\n---\n")
    _put(project, "tasks/n1/plan1/sketch.svg")
    left = _take_up(project).left
    command = "mv -n .gitticks/tasks/n1/plan1/task.md .gitticks/tasks/n1/plan1/TASK.md"
    assert left == {
        "tasks/n1/plan1/task.md": f"edited, refused: a task's file is called `TASK.md`: `{command}`",
        "tasks/n1/plan1/sketch.svg": "left alone: there is no task `plan1` yet; "
        "it is committed together with `.gitticks/tasks/n1/plan1/TASK.md`",
    }
    subprocess.run(["sh", "-ec", command], cwd=project.path, check=True)
    assert not file.exists()
    assert set(_take_up(project).paths) == {"tasks/n1/plan1/TASK.md", "tasks/n1/plan1/sketch.svg"}


def test_a_file_with_a_secret_stays_with_its_line(project: Project) -> None:
    secret = b"# Keys\n\nghp_" + b"a1B2" * 9 + b"\n"
    file = _put(project, f"{FOLDER}/keys.txt", secret)
    _put(project, f"{FOLDER}/shot.png")
    taken = _take_up(project)
    assert taken.paths == (f"{FOLDER}/shot.png",)
    assert taken.left == {f"{FOLDER}/keys.txt": "edited, refused: line 3: holds a secret: GitHub token"}
    assert file.read_bytes() == secret
    assert project.board_status() == f"?? {FOLDER}/keys.txt"
