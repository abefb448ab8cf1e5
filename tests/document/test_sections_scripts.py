"""Which fenced blocks are run, and where they stand."""

from __future__ import annotations

import pytest

from gitticks.document.sections import Body, ScriptBlock, Scripts, read_scripts
from gitticks.document.texts import Source
from gitticks.errors import DocumentError


def body(text: str) -> Body:
    return Body(Source(text, "f", 5))


def test_blocks_of_worker_and_reviewer_with_their_lines() -> None:
    text = (
        "x\n\n## Script\n\n```sh\necho 1\n```\n\ntext\n\n~~~ sh  reviewer \nexit 1\n\n~~~\n\n"
        "- step\n\n  ```sh\n  echo 2\n  ```\n\n```python\nno\n```\n\n```\nno\n```\n\n> ```sh\n> no\n> ```\n\n"
        "```bash\nno\n```\n## Other\n```sh\nno\n```\n"
    )
    assert read_scripts(body(text)) == Scripts(
        worker=(ScriptBlock("echo 1\n", 9), ScriptBlock("echo 2\n", 22)),
        reviewer=(ScriptBlock("exit 1\n\n", 15),),
    )


def test_line_breaks_are_lf() -> None:
    assert read_scripts(body("## Script\r\n```sh\r\na\r\nb\r\n```\r\n")).worker == (ScriptBlock("a\nb\n", 6),)


@pytest.mark.parametrize("text", ["", "## Script\n", "## Script\nsh\n", "```sh\nx\n```\n"])
def test_no_script(text: str) -> None:
    assert read_scripts(body(text)) == Scripts()


def test_an_empty_block_is_a_block() -> None:
    assert read_scripts(body("## Script\n```sh\n```\n")).worker == (ScriptBlock("", 6),)


@pytest.mark.parametrize(
    "text", ["```sh\nrm x\n\n## Notes\n\ntext\n", "```sh", "```sh\n", "- a\n  ```sh\n  x\n\nrest\n"]
)
def test_a_block_without_end_is_refused(text: str) -> None:
    with pytest.raises(DocumentError, match="this script never ends") as caught:
        read_scripts(body(f"## Script\n{text}"))
    assert caught.value.line in (6, 7)
    assert caught.value.hint == "end it with a line that holds only ```"
