from __future__ import annotations

import re
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.notes import Section
from gitticks.model.status import ActorKind
from tests.support.projects import SESSION, Project, make_project, make_working
from tests.support.terminals import typed


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2")
    return project


@pytest.mark.parametrize(
    ("arguments", "given", "text"),
    [
        (["k7f2", "one"], "", "one"),
        (["k7", "several", "words"], "", "several words"),
        (["k7f2", "-"], "from\nstdin\n", "from\nstdin"),
        (["k7f2", "--file", "note.txt"], "", "from a file"),
        (["k7f2", "--file", "-"], "stdin again", "stdin again"),
        (["k7f2", "## Handoff\n\n### not a heading"], "", "## Handoff\n\n### not a heading"),
    ],
)
def test_a_note_from_anywhere(project: Project, arguments: list[str], given: str, text: str) -> None:
    (project.path / "note.txt").write_text("from a file\n")
    assert project.ok("note", *arguments, input=given) == "k7f2  note added\n"
    entry = project.file("k7f2").entries(Section.NOTES)[-1]
    assert (entry.kind, entry.name, entry.text) == (ActorKind.HUMAN, "Ada Lovelace", text)
    assert project.file("k7f2").section(Section.HANDOFF) is None
    assert project.events("k7f2")[-1].type is EventType.NOTED
    assert project.subject() == "k7f2: note added"


def test_a_note_for_an_agent_and_by_one(project: Project) -> None:
    project.ok("note", "k7f2", "pasted", "--from", "agent")
    project.ok("note", "k7f2", "mine", environment=SESSION)
    assert [entry.kind for entry in project.file("k7f2").entries(Section.NOTES)] == [ActorKind.AGENT] * 2


def test_in_a_workspace_a_single_word_is_the_text(project: Project) -> None:
    workspace = make_working(project, "m3xq")
    project.ok("note", "careful", at=workspace)
    project.ok("note", "k7f2", "elsewhere", at=workspace)
    assert (project.notes("m3xq"), project.notes("k7f2")) == (["careful"], ["elsewhere"])


def test_other_bytes_on_stdin_are_to_be_converted_also_where_the_locale_is_c(project: Project) -> None:
    ran = project.gt("note", "k7f2", "-", input="caf\udce9\n")
    assert ran.seen == (
        "--- 2\nerror: the text is not UTF-8\n\n"
        "hint: `iconv -f LATIN1 -t UTF-8` converts it, if it is Latin-1\n"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "no task was named"),
        (["k7f2"], 2, "the note is empty"),
        (["k7f2", "  "], 2, "the note is empty"),
        (["nope", "text"], 1, "there is no task `nope`"),
        (["k7f2", "--file", "nowhere"], 1, "`nowhere` cannot be read"),
        (["k7f2", "x" * 100_001], 2, "the text is longer than 100 kB"),
        (["k7f2", "--file", "long.txt"], 2, "`long.txt` is longer than 100 kB"),
        (["k7f2", "--file", "latin.txt"], 2, "`latin.txt` is not UTF-8"),
        (["k7f2", "a\0b"], 2, "the text contains a NUL character"),
        (["k7f2", "text", "--file", "-"], 2, "the note is given twice, as TEXT and with `--file`"),
    ],
)
def test_what_is_refused(project: Project, arguments: list[str], code: int, message: str) -> None:
    (project.path / "long.txt").write_text(f"{'x' * 99_999}é")
    (project.path / "latin.txt").write_bytes(b"caf\xe9\n")
    tip = project.tip()
    ran = project.gt("note", *arguments)
    assert (ran.code, project.tip()) == (code, tip)
    assert ran.err.startswith(f"error: {message}")
    assert "\n\nhint: " in ran.err


def test_an_agent_cannot_write_a_persons_note(project: Project) -> None:
    ran = project.gt("note", "k7f2", "yes, go on", "--from", "human", environment=SESSION)
    assert ran.code == 3
    assert project.notes("k7f2") == []


def test_on_a_terminal_the_editor_opens(project: Project) -> None:
    editor = {"GIT_EDITOR": "cp $1 page; echo 'Mind the cookie.' >>"}
    ran = typed("note", "k7f2", at=project.path, answers=[], environment=editor)
    assert (ran.code, ran.out) == (0, "k7f2  note added\n"), ran.seen
    assert project.notes("k7f2") == ["Mind the cookie."]
    page = (project.path / "page").read_text()
    assert page.startswith(f"# k7f2  {project.task('k7f2').title}\n# pending\n")


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("true", "the note is empty"),
        ("rm", "the editor removed the file"),
        ("false", "the editor `false` failed"),
        ("no-such-editor", "the editor `no-such-editor` was not found"),
    ],
)
def test_an_editor_that_leaves_no_note(project: Project, editor: str, message: str) -> None:
    tip = project.tip()
    ran = typed("note", "k7f2", at=project.path, answers=[], environment={"GIT_EDITOR": editor})
    assert (project.tip(), f"error: {message}" in ran.err) == (tip, True), ran.seen
    assert list((project.path / ".git/gitticks/drafts").iterdir()) == []


def test_an_agent_gets_no_editor(project: Project) -> None:
    ran = typed("note", "k7f2", at=project.path, answers=[], environment={**SESSION, "GIT_EDITOR": "touch x"})
    assert (ran.code, (project.path / "x").exists()) == (2, False)


def test_a_note_that_cannot_be_added_is_kept(project: Project) -> None:
    project.make("m3xq", body="Text.\n\n## Notes\n\n```\nnever closed\n")
    ran = project.gt("note", "m3xq", "-", input="Long thoughts.\n")
    found = re.search(r"your text is kept in `(.+)`", ran.err)
    assert (ran.code, found is not None) == (1, True), ran.seen
    assert found is not None
    assert Path(found[1]).read_text() == "Long thoughts.\n"
