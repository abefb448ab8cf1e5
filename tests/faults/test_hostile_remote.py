"""Fault test 8: a remote that rejects, hangs, drops before or after it took a push, or rewinds."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.clones import Clone, make_clones, make_first_clone
from tests.support.doses import LONGEST_TEST_SECONDS, dose
from tests.support.figures import record
from tests.support.repositories import fsck_problems, git

STATE = "refs/heads/gitticks/state"
WAYS = ("answers", "rejects", "hangs", "drops before", "drops after", "rewinds")
HOOK = """\
#!/bin/sh
while read old new ref; do
    case $old in
    *[!0]*) git merge-base --is-ancestor "$old" "$new" || echo "$ref $old $new" >> "$GIT_DIR/forced" ;;
    esac
done
case "{name} $(cat "$GIT_DIR/mood" 2>/dev/null)" in
"pre-receive rejects") echo "not today" >&2; exit 1 ;;
"pre-receive hangs") exec sleep 60 ;;
"pre-receive drops before" | "post-receive drops after") kill -9 "$PPID" ;;
esac
exit 0
"""


@dataclass
class Hostile:
    """A bare remote and two clones of it that write in turn."""

    bare: Path
    clones: list[Clone]
    task: str
    random: random.Random
    notes: list[str] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)

    def tip(self) -> str:
        return git("rev-parse", STATE, at=self.bare)

    def write(self, clone: Clone) -> None:
        """Adds something that must be there in the end, once."""
        text = f"note {len(self.notes)} of {clone.path.name}"
        clone.ok("note", self.task, text)
        self.notes.append(text)

    def sync(self, clone: Clone, way: str) -> None:
        """Syncs once while the remote behaves in a certain way."""
        if way == "rewinds":
            self._rewind()
        (self.bare / "mood").write_text(way)
        ran = clone.gt("sync", "--timeout", "2s")
        (self.bare / "mood").write_text("answers")
        self.met[f"{way}: {ran.code}"] += 1
        assert ran.code in (0, 3), ran.seen
        assert "Traceback" not in ran.err
        if ran.code == 3 and "--restore" in ran.err:
            clone.ok("sync", "--restore")

    def _rewind(self) -> None:
        """Takes the newest commits of the remote's branch back, as an administrator or a backup would."""
        depth = self.random.randint(1, 3)
        target = git("rev-list", f"--skip={depth}", "--max-count=1", "--first-parent", STATE, at=self.bare)
        if target:
            git("update-ref", STATE, target, at=self.bare)


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    first = make_first_clone(tmp_path)
    task = first.create("Shared by all")
    clones = make_clones(tmp_path, first, 2)
    bare = tmp_path / "remote.git"
    for name in ("pre-receive", "post-receive"):
        hook = bare / "hooks" / name
        hook.write_text(HOOK.format(name=name))
        hook.chmod(0o755)
    for clone in clones:
        clone.ok("sync")
    return Hostile(bare, clones, task, random.Random(8))


@pytest.mark.timeout(LONGEST_TEST_SECONDS)
def test_nothing_is_lost_doubled_or_forced(hostile: Hostile) -> None:
    count = dose(12, 500)
    for number in range(count):
        clone = hostile.clones[hostile.random.randrange(2)]
        hostile.write(clone)
        way = WAYS[number % len(WAYS)] if number < len(WAYS) else hostile.random.choice(WAYS)
        hostile.sync(clone, way)
    for clone in [*hostile.clones, *hostile.clones]:
        if clone.gt("sync").code != 0:
            clone.ok("sync", "--restore")
    one, other = hostile.clones
    lost = [text for text in hostile.notes if text not in one.notes(hostile.task)]
    doubled = len(one.notes(hostile.task)) - len(set(one.notes(hostile.task)))
    forced = (hostile.bare / "forced").read_text() if (hostile.bare / "forced").exists() else ""
    record("hostile remote", syncs=count, lost=len(lost), doubled=doubled, **dict(hostile.met))
    assert not lost
    assert doubled == 0
    assert forced == ""
    assert one.tip() == other.tip() == hostile.tip()
    assert one.board_status() == other.board_status() == ""
    assert [fsck_problems(path) for path in (one.path, other.path, hostile.bare)] == ["", "", ""]


@pytest.mark.parametrize("way", ["hangs", "drops before", "drops after"])
def test_a_remote_that_gives_no_answer_is_reported_as_one(hostile: Hostile, way: str) -> None:
    clone = hostile.clones[0]
    hostile.write(clone)
    (hostile.bare / "mood").write_text(way)
    ran = clone.gt("sync", *(("--timeout", "1s") if way == "hangs" else ()))
    assert ran.code == 0
    took_it = way == "drops after"
    assert ("cannot be reached" in ran.out) is not took_it
    (hostile.bare / "mood").write_text("answers")
    clone.ok("sync")
    assert hostile.tip() == clone.tip()
