"""What a person saved on the board is theirs before a command changes the same task."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.saved_edits import take_up_all
from gitticks.board.checkout_state import TakenUp
from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from tests.support.projects import SESSION, Project, make_project, make_reviewing
from tests.support.repositories import git
from tests.support.stores import write_task_file


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2", awaiting=Awaiting.WORK, body="Text.\n\n## Context\n\nold\n")
    return project


def test_a_saved_edit_is_committed_as_its_own_before_the_command(project: Project) -> None:
    project.save("k7f2", "old", "new")
    project.ok("update", "k7f2", "-p", "0")
    log = git("log", "-2", "--format=%s", "gitticks/state", at=project.path).splitlines()
    assert log == ["k7f2: priority", "k7f2: ## Context"]
    assert project.file("k7f2").section("Context") == "new"
    assert project.board_status() == ""


def test_a_saved_status_is_carried_out(project: Project) -> None:
    project.save("k7f2", "status: pending\nawaiting: work", "status: cancelled")
    ran = project.gt("note", "k7f2", "still")
    assert ran.code == 0
    assert project.task("k7f2").status is Status.CANCELLED
    assert project.board_status() == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("awaiting: work", "awaiting: work\nverdict: approved"),
        ("status: pending", "status: done"),
        ("status: pending", "status: ["),
        ("status: pending", "status: pending\nreview_round: 3"),
    ],
)
def test_what_does_not_count_or_is_refused_stays_where_it_is(project: Project, old: str, new: str) -> None:
    project.save("k7f2", old, new)
    ran = project.gt("note", "k7f2", "hello")
    assert ran.code == 0
    assert ran.err.startswith("warning: `.gitticks/tasks/f2/k7f2/TASK.md` is edited, ")
    task = project.task("k7f2")
    assert (task.status, task.awaiting, task.verdict, task.review_round) == (
        Status.PENDING,
        Awaiting.WORK,
        None,
        0,
    )
    assert project.notes("k7f2") == ["hello"]
    text = project.board_file("k7f2").read_text()
    assert new in text


@pytest.mark.parametrize("is_committed", [False, True])
def test_whoever_wrote_a_hand_off_on_the_board_cannot_approve_it_with_four_eyes(
    project: Project, is_committed: bool
) -> None:
    make_reviewing(project, "m4m4", created_by="Grace", body="Text.\n")
    project.ok("config", "approvals.four_eyes", "true")
    for old, new in (("Text.", "Words."), ("Words.", "Words.\n\n## handoff\n\nHalf"), ("Half", "Done")):
        project.save("m4m4", old, new)
        if is_committed:
            git("commit", "-qam", "mine", at=project.board)
        project.ok("status")
        assert project.board_status() == ""
    edits = [event.data for event in project.events("m4m4") if event.type is EventType.TEXT_CHANGED]
    assert edits == [{"sections": ["handoff"]}]
    ran = project.gt("approve", "m4m4")
    assert (ran.code, "was worked on by Ada Lovelace" in ran.err) == (3, True), ran.seen


@pytest.mark.parametrize("is_staged", [False, True])
def test_an_edit_of_a_file_that_looks_executable_is_taken_up(project: Project, is_staged: bool) -> None:
    project.board_file("k7f2").chmod(0o755)
    if is_staged:
        git("add", "-A", at=project.board)
    project.ok("note", "k7f2", "hello")
    assert git("diff", "--cached", "--raw", at=project.board) == ""
    if is_staged:
        git("add", "-A", at=project.board)
    project.save("k7f2", "old", "new")
    project.ok("status")
    assert project.file("k7f2").section("Context") == "new"


def test_an_agents_command_takes_up_nothing(project: Project) -> None:
    project.change("k7f2", awaiting=None)
    project.save("k7f2", "old", "new")
    project.ok("note", "k7f2", "mine", environment=SESSION)
    assert project.file("k7f2").section("Context") == "old"
    assert "new" in project.board_file("k7f2").read_text()


def test_a_broken_file_is_named_with_its_line_and_can_be_fixed_by_saving(project: Project) -> None:
    text = project.board_file("k7f2").read_text()
    write_task_file(project.store, "k7f2", text.replace("status: pending", "status: reddy"))
    project.make("m3xq")
    ran = project.gt("update", "k7f2", "-p", "0")
    assert ran.code == 1
    assert ran.err.startswith("error: .gitticks/tasks/f2/k7f2/TASK.md:4:9: `status` is not one of ")
    assert ran.err.endswith("\nhint: `gt edit k7f2` opens it at that line\n")
    project.board_file("k7f2").write_text(text)
    project.ok("update", "k7f2", "-p", "0")
    assert project.task("k7f2").priority == 0


def test_the_two_commits_of_a_new_file_are_told_apart(project: Project) -> None:
    _new(project, "plan1")
    assert _take_up(project).paths == ("tasks/n1/plan1/TASK.md",)
    log = git("log", "-2", "--format=%s", "gitticks/state", at=project.path).splitlines()
    assert log == ["plan1: created: Plan plan1", "plan1: saved on the board"]


def test_conflict_markers_that_were_saved_are_not_taken_up(project: Project) -> None:
    project.save("k7f2", "old", "<<<<<<< ours\nold\n=======\nnew\n>>>>>>> theirs")
    assert "refused: line 15: holds conflict markers" in project.gt("note", "k7f2", "hello").err
    assert project.file("k7f2").section("Context") == "old"


CONFLICT = "<<<<<<< ours\nold\n=======\nnew\n>>>>>>> theirs"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("is_committed", [False, True])
def test_code_may_show_conflict_markers(project: Project, newline: str, is_committed: bool) -> None:
    file = project.board_file("k7f2")
    text = file.read_text().replace("old", f"```\n{CONFLICT}\n```")
    file.write_text(text, newline=newline)
    if is_committed:
        git("commit", "-qam", "k7f2: by hand", at=project.board)
    project.ok("note", "k7f2", "hello")
    assert project.file("k7f2").section("Context") == f"```\n{CONFLICT}\n```"


def test_markers_are_a_conflict_also_where_code_shows_some(project: Project) -> None:
    project.save("k7f2", "old", f"```\n{CONFLICT}\n```\n\nmore")
    project.ok("note", "k7f2", "hello")
    project.save("k7f2", "more", CONFLICT)
    assert "refused: line 23: holds conflict markers" in project.gt("note", "k7f2", "hello").err


@pytest.mark.parametrize(
    "begin", ["```\nold\n```\n=======\n```\nnew\n```", "```sh\nold\n=======\n```bash\nnew"]
)
def test_markers_around_code_are_a_conflict(project: Project, begin: str) -> None:
    project.save("k7f2", "old", f"<<<<<<< ours\n{begin}\n>>>>>>> theirs")
    assert "refused: line 15: holds conflict markers" in project.gt("note", "k7f2", "hello").err


NOTE = "TASK.md.refused"
NEW_TASK = "---\nid: {0}\ntitle: Plan {0}\nstatus: pending\n{1}---\nThe text.\n"


def _take_up(project: Project) -> TakenUp:
    return take_up_all(Context(directory=project.path))


def _new(project: Project, task_id: str, fields: str = "") -> Path:
    file = project.board_file(task_id)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(NEW_TASK.format(task_id, fields))
    return file


def test_new_tasks_are_taken_up_also_such_as_name_one_another(project: Project) -> None:
    _new(project, "aplan", "blocked_by: [bplan]\n")
    _new(project, "bplan")
    assert _take_up(project).paths == ("tasks/an/aplan/TASK.md", "tasks/an/bplan/TASK.md")
    task = project.task("aplan")
    assert (task.blocked_by, task.created_by, task.status) == (("bplan",), "Ada Lovelace", Status.PENDING)
    assert [event.type.value for event in project.events("bplan")] == ["task.created"]
    assert project.board_status() == ""


def test_a_new_task_that_cannot_be_one_gets_a_note(project: Project) -> None:
    file = _new(project, "aplan", "priority: high\n")
    left = _take_up(project).left[f"tasks/an/aplan/{file.name}"]
    assert "`priority` is not a number from 0 to 4" in left
    assert "`priority` is not a number from 0 to 4" in file.with_name(NOTE).read_text()


def test_a_refused_edit_has_a_note_beside_it_until_it_is_fixed(project: Project) -> None:
    file = project.board_file("k7f2")
    note = file.with_name(NOTE)
    before = file.read_text()
    project.save("k7f2", "status: pending", "status: done")
    edited = file.read_text()
    assert _take_up(project).has_refused
    assert "`k7f2` cannot go from pending to done" in note.read_text()
    assert file.read_text() == edited
    assert "TASK.md" in project.board_status()
    assert NOTE not in project.board_status()
    tip = project.tip()
    git("add", "--force", str(note), at=project.board)
    with pytest.raises(Exception, match="note of gitticks"):
        git("commit", "-m", "all", at=project.board)
    git("rm", "--quiet", "--cached", str(note), at=project.board)
    assert project.tip() == tip
    file.write_text(before)
    assert _take_up(project) == TakenUp()
    assert not note.exists()


def test_a_command_on_the_task_writes_and_removes_the_note_too(project: Project) -> None:
    note = project.board_file("k7f2").with_name(NOTE)
    project.save("k7f2", "status: pending", "status: [")
    project.ok("note", "k7f2", "hello")
    assert note.read_text().startswith("This edit was refused:\n\nline 6: ")
    project.save("k7f2", "status: [", "status: pending")
    project.ok("note", "k7f2", "hello again")
    assert not note.exists()


def test_a_commit_of_the_fixed_file_removes_the_note(project: Project) -> None:
    note = project.board_file("k7f2").with_name(NOTE)
    project.save("k7f2", "status: pending", "status: [")
    _take_up(project)
    project.save("k7f2", "status: [", "priority: 1\nstatus: pending")
    git("commit", "-qam", "k7f2: fixed", at=project.board)
    assert not note.exists()


def test_a_note_that_a_person_wrote_into_stays(project: Project) -> None:
    note = project.board_file("k7f2").with_name(NOTE)
    before = project.board_file("k7f2").read_text()
    project.save("k7f2", "status: pending", "status: [")
    _take_up(project)
    note.write_text(note.read_text() + "remember this\n")
    project.board_file("k7f2").write_text(before)
    _take_up(project)
    assert note.read_text().endswith("remember this\n")


@pytest.mark.parametrize("by_git", [False, True])
def test_a_text_may_return_to_what_it_was(project: Project, by_git: bool) -> None:
    project.make("k7f2", body="Alpha line.\n")
    project.ok("update", "k7f2", "-d", "Beta line.")
    project.save("k7f2", "Beta line.", "Alpha line.")
    if by_git:
        git("commit", "--quiet", "-am", "back", at=project.board)
    project.ok("status")
    assert b"Alpha line." in project.file("k7f2").data
    assert project.board_file("k7f2").read_bytes() == project.file("k7f2").data
    assert project.board_status() == ""


def test_an_old_buffer_takes_nothing_back(project: Project) -> None:
    shown = project.board_file("k7f2").read_text()
    project.ok("update", "k7f2", "-p", "0")
    project.board_file("k7f2").write_text(shown + "\nmine\n")
    assert _take_up(project).paths
    assert project.task("k7f2").priority == 0
    assert "mine" in project.file("k7f2").data.decode()
    assert project.board_status() == ""


def test_what_was_refused_is_saved_fixed_by_an_editor_that_shows_an_old_file(project: Project) -> None:
    """What the editor saved before is on no branch: all that differs from the branch is the person's edit."""
    file = project.board_file("m3xq")
    file.parent.mkdir(parents=True)
    shown = "---\nid: m3xq\ntitle: Plan\nstatus: pending\n---\n\nText.\n"
    file.write_text(shown)
    assert _take_up(project).paths
    refused = (
        shown.replace("Plan", "Plan it")
        .replace("---\n\n", "labels: [a]\nparent: nope\n---\n\nMore text.")
        .replace("More text.Text.", "More text.")
    )
    for _ in range(2):
        file.write_text(refused) if "nope" not in file.read_text() else None
        assert "there is no task `nope`" in _take_up(project).left["tasks/xq/m3xq/TASK.md"]
    file.write_text(refused.replace("parent: nope\n", ""))
    assert _take_up(project).paths == ("tasks/xq/m3xq/TASK.md",)
    task = project.task("m3xq")
    assert (task.title, task.labels, project.file("m3xq").summary) == ("Plan it", ("a",), "More text.")


def test_a_merge_that_is_under_way_is_left_alone(project: Project) -> None:
    head = git("rev-parse", "HEAD", at=project.board)
    place = git("rev-parse", "--git-path", "MERGE_HEAD", at=project.board)
    (project.board / place).write_text(f"{head}\n")
    project.save("k7f2", "old", "new")
    assert _take_up(project) == TakenUp((), {"tasks/f2/k7f2/TASK.md": "edited, not committed"})


def test_a_conflict_says_how_to_join(project: Project) -> None:
    project.save("k7f2", "old", "mine")
    file = project.file("k7f2")
    os.utime(project.board_file("k7f2"), (1e9, 1e9))
    write_task_file(project.store, "k7f2", file.data.decode().replace("old", "theirs"))
    left = project.ok("status")
    assert (
        "tasks/f2/k7f2/TASK.md  not in step: conflict; `git -C .gitticks diff HEAD -- tasks/f2/k7f2/TASK.md`"
        in left
    )
    assert "mine" in project.board_file("k7f2").read_text()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda folder: (folder / "TASK.md").unlink(),
            "`git -C .gitticks checkout HEAD -- tasks/f2/k7f2/TASK.md`",
        ),
        (
            lambda folder: folder.rename(folder.with_name("login")),
            "`gt doctor --fix` moves it back",
        ),
        (lambda folder: _copy(folder, folder.with_name("login")), "move it to `tasks/f2/k7f2/TASK.md`"),
        (
            lambda folder: shutil.copytree(folder, folder.parent.with_name("copy")),
            "can only be written by gitticks; `rm .gitticks/tasks/copy/history.jsonl` removes it",
        ),
        (lambda folder: _replace(folder, b"\0\xff\x01" * 999), "refused: "),
        (lambda folder: _replace(folder, None), "not a regular file"),
        (lambda folder: _replace(folder, b"---\nid: m3xq\ntitle: x\nstatus: pending\n---\n"), "m3xq"),
        (lambda folder: (folder / "history.jsonl").write_text("{}\n"), "can only be written by gitticks"),
    ],
)
def test_what_is_broken_is_named_with_the_fix(
    project: Project, spoil: Callable[[Path], object], words: str
) -> None:
    tip = project.tip()
    spoil(project.board_file("k7f2").parent)
    found = _take_up(project)
    assert words in " ".join(found.left.values())
    assert found.paths == ()
    assert project.tip() == tip
    project.ok("status")


def _copy(folder: Path, other: Path) -> None:
    other.mkdir()
    (other / "TASK.md").write_bytes((folder / "TASK.md").read_bytes())


def _replace(folder: Path, content: bytes | None) -> None:
    file = folder / "TASK.md"
    file.unlink()
    if content is None:
        file.symlink_to("/etc/hostname")
    else:
        file.write_bytes(content)


def test_feedback_typed_below_the_notes_is_a_note_of_its_own_where_another_came_before_the_commit(
    project: Project,
) -> None:
    project.ok("update", "k7f2", "--awaiting", "review")
    project.ok("note", "k7f2", "first")
    file = project.board_file("k7f2")
    file.write_text(f"{file.read_text()}\nPlease keep the old URLs.\n")
    project.save("k7f2", "awaiting: review", "awaiting: review\nverdict: rejected")
    assert "is edited" in project.gt("note", "k7f2", "second").err
    git("commit", "-qam", "k7f2: not yet", at=project.board)
    assert project.notes("k7f2") == ["first", "second", "Please keep the old URLs."]
    assert project.task("k7f2").awaiting is None
