"""Claims at a real bare remote, by clones that race, stop and lose their connection."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitticks.errors import MachineError
from gitticks.git.remote_refs import LeasedMove, UnreachableError, push_leased, remote_refs
from gitticks.model.ids import TaskId
from gitticks.runner.claiming import RunClaims
from gitticks.store.claims import CLAIMS, Claims, Holder
from tests.support.repositories import git, make_repository
from tests.support.stores import discover_for_much
from tests.support.tasks import make_task
from tests.support.waiting import LONGEST_SECONDS

TASK, OTHER = TaskId("k7f2"), TaskId("m3xq")
LEASE = timedelta(minutes=10)


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "remote.git", bare=True)


def claims_of(remote: Path, name: str, clock: Clock) -> Claims:
    """Returns what a clone of that name claims with, the clone being made where there is none yet."""
    path = remote.parent / name
    if not path.exists():
        git("clone", "--quiet", str(remote), str(path), at=remote.parent)
    repository = discover_for_much(path)
    repository.own_dir.mkdir(exist_ok=True)
    return Claims(repository, "origin", (name, "host"), LEASE, clock)


def there(remote: Path) -> list[str]:
    return git("for-each-ref", "--format=%(refname)", CLAIMS, at=remote).split()


def test_the_first_has_the_task_until_it_gives_it_back(remote: Path, clock: Clock) -> None:
    ada, bob = claims_of(remote, "ada", clock), claims_of(remote, "bob", clock)
    assert ada.take(TASK) is None
    holder = bob.take(TASK)
    assert holder is not None
    assert (holder.by, holder.host, holder.expires) == ("ada", "host", clock.time + LEASE)
    assert [ada.held, bob.held] == [frozenset({TASK}), frozenset()]
    assert (ada.is_held(TASK), bob.is_held(TASK)) == (True, False)
    ada.release([TASK, OTHER])
    assert there(remote) == []
    assert bob.take(TASK) is None


def test_taking_again_renews(remote: Path, clock: Clock) -> None:
    ada, bob = claims_of(remote, "ada", clock), claims_of(remote, "bob", clock)
    ada.take(TASK)
    ada.take(OTHER)
    clock.time += LEASE - timedelta(seconds=1)
    assert ada.take(TASK) is None
    assert ada.renew() == frozenset()
    clock.time += timedelta(seconds=2)
    assert bob.take(TASK) is not None
    assert bob.take(OTHER) is not None


def test_an_expired_claim_is_taken_over_and_its_holder_learns_of_it(remote: Path, clock: Clock) -> None:
    ada, bob = claims_of(remote, "ada", clock), claims_of(remote, "bob", clock)
    ada.take(TASK)
    ada.take(OTHER)
    clock.time += LEASE
    assert bob.take(TASK) is None
    assert ada.renew() == {TASK}
    assert ada.held == {OTHER}
    assert bob.is_held(TASK)


def test_a_claim_that_is_given_back_with_a_merge_is_not_renewed_meanwhile(remote: Path, clock: Clock) -> None:
    ada = claims_of(remote, "ada", clock)
    ada.take(TASK)
    with ThreadPoolExecutor() as threads:
        with ada.ref_of(TASK) as claim:
            renewed = threads.submit(ada.renew)
            wait([renewed], timeout=0.5)  # what a wrong one would need; the right one waits
            assert list(claim) == [CLAIMS + TASK]
            git("update-ref", "-d", CLAIMS + TASK, at=remote)
            ada.note_released(TASK)
        assert renewed.result() == frozenset()


def test_a_claim_that_is_gone_is_held_no_more_and_can_be_taken_again(remote: Path, clock: Clock) -> None:
    ada, bob = claims_of(remote, "ada", clock), claims_of(remote, "bob", clock)
    ada.take(TASK)
    git("update-ref", "-d", CLAIMS + TASK, at=remote)
    assert not ada.is_held(TASK)
    assert ada.held == frozenset()
    assert bob.take(TASK) is None
    assert ada.take(TASK) is not None


def test_a_clone_that_was_killed_goes_on_with_its_own(remote: Path, clock: Clock) -> None:
    claims_of(remote, "ada", clock).take(TASK)
    again = claims_of(remote, "ada", clock)
    assert again.held == frozenset()
    assert again.take(TASK) is None
    assert again.is_held(TASK)


def lose_answer(ask: Callable[[], object], *, arrives: bool = True) -> None:
    """Asks for a push that the remote gets if it `arrives`, and whose answer is lost."""

    def pushed_and_lost(*arguments: object, **named: object) -> frozenset[str]:
        if arrives:
            push_leased(*arguments, **named)  # type: ignore[arg-type]
        raise UnreachableError("it never answered")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("gitticks.store.claims.push_leased", pushed_and_lost)
        with pytest.raises(UnreachableError):
            ask()


def token(remote: Path) -> str:
    return git("rev-parse", CLAIMS + TASK, at=remote)


def test_a_claim_whose_answer_was_lost_is_known_as_its_own(remote: Path, clock: Clock) -> None:
    ada = claims_of(remote, "ada", clock)
    lose_answer(lambda: ada.take(TASK))
    assert ada.take(TASK) is None


def test_a_renewal_whose_answer_was_lost_is_renewed_by_the_next(remote: Path, clock: Clock) -> None:
    ada = claims_of(remote, "ada", clock)
    ada.take(TASK)
    lose_answer(ada.renew)
    unanswered = token(remote)
    for _ in range(60):
        lose_answer(ada.renew, arrives=False)
    assert ada.renew() == frozenset()
    assert token(remote) != unanswered
    assert ada.renew() == frozenset()
    with ada.ref_of(TASK) as claim:
        assert claim == {CLAIMS + TASK: token(remote)}


def test_a_claim_that_is_confirmed_is_leased_from_where_it_is(remote: Path, clock: Clock) -> None:
    ada = claims_of(remote, "ada", clock)
    ada.take(TASK)
    lose_answer(ada.renew)
    assert ada.is_held(TASK)
    with ada.ref_of(TASK) as claim:
        assert claim == {CLAIMS + TASK: token(remote)}


@pytest.mark.parametrize("arrives", [True, False])
@pytest.mark.parametrize("is_restarted", [True, False])
def test_a_claim_is_given_back_wherever_a_lost_answer_left_it(
    remote: Path, clock: Clock, arrives: bool, is_restarted: bool
) -> None:
    ada = claims_of(remote, "ada", clock)
    ada.take(TASK)
    lose_answer(ada.renew, arrives=arrives)
    (claims_of(remote, "ada", clock) if is_restarted else ada).release([TASK])
    assert there(remote) == []


def test_claims_of_two_processes_and_remotes_do_not_overwrite_each_other(remote: Path, clock: Clock) -> None:
    run, started = claims_of(remote, "ada", clock), claims_of(remote, "ada", clock)
    run.take(TASK)
    started.take(OTHER)
    run.renew()
    started.release([OTHER])
    assert claims_of(remote, "ada", clock).own == {TASK}
    assert claims_of(remote, "ada", clock).take(TASK) is None
    repository = discover_for_much(remote.parent / "ada")
    git(
        "remote",
        "add",
        "backup",
        str(make_repository(remote.parent / "backup.git", bare=True)),
        at=repository.common_dir,
    )
    Claims(repository, "backup", ("ada", "host"), LEASE, clock).take(OTHER)
    assert claims_of(remote, "ada", clock).own == {TASK}


@pytest.mark.parametrize(
    "body",
    ["", "{}", '{"by": 1, "host": 2, "expires": "soon"}', "[]", pytest.param("[" * 200_000, id="deep")],
)
def test_a_claim_that_says_nothing_keeps_nobody(remote: Path, clock: Clock, body: str) -> None:
    tree = git(
        "mktree",
        at=remote,
        input=f"100644 blob {git('hash-object', '-w', '--stdin', at=remote, input=body)}\tclaim.json\n",
    )
    git("update-ref", CLAIMS + TASK, git("commit-tree", tree, "-m", "x", at=remote), at=remote)
    assert claims_of(remote, "ada", clock).take(TASK) is None


def test_a_claim_for_a_hundred_years_holds_no_longer_than_ours(remote: Path, clock: Clock) -> None:
    ada, bob = claims_of(remote, "ada", clock), claims_of(remote, "bob", clock)
    bob.lease = timedelta(days=36500)
    bob.take(TASK)
    holder = ada.take(TASK)
    assert holder is not None
    assert holder.expires == clock.time + LEASE


def test_of_many_that_race_one_wins_each(remote: Path, clock: Clock) -> None:
    racers = [claims_of(remote, f"clone{number}", clock) for number in range(4)]
    won: list[tuple[int, TaskId]] = []
    tasks = [TaskId(f"t{number}aa") for number in range(5)]

    def race(number: int) -> None:
        won.extend((number, task) for task in tasks if racers[number].take(task) is None)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(race, range(4)))
    assert sorted(task for _, task in won) == tasks
    assert all(racers[number].is_held(task) for number, task in won)


def test_without_the_remote_nothing_is_claimed(remote: Path, clock: Clock) -> None:
    ada = claims_of(remote, "ada", clock)
    remote.rename(remote.with_name("away.git"))
    for ask in (
        lambda: ada.take(TASK),
        lambda: remote_refs(discover_for_much(remote.parent / "ada"), "origin", "*"),
    ):
        with pytest.raises(UnreachableError, match="`origin` did not answer"):
            ask()
    assert ada.held == frozenset()
    assert ada.renew() == frozenset()


def test_a_run_waits_for_a_remote_that_hangs_once_and_asks_again_later(
    remote: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, asked = claims_of(remote, "ada", clock), list[TaskId]()
    take = ada.take

    def hang(task_id: TaskId) -> Holder | None:
        asked.append(task_id)
        clock.time += timedelta(seconds=10)
        return take(task_id)

    monkeypatch.setattr(ada, "take", hang)
    warned = list[str]()
    run = RunClaims(ada, lambda: True, warned.append, lambda: clock().timestamp(), lambda _: None)
    away = remote.rename(remote.parent / "away.git")
    run.take(TASK)
    run.take(OTHER)
    assert (asked, len(warned)) == ([TASK], 1)
    away.rename(remote)
    clock.time += timedelta(seconds=30)
    run.take(OTHER)
    assert (asked, ada.held) == ([TASK, OTHER], frozenset({OTHER}))


def test_the_end_of_a_session_waits_for_no_remote(remote: Path, clock: Clock) -> None:
    ada = claims_of(remote, "ada", clock)
    run = RunClaims(ada, lambda: True, list[str]().append, lambda: clock().timestamp(), lambda _: None)
    run.take(TASK)
    with ThreadPoolExecutor(1) as pool, ada.ref_of(TASK):  # as while the remote is asked
        ended = pool.submit(run.note_end, make_task(TASK), is_ours=False)
        assert wait([ended], LONGEST_SECONDS).done
    run.look()
    assert there(remote) == []


def test_a_renewal_that_failed_is_tried_again_before_the_claim_expires(
    remote: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = claims_of(remote, "ada", clock)
    run = RunClaims(ada, lambda: True, list[str]().append, lambda: clock().timestamp(), lambda _: None)
    run.take(TASK)
    run.look()
    before = git("rev-parse", CLAIMS + TASK, at=remote)
    clock.time += LEASE / 3

    def full() -> frozenset[TaskId]:
        raise MachineError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(ada, "renew", full)
        with pytest.raises(MachineError):
            run.look()
    clock.time += timedelta(seconds=30)
    run.look()
    assert git("rev-parse", CLAIMS + TASK, at=remote) != before


def test_a_claim_that_could_not_be_given_back_is_given_back_later(
    remote: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = claims_of(remote, "ada", clock)
    run = RunClaims(ada, lambda: True, list[str]().append, lambda: clock().timestamp(), lambda _: None)
    run.take(TASK)
    run.note_end(make_task(TASK), is_ours=False)

    def away(_tasks: object) -> None:
        raise UnreachableError("it never answered")

    with monkeypatch.context() as patched:
        patched.setattr(ada, "release", away)
        run.look()
    assert there(remote) != []
    clock.time += timedelta(seconds=60)
    run.look()
    assert there(remote) == []


def test_a_remote_that_does_not_take_the_tasks_is_asked_twice_a_minute_and_at_the_end(
    remote: Path, clock: Clock
) -> None:
    ada, shared, taken = claims_of(remote, "ada", clock), list[datetime](), list[bool]()
    states = iter(range(100))

    def share() -> bool:
        shared.append(clock.time)
        return bool(taken)

    run = RunClaims(ada, share, list[str]().append, lambda: clock().timestamp(), lambda _: next(states))
    run.take(TASK)
    run.note_end(make_task(TASK), is_ours=False)
    shared.clear()
    for _ in range(60):
        run.look()
        clock.time += timedelta(seconds=1)
    assert len(shared) == 2
    taken.append(True)
    run.end()
    assert there(remote) == []


@pytest.mark.parametrize("hook", ["pre-receive", "update"])
def test_a_remote_that_takes_no_claims_is_told_from_one_where_another_has_the_task(
    remote: Path, clock: Clock, hook: str
) -> None:
    file = remote / "hooks" / hook
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/bin/sh\necho branches only >&2\nexit 1\n")
    file.chmod(0o755)
    ada = claims_of(remote, "ada", clock)
    with pytest.raises(UnreachableError, match="`origin` refuses `refs/gitticks/claims/k7f2`: branches only"):
        ada.take(TASK)
    file.unlink()
    assert ada.take(TASK) is None


def test_a_ref_moves_only_from_where_it_was(remote: Path) -> None:
    path = remote.parent / "ada"
    git("clone", "--quiet", str(remote), str(path), at=remote.parent)
    repository = discover_for_much(path)
    first = git("rev-parse", "HEAD", at=path)
    second = git("commit-tree", f"{first}^{{tree}}", "-m", "x", at=path)
    one, two = "refs/x/one", "refs/x/two"
    assert push_leased(
        repository, "origin", [LeasedMove(one, None, first), LeasedMove(two, first, second)]
    ) == {one}
    assert push_leased(repository, "origin", [LeasedMove(one, None, second)]) == frozenset()
    assert (
        push_leased(repository, "origin", [LeasedMove(one, None, first)]) == frozenset()
    )  # "up to date" is no win
    assert push_leased(repository, "origin", [LeasedMove(one, first, second)]) == {one}
    assert push_leased(repository, "origin", [LeasedMove(one, first, None)]) == frozenset()
    assert remote_refs(repository, "origin", "refs/x/*") == {one: second}
    assert push_leased(repository, "origin", [LeasedMove(one, second, None)]) == {one}
    assert remote_refs(repository, "origin", "refs/x/*") == {}
