"""Quality gates: the checks that work must pass in a checkout.

Tests leave files behind, and a worker who has committed everything must not be sent back for those. So what the gates
made is taken away again, after it was kept as a commit that no ref names: git forgets it in two weeks.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gitticks.agents.base import Ended, EndReason, Limits, neutral_environment
from gitticks.agents.process import StopRequest, run_supervised
from gitticks.errors import first_of
from gitticks.git.checkouts import Checkout, changed_paths, checkout_at, head
from gitticks.git.merges.following import tree_changes
from gitticks.git.process import printable, run_git
from gitticks.git.repository import Repository
from gitticks.git.snapshots import (
    Snapshot,
    put_file,
    read_kept,
    restore_tracked,
    store_snapshot,
    take_snapshot,
)
from gitticks.model.settings import Settings, VerifySettings
from gitticks.runner.workspace_environment import WalledCommand, port_variables, walled_command
from gitticks.runner.workspace_plan import own_folders, shown_paths, uncommitted_paths
from gitticks.workflow.trees import refusals

_TAIL_BYTES = 6_000
_INDENT = " " * 4
_MOST_LEFTOVERS = 500
_MOST_REFUSED = 5
_COUNTS = (
    re.compile(r"^(?:=+ )?(?:.*\D)?(\d+) passed\b.* in [\d.]+ ?s", re.MULTILINE),
    re.compile(r"^Ran (\d+) tests? in [\d.]+s", re.MULTILINE),
    re.compile(r"^Tests:\s.*?(\d+) passed", re.MULTILINE),
    re.compile(r"^test result: ok\. (\d+) passed", re.MULTILINE),
)
"""How pytest, unittest, jest and cargo end; a gate whose count is not recognised is shown by its time alone."""


class ChecksReport(NamedTuple):
    """What the gates found.

    Attributes:
        failure: the first gate that failed, in one line, and below it the end of its output; None if all passed.
        lines: what each gate that ran came to, for display.
        seconds: how long all took.
        is_stopped: they were stopped before they ended, which is a failure of nobody's.
        left: files that the gates left behind and that could not be taken away.
    """

    failure: str | None
    lines: tuple[str, ...] = ()
    seconds: float = 0.0
    is_stopped: bool = False
    left: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Returns what they came to, in one line."""
        return "; ".join(self.lines)

    @property
    def output(self) -> str:
        """Returns the end of what the failed gate printed."""
        lines = (self.failure or "").splitlines()[1:]
        return "\n".join(line.removeprefix(_INDENT) for line in lines).strip("\n")


class _Gate(NamedTuple):
    """One command, and its name in the singular or plural with the verbs that go with it."""

    name: str
    command: str
    passes: str = "passes"


@dataclass(frozen=True, slots=True)
class _Before:
    snapshot: Snapshot
    index: bytes
    staged: bytes


def judge_tree(repository: Repository, base: str, head: str) -> str | None:
    """Returns why the tree of `head` cannot be merged, whatever its tests say; None if nothing speaks against it.

    `base` is the commit that the work is to be merged into, or the one where it began.
    """
    fork = repository.objects.merge_base(base, head) or base
    found = refusals(tree_changes(repository, fork, head))
    if not found:
        return None
    words = [f"`{printable(one.path)}`: {printable(one.why)}" for one in found]
    return f"the tree contains what is never merged: {first_of(words, _MOST_REFUSED, between='; ')}"


def has_commands(settings: Settings) -> bool:
    """True if any gate runs a command."""
    return bool(_gates(settings.verify))


def has_gates(settings: Settings) -> bool:
    """True if any gate holds in a workspace."""
    return settings.verify.committed or has_commands(settings)


def run_checks(
    directory: Path,
    settings: Settings,
    environment: Mapping[str, str],
    repository: Repository,
    *,
    stop: StopRequest | None = None,
    on_merge: bool = False,
) -> ChecksReport:
    """Runs the quality gates in a checkout, the cheapest first, up to the first that fails.

    The commands get the environment less git's and gitticks' own variables. `on_merge` says that the checkout holds a merge
    that is tried out, and is thrown away afterwards.
    """
    begun = time.monotonic()
    checkout = checkout_at(repository, directory)
    if settings.verify.committed and not on_merge:
        paths = uncommitted_paths(checkout, own_folders(settings))
        if paths:
            uncommitted = f"not everything is committed: {shown_paths(paths)}"
            return ChecksReport(uncommitted, ("uncommitted changes",), time.monotonic() - begun)
    gates = _gates(settings.verify)
    if not gates:
        return ChecksReport(None, (), time.monotonic() - begun)
    before = None if on_merge else _look(checkout, settings)
    variables = {**neutral_environment(environment), **port_variables(repository, checkout)}
    failure: str | None = None
    lines: list[str] = []
    with walled_command(repository, checkout, settings, variables) as walled:
        stop = stop or StopRequest()
        for gate in gates:
            failure, line = _run(gate, settings, walled, stop)
            lines.append(line)
            if failure is not None:
                break
    left = () if before is None else _clean_up(repository, checkout, before, settings)
    if before is not None and head(checkout) != before.snapshot.head:
        failure = failure or "the checks moved HEAD to another commit: they may test, but not commit"
    stopped = stop.is_requested and failure is not None
    return ChecksReport(failure, tuple(lines), time.monotonic() - begun, stopped, left)


def _run(gate: _Gate, settings: Settings, walled: WalledCommand, stop: StopRequest) -> tuple[str | None, str]:
    """Returns why the gate failed, or None, and the line that shows what it came to."""
    limits = Limits(
        total_seconds=settings.limits.gate,
        output_bytes=settings.limits.output,
        kept_bytes=4 * _TAIL_BYTES,
        processes=walled.processes,
    )
    ended, tries = run_supervised(walled(gate.command), limits, stop=stop), 1
    while not ended.is_success and tries <= settings.verify.retries and not stop.is_requested:
        ended, tries = run_supervised(walled(gate.command), limits, stop=stop), tries + 1
    took = f"{ended.seconds:.0f} s"
    if not ended.is_success:
        how = _how(ended)
        return (
            f"{gate.name} failed ({how}): `{gate.command}`{_tail(ended)}",
            f"{gate.name} failed ({how}, {took}{f', in each of {tries} tries' if tries > 1 else ''})",
        )
    count = _count(ended.output)
    shown = f"{count} in {took}" if count else took
    again = f", at try {tries}" if tries > 1 else ""
    return None, f"{gate.name} {gate.passes} ({shown}{again})"


def _gates(verify: VerifySettings) -> tuple[_Gate, ...]:
    gates = [_Gate("tests", verify.test, "pass")] if verify.test else []
    gates += [_Gate("build", verify.build)] if verify.build else []
    return (*gates, *(_Gate(f"`{script}`", script) for script in verify.scripts))


_SHELL_SAYS = {126: ", a command cannot be executed", 127: ", a command was not found"}


def _how(ended: Ended) -> str:
    if ended.reason is EndReason.TIMED_OUT:
        return "it did not finish within `limits.gate`"
    return ended.how + _SHELL_SAYS.get(ended.exit_code or 0, "")


def _tail(ended: Ended) -> str:
    text = ended.output.encode()[-_TAIL_BYTES:].decode(errors="ignore").strip("\n")
    shown = "\n".join(f"{_INDENT}{line}".rstrip() for line in text.splitlines())
    return f"\n\n{shown}" if shown.strip() else ""


def _count(output: str) -> str | None:
    for pattern in _COUNTS:
        found = pattern.findall(output)
        if found:
            return str(sum(int(number) for number in found))
    return None


def _look(checkout: Checkout, settings: Settings) -> _Before:
    index = checkout.git_dir / "index"
    content = index.read_bytes() if index.exists() else b""
    return _Before(take_snapshot(checkout, own_folders(settings)), content, _staged(checkout))


def _staged(checkout: Checkout) -> bytes:
    return run_git(
        ["ls-files", "--stage", "-z"], repository_dir=checkout.git_dir, work_tree=checkout.path
    ).stdout


def _clean_up(
    repository: Repository, checkout: Checkout, before: _Before, settings: Settings
) -> tuple[str, ...]:
    """Takes away what the gates made and undoes what they changed; returns what is left.

    A commit without a name keeps what was taken away until git clears it up.
    In the person's own checkout nothing is touched: they may be at work there at this moment.
    """
    changes = changed_paths(checkout)
    is_same = not changes and not before.snapshot.files and _staged(checkout) == before.staged
    if is_same or head(checkout) != before.snapshot.head:
        return ()
    after = take_snapshot(checkout, own_folders(settings))
    known = before.snapshot.files
    made = [path for path in after.files if path not in known]
    altered = [path for path in known if after.files.get(path) != known[path]]
    if checkout.git_dir == repository.common_dir or len(made) > _MOST_LEFTOVERS:
        return tuple(sorted({*made, *altered, *after.left_out}))
    if not made and not altered and _staged(checkout) == before.staged:
        return after.left_out
    store_snapshot(checkout, after, "What quality gates left behind\n")
    if _staged(checkout) != before.staged:
        temporary = checkout.git_dir / f"gitticks-index-{os.getpid()}"
        temporary.write_bytes(before.index)
        temporary.replace(checkout.git_dir / "index")
    now = changed_paths(checkout)
    for path in made:
        if path in now.untracked:
            put_file(checkout, path, "100644", None)
    restore_tracked(checkout, [path for path in made if path in now.changed])
    for path in altered:
        blob = known[path].blob
        put_file(checkout, path, known[path].mode, None if blob is None else read_kept(checkout, blob))
    return tuple(path for path in after.left_out if path not in before.snapshot.left_out)
