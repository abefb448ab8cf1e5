"""What is said of a command line that click cannot take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.cli.catalogue import CATALOGUE
from gitticks.cli.options import NAMES_ELSEWHERE
from tests.cli.support import gt, gt_process
from tests.support.projects import make_project


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (
            "hooks",
            "`gt hooks` needs a command: `install`, `status`, `uninstall`",
            "gt hooks --help",
        ),
        (
            "worktree",
            "`gt worktree` needs a command: `clean`, `gc`, `list`, `open`",
            "gt worktree --help",
        ),
        ("worktree cleen", "no command `cleen`; did you mean `gt worktree clean`?", "gt worktree --help"),
        ("hooks xyz", "no command `xyz`", "gt hooks --help"),
        ("list --statu x", "no such option `--statu`; did you mean `--status`?", "gt list --help"),
        ("create --lable x", "no such option `--lable`; did you mean `--label`?", "gt create --help"),
        ("worktree list --no-pager", "no such option `--no-pager`", "gt --no-pager worktree list"),
        ("log -C x", "no such option `-C`", "gt -C DIR log"),
        ("list --xyz", "no such option `--xyz`", "gt list --help"),
        ("review k7f2 --acept", "no such option `--acept`; did you mean `--accept`?", "gt review --help"),
        ("graph --format x", "no such option `--format`", "gt graph --help"),
        ("log -n x", "invalid value for `-n` / `--count`: `x` is not a valid integer", "gt log --help"),
        (
            "permissions mode yello",
            "invalid value for `[MODE]`: `yello` is not one of `interactive`, `auto-edit`, `auto-all`, `yolo`, `default`",
            "gt permissions mode --help",
        ),
        ("approve", "missing argument `ID... [NOTE]`", "gt approve --help"),
        (
            "completion",
            "missing argument `{bash|zsh|fish}`. Choose from: bash, zsh, fish",
            "gt completion --help",
        ),
        ("update k7f2 -l", "option `-l` requires an argument", "gt update --help"),
        (
            "log -n 0",
            "invalid value for `-n` / `--count`: 0 is not in the range x>=1",
            "gt log --help",
        ),
        (
            "completion tcsh",
            "invalid value for `{bash|zsh|fish}`: `tcsh` is not one of `bash`, `zsh`, `fish`",
            "gt completion --help",
        ),
        (
            "export --format -x",
            "invalid value for `--format`: `-x` is not one of `json`, `csv`, `beads`",
            "gt export --help",
        ),
        ("list a", "got unexpected extra argument (a)", "gt list --help"),
    ],
)
def test_what_was_wrong_is_one_line_with_the_next_command(
    tmp_path: Path, words: str, message: str, hint: str
) -> None:
    ran = gt(*words.split(), at=tmp_path)
    assert (ran.code, ran.out, ran.err) == (2, "", f"error: {message}\n\nhint: `{hint}`\n")


def test_words_of_other_trackers_are_reported_as_they_are_called_here(tmp_path: Path) -> None:
    names = {entry.name for entry in CATALOGUE}
    assert not names & set(NAMES_ELSEWHERE)
    assert {name.split()[0] for name in NAMES_ELSEWHERE.values()} <= names
    ran = gt("answer", "k7f2", at=tmp_path)
    assert (ran.code, ran.err) == (
        2,
        "error: no command `answer`; did you mean `gt respond`?\n\nhint: `gt --help`\n",
    )


@pytest.mark.parametrize(
    ("word", "offered"),
    [
        ("sta", "; did you mean `gt status` or `gt stats` or `gt start`?"),
        ("appr", "; did you mean `gt approve`?"),
        ("stauts", "; did you mean `gt stats` or `gt status`?"),
        ("zz", ""),
        ("x", ""),
    ],
)
def test_the_beginning_of_commands_offers_all_that_begin_so(tmp_path: Path, word: str, offered: str) -> None:
    assert gt(word, at=tmp_path).seen == f"--- 2\nerror: no command `{word}`{offered}\n\nhint: `gt --help`\n"


@pytest.mark.parametrize(
    "command", ["note", "respond", "approve", "reject", "close", "cancel", "ask", "handoff"]
)
def test_a_text_without_an_id_says_that_the_id_is_missing(tmp_path: Path, command: str) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    assert project.gt(command, "forgot the id").seen == (
        "--- 2\nerror: the id of the task is missing: `forgot the id` is text\n\n"
        "hint: the id comes first, then the text; `gt list` shows the ids\n"
    )


@pytest.mark.parametrize(
    ("word", "else_"),
    [("forgot", "`gt list` shows the tasks"), ("k7f3", "did you mean `k7f2` (Login loses the return URL)?")],
)
def test_a_note_of_one_word_that_is_no_id_may_lack_either(tmp_path: Path, word: str, else_: str) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    assert project.gt("note", word).seen == (
        f"--- 2\nerror: there is no task `{word}`, and there is no text: either the id or the text is missing\n\n"
        f"hint: `gt note ID {word}`, if that is the text; else {else_}\n"
    )


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("create Fix the login", "TITLE"),
        ("respond k7f2 yes please", "TEXT"),
        ("config verify.test make test", "VALUE"),
    ],
)
def test_words_without_quotes_are_told_where_they_belong(tmp_path: Path, words: str, text: str) -> None:
    ran = gt(*words.split(), at=tmp_path)
    name = words.partition(" ")[0]
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: got unexpected extra argument")
    hint = f'put a text of several words in quotes, `"{text}"`; `gt {name} --help`'
    assert ran.err.endswith(f"\n\nhint: {hint}\n")


@pytest.mark.parametrize("text", ["- first\n- second", "-m is not tested", "--json is wrong", "-- or not"])
def test_a_text_may_begin_as_an_option_does(tmp_path: Path, text: str) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    project.ok("note", "k7f2", text, "--json")
    assert project.notes("k7f2") == [text]
    project.ok("cancel", "k7f2", text)
    assert project.events("k7f2")[-1].reason == text


def test_a_word_that_is_no_option_may_be_a_text(tmp_path: Path) -> None:
    ran = gt("note", "k7f2", "-foo", at=tmp_path)
    assert (ran.code, ran.err) == (
        2,
        "error: no such option `-f`\n\nhint: a TEXT that begins with `-` goes after `--`; `gt note --help`\n",
    )


@pytest.mark.parametrize(
    "words", [("next",), ("list", "--parent"), ("board",), ("graph",), ("show",), ("tree",)]
)
def test_an_empty_id_is_no_task_and_not_every_task(tmp_path: Path, words: tuple[str, ...]) -> None:
    project = make_project(tmp_path)
    project.make()
    ran = project.gt(*words, "")
    assert (ran.code, ran.out) == (1, ""), ran.seen


@pytest.mark.parametrize("command", ["stats", "log"])
def test_the_first_day_of_all_time_is_none_to_count_from(tmp_path: Path, command: str) -> None:
    make_project(tmp_path)
    ran = gt_process(command, "--since", "0001-01-01", at=tmp_path, environment={"TZ": "Asia/Tokyo"})
    assert ran.code == 2, ran.seen
    assert "`0001-01-01` is not a time to count from" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("create", "A task", "-d", "-", "--script", "-"),
        ("create", "-", "-d", "-"),
        ("update", "k7f2", "-d", "-", "--note", "-"),
        ("review", "k7f2", "--reject", "-", "--comment", "-"),
        ("review", "k7f2", "--comment", "-", "--comment", "-"),
    ],
)
def test_stdin_is_only_one_text(tmp_path: Path, words: tuple[str, ...]) -> None:
    project = make_project(tmp_path)
    ran = project.gt(*words, input="true\n")
    assert ran.code == 2
    assert ran.err.startswith("error: `-` is given for several texts, but stdin is only one\n")
    assert project.ok("list") == ""


@pytest.mark.parametrize("flag", ["--json", "--json-output"])
def test_an_error_of_a_run_is_json_where_its_events_are(tmp_path: Path, flag: str) -> None:
    ran = gt("run", flag, at=tmp_path)
    assert json.loads(ran.err)["error"]["exit"] == ran.code == 64
