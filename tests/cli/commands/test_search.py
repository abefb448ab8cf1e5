from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitticks.cli.text import width
from gitticks.model.status import Status
from gitticks.store.transaction import Transaction
from tests.cli.support import gt, gt_on_terminal
from tests.support.stores import ADA, NOW, QUESTION, make_store, make_task, put_task, write_task_file

BODY = """\
After SSO people land on / instead of where they were.

## Handoff

DONE       keep the path in the state parameter; test added
DECISIONS  no cookie, it breaks private
windows

## Notes

### 2026-03-04T05:30:00Z · human · Ada

Straße, CAFÉ and `re.escape(.*)`.
"""


def make_library(path: Path) -> None:
    def put(transaction: Transaction) -> None:
        put_task(transaction, id="k7f2", body=BODY, labels=("auth",))
        put_task(transaction, "Rename the login page", id="m3xq", priority=3, body=QUESTION)
        put_task(transaction, 'It\'s "quoted": login & more', id="qu0t", priority=4, status=Status.WORKING)
        put_task(transaction, "Say login", id="d0ne", status=Status.DONE, closed=NOW)

    make_store(path).transact(put, author=ADA)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "repository"
    make_library(path)
    return path


def ids(path: Path, *words: str) -> list[str]:
    ran = gt("search", "--json", *words, at=path, now=NOW)
    found = [task["id"] for task in json.loads(ran.out)["tasks"]]
    assert ran.code == (0 if found else 1)
    return found


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["login"], ["k7f2", "m3xq", "qu0t"]),
        (["LOGIN"], []),
        (["Login"], ["k7f2"]),
        (["login", "tone"], ["m3xq"]),
        (["tone", "cookie"], []),
        (["--all", "login"], ["k7f2", "m3xq", "qu0t", "d0ne"]),
        (["login", "--status", "done"], ["d0ne"]),
        (["login", "--status", "in_progress"], ["qu0t"]),
        (["login", "-l", "auth"], ["k7f2"]),
        (["login", "--label", "auth", "-l", "none"], []),
        (["login", "-n", "2"], ["k7f2", "m3xq"]),
        (["private windows"], ["k7f2"]),
        (["private", "windows", "", "  "], ["k7f2"]),
        (["it's"], ["qu0t"]),
        (['"quoted": LOGIN'], []),
        (['"quoted": login'], ["qu0t"]),
        (["café"], ["k7f2"]),
        (["CAFÉ"], ["k7f2"]),
        (["cafe\u0301"], ["k7f2"]),
        (["STRASSE"], []),
        (["escape(.*)"], ["k7f2"]),
        (["pending"], []),
        (["priority"], []),
        (["--", "-x"], []),
    ],
)
def test_what_is_found(library: Path, words: list[str], found: list[str]) -> None:
    assert ids(library, *words) == found


def test_the_line_with_the_words_stands_below_the_title(library: Path) -> None:
    assert gt("search", "cookie", "people", at=library).seen == (
        "○ k7f2  Login loses the return URL\n"
        "        After SSO people land on / instead of where they were.\n"
        "        Handoff: DECISIONS  no cookie, it breaks private\n"
        "--- 0\n"
    )


def test_titles_come_first(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, "Other", id="b0dy", priority=0, body="about pelicans")
    make_task(store, "Pelicans", id="t1tl", priority=4)
    assert ids(tmp_path, "pelican") == ["t1tl", "b0dy"]


def test_json_tells_where(library: Path) -> None:
    task = json.loads(gt("search", "url", "cookie", "--json", at=library).out)["tasks"][0]
    assert task["in_title"] is False
    assert task["matches"] == [
        {"line": 16, "section": "Handoff", "text": "DECISIONS  no cookie, it breaks private"}
    ]


def test_the_words_are_marked(library: Path) -> None:
    assert gt("search", "state", at=library, columns=40).out == (
        "○ k7f2  Login loses the return URL\n  Handoff: …in the »state« parameter; t…\n"
    )
    assert gt("search", "LOSES", "loses", at=library, columns=80).out == ""
    assert "»Login« loses the »return URL«" in gt("search", "login", "return url", at=library, columns=80).out
    assert "[Login]" in gt("search", "login", at=library, columns=80, encoding="ascii").out
    coloured = gt_on_terminal("search", "login", at=library).out
    assert "\x1b[1;35mLogin\x1b[0m loses" in coloured
    assert "\x1b" not in gt_on_terminal("search", "login", at=library, environment={"NO_COLOR": "1"}).out


def test_words_that_overlap_are_marked_as_one(library: Path) -> None:
    out = gt("search", "ogin lo", "login", at=library, columns=80).out
    assert "»Login lo«ses" in out


def test_a_word_that_ends_at_the_edge_leaves_no_sign_beyond_it(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), "\U0001f1e9\U0001f1ea 日本語 family wide wide wide wide wide", id="mwm0")
    for columns in range(20, 60):
        (line,) = gt("search", "e", "family", at=tmp_path, columns=columns).out.splitlines()
        assert width(line) <= columns
        assert line.endswith("…") or "wide wide wide wide" in line.replace("»", "").replace("«", "")


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
def test_lines_stay_on_the_screen_and_cannot_steer_it(tmp_path: Path, columns: int) -> None:
    body = "## \x1b[2J Odd\n\n" + "日本語 " * 40 + "\x1b[31mneedle\u202e\t" + "x" * 300
    make_task(make_store(tmp_path), "A needle \x1b]8;;x\x07 " + "🎉" * 60, id="k7f2", body=body)
    out = gt("search", "needle", "xxx", at=tmp_path, columns=columns).out
    assert all(width(line) <= columns for line in out.splitlines())
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert out.count("needle") >= 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere"], 1, "no matches: `--all` searches closed tasks too\n"),
        (["no", "such one"], 1, "no matches: `--all` searches closed tasks too\n"),
        (["--all", "nowhere"], 1, "no matches\n"),
        ([], 2, 'error: no search words were given\n\nhint: `gt search "return URL"`\n'),
        (["  "], 2, 'error: no search words were given\n\nhint: `gt search "return URL"`\n'),
    ],
)
def test_where_nothing_is_found(library: Path, words: list[str], code: int, said: str) -> None:
    assert gt("search", *words, at=library).seen == f"--- {code}\n{said}"


def test_more_than_was_asked_for_is_counted(library: Path) -> None:
    assert gt("search", "login", "-n", "1", at=library).err == "… 2 more: without `-n` all are shown\n"


def test_an_empty_repository(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert gt("search", "x", at=tmp_path).code == 1
    assert json.loads(gt("search", "x", "--json", at=tmp_path).out) == {"schema": 1, "tasks": []}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_any_line_breaks(tmp_path: Path, newline: str) -> None:
    store = make_store(tmp_path)
    text = "---\nid: k7f2\ntitle: x\nstatus: pending\n---\nabove\n\n## Notes\n\nbelow\n".replace(
        "\n", newline
    )
    write_task_file(store, "k7f2", text)
    task: dict[str, Any] = json.loads(gt("search", "below", "--json", at=tmp_path).out)["tasks"][0]
    assert task["matches"] == [{"line": 10, "section": "Notes", "text": "below"}]


def test_a_broken_file_is_named_and_found_by_what_is_readable_of_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2")
    write_task_file(store, "br0k", "---\nid: br0k\ntitle: [login\n---\n\n## Notes\n\nof pelicans\n")
    ran = gt("search", "login", at=tmp_path)
    assert ran.out == "○ k7f2  Login loses the return URL\n! br0k  cannot be read\n        title: [login\n"
    assert "br0k/TASK.md" in ran.err
    assert gt("search", "login", "-n", "1", at=tmp_path).err.startswith(
        "… 1 more: without `-n` all are shown\n"
    )
    assert gt("search", "pelicans", at=tmp_path).out == "! br0k  cannot be read\n        Notes: of pelicans\n"
    body = json.loads(gt("search", "pelicans", "--json", at=tmp_path).out)
    match = {"line": 8, "section": "Notes", "text": "of pelicans"}
    assert body["tasks"] == []
    assert body["broken"] == [{"id": "br0k", "path": "tasks/0k/br0k/TASK.md", "matches": [match]}]
    for words in (["br0k"], ["pelicans", "-l", "auth"], ["pelicans", "--status", "open"]):
        assert gt("search", *words, at=tmp_path).code == 1


@pytest.mark.parametrize(
    "text",
    [
        "---\nid: br0k\n<<<<<<< ours\ntitle: One pelican\n=======\ntitle: Two\n>>>>>>> theirs\n---\n",
        "no frontmatter, a pelican\n",
        "---\nnever closed: [\na pelican\n",
        "\0\x1b]8;;" + "x" * 5000 + "pelican" + "\u202e" * 5000,
    ],
)
def test_what_is_readable_of_a_broken_file(tmp_path: Path, text: str) -> None:
    store = make_store(tmp_path)
    write_task_file(store, "br0k", text)
    ran = gt("search", "pelican", at=tmp_path, columns=80)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "! br0k  cannot be read")
    assert ran.out.count("br0k") == 1
    assert "»pelican«" in ran.out
    assert "\x1b" not in ran.out
    assert all(width(line) <= 80 for line in ran.out.splitlines())


def test_a_conflicted_task_is_found_once_by_either_text(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    marked = "## Context\n\n<<<<<<< ours\npelican one\n=======\npelican two\n>>>>>>> theirs\n"
    make_task(store, id="k7f2", body=marked)
    for word in ("one", "two", "pelican"):
        assert ids(tmp_path, word) == ["k7f2"]
