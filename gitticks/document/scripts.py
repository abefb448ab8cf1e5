"""The `sh` blocks of `## Script`."""

from __future__ import annotations

from dataclasses import dataclass

from gitticks.document.sections import Body, is_closed, parse_blocks
from gitticks.document.texts import Source
from gitticks.errors import DocumentError
from gitticks.model.notes import Section


@dataclass(frozen=True, slots=True)
class ScriptBlock:
    """One block of shell text; `line` is the file's line on which its fence opens."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Scripts:
    """The blocks for the worker (`sh`) and for the reviewer (`sh reviewer`), each in file order."""

    worker: tuple[ScriptBlock, ...] = ()
    reviewer: tuple[ScriptBlock, ...] = ()


def read_scripts(body: Body) -> Scripts:
    """Returns the blocks of `## Script`; fences of other languages and inside quotes are text.

    Raises:
        DocumentError: a block never ends, so what follows it would be run.
    """
    found = body.find(Section.SCRIPT)
    if not found:
        return Scripts()
    block = found[-1]
    text = body.text[block.text_start : block.end]
    first_line = body.source.line(block.text_start)
    blocks: dict[tuple[str, ...], list[ScriptBlock]] = {("sh",): [], ("sh", "reviewer"): []}
    depth = 0
    for token in parse_blocks(Source(text, body.source.path, first_line)):
        depth += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        words = tuple(token.info.split())
        if token.type != "fence" or depth or words not in blocks or token.map is None:
            continue
        line = first_line + token.map[0]
        if not is_closed(token):
            hint = f"end it with a line that holds only {token.markup}"
            raise DocumentError(
                "this script never ends", path=body.source.path, line=line, column=1, hint=hint
            )
        blocks[words].append(ScriptBlock(token.content, line))
    return Scripts(tuple(blocks["sh",]), tuple(blocks["sh", "reviewer"]))
