"""Checkpoint files, which anybody may have written."""

from __future__ import annotations

import pytest

from gitticks.errors import DocumentError
from gitticks.store.checkpoints import parse, render
from tests.support.checkpoints import checkpoint


def test_a_file_says_what_was_written() -> None:
    made = checkpoint(number=14)
    assert parse(render(made), made.workspace, 14) == made


@pytest.mark.parametrize("figure", ["1e999", "NaN", "-1", "null", '"many"', "9" * 5000])
def test_figures_that_nobody_spends_are_no_checkpoint(figure: str) -> None:
    made = checkpoint(number=14)
    content = render(made).replace(b'"iterations": 14', f'"iterations": {figure}'.encode())
    assert content != render(made)
    with pytest.raises(DocumentError):
        parse(content, made.workspace, 14)
