"""Automatic sharing: at the end of a command, during a run, and with `gt sync --watch`; and claims at the shared remote."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

from gitticks.actions.context import Context
from gitticks.actions.sync import Reached, Synced, sync
from gitticks.actions.sync_words import merge_warnings, words_of_renamed
from gitticks.actions.watching import in_background
from gitticks.bugs import failure_of_task
from gitticks.document.settings_layers import merge_layers
from gitticks.errors import GitticksError, RefusedError
from gitticks.git.refs import read_ref
from gitticks.git.sharing import remote_of_branch, tracking_ref
from gitticks.model.ids import TaskId, task_folder
from gitticks.model.settings import SyncMode
from gitticks.runner.claiming import RunClaims
from gitticks.store.claims import Claims
from gitticks.store.layout import CONFIG_PATH, STATE_BRANCH, STATE_REF
from gitticks.store.runnable_files import team_runnables_of
from gitticks.store.sharing import last_shared
from gitticks.store.trust import agreed_settings, require_trusted

_SETTING = "sync.auto"
LONGEST_SECONDS = 10.0
"""Nobody waits longer for a remote after a command that has done its work."""

LOOK_SECONDS = 1.0
"""How often the branch here is looked at, which is one small read."""
REST_SECONDS = 5.0
"""The least between two syncs: several agents write several times in a second."""


def sync_after(context: Context) -> Synced | None:
    """Syncs if the settings ask for it: by `push` after a change of tasks, by `both` after each look at the branch too.

    The command has succeeded or failed by itself; trouble with the remote becomes a warning.
    """
    mode = asked_mode(context)
    if mode is SyncMode.OFF or (mode is SyncMode.PUSH and not context.written):
        return None
    return share(context)


def sync_before(context: Context) -> None:
    """Syncs before a run looks at the tasks, if the settings say `both`: it picks from what others have done too.

    Settings that came along hold for the run.
    """
    if asked_mode(context) is SyncMode.BOTH:
        share(context)
    context.__dict__.pop("settings", None)


def asked_mode(context: Context) -> SyncMode:
    """Returns what is to be shared without being asked for; nothing in a session, or where something is broken.

    Nor does more leave this clone because a colleague's settings say so, than they said when this clone last went by them.
    """
    with contextlib.suppress(GitticksError):  # whoever reads the settings says what is broken
        if not context.may_share():
            return SyncMode.OFF
        mode = context.settings.sync.auto
        if mode is not SyncMode.OFF and context.resolved_settings.origin(_SETTING) == CONFIG_PATH:
            try:
                require_trusted(context.repository, team_runnables_of(context.repository, _SETTING))
            except RefusedError as error:
                held = merge_layers([agreed_settings(context.repository)]).settings.sync.auto
                what = "not shared" if held is SyncMode.OFF else f"shared by `{held}`, as before"
                context.warnings[:] = dict.fromkeys((*context.warnings, f"{what}: {error.in_one_line}"))
                return held
        return mode
    return SyncMode.OFF


def share(context: Context) -> Synced | None:
    """Syncs with the usual remote; what goes wrong becomes a warning, and then the return value is None."""
    try:
        done = sync(context, follows=False, timeout_seconds=LONGEST_SECONDS)
    except (GitticksError, OSError) as error:
        context.warnings.append(f"not shared: {error}")
        return None
    if done.reached is Reached.OFFLINE:
        context.warnings.append(f"not shared yet: `{done.remote}` cannot be reached")
    context.warnings += [*map(words_of_renamed, done.renamed), *merge_warnings(done)]
    return done


def _share_again(context: Context, warn: Callable[[str], None], told: set[str]) -> Synced | None:
    fresh = context.renewed()
    done = share(fresh)
    for message in fresh.warnings:
        if message not in told:
            told.add(message)
            warn(message)
    return done


@contextlib.contextmanager
def _looking(
    name: str, look: Callable[[], None], end: Callable[[], None], warn: Callable[[str], None]
) -> Iterator[None]:
    """Calls `look` again and again in a thread while the block runs, and `end` once it is over; what fails is said."""

    def keep(over: threading.Event) -> None:
        has_failed = False
        while not over.wait(LOOK_SECONDS):
            try:
                look()
                has_failed = False
            except Exception as error:  # noqa: BLE001 - such as a full disk, where there is room again later
                if not has_failed:
                    failure = failure_of_task(error, "gt sync")
                    warn(f"{name} failed and will be tried again: {failure.message}")
                has_failed = True

    try:
        with in_background(keep, name):
            yield
    finally:
        try:
            end()
        except (GitticksError, OSError) as error:
            warn(f"{name} failed at the end: {error}")


@contextlib.contextmanager
def sharing(context: Context, warn: Callable[[str], None], *, every_seconds: float) -> Iterator[None]:
    """Shares in a thread while the block runs, and what is left at its end; nothing where the settings ask for none.

    `warn` gets what goes wrong, each once until it goes well again. `every_seconds` is how often the remote is asked
    what is new, under `both`, and asked again where it was away.
    """
    mode = asked_mode(context)
    if mode is SyncMode.OFF:
        yield
        return
    clock, told = context.world.monotonic_seconds, set[str]()
    # What is there now counts as shared, or left by the person.
    shared = tried = read_ref(context.repository.common_dir, STATE_REF)
    at = clock()

    def look(*, is_last: bool = False) -> None:
        nonlocal shared, tried, at
        tip, passed = read_ref(context.repository.common_dir, STATE_REF), clock() - at
        is_new = tip not in (shared, tried) and (is_last or passed >= REST_SECONDS)
        is_left = tip != shared and (is_last or passed >= every_seconds)
        is_due = mode is SyncMode.BOTH and passed >= every_seconds
        if not (is_new or is_left or is_due):
            return
        done = _share_again(context, warn, told)
        tried, at = tip, clock()
        if done is not None and done.reached is not Reached.OFFLINE:
            shared = (
                done.tip or tip
            )  # not the branch's: a commit that was made during the push was not part of it
            told.clear()

    with _looking("sharing", look, partial(look, is_last=True), warn):
        yield


def watch(
    context: Context,
    remote: str | None,
    *,
    every_seconds: float,
    timeout_seconds: float,
    told: Callable[[Synced], None],
    failed: Callable[[GitticksError], None],
) -> None:
    """Syncs until Ctrl-C; the first failure ends it, since it may be a wrong word, later ones are reported and retried."""
    reached: Reached | None = None
    problem: str | None = None
    try:
        while True:
            fresh, tip = context.renewed(), read_ref(context.repository.common_dir, STATE_REF)
            try:
                done = sync(fresh, remote, timeout_seconds=timeout_seconds)
            except GitticksError as error:
                if reached is None:
                    raise
                if error.message != problem:
                    failed(error)
                problem = error.message
            else:
                if done.reached is not reached or done.has_moved:
                    told(done)
                reached, problem, tip = done.reached, None, done.tip or tip
            _wait(context, tip, every_seconds)
    except KeyboardInterrupt:
        return


def _wait(context: Context, tip: str | None, longest_seconds: float) -> None:
    until = time.monotonic() + longest_seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(LOOK_SECONDS, left))
        if read_ref(context.repository.common_dir, STATE_REF) != tip:
            return


def claims_of(context: Context, warn: Callable[[str], None]) -> RunClaims:
    """Returns what claims tasks for this clone; nothing does where no remote is known to have its tasks.

    `warn` gets what goes wrong on the way, each once.
    """
    remote = remote_of_branch(context.repository, STATE_BRANCH)
    if remote is None or (  # it had the state branch if `gt sync`, `gt init` or plain git saw it there
        last_shared(context.store, remote) is None
        and read_ref(context.repository.common_dir, tracking_ref(remote, STATE_BRANCH)) is None
    ):
        return RunClaims.none()
    told = set[str]()
    sharing = threading.Lock()

    def share_now() -> bool:
        with sharing:
            done = _share_again(context, warn, told)
        return done is not None and done.reached is Reached.DONE

    def state(task_id: TaskId) -> object:
        objects, tip = context.repository.objects, read_ref(context.repository.common_dir, STATE_REF)
        return None if tip is None else objects.find(objects.tree_of(tip), task_folder(task_id))

    me = (context.author.name, socket.gethostname())
    lease = timedelta(seconds=context.settings.claims.lease)
    claims = Claims(context.repository, remote, me, lease, context.world.now)
    return RunClaims(claims, share_now, warn, context.world.monotonic_seconds, state)


def keeping(claims: RunClaims, warn: Callable[[str], None]) -> contextlib.AbstractContextManager[None]:
    """Renews claims in a thread while the block runs, and gives back what is left at its end."""
    return _looking("keeping claims", claims.look, claims.end, warn)
