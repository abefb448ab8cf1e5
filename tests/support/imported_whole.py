"""Says which lines of another tracker's texts an import lost.

It reads both sides by itself, with the standard library alone and no code of gitticks: what the importer misreads, this
must not misread in the same way. A line arrived if the task's file has it, whatever backslash or white space stands
before it; what a warning names by its file, and by its line where records have lines, is not lost.

As a script: `python -m tests.support.imported_whole FORMAT SOURCE BOARD < what-gt-import-said`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_ID = re.compile(r"^imported: .*\bid: (?:\"([^\"]*)\"|([^,}]*))", re.MULTILINE)
_MARK = re.compile(r"<!-- ?(?:SECTION:)?([A-Z_]+):(BEGIN|END) ?-->")
_TICK = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? - (?:\[(?:human|agent)\] )?")
_TICKS_OWN = "--- merged from remote ---"
_TEXTS = {
    "beads": ("title", "description", "design", "acceptance_criteria", "notes"),
    "ticks": ("title", "description", "acceptance_criteria", "notes"),
    "github": ("title", "body"),
}
_TOOLS_OWN = (
    "acceptance criteria",
    "definition of done",
    "implementation plan",
    "implementation notes",
    "final summary",
)
_OF_COMMENTS = {"beads": "text", "ticks": "text", "github": "body"}


class Record(NamedTuple):
    """One foreign task: its id, how a warning names its place, and its texts' lines."""

    name: str
    place: str
    lines: list[str]


def lost_lines(form: str, source: Path, board: Path, warnings: str) -> list[str]:
    """Returns `place: line` for each line that is neither in the task's file nor named by a warning."""
    files = _files_by_id(board)
    lost = []
    for record in _records(form, source):
        here = Counter(map(_bare, files.get(record.name, "").split("\n")))
        if f"{record.place}:" in warnings:
            continue
        for line in record.lines:
            bare = _bare(line)
            here[bare] -= not bare.startswith("#")
            if bare and here[bare] < bare.startswith("#"):
                lost.append(f"{record.place}: {line}")
    return lost


def _bare(line: str) -> str:
    """Returns a line without what an import may change: outer white space, backslashes, and names of sections."""
    bare = re.sub(r"^\\+(?=[#<=`~-])", "", line.strip().replace("\0", "\ufffd"))
    heading = re.fullmatch(r"##(?:[ \t]+(.*?))?[ \t]*#*", bare)
    return bare if heading is None else f"## {(heading[1] or 'imported').lower().removeprefix('imported ')}"


def _files_by_id(board: Path) -> dict[str, str]:
    found = {}
    for path in sorted(board.glob("tasks/*/*/TASK.md")):
        text = path.read_bytes().decode()
        match = _ID.search(text)
        if match is not None:
            found[match[1] or match[2]] = text.replace("title: ", "", 1)
    return found


def _records(form: str, source: Path) -> Iterator[Record]:
    if form == "backlog":
        for name in ("tasks", "completed"):
            for path in sorted((source / name).glob("*.md")):
                yield _backlog(path)
    elif form == "ticks":
        for path in sorted(source.rglob("issues/*.json")):
            record = json.loads(path.read_bytes().decode("utf-8-sig"))
            yield Record(record["id"], str(path), list(_texts(form, record)))
    elif form == "github":
        for record in json.loads(source.read_bytes()):
            yield Record(str(record.get("number")), str(source), list(_texts(form, record)))
    else:
        yield from _beads(source)


def _beads(source: Path) -> Iterator[Record]:
    for number, line in enumerate(source.read_bytes().decode().split("\n"), 1):
        record = json.loads(line) if line.strip() else {}
        if record.get("_type", "issue") == "issue" and record.get("status", "tombstone") != "tombstone":
            yield Record(record["id"], f"{source}:{number}", list(_texts("beads", record)))


def _texts(form: str, record: dict[str, Any]) -> Iterator[str]:
    for key in _TEXTS[form]:
        text = record.get(key) or ""
        lines = [" ".join(text.split())] if key == "title" else re.split("\r\n|\r|\n", text)
        for line in lines:
            if not (form == "ticks" and key == "notes"):
                yield line if key != "title" else _as_title(line)
            elif line.strip() != _TICKS_OWN:
                yield _TICK.sub("", line, count=1)
    for comment in record.get("comments") or []:
        yield from re.split("\r\n|\r|\n", comment[_OF_COMMENTS[form]])


def _as_title(title: str) -> str:
    """Returns the line that the frontmatter has for a title, where it needs no quotes."""
    return title if re.fullmatch(r"[A-Za-z][\w ,.()/-]*", title) else ""


def _backlog(path: Path) -> Record:
    """Returns the lines of a file's body, less those of the tool itself: the first mark of each kind, bare headings."""
    lines = re.split("\r\n|\r|\n", path.read_bytes().decode("utf-8-sig"))
    end = next(number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---")
    match = re.search(r"^id: *['\"]?([^'\"\s]+)", "\n".join(lines[:end]), re.MULTILINE)
    marks, body = set[str](), list[str]()
    for line in lines[end + 1 :]:
        mark = _MARK.fullmatch(line.strip())
        if mark is None or (mark[1] != "COMMENT" and mark[0] in marks):
            body.append(line)
        else:
            marks.add(mark[0])
    kept = [line for number, line in enumerate(body) if not _is_of_tool(line, body[number + 1 :])]
    return Record(match[1] if match else "", str(path), kept)


def _is_of_tool(line: str, below: list[str]) -> bool:
    """True for the heading of the description, which is the summary here, and for one of the tool's with no text."""
    name = _bare(line).removeprefix("## ")
    following = next((one for one in below if one.strip()), "## ")
    return name == "description" or (name in _TOOLS_OWN and following.startswith("## "))


if __name__ == "__main__":
    found = lost_lines(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.stdin.read())
    sys.exit("\n".join(found) or 0)
