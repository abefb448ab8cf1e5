"""Edits are applied from the end, so that earlier offsets stay right."""

from __future__ import annotations

from gitticks.document.yaml_edits import Edit, Editor, apply_edits


def test_edits_are_applied_whatever_their_order() -> None:
    assert apply_edits("abcdef", [Edit(1, 2, "BB"), Edit(4, 5, ""), Edit(0, 0, ">")]) == ">aBBcdf"


def test_a_line_is_added_below_a_text_without_a_last_line_break() -> None:
    editor = Editor("a: 1", "\r\n")
    assert apply_edits(editor.text, editor.appended("b: 2")) == "a: 1\r\nb: 2\r\n"
