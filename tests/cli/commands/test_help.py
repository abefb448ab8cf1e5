from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.cli.catalogue import ALIASES, CATALOGUE
from gitticks.model.status import Awaiting, Phase, Status
from tests.cli.support import gt, gt_on_terminal, gt_process


@pytest.mark.parametrize("words", [("approve",), ("worktree",), ("worktree", "clean"), ("help",)])
def test_help_of_a_command_is_what_its_own_flag_says(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert gt("help", *words, at=tmp_path) == gt(*words, "--help", at=tmp_path)


def test_alone_it_lists_commands_and_topics(tmp_path: Path) -> None:
    ran = gt("help", at=tmp_path)
    assert ran.out.startswith(gt("--help", at=tmp_path).out)
    assert ran.out.endswith(
        "\nTopics:\n  workflow  How a task moves: statuses, steps, gates and whose turn it is.\n"
        "  states    What status, phase and awaiting mean.\n"
    )


def test_all_lists_every_command_which_help_alone_does_not(tmp_path: Path) -> None:
    every, short = gt("help", "all", at=tmp_path).out, gt("--help", at=tmp_path).out
    for entry in CATALOGUE:
        assert f"  {entry.name} " in every
    assert "merge-driver" not in short
    assert "migrate" not in short
    assert "--manual" not in gt("create", "--help", at=tmp_path).out


def test_man_pages_are_written_from_help(tmp_path: Path) -> None:
    ran = gt("help", "--man", "man", at=tmp_path)
    assert ran.out.endswith("man pages written: `man -l man/gt.1`\n")
    page = (tmp_path / "man" / "gt-worktree-clean.1").read_text()
    assert page.startswith('.TH GT-WORKTREE-CLEAN 1 "" "gitticks ')
    assert "\n.SH NAME\ngt\\-worktree\\-clean \\- " in page
    assert "\\-h, \\-\\-help" in page
    assert all((tmp_path / "man" / f"gt-{entry.name}.1").is_file() for entry in CATALOGUE)


def test_one_table_explains_status_phase_and_awaiting(tmp_path: Path) -> None:
    page = gt("help", "states", at=tmp_path).out
    for word in (*Status, *Phase, *Awaiting):
        assert word in page


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_alias_is_its_command(tmp_path: Path, alias: str, name: str) -> None:
    of_alias, of_name = (gt(one, "--help", at=tmp_path).out for one in (alias, name))
    assert of_alias.replace(f"gt {alias} ", f"gt {name} ") == of_name
    assert gt("help", alias, at=tmp_path).code == 0


def test_the_workflow_is_drawn_outside_of_a_repository_too(tmp_path: Path) -> None:
    ran = gt("help", "workflow", at=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert "◇ agent-review   │  │ ◁┤ ─┤  │ ◁┤\n" in ran.out


@pytest.mark.parametrize("word", ["review-by-a-council", "council", "verdicts"])
def test_a_guide_opens_by_its_name_or_a_word_of_it(tmp_path: Path, word: str) -> None:
    ran = gt("help", word, at=tmp_path)
    assert ran.out.startswith("# Have several agents review\n") is (word != "verdicts")
    assert ("gt help workflow" in ran.err) is (word == "verdicts")


def test_a_word_of_several_guides_names_them(tmp_path: Path) -> None:
    assert gt("help", "move", at=tmp_path).err.endswith(
        "hint: did you mean `gt help move-from-backlog` or `gt help move-from-beads` or "
        "`gt help move-from-github` or `gt help move-from-ticks`?\n"
    )


def test_all_lists_the_guides_and_a_pager_shows_one(tmp_path: Path) -> None:
    assert "\n  set-the-tests                  Set the tests\n" in gt("help", "all", at=tmp_path).out
    shown = gt_on_terminal("help", "set-the-tests", at=tmp_path, columns=60)
    assert "\x1b[1mSet the tests\x1b[0m" in shown.out


@pytest.mark.parametrize("columns", [80, 40])
def test_on_a_terminal(tmp_path: Path, columns: int) -> None:
    ran = gt_on_terminal("help", "workflow", at=tmp_path, columns=columns)
    assert ran.code == 0
    assert "\x1b[1magent-review\x1b[0m" in ran.out


def test_where_the_terminal_knows_ascii_alone(tmp_path: Path) -> None:
    ran = gt_process("help", "workflow", at=tmp_path, environment={"PYTHONIOENCODING": "ascii"})
    assert "r agent-review   |  | <+ -+  | <+\n" in ran.out
    assert ran.out.isascii()


def test_a_folder_that_cannot_be_made_is_no_bug(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ran = gt("help", "--man", "file/man1", at=tmp_path)
    assert ran.seen == (
        "--- 1\nerror: `file/man1` cannot be written: not a directory\n\nhint: `ls -ld file` shows it\n"
    )


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("approv",), "there is no command, topic or guide `approv`", "did you mean `gt help approve`?"),
        (("gates",), "there is no command, topic or guide `gates`", "did you mean `gt help workflow`?"),
        (("answer",), "there is no command, topic or guide `answer`", "did you mean `gt help respond`?"),
        (("counci",), "there is no command, topic or guide `counci`", "did you mean `gt help council`?"),
        (
            ("workflows",),
            "there is no command, topic or guide `workflows`",
            "did you mean `gt help workflow`?",
        ),
        (
            ("\x1b[31m",),
            "there is no command, topic or guide `\\x1b[31m`",
            "`gt help all` lists the commands",
        ),
        (("worktree", "clea"), "there is no command `clea`", "did you mean `gt help worktree clean`?"),
        (
            ("council", "rules"),
            "there is no command, topic or guide `council`",
            "did you mean `gt help review-by-a-council`?",
        ),
        (("show", "k7f2"), "there is no command `k7f2`", "`gt help all` lists the commands"),
    ],
)
def test_what_is_unknown_is_reported_with_what_is_near(
    tmp_path: Path, words: tuple[str, ...], message: str, hint: str
) -> None:
    assert gt("help", *words, at=tmp_path).seen == f"--- 1\nerror: {message}\n\nhint: {hint}\n"
