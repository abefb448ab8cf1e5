from __future__ import annotations

import time

import pytest

from gitticks.tui.widgets.diff import MOST_LINES, Place, coloured, comment_words, diff_rows, read_patch
from gitticks.tui.widgets.lines import Line, words

PATCH = """\
diff --git a/src/login.py b/src/login.py
index 1111111..2222222 100644
--- a/src/login.py
+++ b/src/login.py
@@ -10,3 +10,4 @@ def login():
 def login():
-    return "/"
+    # keep it
+    return path
\\ No newline at end of file
@@ -40 +41 @@ class Page:
-    old = 1
+    new = 2
diff --git a/run.sh b/run.sh
new file mode 100755
index 0000000..3333333
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+echo hi
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"
deleted file mode 100644
index 4444444..0000000
--- "a/\\303\\244.txt"
+++ /dev/null
@@ -1 +0,0 @@
--- not a header
diff --git "a/ä\\"b.txt" "b/ä\\"b.txt"
new file mode 100644
index 0000000..5555555
--- /dev/null
+++ "b/ä\\"b.txt"
@@ -0,0 +1 @@
+quoted
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
not shown: logo.png (binary): git diff 1 2 -- logo.png
"""
SHOWS_ALL = "gt review k7f2"
LINE = Place("src/login.py", 12, text="    return path")


def rows(comments: dict[str, str] | None = None, offset: int = 0) -> list[Line]:
    diff = read_patch(PATCH, SHOWS_ALL)
    return diff_rows(diff, comments or {}, coloured(diff.files), 60, offset)


def test_files_hunks_and_lines_are_read() -> None:
    diff = read_patch(PATCH, SHOWS_ALL)
    assert [one.path for one in diff.files] == [
        "src/login.py",
        "run.sh",
        "new name.txt",
        "ä.txt",
        'ä"b.txt',
        "empty",
    ]
    assert [one.counts for one in diff.files] == [(3, 2), (1, 0), (0, 0), (0, 1), (1, 0), (0, 0)]
    assert diff.files[0].hunks[0].heading == "def login():"
    assert [(one.side, one.old, one.new) for one in diff.files[0].hunks[0].lines] == [
        (" ", 10, 10), ("-", 11, 11), ("+", 12, 11), ("+", 12, 12),
    ]  # fmt: skip
    assert diff.files[3].hunks[0].lines[0].text == "-- not a header"
    assert diff.left_out == ["not shown: logo.png (binary): git diff 1 2 -- logo.png"]


def test_rows_have_numbers_sides_and_colours() -> None:
    said = [words(one) for one in rows()]
    assert "▾ src/login.py+3 −2" in said
    assert '  11      −     return "/"' in said
    assert "       12 +     return path" in said
    added = next(one for one in rows() if "return path" in words(one))
    assert (added.tint, added.key) == ("added", LINE.key)
    assert ("return", "word") in added.left
    gone = next(one for one in rows() if 'return "/"' in words(one))
    assert (gone.tint, gone.key) == (
        "gone",
        Place("src/login.py", 11, is_gone=True, text='    return "/"').key,
    )


def test_what_is_left_out_is_said_whole_with_its_command_on_a_row_of_its_own() -> None:
    said = "not shown: big-file-of-numbers.log (60,000 lines changed):"
    command = "git diff a765c75af3 6abc123456 -- big-file-of-numbers.log"
    diff = read_patch(f"{said} {command}\n", SHOWS_ALL)
    assert [words(one) for one in diff_rows(diff, {}, {}, 60)] == [said, command]
    narrow = [words(one) for one in diff_rows(diff, {}, {}, 30)]
    assert max(map(len, narrow)) <= 30
    assert "".join(narrow).replace(" ", "") == (said + command).replace(" ", "")


def test_a_file_without_lines_keeps_its_own_name() -> None:
    after = "diff --git a/z.py b/z.py\n--- a/z.py\n+++ b/z.py\n@@ -1 +1 @@\n-x\n+y\n"
    empty = "diff --git a/e.py b/e.py\nnew file mode 100644\nindex 0000000..e69de29\n"
    mode = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
    paths = [file.path for file in read_patch(f"{empty}{mode}{after}", SHOWS_ALL).files]
    assert paths == ["e.py", "run.sh", "z.py"]


def test_a_comment_stands_below_its_line() -> None:
    found = rows({LINE.key: "say why\nand since when"})
    at = next(number for number, one in enumerate(found) if one.key == LINE.key)
    assert [words(one).strip() for one in found[at + 1 : at + 3]] == ["▌ say why", "▌ and since when"]


def test_a_comment_on_a_line_of_an_earlier_version_stands_first_with_that_line() -> None:
    key = LINE._replace(text="return it").key
    found = rows({key: "say why"})
    assert [words(one).strip() for one in found[:4]] == [
        "src/login.py:12  of an earlier version", "return it", "▌ say why", "",
    ]  # fmt: skip
    assert found[0].key == key
    assert found[4:] == rows()


def test_a_comment_is_sent_with_its_line_where_the_work_lacks_that() -> None:
    diff = read_patch(PATCH, SHOWS_ALL)
    gone = Place("src/login.py", 11, is_gone=True, text='    return "/"')
    assert comment_words(diff, LINE.key, "why?") == "src/login.py:12 why?"
    assert comment_words(diff, gone.key, "why?").startswith("On `src/login.py`, the removed line 11:\n\n   ")
    before = "line 12 of an earlier version:\n\n    return it\n\nwhy?"
    assert comment_words(diff, LINE._replace(text="return it").key, "why?").endswith(before)


def test_the_code_scrolls_under_its_numbers() -> None:
    assert "       12 + return path" in [words(one) for one in rows(offset=4)]


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("a.py:3\n+x:1", Place("a.py", 3, text="x:1")),
        ("a.py:3\n-", Place("a.py", 3, is_gone=True)),
        ("a:b.py:12\n+", Place("a:b.py", 12)),
        ("a.py\n", None),
        ("a.py:3\n", None),
        ("a.py\n1", None),
        (None, None),
    ],
)
def test_places(key: str | None, place: Place | None) -> None:
    assert Place.of(key) == place
    assert place is None or place.key == key


def test_a_stranger_s_patch_is_bounded() -> None:
    head = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n"
    long = head + "@@ -0,0 +1,2 @@\n+" + "(" * 10_000_000 + "\n+\x1b[31m\u202e[/x] ok\n"
    many = head + f"@@ -0,0 +1,{MOST_LINES * 2} @@\n" + "+x = 1\n" * (MOST_LINES * 2)
    wrong = head + "@@ -1,999999999 +1,999999999 @@\n+x\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ broken\n"
    for text in (long, many, wrong, "", "\n", "@@ -1 +1 @@\n+x\n"):
        begun = time.process_time()
        diff = read_patch(text, SHOWS_ALL)
        found = diff_rows(diff, {}, coloured(diff.files), 60)
        assert len(found) <= MOST_LINES + 10
        assert all(len(words(one)) < 10_000 for one in found)
        assert time.process_time() - begun < 60
    left_out = "not shown: x.bin (binary): git diff 1 2 -- x.bin"
    more, last = read_patch(f"{many}{left_out}\n", SHOWS_ALL).left_out
    assert more.endswith(f" more lines are not shown: {SHOWS_ALL}")
    assert last == left_out
