from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from gitticks.store.branch import Store
from tests.cli.support import gt
from tests.support.imports import FOREIGN, assert_well, file_of, store, taken_in
from tests.support.projects import make_project
from tests.support.tasks import task_ids

__all__ = ["store"]


def line(name: str, *, status: str = "open", **links: str) -> str:
    """Returns a line of beads; a link may lead to several, with spaces in between."""
    found = [
        {"issue_id": name, "depends_on_id": one, "type": kind.replace("_", "-")}
        for kind, to in links.items()
        for one in to.split()
    ]
    return json.dumps({"id": name, "title": name, "status": status, "dependencies": found}) + "\n"


def test_the_links_that_close_cycles_are_left_out_and_reported(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "cycles.jsonl"
    source.write_text(
        line("a", blocks="b") + line("b", blocks="c") + line("c", blocks="a") + line("s", blocks="s")
        + line("p", parent_child="q") + line("q", parent_child="p") + line("e") + line("k", parent_child="e", blocks="e")
    )  # fmt: skip
    done = taken_in(tmp_path, str(source))
    assert done["count"] == 8
    assert len(done["problems"]) == 4
    assert all("cycle" in one["message"] for one in done["problems"])
    assert "left_out_blockers: s" in file_of(store, "s").frontmatter.yaml
    assert_well(tmp_path)


@pytest.mark.parametrize(
    ("lines", "left_out", "kept"),
    [
        (
            line("a", status="closed", parent_child="p")
            + line("p", status="closed", parent_child="q")
            + line("q", status="closed", parent_child="p"),
            ["`q` was not added to `p`"],
            {"a": ("p", ()), "p": ("q", ()), "q": (None, ())},
        ),
        (
            line("s", status="closed", blocks="s t") + line("t", status="closed", blocks="s"),
            ["`s` does not wait for `s`", "`t` does not wait for `s`"],
            {"s": (None, ("t",)), "t": (None, ())},
        ),
        (
            line("c", parent_child="e", blocks="e") + line("e", blocks="c"),
            ["`e` does not wait for `c`", "`c` does not wait for `e`"],
            {"c": ("e", ()), "e": (None, ())},
        ),
    ],
    ids=["parents", "closed", "as few as can be"],
)
def test_only_the_links_that_close_cycles_are_left_out_whatever_the_status(
    tmp_path: Path,
    store: Store,
    lines: str,
    left_out: list[str],
    kept: dict[str, tuple[str | None, tuple[str, ...]]],
) -> None:
    source = tmp_path / "cycles.jsonl"
    source.write_text(lines)
    said = [f"{one}, because that would close a cycle" for one in left_out]
    for words in ((), ("--update",)):
        assert [one["message"] for one in taken_in(tmp_path, str(source), *words)["problems"]] == said
        tasks = {name: file_of(store, name).task for name in kept}
        assert {name: (one.parent, one.blocked_by) for name, one in tasks.items()} == kept
    for name, task in tasks.items():
        assert task.is_open or gt("reopen", name, at=tmp_path).code == 0
    assert_well(tmp_path)


def test_a_file_whose_format_is_said_may_be_called_as_it_likes(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "export of beads.json"
    source.write_text('{"id": "bd-1", "title": "Greet people"}\n')
    assert taken_in(tmp_path, "beads", str(source))["count"] == 1
    assert file_of(store, "bd-1").task.title == "Greet people"
    source.write_text("# no such thing\n")
    ran = gt("import", "beads", str(source), at=tmp_path)
    assert (ran.code, ran.out) == (1, "0 tasks imported\n1 skipped: not readable\n")
    assert f"warning: {source}:1: this is not JSON" in ran.err


BAD_LINES = (
    b"{",
    b"[]",
    b'"text"',
    b'{"id": "x"}',
    b'{"title": "x"}',
    b'{"id": "", "title": "x"}',
    b'{"id": "x", "title": NaN}',
    b'{"id": "x", "title": "' + b"\xff\xfe" + b'"}',
    b"[" * 100_000,
    b'{"id": "x", "title": "' + b"x" * 2_000_000 + b'"}',
    b'{"id": "big", "title": "big", "description": "' + b'\\"' * 430_000 + b'"}',
)


def test_bad_lines_are_named_and_the_others_come(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "bad.jsonl"
    good = b'\xef\xbb\xbf{"id": "good", "title": "a\\u0000b \\ud800\\nc", "labels": "one", "priority": 9}\r\n'
    source.write_bytes(good + b"\n".join(BAD_LINES) + b'\n{"id": "cut", "ti')
    done = taken_in(tmp_path, str(source))
    assert (done["count"], done["skipped"]) == (1, {"not readable": 11, "no task can hold it": 1})
    assert [one["line"] for one in done["problems"]] == [1, *range(2, 2 + len(BAD_LINES) - 1), 13, 12]
    task = file_of(store, "good").task
    assert (task.title, task.labels, task.priority) == ("a\ufffdb \ufffd c", ("one",), 2)
    assert_well(tmp_path)


def test_utf_16_is_refused_whole(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "wide.jsonl"
    source.write_bytes('{"id": "a", "title": "b"}\n'.encode("utf-16"))
    ran = gt("import", str(source), at=tmp_path)
    assert ran.seen == (
        f"--- 1\nerror: `{source}`: this is UTF-16; save it as UTF-8\n\n"
        f"hint: `iconv -f UTF-16 -t UTF-8 {source} > {tmp_path}/utf8-wide.jsonl`, and import that\n"
    )
    assert task_ids(store) == ()


def test_one_file_of_many_in_another_encoding_is_named_and_the_others_come(
    tmp_path: Path, store: Store
) -> None:
    shutil.copytree(FOREIGN / "ticks", tmp_path / "ticks")
    first, second, *others = sorted((tmp_path / "ticks").rglob("*.json"))
    first.write_bytes(first.read_text().encode("utf-16"))
    second.write_bytes(b'{"id": "caf\xe9"}')
    done = taken_in(tmp_path, "ticks", "ticks")
    assert [(one["path"], one["message"]) for one in done["problems"]] == [
        (str(first), "this is UTF-16; save it as UTF-8"),
        (str(second), "this is not UTF-8, from byte 12 on"),
    ]
    assert done["count"] == len(task_ids(store)) == len(others)


def test_where_nothing_at_all_could_be_read_the_command_fails(tmp_path: Path) -> None:
    (tmp_path / "noise.jsonl").write_bytes(b"\xff\n\xfe\n")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    make_project(tmp_path / "project")
    ran = gt("import", "beads", "../noise.jsonl", at=tmp_path / "project")
    assert (ran.code, ran.out, ran.err.count("this is not UTF-8")) == (
        1,
        "0 tasks imported\n2 skipped: not readable\n",
        2,
    )
    assert gt("import", "beads", "../empty.jsonl", at=tmp_path / "project").code == 0
    (tmp_path / "noise.jsonl").write_bytes(b'\xff\n{"id": "x", "title": "x", "status": "tombstone"}\n')
    ran = gt("import", "beads", "../noise.jsonl", at=tmp_path / "project")
    said = "0 tasks imported\n1 skipped: a tombstone\n1 skipped: not readable\n"
    assert (ran.code, ran.out) == (1, said)


def test_what_is_not_there_is_said_with_the_next_step(tmp_path: Path, store: Store) -> None:
    for arguments in (
        (),
        ("beads",),
        ("nosuch",),
        ("ticks", "nosuch"),
        ("beads", "nosuch.jsonl"),
        ("ticks", "-"),
    ):
        ran = gt("import", *arguments, at=tmp_path)
        assert ran.code in (1, 2)
        assert ran.err.startswith("error: ")
        assert "gt import" in ran.err
    assert gt("import", "beads", "x", "y", at=tmp_path).code == 2
    assert gt("import", "beads", at=tmp_path, environment={"GITTICKS_AGENT": "1"}).code == 3


def test_a_pipe_by_its_name_is_refused_with_the_way_to_read_stdin(tmp_path: Path, store: Store) -> None:
    os.mkfifo(tmp_path / "pipe")
    ran = gt("import", "beads", "pipe", at=tmp_path)
    assert ran.code == 2
    assert "error: `pipe` is no regular file" in ran.err
    assert "hint: `gt import beads -` reads stdin" in ran.err


def test_a_folder_of_tasks_alone_is_no_backlog_unless_it_is_named(tmp_path: Path, store: Store) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "plan.md").write_text("---\nid: a-1\ntitle: A\n---\n")
    assert "there is no data of another tracker" in gt("import", at=tmp_path).err
    assert taken_in(tmp_path, "backlog")["count"] == 1


def test_a_word_that_is_neither_a_format_nor_a_place_is_reported_with_the_formats(tmp_path: Path) -> None:
    make_project(tmp_path)
    ran = gt("import", "jira", at=tmp_path)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "error: `jira` is neither a file or folder here nor a format (ticks, beads, backlog, github)\n\n"
        "hint: `gt import --help`\n"
    )


def test_a_list_from_the_rest_api_of_github_is_refused_with_the_command_that_makes_the_right_one(
    tmp_path: Path, store: Store
) -> None:
    pull = {
        "number": 7,
        "title": "x",
        "state": "open",
        "html_url": "https://example.org/7",
        "pull_request": {},
    }
    (tmp_path / "issues.json").write_text(json.dumps([{"number": 6, "title": "y"}, pull]))
    ran = gt("import", "github", "issues.json", at=tmp_path)
    assert (ran.code, task_ids(store)) == (1, ())
    assert "from GitHub's REST API" in ran.err
    assert "hint: `gh issue list --state all" in ran.err
