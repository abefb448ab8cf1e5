"""The state branch under one writer, in every kind of repository."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitticks.errors import GitticksError, NotFoundError, RefusedError
from gitticks.git.disk import MANY_FILES
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.objects import Objects, open_objects
from gitticks.git.repository import Repository, discover
from gitticks.store import layout
from gitticks.store.branch import Store
from gitticks.store.publishing import BoardStep
from gitticks.store.transaction import Transaction
from tests.store.branches import ADA, CONFIG, increment, store, top, writing
from tests.support.repositories import add_linked_worktree, clone, fsck_problems, git, make_repository

__all__ = ["store", "top"]


def test_the_first_commit_holds_attributes_and_settings(top: Path, store: Store) -> None:
    assert store.exists
    assert store.read(".gitattributes") == b"TASK.md merge=gitticks\n*.jsonl merge=union\n"
    assert store.read("config.yaml") == CONFIG.encode()
    assert git("log", "--format=%P|%an", layout.STATE_BRANCH, at=top) == "|Ada Lovelace"


def test_a_branch_that_is_there_stays(store: Store) -> None:
    tip = store.tip()
    assert store.initialise(ENGINE_IDENTITY, "version: 1 # other\n") == tip
    assert store.tip() == tip


def test_the_branch_of_origin_is_taken_over(top: Path, store: Store, tmp_path: Path) -> None:
    store.transact(writing("kept", b"1"), author=ADA)
    copy = Store(discover(clone(top, tmp_path / "copy")))
    assert not copy.exists
    assert copy.initialise(ADA, CONFIG) == store.tip()
    assert copy.read("kept") == b"1"


def test_without_a_branch_the_hint_is_init(top: Path) -> None:
    with pytest.raises(NotFoundError, match="has no tasks yet") as caught:
        Store(discover(top)).tip()
    assert caught.value.hint == "`gt init` sets them up"


def test_an_operation_is_one_commit_with_its_reasons(top: Path, store: Store) -> None:
    store.transact(writing("tasks/f2/k7f2/worklog.md", b"one\n"), author=ADA)
    shown = git("log", "-1", "--format=%an <%ae>|%cn|%B", layout.STATE_BRANCH, at=top)
    assert shown == (
        "Ada Lovelace <ada@example.org>|Ada Lovelace|write tasks/f2/k7f2/worklog.md\n\nTask: k7f2\nActor: human Ada\n"
    )
    assert git("rev-list", "--count", layout.STATE_BRANCH, at=top) == "2"
    assert store.read("tasks/f2/k7f2/worklog.md") == b"one\n"
    assert store.list("tasks/f2/k7f2") == ("worklog.md",)


def test_a_change_of_nothing_makes_no_commit(store: Store) -> None:
    tip = store.tip()
    store.transact(lambda transaction: transaction.write("config.yaml", CONFIG.encode()), author=ADA)
    store.transact(lambda transaction: transaction.remove("not/there"), author=ADA)
    assert store.transact(lambda _transaction: 42, author=ADA) == 42
    assert store.tip() == tip


def test_a_refused_operation_changes_nothing(store: Store) -> None:
    tip = store.tip()

    def refuse(transaction: Transaction) -> None:
        transaction.write("a", b"1")
        raise RefusedError("no")

    with pytest.raises(RefusedError):
        store.transact(refuse, author=ADA)
    assert store.tip() == tip


def test_what_follows_an_operation_is_the_branchs_in_the_same_moment(top: Path, store: Store) -> None:
    def write(transaction: Transaction) -> str:
        transaction.write("a", b"1")
        return "written"

    def follow(transaction: Transaction, value: str) -> None:
        assert (value, transaction.read("a")) == ("written", b"1")
        transaction.write("a", b"2")

    tip, moves = store.tip(), git("reflog", layout.STATE_BRANCH, at=top).count("\n")
    assert store.transact(write, author=ADA, then=follow) == "written"
    assert store.read("a") == b"2"
    assert git("show", f"{layout.STATE_BRANCH}~1:a", at=top) == "1"
    assert git("rev-parse", f"{layout.STATE_BRANCH}~2", at=top) == tip
    assert git("reflog", layout.STATE_BRANCH, at=top).count("\n") == moves + 1
    assert store.transact(write, author=ADA, then=lambda *_: None) == "written"
    assert git("rev-list", "--count", layout.STATE_BRANCH, at=top) == "4"


def test_what_follows_an_operation_is_on_disk_as_well(
    top: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, sync, synced = store.tip(), Objects.sync, set[str]()

    def note(objects: Objects, object_ids: Iterable[str]) -> None:
        ids = tuple(object_ids)
        synced.update(ids)
        sync(objects, ids)

    monkeypatch.setattr(Objects, "sync", note)
    store.transact(writing("a", b"1"), author=ADA, then=lambda transaction, _: transaction.write("b/c", b"2"))
    made = git("rev-list", "--objects", "--no-object-names", f"{tip}..{layout.STATE_BRANCH}", at=top)
    assert synced == set(made.split())


def test_an_operation_goes_with_what_follows_it(store: Store) -> None:
    def refuse(transaction: Transaction, _: object) -> None:
        raise RefusedError("no")

    tip = store.tip()
    with pytest.raises(RefusedError):
        store.transact(writing("a", b"1"), author=ADA, then=refuse)
    assert store.tip() == tip
    store.transact(writing("b", b"1"), author=ADA)
    assert store.read("a") is None


def test_a_change_of_thousands_of_files_is_one_commit(top: Path, store: Store) -> None:
    def operation(transaction: Transaction) -> None:
        for number in range(MANY_FILES + 1):
            transaction.write(f"many/{number % 7}/{number}", b"%d" % number)

    loose = git("count-objects", at=top)
    store.transact(operation, author=ADA)
    assert git("rev-list", "--count", layout.STATE_BRANCH, at=top) == "2"
    assert store.read("many/2/100") == b"100"
    assert fsck_problems(top) == ""
    assert git("count-objects", at=top) == loose


def test_a_pack_that_somebody_removes_before_the_branch_names_it_is_made_again(
    top: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, removed = Objects.sync, list[Path]()

    def sync_without_packs(objects: Objects, object_ids: Iterable[str]) -> None:
        if not removed:
            removed.extend((top / ".git/objects/pack").iterdir())
            for file in removed:
                file.unlink()
        sync(open_objects(objects.common_dir), object_ids)

    def operation(transaction: Transaction) -> None:
        for number in range(150):
            transaction.write(f"many/{number}", b"%d" % number)

    monkeypatch.setattr(Objects, "sync", sync_without_packs)
    store.transact(operation, author=ADA)
    assert {file.suffix for file in removed} >= {".pack", ".idx"}
    assert git("rev-list", "--count", layout.STATE_BRANCH, at=top) == "2"
    assert fsck_problems(top) == ""


def test_foreign_files_are_left_alone(top: Path, store: Store) -> None:
    blob = git("hash-object", "-w", "--stdin", at=top, input="notes of a person")
    tree = git("ls-tree", layout.STATE_BRANCH, at=top)
    link = f"120000 blob {blob}\tlink\n100755 blob {blob}\trun.sh\n"
    foreign = git("mktree", at=top, input=f"{tree}\n{link}")
    commit = git("commit-tree", foreign, "-p", store.tip(), "-m", "by hand", at=top)
    git("update-ref", layout.STATE_REF, commit, at=top)
    store.transact(writing("a/b", b"1"), author=ADA)
    listed = git("ls-tree", layout.STATE_BRANCH, at=top)
    assert f"120000 blob {blob}\tlink" in listed
    assert f"100755 blob {blob}\trun.sh" in listed
    assert store.read("link") is None
    assert store.read("run.sh") == b"notes of a person"


def test_a_newer_format_is_read_and_not_written(store: Store) -> None:
    store.transact(writing("config.yaml", b"version: 2\n"), author=ADA)
    assert store.read("config.yaml") == b"version: 2\n"
    with pytest.raises(GitticksError, match="in format 2, newer than this gitticks") as caught:
        store.transact(writing("a", b"1"), author=ADA)
    assert caught.value.hint == "`pipx upgrade gitticks`"  # as the README installs it


def test_the_checkout_the_index_and_head_are_never_touched(top: Path, store: Store) -> None:
    (top / "README.md").write_text("edited\n")
    (top / "new").write_text("untracked\n")
    git("add", "new", at=top)

    def seen() -> tuple[object, ...]:
        index = (top / ".git" / "index").read_bytes()
        head = (top / ".git" / "HEAD").read_text()
        files = {path.name: path.read_bytes() for path in top.iterdir() if path.is_file()}
        return index, head, files, git("status", "--porcelain=v2", at=top), git("stash", "list", at=top)

    before = seen()
    for number in range(3):
        store.transact(writing(f"tasks/{number}", b"1"), author=ADA)
    assert seen() == before


class RecordingBoard:
    """Writes down what a board is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    @contextmanager
    def prepare(self, repository: Repository, _new: str) -> Iterator[BoardStep]:
        self.told.append(repository.main_worktree)
        yield self.follow
        self.told.append("released")

    def follow(self, old_commit: str, new_commit: str, /) -> None:
        self.told.append((old_commit, new_commit))


def test_the_board_follows_each_move(top: Path, store: Store) -> None:
    board = RecordingBoard()
    watched = Store(discover(top), board)
    old = watched.tip()
    watched.transact(increment, author=ADA)
    watched.transact(lambda _transaction: None, author=ADA)
    assert board.told == [top, (old, watched.tip()), "released"]


@pytest.mark.parametrize(
    "layout_name", ["empty", "bare", "detached", "linked", "submodule", "packed", "unborn"]
)
def test_every_kind_of_repository_has_a_state_branch(tmp_path: Path, layout_name: str) -> None:
    place = make_layout(tmp_path, layout_name)
    store = Store(discover(place))
    store.initialise(ADA, CONFIG)
    for _ in range(2):
        store.transact(increment, author=ADA)
        if layout_name == "packed":
            git("pack-refs", "--all", at=place)
            git("gc", "--quiet", "--prune=now", at=place)
    assert store.read("counter") == b"2"
    assert git("rev-list", "--count", layout.STATE_BRANCH, at=place) == "3"
    assert fsck_problems(place) == ""


def make_layout(tmp_path: Path, name: str) -> Path:
    if name == "bare":
        return make_repository(tmp_path / "r.git", bare=True)
    top = make_repository(tmp_path / "r", commits=0 if name == "empty" else 1)
    if name == "detached":
        git("checkout", "--quiet", "--detach", at=top)
    elif name == "unborn":
        git("checkout", "--quiet", "--orphan", "fresh", at=top)
    elif name == "linked":
        return add_linked_worktree(top, tmp_path / "linked", "side")
    elif name == "submodule":
        outer = make_repository(tmp_path / "outer")
        git("submodule", "--quiet", "add", str(top), "sub", at=outer)
        return outer / "sub"
    return top


def test_a_path_that_would_leave_the_tree_is_refused(store: Store) -> None:
    for path in ("../a", "/a", "a//b", ".git/config", "a/.GIT/x", "", "a/", "a\0b", "./a"):
        with pytest.raises(GitticksError, match="cannot be a path"):
            store.transact(writing(path, b"1"), author=ADA)


def test_a_subject_is_one_printable_line(top: Path, store: Store) -> None:
    def operation(transaction: Transaction) -> None:
        transaction.write("a", b"1")
        transaction.describe("k7f2: \x1b[31mred\nTask: forged", [("Actor", "human A\nVerdict: approved")])
        transaction.describe("epic follows", [("Task", "e1"), ("Actor", "human A\nVerdict: approved")])

    store.transact(operation, author=ADA)
    assert git("log", "-1", "--format=%B", layout.STATE_BRANCH, at=top).splitlines() == [
        "k7f2: [31mred Task: forged", "", "epic follows", "", "Actor: human A Verdict: approved", "Task: e1",
    ]  # fmt: skip
    assert git("log", "-1", "--format=%(trailers:key=Verdict)", layout.STATE_BRANCH, at=top) == ""
