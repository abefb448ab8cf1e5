"""Watches the repository from a thread of its own: state branch, sessions, budgets, and what agents print.

It asks files whether anything moved, some times a second, which costs next to nothing; only what moved is read. What
it found waits in a queue, and one message tells the application that there is something.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.inbox import inbox_of, spending_of_run
from gitticks.actions.permissions import attached, open_questions
from gitticks.errors import GitticksError
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.model.ids import BOARD_FOLDER, WORK_BRANCH
from gitticks.model.queries import Graph
from gitticks.runner.liveness import PAUSED_FILE, is_run_alive_at, stamps_of_runs
from gitticks.runner.records import Sessions
from gitticks.safe_read import stamp_of
from gitticks.store.index import BrokenFile
from gitticks.store.layout import STATE_REF
from gitticks.tui.messages import Batch, Said, Snapshot
from gitticks.tui.running import OUTPUT
from gitticks.tui.transcript import Piece, Reader, earlier, reader_for

if TYPE_CHECKING:
    from datetime import datetime

    from gitticks.actions.context import Context
    from gitticks.actions.watching import Watcher
    from gitticks.model.ids import TaskId
    from gitticks.model.task import SessionRecord
    from gitticks.runner.transcripts import TranscriptReader

TICK_SECONDS = 0.2
_LIVENESS_SECONDS = 1.0
"""Locks tell who lives; they are asked this often where no file says that anything moved."""
_REST_SECONDS = 0.4
"""So long no other snapshot is taken after one, however fast agents commit."""
_LONGEST_END_SECONDS = 15.0
"""What was done last is shared then, where the settings ask for it."""
_SHARING_SECONDS = 30.0
_MOST_WAITING = 20
"""With so many batches that nobody took, as while a person is in their editor, the rest is read afterwards."""
_MOST_BYTES = 256_000
_MOST_LINES = 2_000
"""So many lines of one agent are taken in one look; a busier one is shown from its newest."""


class _Heard(NamedTuple):
    """One session that is listened to."""

    record: SessionRecord
    transcript: TranscriptReader
    read: Reader


class _Tail:
    """The output of runs that are started here, as far as it was not read yet."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._read = 0

    def read(self) -> tuple[str, ...]:
        """Returns the new lines; a new run starts the file over."""
        try:
            with open(f"{self._context.repository.own_place}/{OUTPUT}", "rb") as file:  # noqa: PTH123 (a path as text)
                size = os.fstat(file.fileno()).st_size
                file.seek(self._read if self._read <= size else 0)
                self._read = min(self._read, file.tell())
                whole, end, _ = file.read(_MOST_BYTES).rpartition(b"\n")
        except (GitticksError, OSError):
            return ()
        self._read += len(whole) + len(end)
        return tuple(whole.decode("utf-8", "replace").splitlines())


class Feed:
    """Looks and queues until `stop`.

    `wake` is called from the thread when a batch is there, and `warn` with what goes wrong as tasks are shared.
    """

    def __init__(self, context: Context, wake: Callable[[], object], warn: Callable[[str], None]) -> None:
        self.batches: deque[Batch] = deque()
        self._context = context
        self._wake = wake
        self._warn = warn
        self._over = threading.Event()
        self._number = 0
        self._marks: tuple[object, ...] = ()
        self._is_asked = False
        self._liveness: tuple[bool, frozenset[TaskId]] | None = None
        self._heard: dict[tuple[TaskId, datetime, int], _Heard] = {}
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._watch, name="feed", daemon=True)
        self._until_liveness = self._rests_until = 0.0
        self._run_said = _Tail(context)
        self._watcher: Watcher | None = None

    def start(self) -> None:
        """Begins to look."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the looking, without waiting for it."""
        self._over.set()

    def wait(self) -> None:
        """Waits for the end a while: a look that is started ends, and nobody counts as attached any more."""
        if self._thread.is_alive():
            self._thread.join(_LONGEST_END_SECONDS)

    def look_again(self) -> None:
        """Asks for a new snapshot even if nothing seems to have moved."""
        self._is_asked = True

    def _watch(self) -> None:
        try:
            self._run()
        except Exception as error:  # noqa: BLE001 (it ends the interface, which reports it)
            if not self._over.is_set():
                self.failure = error
                self._wake()

    def _run(self) -> None:
        with contextlib.ExitStack() as stack:
            self._run_said.read()  # what older runs said is known
            while True:
                if len(self.batches) < _MOST_WAITING:
                    snapshot = self._look()
                    self._hand_over(snapshot, self._listen(), self._run_said.read())
                    if snapshot is not None and snapshot.problem is None and self._watcher is None:
                        self._attend(stack)
                if self._over.wait(TICK_SECONDS):
                    return

    def _attend(self, stack: contextlib.ExitStack) -> None:
        """Applies what a person saves on the board, as `gt watch` does, and says that they are there to answer.

        What changes is shared if the settings ask for it, what is left once the interface is left too.
        """
        from gitticks.actions.sync_auto import sharing
        from gitticks.actions.watching import watching

        context = self._context.renewed()
        stack.enter_context(sharing(context, self._warn, every_seconds=_SHARING_SECONDS))
        self._watcher = stack.enter_context(
            watching(self._context.renewed(), lambda _: None, after_seconds=1.0)
        )
        if not self._context.world.in_session:
            with contextlib.suppress(OSError):  # where nothing can be written nobody can answer
                stack.enter_context(attached(self._context.renewed()))

    def _hand_over(
        self, snapshot: Snapshot | None, said: tuple[Said, ...], run_said: tuple[str, ...]
    ) -> None:
        if snapshot is not None or said or run_said:
            self.batches.append(Batch(snapshot, said, run_said))
            self._wake()

    def _look(self) -> Snapshot | None:
        """Returns a new snapshot if anything has moved since the last, which lies back a moment."""
        if self._context.world.monotonic_seconds() < self._rests_until:
            return None
        try:
            context = self._context.renewed()
            marks = self._marks_of(context)
            if marks == self._marks and not self._is_asked:
                return None
            self._is_asked = False
            self._number += 1
            snapshot = take_snapshot(context, self._number, self._refused_edits())
            # A session that began since the locks were asked is heard, not taken for one that is over.
            self._liveness = (snapshot.is_run_alive, frozenset(snapshot.sessions))
            self._marks = (*marks[:-1], self._liveness)
            self._rests_until = self._context.world.monotonic_seconds() + _REST_SECONDS
        except (GitticksError, OSError) as error:
            marks = (str(error),)
            if marks == self._marks:
                return None
            self._marks = marks
            self._number += 1
            return Snapshot(self._number, problem=str(error), hint=getattr(error, "hint", None))
        self._follow(context, snapshot)
        return snapshot

    def _marks_of(self, context: Context) -> tuple[object, ...]:
        """Returns what changes when anything does that a snapshot shows."""
        own = context.repository.own_place
        self._until_liveness -= TICK_SECONDS
        if self._until_liveness <= 0 or self._liveness is None:
            self._until_liveness = _LIVENESS_SECONDS
            live = frozenset(Sessions(context.repository.own_dir).live())
            self._liveness = (is_run_alive_at(own), live)
        return (
            read_ref(context.repository.common_place, STATE_REF),
            _work_branches(context),
            *stamps_of_runs(own),
            self._refused_edits(),
            self._liveness,
        )

    def _refused_edits(self) -> tuple[BrokenFile, ...]:
        left = self._watcher.left if self._watcher is not None else {}
        if not left:
            return ()
        from gitticks.board.skip_reasons import is_for_nobody

        return tuple(
            BrokenFile(f"{BOARD_FOLDER}/{path}", None, reason)
            for path, reason in sorted(left.items())
            if not is_for_nobody(reason)
        )

    def _follow(self, context: Context, snapshot: Snapshot) -> None:
        """Begins to listen to new sessions; those that are over are heard to their end."""
        from gitticks.runner.transcripts import TranscriptReader

        for record in snapshot.sessions.values():
            key = (record.task, record.started, record.pid)
            if key not in self._heard:
                for heard in self._heard.values():
                    if heard.record.task == record.task:
                        heard.transcript.followed_at = record.started
                transcript = TranscriptReader(context.repository.own_dir, record, _MOST_BYTES)
                self._heard[key] = _Heard(record, transcript, reader_for(context, record.agent))

    def _listen(self) -> tuple[Said, ...]:
        found = []
        for key, heard in list(self._heard.items()):
            is_live = self._liveness is None or heard.record.task in self._liveness[1]
            is_over = not is_live or heard.transcript.followed_at is not None
            try:
                lines = heard.transcript.close() if is_over else heard.transcript.read()
            except OSError:
                lines = []
            if is_over:
                del self._heard[key]
            if lines:
                pieces = _pieces(heard.read, lines, is_cut=heard.transcript.left_out > 0)
                heard.transcript.left_out = 0
                if pieces:
                    found.append(Said(heard.record.task, heard.record.started, pieces))
        return tuple(found)


def take_snapshot(context: Context, number: int, refused: tuple[BrokenFile, ...] = ()) -> Snapshot:
    """Returns the repository as it is now, with the saved edits that were `refused`."""
    index = context.index
    try:
        rows = tuple(index.listed())
        graph = Graph.of(rows, index.unreadable())
        around = context.surroundings()
        found = inbox_of(context, graph, around)
        from gitticks.actions.current import workspaces_of

        own = context.repository.own_place
        return Snapshot(
            number=number,
            rows=rows,
            graph=graph,
            around=around,
            details=index.details(),
            inbox=found.asked,
            for_others=found.for_others,
            merges=found.merges,
            questions=open_questions(context),
            broken=(*index.to_fix(), *refused),
            sessions=Sessions(context.repository.own_dir).live(),
            workspaces=workspaces_of(context),
            spending=spending_of_run(context),
            is_run_alive=is_run_alive_at(own),
            is_paused=os.path.exists(f"{own}/{PAUSED_FILE}"),  # noqa: PTH110 (a path as text)
            project_place=context.repository.project_place,
            work_branches=_work_branches(context),
        )
    finally:
        index.close()


def last_words(context: Context, task_id: TaskId, agent: str) -> tuple[Piece, ...]:
    """Returns what the last session of a task printed that is over."""
    from gitticks.runner.transcripts import read_last

    read = reader_for(context, agent or context.settings.agent or "")
    lines, is_cut = read_last(context.repository.own_dir, task_id, _MOST_BYTES)
    return _pieces(read, lines, is_cut=is_cut)


def _pieces(read: Reader, lines: list[str], *, is_cut: bool) -> tuple[Piece, ...]:
    """Returns what the newest lines say, after where the others are."""
    pieces = tuple(piece for line in lines[-_MOST_LINES:] for piece in read(line))
    return (earlier(), *pieces) if pieces and (is_cut or len(lines) > _MOST_LINES) else pieces


def _work_branches(context: Context) -> object:
    return stamp_of(f"{context.repository.common_place}/{BRANCHES}{WORK_BRANCH}")
