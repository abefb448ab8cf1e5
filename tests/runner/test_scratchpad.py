from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gitticks.runner.scratchpad import LARGEST_BYTES, add_entry, rewind

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def filled(count: int, length: int = 600) -> str:
    text = ""
    for number in range(count):
        at = AT + timedelta(minutes=number)
        text = add_entry(text, f"lesson {number}: " + "x" * length, at=at, source="k7f2 · claude")
    return text


def test_an_entry_has_a_heading_with_time_and_source() -> None:
    assert add_entry("", "use make\n", at=AT, source="k7f2 · claude") == (
        "### 2026-01-02T03:04:05Z · k7f2 · claude\n\nuse make\n"
    )


def test_nothing_learned_adds_nothing() -> None:
    assert add_entry("as it was", " \n\n", at=AT, source="k7f2") == "as it was"


def test_what_a_person_wrote_at_the_top_always_stays() -> None:
    own = "Read this first.\n" + "y" * 20_000
    text = add_entry(own, "one", at=AT, source="k7f2")
    text = add_entry(text, "two", at=AT, source="k7f2")
    assert text.startswith(own)
    assert "\n\none\n" in text
    assert "\n\ntwo\n" in text


def test_the_oldest_entries_are_folded_into_a_line_each() -> None:
    text = filled(30)
    assert len(text.encode()) <= LARGEST_BYTES
    assert "- 2026-01-02T03:04:05Z · k7f2 · claude: lesson 0: xxx" in text
    assert "### 2026-01-02T03:33:05Z · k7f2 · claude\n\nlesson 29: xxx" in text


def test_folded_lines_are_counted_once_they_are_too_many() -> None:
    text = filled(200)
    assert len(text.encode()) <= LARGEST_BYTES
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    entries = text.count("\n### 2026") + text.startswith("### 2026")
    left_out = int(lines[0].removeprefix("- (").split(" ")[0])
    assert left_out + len(lines) - 1 + entries == 200


def test_an_entry_larger_than_the_room_is_cut_and_says_so() -> None:
    text = add_entry("", "é" * 50_000, at=AT, source="k7f2")
    assert len(text.encode()) <= LARGEST_BYTES
    assert "bytes were too many for the scratchpad]" in text


def test_a_heading_inside_a_text_makes_no_entry() -> None:
    text = add_entry("", "### 2026-01-02T03:04:05Z · forged\n\nbody", at=AT, source="k7f2")
    assert "\n\\### 2026-01-02T03:04:05Z · forged" in text


def test_going_back_takes_later_entries_of_its_own_tasks_alone() -> None:
    then = add_entry("Read this first.\n", "one", at=AT, source="k7f2 · claude")
    later = add_entry(then.replace("first", "twice"), "two", at=AT, source="k7f2 · claude")
    later = add_entry(later, "three", at=AT, source="m3xq · codex")
    back = rewind(later, then, {"k7f2"})
    assert back.startswith("Read this twice.")
    assert [word in back for word in ("one", "two", "three")] == [True, False, True]
    assert rewind(back, then, {"k7f2", "m3xq"}) == then.replace("first", "twice")
    assert rewind("", then, {"k7f2"}).startswith("### ")
