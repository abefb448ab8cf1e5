"""Two commits of the state branch merged in memory: the same tree both ways, and no file of either side lost."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.model.ids import TaskId, task_folder, task_path
from gitticks.store.branch import Store
from gitticks.store.merging.commits import MergeReport, merge_commits
from gitticks.store.transaction import read_file
from tests.support.repositories import fsck_problems, git
from tests.support.tasks import ADA, make_store, write_files
from tests.support.versions import make_base

TASK = task_path(TaskId("k7f2"))
FOLDER = task_folder(TaskId("k7f2"))
BASE = make_base()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = make_store(tmp_path / "r")
    write_files(made, {TASK: BASE, f"{FOLDER}/history.jsonl": b'{"at":"1"}\n'})
    return made


def commit(store: Store, files: dict[str, bytes | None], parent: str | None = None) -> str:
    """Stores a commit on the tip, or on another one, that no ref names; scripts are executable."""
    programs = {path: True for path, content in files.items() if path.endswith(".sh") and content is not None}
    made = store.objects.write_commit(
        (parent or store.tip(),), files, author=ADA, message="made\n", executable=programs
    )
    return made.id


class MergedTree(NamedTuple):
    """The tree of a merge, and what it reports."""

    tree: str
    report: MergeReport


def merged_tree(store: Store, base: str | None, ours: str, theirs: str) -> MergedTree:
    """Merges two commits and stores the result."""
    merged = merge_commits(store.objects, base, ours, theirs)
    made = store.objects.write_commit(
        (ours, theirs), merged.changes, author=ADA, message="merged\n", executable=merged.executable
    )
    return MergedTree(store.objects.tree_of(made.id), merged.report)


def merge(store: Store, ours: dict[str, bytes | None], theirs: dict[str, bytes | None]) -> MergedTree:
    """Merges two sides of the tip; both ways must give one tree."""
    one, other = commit(store, ours), commit(store, theirs)
    merged = merged_tree(store, store.tip(), one, other)
    assert merged_tree(store, store.tip(), other, one).tree == merged.tree
    return merged


def read(store: Store, merged: MergedTree, path: str) -> bytes | None:
    return read_file(store.repository.objects, merged.tree, path)


def names(store: Store, merged: MergedTree, folder: str = FOLDER) -> list[str]:
    objects = store.repository.objects
    entry = objects.find(merged.tree, folder)
    return [] if entry is None else list(objects.folder(entry.object_id))


def test_files_of_both_sides_come_together(store: Store) -> None:
    history = f"{FOLDER}/history.jsonl"
    merged = merge(
        store,
        {
            TASK: BASE.replace(b"priority: 1", b"priority: 0"),
            history: b'{"at":"1"}\n{"at":"3"}\n',
            "prompts/a.md": b"a\n",
        },
        {
            TASK: BASE.replace(b"[one, two]", b"[one]"),
            history: b'{"at":"1"}\n{"at":"2"}\n',
            "config.yaml": None,
        },
    )
    assert read(store, merged, TASK) == BASE.replace(b"priority: 1", b"priority: 0").replace(
        b"[one, two]", b"[one]"
    )
    assert read(store, merged, history) == b'{"at":"1"}\n{"at":"2"}\n{"at":"3"}\n'
    assert read(store, merged, "prompts/a.md") == b"a\n"
    assert read(store, merged, "config.yaml") is None
    assert not merged.report.conflicts


def test_nothing_to_merge_is_the_very_tree(store: Store) -> None:
    ours = commit(store, {TASK: BASE + b"\nmore\n"})
    tree = store.objects.tree_of(ours)
    assert merged_tree(store, store.tip(), ours, store.tip()).tree == tree
    assert merged_tree(store, store.tip(), store.tip(), ours).tree == tree


def test_a_removed_task_with_news_on_the_other_side_stays_whole(store: Store) -> None:
    history = f"{FOLDER}/history.jsonl"
    merged = merge(store, {TASK: None, history: None}, {history: b'{"at":"1"}\n{"at":"2"}\n'})
    assert read(store, merged, TASK) == BASE
    assert read(store, merged, history) == b'{"at":"1"}\n{"at":"2"}\n'
    assert TASK in merged.report.kept


def test_a_removed_task_that_nobody_changed_is_gone(store: Store) -> None:
    merged = merge(store, {TASK: None, f"{FOLDER}/history.jsonl": None}, {"prompts/a.md": b"a\n"})
    assert read(store, merged, TASK) is None


def test_the_later_of_two_tasks_with_one_id_is_renamed(store: Store) -> None:
    path, history = task_path(TaskId("abcd")), f"{task_folder(TaskId('abcd'))}/history.jsonl"
    first = BASE.replace(b"k7f2", b"abcd")
    second = first.replace(b"created: 2026-01-02", b"created: 2026-01-03").replace(b"Say hello", b"Say bye")
    child = BASE.replace(b"k7f2", b"chld").replace(
        b"priority:", b"parent: abcd\nblocked_by: [abcd]\npriority:"
    )
    child_path = task_path(TaskId("chld"))
    merged = merge(
        store,
        {
            path: first,
            history: b'{"at":"1"}\n',
            child_path.replace("chld", "chl2").replace("/ld/", "/l2/"): child.replace(b"chld", b"chl2"),
        },
        {path: second, history: b'{"at":"2"}\n', child_path: child},
    )
    (renamed,) = merged.report.renamed
    assert read(store, merged, path) == first
    assert read(store, merged, history) == b'{"at":"1"}\n'
    moved = TaskFile.parse(read(store, merged, task_path(renamed.new)) or b"", "f").task
    assert (moved.id, moved.title) == (renamed.new, "Say bye")
    events = read(store, merged, f"{task_folder(renamed.new)}/history.jsonl") or b""
    assert events.startswith(b'{"at":"2"}\n')
    assert b"was `abcd`" in events
    theirs = TaskFile.parse(read(store, merged, child_path) or b"", "f").task
    assert (theirs.parent, theirs.blocked_by) == (renamed.new, (renamed.new,))
    ours = TaskFile.parse(read(store, merged, task_path(TaskId("chl2"))) or b"", "f").task
    assert ours.parent == "abcd"


EARLY = BASE.replace(b"k7f2", b"abcd")
LATE = EARLY.replace(b"created: 2026-01-02", b"created: 2026-01-03").replace(b"Say hello", b"Say bye")
ABCD = task_folder(TaskId("abcd"))


def told_apart(store: Store, *, is_kept: bool = True, title: bytes = b"Say bye") -> tuple[str, str, str]:
    """Returns a commit with a task, one where it was renamed, as another one had its id first, and the new id."""
    late = commit(
        store,
        {
            f"{ABCD}/TASK.md": LATE,
            f"{ABCD}/history.jsonl": b'{"at":"2"}\n',
            f"{ABCD}/a.md": b"a\n",
            f"{ABCD}/{PROGRAM}": b"#!\n",
        },
    )
    retitled = commit(store, {f"{ABCD}/TASK.md": LATE.replace(b"Say bye", title)}, late)
    early = commit(store, {f"{ABCD}/TASK.md": EARLY, f"{ABCD}/history.jsonl": b'{"at":"1"}\n'})
    merged = merge_commits(store.objects, store.tip(), retitled, early)
    (renamed,) = merged.report.renamed
    changes = dict(merged.changes)
    if not is_kept:
        changes = {path: None if renamed.new in path else new for path, new in changes.items()}
    made = store.objects.write_commit(
        (retitled, early), changes, author=ADA, message="merged\n", executable=merged.executable
    )
    return late, made.id, renamed.new


@pytest.mark.parametrize("is_kept", [True, False])
def test_what_is_done_to_a_task_that_another_clone_renamed_follows_it(store: Store, is_kept: bool) -> None:
    late, apart, new = told_apart(store, is_kept=is_kept)
    child = BASE.replace(b"k7f2", b"chld").replace(b"priority:", b"blocked_by: [abcd]\npriority:")
    work: dict[str, bytes | None] = {
        f"{ABCD}/TASK.md": LATE.replace(b"status: working", b"status: done") + b"\nMore.\n",
        f"{ABCD}/history.jsonl": b'{"at":"2"}\n{"at":"3"}\n',
        f"{ABCD}/a.md": b"b\n",
        f"{ABCD}/worklog.md": b"work\n",
        f"{ABCD}/new.sh": b"#!\n",
        task_path(TaskId("chld")): child,
    }
    ours = commit(store, work, late)
    merged = merged_tree(store, late, ours, apart)
    assert merged_tree(store, late, apart, ours).tree == merged.tree
    assert read(store, merged, f"{ABCD}/TASK.md") == EARLY
    assert read(store, merged, f"{ABCD}/history.jsonl") == b'{"at":"1"}\n'
    assert names(store, merged, ABCD) == ["TASK.md", "history.jsonl"]
    (renamed,) = merged.report.renamed
    assert (renamed.old, renamed.new, renamed.title, renamed.by_ours) == ("abcd", new, "Say bye", True)
    folder = task_folder(renamed.new)
    file = TaskFile.parse(read(store, merged, f"{folder}/TASK.md") or b"", "f")
    assert (file.task.id, file.task.title, str(file.task.status)) == (renamed.new, "Say bye", "done")
    assert "More." in file.body.text
    events = (read(store, merged, f"{folder}/history.jsonl") or b"").splitlines()
    assert [one for one in events if b"was" not in one] == [b'{"at":"2"}', b'{"at":"3"}']
    assert len(events) == 3
    assert [read(store, merged, f"{folder}/{one}") for one in ("a.md", "worklog.md")] == [b"b\n", b"work\n"]
    programs = {path for path, mode in modes(store, merged.tree).items() if mode == "100755"}
    assert programs == {f"{folder}/{PROGRAM}", f"{folder}/new.sh"}
    blocked = TaskFile.parse(read(store, merged, task_path(TaskId("chld"))) or b"", "f").task.blocked_by
    assert blocked == (renamed.new,)
    assert not merged.report.conflicts


@pytest.mark.parametrize("title", [b"Say bye", b"Say farewell"])
def test_work_on_both_sides_of_a_renamed_task_comes_together(store: Store, title: bytes) -> None:
    late, apart, new = told_apart(store, title=title)
    folder = task_folder(TaskId(new))
    there = read_file(store.objects, store.objects.tree_of(apart), f"{folder}/TASK.md") or b""
    theirs = commit(store, {f"{folder}/TASK.md": there.replace(b"priority: 1", b"priority: 0")}, apart)
    ours = commit(store, {f"{ABCD}/worklog.md": b"work\n", f"{ABCD}/TASK.md": LATE + b"\nMore.\n"}, late)
    merged = merged_tree(store, late, ours, theirs)
    data = read(store, merged, f"{folder}/TASK.md") or b""
    assert b"priority: 0" in data
    assert title in data
    assert data.endswith(b"More.\n")
    assert [one.new for one in merged.report.renamed] == [new]
    assert read(store, merged, f"{ABCD}/TASK.md") == EARLY
    assert not merged.report.conflicts


def test_a_clone_that_changed_nothing_of_a_renamed_task_is_told_nothing(store: Store) -> None:
    late, apart, _ = told_apart(store)
    ours = commit(store, {"prompts/a.md": b"a\n"}, late)
    merged = merged_tree(store, late, ours, apart)
    assert merged.report == MergeReport()
    assert read(store, merged, f"{ABCD}/TASK.md") == EARLY


@pytest.mark.parametrize("grown", [None, b'{"at":"1"}\n{"at":"2"}\n', b'{"at":"0"}\n{"at":"1"}\n'])
def test_a_task_whose_time_of_creation_was_corrected_stays_one(store: Store, grown: bytes | None) -> None:
    history = {f"{FOLDER}/history.jsonl": grown} if grown else {}
    corrected = BASE.replace(b"created: 2026-01-02", b"created: 2026-01-01")
    merged = merge(
        store,
        {TASK: corrected, **history},
        {TASK: BASE.replace(b"priority: 1", b"priority: 0")},
    )
    assert read(store, merged, TASK) == corrected.replace(b"priority: 1", b"priority: 0")
    assert not merged.report.renamed


def test_a_hand_off_that_does_not_stand_is_kept_as_a_round(store: Store) -> None:
    ours = BASE.replace(b"status: working", b"status: agent-review") + b"\n## Handoff\n\nDONE: ours\n"
    theirs = BASE + b"\n## Handoff\n\nDONE: theirs\n"
    merged = merge(store, {TASK: ours}, {TASK: theirs})
    assert b"DONE: ours" in (read(store, merged, TASK) or b"")
    (kept,) = merged.report.beside
    assert read(store, merged, kept) == b"DONE: theirs\n"
    assert kept.startswith(f"{FOLDER}/rounds/01-superseded-handoff-")


@pytest.mark.parametrize("junk", [b"\xff\xfe\0junk", b"---\nid: [\n---\n", b"", b"<<<<<<< a\n---\n"])
def test_a_broken_side_is_kept_beside_the_one_that_can_be_read(store: Store, junk: bytes) -> None:
    ours = BASE.replace(b"priority: 1", b"priority: 0")
    merged = merge(store, {TASK: ours}, {TASK: junk})
    file = TaskFile.parse(read(store, merged, TASK) or b"", TASK)
    assert file.task.priority == 0
    assert merged.report.conflicts == {TASK: ("the whole file",)}
    (beside,) = merged.report.beside
    assert read(store, merged, beside) == junk
    assert beside.rpartition("/")[2].encode() in file.data


def test_sides_that_together_are_too_large_are_both_kept(store: Store) -> None:
    ours, theirs = (
        BASE + f"\n## {name}\n\n".encode() + b"word " * 120_000 + b"\n" for name in ("Plan", "Risks")
    )
    merged = merge(store, {TASK: ours}, {TASK: theirs})
    assert TaskFile.parse(read(store, merged, TASK) or b"", TASK)
    (beside,) = merged.report.beside
    kept = (read(store, merged, TASK) or b"") + (read(store, merged, beside) or b"")
    assert b"## Plan" in kept
    assert b"## Risks" in kept


def test_both_sides_broken_are_both_kept(store: Store) -> None:
    merged = merge(store, {TASK: b"one"}, {TASK: b"two"})
    (beside,) = merged.report.beside
    assert {read(store, merged, TASK), read(store, merged, beside)} == {b"one", b"two"}


@pytest.mark.parametrize(
    "path", ["prompts/work.md", f"{FOLDER}/rounds/01-handoff.md", "blob", f"{FOLDER}/x.jsonl"]
)
def test_other_files_that_both_sides_wrote_are_both_kept(store: Store, path: str) -> None:
    merged = merge(store, {path: b"one\n"}, {path: b"\xfftwo\n"})
    kept = [read(store, merged, one) or b"" for one in (path, *merged.report.beside)]
    assert {line for content in kept for line in content.splitlines()} == {b"one", b"\xfftwo"}


def test_logs_that_grow_take_the_lines_of_both(store: Store) -> None:
    path = f"{FOLDER}/worklog.md"
    merged = merge(store, {path: b"one\n"}, {path: b"two\n"})
    assert read(store, merged, path) == b"one\n\ntwo\n"


def test_entries_of_both_sides_stay_whole_where_lines_are_the_same(store: Store) -> None:
    path, entry = f"{FOLDER}/scratchpad.md", b"### %s\n\nNeeds:\n\n```\nmake\n```\n"
    write_files(store, {path: entry % b"k0"})
    first, one, other = (entry % name for name in (b"k0", b"k1", b"k2"))
    merged = merge(store, {path: first + b"\n" + one}, {path: first + b"\n" + other})
    assert read(store, merged, path) == b"\n".join([first, one, other])


PROGRAM = "check.sh"


def modes(store: Store, tree: str) -> dict[str, str]:
    lines = git("ls-tree", "-r", tree, at=store.repository.common_dir).splitlines()
    return {line.partition("\t")[2]: line.partition(" ")[0] for line in lines}


@pytest.mark.parametrize(
    ("base", "one", "other", "merged"),
    [
        (None, None, (b"#!\n", True), True),
        (None, (b"#!\n", False), (b"#!\n", True), True),
        ((b"#!\n", False), None, (b"#!\n", True), True),
        ((b"#!\n", True), None, (b"#!\n", False), False),
        ((b"#!\n", True), None, (b"#!more\n", True), True),
        ((b"#!\n", True), (b"#!\n", False), (b"#!more\n", True), False),
        ((b"#!\n", True), (None, False), (b"#!more\n", True), True),
    ],
)
def test_a_file_is_executable_if_one_side_made_it_so(
    store: Store,
    base: tuple[bytes, bool] | None,
    one: tuple[bytes | None, bool] | None,
    other: tuple[bytes, bool],
    merged: bool,
) -> None:
    def made(parent: str, side: tuple[bytes | None, bool] | None, other: str) -> str:
        content, is_executable = side or (None, False)
        return store.objects.write_commit(
            (parent,),
            {other: b"x\n"} | ({} if side is None else {PROGRAM: content}),
            author=ADA,
            message="made\n",
            executable={PROGRAM: is_executable},
        ).id

    start = made(store.tip() or "", base, "a.md")
    sides = made(start, one, "b.md"), made(start, other, "c.md")
    for ours, theirs in (sides, sides[::-1]):
        found = modes(store, merged_tree(store, start, ours, theirs).tree)
        assert found[PROGRAM] == ("100755" if merged else "100644")
        assert {mode for path, mode in found.items() if path != PROGRAM} == {"100644"}


@pytest.mark.parametrize("ours", [{"prompts/b.md": b"b\n"}, {"plan": b"x\n", "in/a.md": b"a\n"}])
def test_a_file_that_became_a_folder_and_the_reverse(store: Store, ours: dict[str, bytes | None]) -> None:
    write_files(store, {"plan": b"x\n", "in/a.md": b"a\n"})
    merged = merge(store, ours, {"plan": None, "plan/a.md": b"y\n", "in/a.md": None, "in": b"z\n"})
    assert read(store, merged, "plan/a.md") == b"y\n"
    assert read(store, merged, "in") == b"z\n"
    assert merged.report == MergeReport()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"plan": b"mine\n"}, {"plan": None, "plan/a.md": b"y\n"}),
        ({"new": b"mine\n"}, {"new/a.md": b"y\n"}),
        ({"in/a.md": b"more\n"}, {"in/a.md": None, "in": b"mine\n"}),
    ],
)
def test_a_file_where_the_other_side_has_a_folder_is_kept_beside_it(
    store: Store, ours: dict[str, bytes | None], theirs: dict[str, bytes | None]
) -> None:
    write_files(store, {"plan": b"x\n", "in/a.md": b"a\n"})
    merged = merge(store, ours, theirs)
    (beside,) = merged.report.beside
    assert read(store, merged, beside) == b"mine\n"
    folder = beside.partition(".")[0]
    assert names(store, merged, folder) == ["a.md"]
    assert not merged.report.conflicts


def test_a_program_of_a_task_that_gets_another_id_leaves_the_other_tasks_file_as_it_is(store: Store) -> None:
    late, early = (
        {f"{ABCD}/TASK.md": LATE, f"{ABCD}/run": b"#!\n"},
        {f"{ABCD}/TASK.md": EARLY, f"{ABCD}/run": b"#!\n"},
    )
    program = store.objects.write_commit(
        (store.tip() or "",), late, author=ADA, message="made\n", executable={f"{ABCD}/run": True}
    )
    sides = program.id, commit(store, dict(early))
    for ours, theirs in (sides, sides[::-1]):
        merged = merged_tree(store, store.tip(), ours, theirs)
        (renamed,) = merged.report.renamed
        found = modes(store, merged.tree)
        assert (found[f"{ABCD}/run"], found[f"{task_folder(renamed.new)}/run"]) == ("100644", "100755")


def test_a_program_that_is_kept_beside_a_folder_stays_executable(store: Store) -> None:
    merged = merge(store, {PROGRAM: b"mine\n"}, {f"{PROGRAM}/a.md": b"y\n"})
    (beside,) = merged.report.beside
    found = modes(store, merged.tree)
    assert (found[beside], found[f"{PROGRAM}/a.md"]) == ("100755", "100644")


def test_settings_are_merged_key_by_key(store: Store) -> None:
    write_files(store, {"config.yaml": b"version: 1\nhuman: always\nverify:\n  test: make\n  retries: 1\n"})
    ours = b"version: 1\nhuman: when-required\nverify:\n  test: tox\n  retries: 1\n"
    theirs = b"version: 1\nverify:\n  test: make\n  retries: 2\nhuman: always\nagent: codex\n"
    merged = merge(store, {"config.yaml": ours}, {"config.yaml": theirs})
    text = read(store, merged, "config.yaml") or b""
    assert {b"human: when-required", b"agent: codex", b"  test: tox", b"  retries: 2"} <= set(
        text.splitlines()
    )
    assert not merged.report.conflicts


def test_of_two_checkpoints_with_one_number_the_later_stands_and_nobody_has_to_choose(store: Store) -> None:
    path = f"{FOLDER}/checkpoints/0001.json"
    early, late = (b'{"schema": 1, "id": "k7f2-1", "time": "2026-03-04T05:0%d:00Z"}' % one for one in (1, 2))
    merged = merge(store, {path: late}, {path: early})
    assert read(store, merged, path) == late
    assert (merged.report.beside, merged.report.conflicts) == ((), {})


def test_a_setting_that_both_changed_is_said_and_kept_beside(store: Store) -> None:
    write_files(store, {"config.yaml": b"version: 1\nparallel: 1\n"})
    merged = merge(
        store, {"config.yaml": b"version: 1\nparallel: 2\n"}, {"config.yaml": b"version: 1\nparallel: 3\n"}
    )
    assert merged.report.conflicts == {"config.yaml": ("parallel",)}
    assert len(merged.report.beside) == 1


def test_sides_without_a_common_base(store: Store) -> None:
    other = BASE.replace(b"Begin with", b"Finish with")
    sides = commit(store, {}), commit(store, {TASK: other})
    merged = merged_tree(store, None, *sides)
    data = read(store, merged, TASK) or b""
    assert b"Begin with" in data
    assert b"Finish with" in data


def test_many_tasks_are_merged_at_once(store: Store, tmp_path: Path) -> None:
    ids = [TaskId(f"t{number:03}") for number in range(250)]
    files = {task_path(one): BASE.replace(b"k7f2", one.encode()) for one in ids}
    write_files(store, dict(files))
    merged = merge(
        store,
        {path: content.replace(b"priority: 1", b"priority: 0") for path, content in files.items()},
        {path: content + b"\n## Plan\n\nThink.\n" for path, content in files.items()},
    )
    for one in ids[::50]:
        data = read(store, merged, task_path(one)) or b""
        assert b"priority: 0" in data
        assert b"Think." in data
    assert fsck_problems(tmp_path / "r") == ""


@pytest.mark.parametrize(
    ("ours", "theirs", "merged", "keys"),
    [
        (
            "version: 1\nlimits:\n  rest: 5m\nverify:\n  test: make\n",
            "version: 1\nverify:\n  test: make\nlimits:\n  idle: 2m\n",
            "version: 1\nlimits:\n  rest: 5m\n  idle: 2m\nverify:\n  test: make\n",
            (),
        ),
        (
            "version: 1\nverify:\n  build: a\n  test: make\n",
            "version: 1\nverify:\n  test: make\n  build: b\n",
            "version: 1\nverify:\n  build: a\n  test: make\n",
            ("verify.build",),
        ),
    ],
)
def test_a_setting_that_both_sides_added_in_different_places_is_there_once(
    store: Store, ours: str, theirs: str, merged: str, keys: tuple[str, ...]
) -> None:
    write_files(store, {"config.yaml": b"version: 1\nverify:\n  test: make\n"})
    found = merge(store, {"config.yaml": ours.encode()}, {"config.yaml": theirs.encode()})
    assert (read(store, found, "config.yaml") or b"").decode() == merged
    assert found.report.conflicts.get("config.yaml", ()) == keys
