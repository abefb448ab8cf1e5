from __future__ import annotations

from pathlib import Path

import pytest

from tools import blocks
from tools.blocks import Example, examples_of, matches
from tools.shell import Shell


def document(*lines: str) -> str:
    return "\n".join(["# Title", "", "```console", *lines, "```", ""])


def test_examples_are_the_commands_of_console_blocks_with_their_line_and_output() -> None:
    text = document("$ echo a", "a", "$ cat \\", "> b", "", "c") + "\n```sh\n$ make test\n```\n"
    assert examples_of(text) == [Example(4, "echo a", "a"), Example(6, "cat \\\nb", "c")]


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a", "a\n", True),
        ("a", "b\n", False),
        ("a", "a\nb\n", False),
        ("took … s", "took 0.3 s\n", True),
        ("took … s", "took\n0.3 s\n", False),
        ("a\n…\nz", "a\nb\nc\nz\n", True),
        ("a\n…", "a\n", True),
        ("a.c", "abc\n", False),
        ("a", "a   \n\n", True),
    ],
)
def test_output_matches_line_by_line(shown: str, printed: str, expected: bool) -> None:
    assert matches(shown, printed) is expected


@pytest.mark.parametrize(
    "lines",
    [
        ["$ mkdir folder && cd folder", "$ basename $PWD", "folder"],
        ["$ false", "$ echo $?", "1"],
        ["$ echo 'error: no' >&2; (exit 3)", "error: no"],
        ["$ git log --format=%s", "begin"],
        ['$ read answer; echo "<$answer>"', "<>"],
    ],
)
def test_a_document_that_tells_the_truth_passes(tmp_path: Path, lines: list[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(document(*lines))
    assert blocks.main([str(page)]) == 0


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["$ echo b", "a"], "page.md: line 4: `echo b` printed:\nb"),
        (["$ echo a", "a", "$ false"], "line 6: `false` exited with 1"),
        (["$ exit 0"], "line 4: `exit 0` exited with -1"),
    ],
)
def test_a_document_that_does_not_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[str], said: str
) -> None:
    page = tmp_path / "page.md"
    page.write_text(document(*lines))
    assert blocks.main([str(page)]) == 1
    assert said in capsys.readouterr().err


def test_a_document_without_examples_passes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n")
    assert blocks.main([str(page)]) == 0


def test_an_id_that_create_is_shown_to_print_means_the_real_one(tmp_path: Path) -> None:
    create = 'gt() { case $1 in create) echo m3xq ;; show) [ "$2" = m3xq ] && echo "m3xq: title" ;; esac; }'
    text = document(f"$ {create}", "$ gt create title", "k7f2", "$ gt show k7f2", "k7f2: title")
    with Shell.in_fresh_repository(tmp_path) as shell:
        blocks.run(examples_of(text), shell)
