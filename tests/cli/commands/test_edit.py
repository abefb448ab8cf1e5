from __future__ import annotations

import re
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from tests.cli.support import Ran
from tests.support.projects import SESSION, Project, make_project, make_reviewing
from tests.support.repositories import git
from tests.support.stores import write_task_file


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2", body="Old summary.\n\n## Context\n\nold context\n\n## Notes\n")
    return project


def _edit(project: Project, script: str, *options: str) -> Ran:
    return project.gt("edit", "k7f2", *options, environment={"GIT_EDITOR": script})


def _kept(ran: Ran) -> Path:
    found = re.search(r"your text is kept in `(.+?)`", ran.err)
    assert found is not None, ran.err
    return Path(found[1])


def test_text_and_fields_are_taken_as_they_are_left(project: Project) -> None:
    ran = _edit(project, "sed -i -e 's/Old summary/New summary/' -e 's/^title: .*/title: New  # why/'")
    assert ran.seen == "k7f2  changed · New\n--- 0\n"
    assert "title: New  # why" in project.board_file("k7f2").read_text()
    assert project.file("k7f2").summary == "New summary."
    assert project.subject() == "k7f2: title, summary"
    assert [event.type for event in project.events("k7f2")][1:] == [
        EventType.FIELDS_CHANGED,
        EventType.TEXT_CHANGED,
    ]
    assert project.board_status() == ""
    assert not list((project.path / ".git" / "gitticks" / "drafts").iterdir())


def test_nothing_changed_is_no_commit(project: Project) -> None:
    tip = project.tip()
    assert _edit(project, "true").seen == "k7f2  not changed\n--- 0\n"
    assert project.tip() == tip


@pytest.mark.parametrize(
    ("script", "status", "awaiting"),
    [
        ("sed -i 's/^status: .*/status: working/'", Status.WORKING, None),
        ("sed -i 's/^status: .*/status: cancelled/'", Status.CANCELLED, None),
        ("sed -i 's/^status: .*/&\\nawaiting: work/'", Status.PENDING, Awaiting.WORK),
        ("sed -i 's/^status: .*/&\\nawaiting: work\\nverdict: approved/'", Status.DONE, None),
    ],
)
def test_a_status_verdict_or_awaiting_is_decided_about(
    project: Project, script: str, status: Status, awaiting: Awaiting | None
) -> None:
    assert _edit(project, script).code == 0
    task = project.task("k7f2")
    assert (task.status, task.awaiting, task.verdict) == (status, awaiting, None)
    assert project.events("k7f2")[-1].actor.name == "Ada Lovelace"


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        ("sed -i 's/^status: .*/status: done/'", 3, "`k7f2` cannot go from pending to done"),
        ("sed -i 's/^status: .*/&\\nverdict: approved/'", 3, "`k7f2` is not waiting for anyone"),
        (
            "sed -i 's/^status: .*/&\\nreview_round: 3/'",
            3,
            "TASK.md:5: `review_round` can only be written by gitticks",
        ),
        ("sed -i 's/^id: .*/id: m3xq/'", 1, "TASK.md:2: `id` is `m3xq`, but the folder is that of `k7f2`"),
        ("sed -i 's/^status: .*/status: [/'", 1, "TASK.md:6:"),
        ("sed -i 's/^status: .*/&\\nblocked_by: [nope]/'", 1, "there is no task `nope` to wait for"),
        ("sed -i d", 1, "TASK.md:1:1: there is no frontmatter"),
    ],
)
def test_what_is_refused_is_kept_in_a_file_of_its_own(
    project: Project, script: str, code: int, message: str
) -> None:
    tip = project.tip()
    ran = _edit(project, f"{script} \"$1\"; sed -i 's/Old/MINE/'" if script != "sed -i d" else script)
    assert (ran.code, project.tip()) == (code, tip)
    assert message in ran.err
    assert _kept(ran).exists()


def test_a_broken_text_that_was_committed_past_the_hooks_is_fixed_as_it_is_there(project: Project) -> None:
    breaks = "sed -i 's/^status: .*/status: [/'"
    kept = _kept(_edit(project, breaks))
    project.board_file("k7f2").write_bytes(kept.read_bytes())
    git("commit", "-qam", "broken", "--no-verify", at=project.board)
    ran = _edit(project, "sed -i 's/^status: .*/status: pending/'")
    assert (ran.code, ran.out) == (0, "k7f2  fixed · Login loses the return URL\n"), ran.seen
    assert not kept.exists()


def test_a_draft_is_not_opened_over_a_file_that_broke_meanwhile(project: Project) -> None:
    kept = _kept(_edit(project, "sed -i 's/Old/MINE/' \"$1\"; false"))
    file = project.board_file("k7f2")
    file.write_text(re.sub("^status: .*", "status: [", file.read_text(), flags=re.MULTILINE))
    git("commit", "-qam", "broken", "--no-verify", at=project.board)
    ran = _edit(project, "sed -i 's/^status: .*/status: pending/'")
    assert (ran.code, f"is kept in `{kept}`" in ran.err) == (0, True), ran.seen
    assert "MINE" in kept.read_text()


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("false", "the editor `false` failed with 1; nothing was changed"),
        ("no-such-editor", "the editor `no-such-editor` was not found; nothing was changed"),
    ],
)
def test_an_editor_that_fails_or_is_missing(project: Project, editor: str, message: str) -> None:
    ran = _edit(project, editor)
    assert ran.code == 1
    assert ran.err.startswith(f"error: {message}")


def test_a_failing_editor_that_wrote_something_loses_nothing(project: Project) -> None:
    ran = _edit(project, "sed -i 's/Old/MINE/' \"$1\"; false")
    assert ran.code == 1
    assert "MINE" in _kept(ran).read_text()
    assert project.file("k7f2").summary == "Old summary."


def test_a_failing_editor_that_rescued_an_unsaved_text_loses_nothing(project: Project) -> None:
    kept = _kept(_edit(project, 'echo MINE > "$(dirname "$1")/.TASK.md.swp"; false'))
    assert (kept / ".TASK.md.swp").read_text() == "MINE\n"
    again = _edit(project, 'cat "$(dirname "$1")/.TASK.md.swp" >> "$1"; true')
    assert (again.code, kept.exists()) == (0, False), again.seen
    assert b"MINE" in project.file("k7f2").data


def _gt(project: Project, *arguments: str) -> str:
    """Returns a shell command that runs `gt` while the editor is open."""
    import shlex

    from tests.cli.support import command

    return f"(cd {project.path} && {shlex.join(command(*arguments))} >&2)"


def test_what_others_changed_meanwhile_stays(project: Project) -> None:
    busy = _gt(project, "update", "k7f2", "-p", "0", "--status", "working", "--note", "from outside")
    ran = _edit(
        project, f"{busy}; sed -i -e 's/Old summary/New summary/' -e 's/^title: .*/title: New/' \"$1\"; true"
    )
    assert ran.code == 0, ran.seen
    file = project.file("k7f2")
    assert (file.task.title, file.task.priority, file.task.status) == ("New", 0, Status.WORKING)
    assert file.summary == "New summary."
    assert project.notes("k7f2") == ["from outside"]


def test_the_same_changed_on_both_sides_keeps_both(project: Project) -> None:
    busy = _gt(project, "update", "k7f2", "--title", "Theirs")
    ran = _edit(project, f"{busy}; sed -i 's/^title: .*/title: Mine/' \"$1\"; true")
    assert ran.code == 1
    assert "was changed in the same places while you edited it" in ran.err
    assert "title: Mine" in _kept(ran).read_text()
    assert project.task("k7f2").title == "Theirs"


def test_what_was_refused_is_what_the_next_edit_goes_on_with(project: Project) -> None:
    ran = _edit(project, "sed -i -e 's/Old/MINE/' -e 's/^status: .*/status: [/'")
    assert "`gt edit k7f2` opens it again" in ran.err
    kept = _kept(ran)
    project.ok("note", "k7f2", "in between")
    project.make("m3xq", body="Old summary.\n")
    assert project.gt("edit", "m3xq", environment={"GIT_EDITOR": "! grep MINE"}).out.startswith(
        "m3xq  not changed"
    )
    again = _edit(project, "sed -i 's/^status: .*/status: pending/'")
    assert f"to begin anew: rm {kept}" in again.err
    assert (again.code, project.file("k7f2").summary) == (0, "MINE summary.")
    assert project.notes("k7f2") == ["in between"]
    assert not kept.exists()


def test_one_that_was_changed_in_the_same_places_since_is_named_and_not_opened(project: Project) -> None:
    kept = _kept(_edit(project, "sed -i -e 's/^title: .*/title: Mine/' -e 's/^id: .*/id: no/'"))
    project.ok("update", "k7f2", "--title", "Theirs")
    ran = _edit(project, "grep 'title: Theirs'")
    assert (ran.code, ran.out) == (0, "k7f2  not changed\n")
    assert f"your last edit, which is kept in `{kept}`" in ran.err
    assert "title: Mine" in kept.read_text()


def test_an_emptied_file_is_nothing_to_go_on_with(project: Project) -> None:
    assert _edit(project, "sed -i d").code == 1
    assert _edit(project, "grep Old").code == 0


def test_a_broken_file_opens_at_its_problem_and_is_fixed(project: Project, tmp_path: Path) -> None:
    write_task_file(
        project.store, "k7f2", "---\nid: k7f2\ntitle: Login\nstatus: pending\npriority: high\n---\n"
    )
    editor = tmp_path / "vim"
    editor.write_text('#!/bin/sh\necho "$1" >&2\nsed -i "s/high/1/" "$2"\n')
    editor.chmod(0o755)
    ran = _edit(project, str(editor))
    assert (ran.code, ran.out) == (0, "k7f2  fixed · Login\n")
    assert project.task("k7f2").priority == 1


def test_loose_text_below_the_last_note_becomes_a_note_of_the_persons(project: Project) -> None:
    project.ok("note", "k7f2", "first")
    assert _edit(project, "sed -i '$a typed below'").code == 0
    assert project.notes("k7f2") == ["first", "typed below"]


def test_loose_text_is_the_persons_also_where_another_note_came_meanwhile(project: Project) -> None:
    project.ok("note", "k7f2", "first")
    busy = _gt(project, "note", "k7f2", "second")
    ran = _edit(project, f"{busy}; sed -i '$a typed below' \"$1\"; true")
    assert ran.code == 0, ran.seen
    assert project.notes("k7f2") == ["first", "second", "typed below"]


def test_what_was_saved_on_the_board_is_part_of_what_the_editor_shows(project: Project) -> None:
    file = project.board_file("k7f2")
    file.write_text(file.read_text().replace("old context", "saved context"))
    assert _edit(project, "sed -i 's/saved context/& and more/'").code == 0
    assert project.file("k7f2").section("Context") == "saved context and more"
    assert project.board_status() == ""


def test_an_agent_cannot_edit_by_hand(project: Project) -> None:
    ran = project.gt("edit", "k7f2", environment={**SESSION, "GIT_EDITOR": "true"})
    assert ran.code == 3


def test_the_editor_is_gits_own_choice_but_never_the_repositorys(project: Project) -> None:
    git("config", "core.editor", "sed -i s/Old/Repository/", at=project.path)
    git("config", "--global", "core.editor", "sed -i s/Old/Global/", at=project.path)
    project.ok("edit", "k7f2")
    assert project.file("k7f2").summary == "Global summary."


def test_a_hand_off_that_was_sent_back_meanwhile_does_not_return_by_a_corrected_word(
    project: Project,
) -> None:
    body = "Old summary.\n\n## Handoff\n\nDONE: the loginn.\n"
    make_reviewing(project, body=body)
    ran = _edit(
        project, f"{_gt(project, 'reject', 'k7f2', 'not yet')}; sed -i 's/loginn/login/' \"$1\"; true"
    )
    assert ran.code == 1
    assert "was changed in the same places while you edited it" in ran.err
    assert "DONE: the login." in _kept(ran).read_text()
    assert (project.task("k7f2").status, project.file("k7f2").section("Handoff")) == (Status.WORKING, None)
