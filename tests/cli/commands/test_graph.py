from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gitticks.cli.text import width
from gitticks.model.ids import TaskId
from gitticks.model.status import TaskType
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.cli.support import gt, gt_on_terminal, gt_process
from tests.support.browsers import open_page
from tests.support.stores import ADA, NOW, make_queue, make_store, make_task, put_task, write_task_file
from tests.support.waiting import LONGEST_SECONDS

HOSTILE = 'Round "two" <b>&amp; \x1b[31m \u202e \\ #35; `x` ]]> 日本 🎉 \ufffe end'
SVG = "{http://www.w3.org/2000/svg}"


def make_links(path: Path) -> Store:
    """Makes the queue with an epic that waits, a task that waits for several, and two that wait for one another."""
    store = make_queue(path)
    store.transact(_put_links, author=ADA)
    return store


def _put_links(transaction: Transaction) -> None:
    epic = TaskId("e2in")
    blockers = [TaskId(one) for one in ("b1kd", "m3xq", "d0ne", "gone")]
    put_task(
        transaction, "Inner", id=epic, type=TaskType.EPIC, parent=TaskId("e0pc"), blocked_by=(TaskId("k7f2"),)
    )
    put_task(transaction, "Below it", id="b3lo", parent=epic, blocked_by=(TaskId("b1kd"),))
    put_task(transaction, "Both", id="b0th", blocked_by=tuple(blockers))
    put_task(transaction, "Round one", id="c1rc", blocked_by=(TaskId("c2rc"),))
    put_task(transaction, HOSTILE, id="c2rc", blocked_by=(TaskId("c1rc"),))  # fmt: skip


CYCLE = "warning: `c2rc` waits for itself through `c1rc`: `gt show c2rc` lists its blockers\n"
AROUND = """\
step          id    title                       waits
1     ╭─────○ k7f2  Login loses the return URL
2     ├─┬───○ b1kd  Log in by passkey           after k7f2
3     ├─┴─┬─○ b3lo  Below it                    after b1kd, k7f2
4     ╰─┬─┴─○ e2in  Inner                       epic, after k7f2
5       ╰───○ e0pc  Accounts                    epic
"""


def ids(path: Path, *words: str) -> list[str]:
    found = json.loads(gt("graph", "--json", *words, at=path, now=NOW).out)
    return [task["id"] for task in found["tasks"]]


def test_around_a_task_stands_all_that_it_waits_for_and_what_waits_for_it(tmp_path: Path) -> None:
    make_links(tmp_path)
    assert gt("graph", "e2", at=tmp_path, now=NOW).out == AROUND
    assert ids(tmp_path, "k7f2") == ["k7f2", "b1kd", "b3lo", "b0th", "e2in", "e0pc"]
    assert ids(tmp_path, "b0th") == ["k7f2", "m3xq", "b1kd", "b0th"]
    assert ids(tmp_path, "d3fr") == ["d3fr"]


def test_the_whole_graph_leaves_out_what_has_no_link(tmp_path: Path) -> None:
    make_links(tmp_path)
    ran = gt("graph", at=tmp_path, now=NOW)
    assert ran.err == CYCLE + "4 more open tasks without dependencies: `gt list`\n"
    assert "after c1rc, in a cycle" in ran.out
    assert "\x1b" not in ran.out
    assert ids(tmp_path) == ["k7f2", "c2rc", "m3xq", "b1kd", "c1rc", "b3lo", "b0th", "e2in"]


def test_closed_tasks_are_drawn_where_they_are_asked_for(tmp_path: Path) -> None:
    make_links(tmp_path)
    assert "d0ne" in ids(tmp_path, "--all")
    assert ids(tmp_path, "d0ne") == ["d0ne", "b0th"]


def test_json_tells_layers_and_links(tmp_path: Path) -> None:
    make_links(tmp_path)
    found = json.loads(gt("graph", "c0de", "--json", at=tmp_path, now=NOW).out)
    assert found["layers"] == [["c0de"], ["e0pc"]]
    assert found["edges"] == [{"from": "c0de", "to": "e0pc", "part": True, "circular": False}]
    cycle = json.loads(gt("graph", "c1rc", "--json", at=tmp_path, now=NOW).out)["edges"]
    assert {"from": "c1rc", "to": "c2rc", "part": False, "circular": True} in cycle


def _put_many_blockers(transaction: Transaction) -> None:
    blockers = [TaskId(f"b{number:02}") for number in range(30)]
    for blocker in blockers:
        put_task(transaction, "Blocker", id=blocker)
    put_task(transaction, "Epic", id="e0pc", type=TaskType.EPIC, blocked_by=tuple(blockers))
    put_task(transaction, "Child", id="c0de", parent=TaskId("e0pc"), blocked_by=(blockers[-1],))


def test_of_what_epics_wait_for_some_is_drawn_to_each_child(tmp_path: Path) -> None:
    make_store(tmp_path).transact(_put_many_blockers, author=ADA)
    edges = json.loads(gt("graph", "--json", at=tmp_path, now=NOW).out)["edges"]
    assert [sum(edge["to"] == one for edge in edges) for one in ("e0pc", "c0de")] == [31, 21]
    assert {"from": "b29", "to": "c0de", "part": False, "circular": False} in edges
    assert gt("graph", at=tmp_path, now=NOW).out.count("after b29, b00, b01 and 27 more") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no open task waits for another: `gt graph --all` includes closed ones\n"),
        (["--all"], "no task waits for another: `gt block ID OTHER` adds a blocker\n"),
        (["nope"], None),
    ],
)
def test_where_there_is_nothing_to_draw(tmp_path: Path, words: list[str], said: str | None) -> None:
    make_task(make_store(tmp_path), id="k7f2")
    ran = gt("graph", *words, at=tmp_path)
    assert ran.out == ""
    assert ran.err == said if said else ran.code == 1


def test_without_tasks_the_next_command_is_named(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert gt("graph", at=tmp_path).seen == '--- 0\nno tasks yet: `gt create "…"` creates the first\n'


def test_a_broken_file_is_named_and_whoever_waits_for_it_waits(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2", blocked_by=(TaskId("m3xq"),))
    make_task(store, id="w4it", blocked_by=(TaskId("k7f2"),))
    write_task_file(store, "m3xq", "---\nid: [\n---\n")
    ran = gt("graph", at=tmp_path)
    assert "after m3xq" in ran.out
    assert "m3xq/TASK.md" in ran.err
    assert gt("graph", "m3xq", at=tmp_path).code == 1


def test_a_graph_has_one_form_at_a_time(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert gt("graph", "--dot", "--json", at=tmp_path).code == 2


# On a terminal


@pytest.mark.parametrize("columns", [80, 40])
def test_a_terminal_is_never_overrun(tmp_path: Path, columns: int) -> None:
    make_links(tmp_path)
    shown = gt_on_terminal("graph", at=tmp_path, columns=columns, environment={"NO_COLOR": "1"})
    assert all(width(line) <= columns for line in shown.out.splitlines())
    assert shown.out.count("b0th") == 1
    assert ("after b1kd" in shown.out) == (columns == 80)
    assert "╰─┴───" in shown.out


LONG = "Send everybody who was ever asked for a password back to the page that they came from, even after an error"


def test_long_titles_are_wrapped_and_the_signs_explained(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, title=LONG, id="k7f2")
    make_task(store, title=LONG, id="m3xq", blocked_by=(TaskId("k7f2"),))
    shown = gt_on_terminal("graph", at=tmp_path, columns=60, environment={"NO_COLOR": "1"}).out
    first = shown.split("m3xq")[0]
    assert [word for word in LONG.split() if word not in first] == []
    assert "\n      │ " in first
    assert shown.splitlines()[-1] == "○ pending; lines lead down to what waits"
    picture = ET.fromstring(gt("graph", "--svg", at=tmp_path).out)  # noqa: S314 (our own)
    boxes = [one for one in picture.iter(f"{SVG}g") if len(list(one.iter(f"{SVG}text"))) > 2]
    assert [[" ".join(text.text or "" for text in list(box.iter(f"{SVG}text"))[1:])] for box in boxes] == [
        [LONG]
    ] * 2


def test_the_whole_title_of_an_epic_stands_on_its_frame(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    epic = make_task(store, title=LONG, id="e0pc", type="epic")
    make_task(store, title="First", id="k7f2", parent=epic.id)
    make_task(store, title="Second", id="m3xq", parent=epic.id, blocked_by=(TaskId("k7f2"),))
    picture = ET.fromstring(gt("graph", "--svg", at=tmp_path).out)  # noqa: S314 (our own)
    head = [one for one in picture if one.tag == f"{SVG}text" and one.get("class") == "id"]
    assert " ".join(one.text or "" for one in head) == LONG
    assert len(head) > 1
    first_box = next(picture.iter(f"{SVG}a"))[0].get("transform") or ""
    assert int(head[-1].get("y", "0")) < int(first_box.split()[1].rstrip(")"))


def test_colour_only_repeats_what_the_words_say(tmp_path: Path) -> None:
    make_links(tmp_path)
    coloured = gt_on_terminal("graph", at=tmp_path).out
    assert "\x1b[31mafter c1rc, in a cycle\x1b[0m" in coloured
    plain = gt_on_terminal("graph", at=tmp_path, environment={"NO_COLOR": "1"}).out
    assert re.sub("\x1b\\[[0-9]*m", "", coloured) == plain


def test_in_ascii(tmp_path: Path) -> None:
    make_links(tmp_path)
    ran = gt_process("graph", "e2", at=tmp_path, environment={"PYTHONIOENCODING": "ascii"})
    assert ran.out.isascii()
    assert "4     +-+-+-o e2in  Inner" in ran.out


# Drawn by others


def test_the_picture_is_a_file_of_its_own_in_which_titles_are_text(tmp_path: Path) -> None:
    make_links(tmp_path)
    text = gt("graph", "--svg", at=tmp_path, now=NOW).out
    assert text.isascii()
    assert "url(" not in text.replace("url(#tip)", "")
    picture = ET.fromstring(text)  # noqa: S314 (our own)
    assert not [one for one in picture.iter() if one.tag.removeprefix(SVG) in ("script", "image", "b")]
    titles = [one.text or "" for one in picture.iter(f"{SVG}title")]
    assert titles[0] == "What waits for what: 8 tasks"
    seen = HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e").replace("\ufffe", "")
    assert f"c2rc: {seen} (priority 2, pending)" in titles
    links = [one.get("href") for one in picture.iter(f"{SVG}a")]
    assert (len(links), ".gitticks/tasks/f2/k7f2/TASK.md" in links) == (8, True)
    assert [one.get("class") for one in picture.iter(f"{SVG}rect")].count("frame") == 2


def test_a_picture_of_nothing_is_a_picture(tmp_path: Path) -> None:
    make_store(tmp_path)
    ET.fromstring(gt("graph", "--svg", at=tmp_path).out)  # noqa: S314 (our own)
    assert gt("graph", "--dot", at=tmp_path).out.startswith("digraph tasks {")


def test_mermaid_gets_plain_letters_and_references_alone(tmp_path: Path) -> None:
    make_links(tmp_path)
    first, *lines = gt("graph", "--mermaid", at=tmp_path, now=NOW).out.splitlines()
    assert first == "flowchart LR"
    node = re.compile(r'  n\d+\["[0-9a-z#;]+<br/>[\w #;,.!?\x80-\U0010ffff]+"\]:::\w+')
    link = re.compile(r"  n\d+ (-->|-\.->|-\.->\|in a cycle\|) n\d+")
    look = re.compile(r"  classDef \w+ fill:#\w{6},stroke:#\w{6},color:#\w{6}")
    frame = re.compile(
        r'  subgraph (e_\w+|legend)\["[\w #;,.!?\x80-\U0010ffff]+"\]|  end|  l_\w+\["[a-z ]+"\]:::\w+'
    )
    forms = (node, link, look, frame)
    assert all(any(form.fullmatch(f"  {line.strip()}") for form in forms) for line in lines)
    assert '  n3["b1kd<br/>Log in by passkey"]:::open' in lines
    inner = lines.index('    subgraph e_e2in["Inner"]')
    assert lines.index('  subgraph e_e0pc["Accounts"]') < inner
    assert lines[inner + 1 : inner + 3] == [
        '      n5["b3lo<br/>Below it"]:::open',
        '      n7["e2in<br/>Inner"]:::open',
    ]
    assert (
        '  subgraph legend["arrows point to the waiting task, frames are epics, red#58; in a cycle"]' in lines
    )
    assert "#34;two#34; #60;b#62;" in "".join(lines)


@pytest.mark.debian("graphviz", program="dot")
def test_graphviz_reads_every_title_and_link(tmp_path: Path) -> None:
    make_links(tmp_path)
    text = gt("graph", "--dot", at=tmp_path, now=NOW).out
    done = subprocess.run(
        ["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True, timeout=LONGEST_SECONDS
    )
    assert done.stderr == b""
    picture = ET.fromstring(done.stdout)  # noqa: S314 (our own)
    nodes = [one for one in picture.iter(f"{SVG}g") if one.get("class") == "node"]
    shown = {
        node.findtext(f"{SVG}title"): [text.text or "" for text in node.iter(f"{SVG}text")] for node in nodes
    }
    assert shown["k7f2"] == ["k7f2", "Login loses the return URL"]
    joined = " ".join(shown["c2rc"][1:]).replace("\xa0", " ")
    assert joined.startswith('Round "two" <b>&amp; \\x1b[31m \\u202e \\ #35; `x` ]]> 日本')
    edges = {one.findtext(f"{SVG}title") for one in picture.iter(f"{SVG}g") if one.get("class") == "edge"}
    assert {"k7f2->b1kd", "b1kd->b3lo", "k7f2->e2in", "c1rc->c2rc"} <= edges
    assert "b3lo->e2in" not in edges
    frames = {one.findtext(f"{SVG}text") for one in picture.iter(f"{SVG}g") if one.get("class") == "cluster"}
    assert {"Accounts", "Inner"} <= frames


@pytest.mark.debian("chromium")
def test_a_browser_draws_the_picture_without_a_complaint_or_a_request(tmp_path: Path) -> None:
    make_links(tmp_path)
    picture = tmp_path / "graph.svg"
    picture.write_text(gt("graph", "--svg", at=tmp_path, now=NOW).out, "utf-8")
    seen = open_page(picture, tmp_path)
    assert (seen.complaints, seen.requests) == ((), ())
    assert "<parsererror" not in seen.dom
    assert (seen.dom.count('<rect width="232"'), seen.dom.count('class="frame"')) == (8, 2)
