"""Every setting as one row: name, kind, purpose, and which of two values is stricter."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

from gitticks.document import settings_kinds as kinds
from gitticks.document.settings_kinds import Kind
from gitticks.model.settings import (
    LEAST_PROMPT,
    MOST_PARALLEL,
    AgentKind,
    CouncilRule,
    ForgeKind,
    HumanPolicy,
    MergeMode,
    MergeStrategy,
    OnConflict,
    PermissionMode,
    PromptWay,
    ReviewerSettings,
    ReviewPolicy,
    SandboxPreset,
    SyncMode,
    WorkspaceUpdate,
)
from gitticks.model.status import Isolation

ANY = "*"
"""Stands in a name for a word that the user chooses: an agent's or a model's name."""

_LEAST_PROCESSES, _LEAST_MEMORY, _LEAST_FILE = 10, 16_000_000, 1_000_000
"""With less no shell and no git starts in a sandbox."""

Combine = Callable[[Any, Any], Any]


class Setting(NamedTuple):
    """One setting; without `combine` the later layer wins, else it returns what holds of an earlier and a later.

    `asks` returns in the same way what of the team's value before and now needs nobody's trust; without it `combine` does.
    """

    name: str
    kind: Kind
    explanation: str
    combine: Combine | None = None
    asks: Combine | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Returns the name's words."""
        return tuple(self.name.split("."))

    def loosens(self, before: object, now: object) -> bool:
        """True if a change of the team's value opens a gate, may cost more or sends something out: a person is asked."""
        rule = self.asks or self.combine
        if rule is None:
            return False
        held = rule(before, now)
        return set(held) != set(now) if isinstance(now, tuple) else bool(held != now)


def _stricter(*from_strictest: StrEnum | str | bool) -> Combine:
    order = list(from_strictest)
    return lambda earlier, later: min(earlier, later, key=order.index)


def _united(earlier: tuple[object, ...], later: tuple[object, ...]) -> tuple[object, ...]:
    """Returns both lists, each item once: for what is denied or demanded."""
    return tuple(dict.fromkeys([*earlier, *later]))


def _shared(earlier: tuple[object, ...], later: tuple[object, ...]) -> tuple[object, ...]:
    """Returns the items of both lists: for what is allowed."""
    return tuple(item for item in earlier if item in later)


def _added(
    earlier: tuple[ReviewerSettings, ...], later: tuple[ReviewerSettings, ...]
) -> tuple[ReviewerSettings, ...]:
    """Returns the earlier reviewers as they are, and the later ones of other names."""
    names = {one.name for one in earlier}
    return (*earlier, *(one for one in later if one.name not in names))


def _first_given(earlier: object, later: object) -> object:
    """Returns the earlier value unless it is null: one can be added, but not taken away or replaced."""
    return later if earlier is None else earlier


def _only(*unasked: object) -> Combine:
    """Returns a rule by which every change is asked about, except to one of these values."""
    return lambda earlier, later: later if later in unasked else earlier


def _least(earlier: float | None, later: float | None) -> float | None:
    """Returns the lower limit; null is none."""
    return min((one for one in (earlier, later) if one is not None), default=None)


_ANY_CHANGE = _only()
_HUMAN = _stricter(HumanPolicy.ALWAYS, HumanPolicy.WHEN_REQUIRED)
_REVIEW = _stricter(ReviewPolicy.COUNCIL, ReviewPolicy.AGENT, ReviewPolicy.NONE)
_PRESET = _stricter(SandboxPreset.STRICT, SandboxPreset.PERMISSIVE, SandboxPreset.NONE)
_MODE = _stricter(*PermissionMode)
_TRUE = _stricter(True, False)


def _budget(name: str, of: str, time: str = "working time") -> tuple[Setting, ...]:
    return (
        Setting(
            f"budget.{name}.iterations",
            kinds.integer(1, is_nullable=True),
            f"maximum iterations of {of}",
            asks=_least,
        ),
        Setting(
            f"budget.{name}.tokens",
            kinds.integer(1, is_nullable=True),
            f"maximum tokens of {of}",
            asks=_least,
        ),
        Setting(f"budget.{name}.cost", kinds.BUDGET, f"maximum dollars of {of}", asks=_least),
        Setting(f"budget.{name}.duration", kinds.DURATION_OR_NULL, f"maximum {time} of {of}", asks=_least),
    )


SETTINGS: tuple[Setting, ...] = (
    Setting("version", kinds.integer(1), "the format of the state branch"),
    Setting(
        "base",
        kinds.TEXT,
        "the branch that approved work is merged into; null: the one that origin/HEAD points to",
        asks=_first_given,
    ),
    Setting(
        "agent",
        kinds.TEXT,
        "the default agent; null: the first one found on PATH, else `script`",
        asks=_ANY_CHANGE,
    ),
    Setting(
        "agents.*.type", kinds.word(AgentKind), "which adapter starts this agent; null: the one with its name"
    ),
    Setting("agents.*.argv", kinds.TEXTS, "the command line of a `command` agent"),
    Setting("agents.*.prompt", kinds.word(PromptWay), "how a `command` agent is given its prompt"),
    Setting("agents.*.model", kinds.ARGUMENT, "the model that this agent uses; null: its own default"),
    Setting(
        "agents.*.sandbox_mode",
        kinds.choice("read-only"),
        "`read-only`: a `codex` agent writes no files, whatever its mode",
    ),
    Setting(
        "agents.*.mode",
        kinds.word(PermissionMode),
        "what this agent may do without asking, instead of the `permissions.mode` of the same layer",
        _MODE,
        _ANY_CHANGE,
    ),
    Setting("agents.*.args", kinds.TEXTS, "more arguments for this agent's command line"),
    Setting(
        "agents.*.fallback",
        kinds.TEXTS,
        "the agents that take over, in turn, if this one refuses or cannot be started",
    ),
    Setting("agents.*.provider", kinds.ARGUMENT, "the provider of an `opencode` agent's model"),
    Setting("review", kinds.word(ReviewPolicy), "who reviews work before a person sees it", _REVIEW),
    Setting("reviewers", kinds.REVIEWERS, "the reviewers, each with a name, an agent and a focus", _added),
    Setting("review_limit", kinds.integer(1), "after how many failed reviews in a row a task is stuck"),
    Setting(
        "council.rule",
        kinds.word(CouncilRule),
        "how many blocking reviewers make the council fail the work",
        _stricter(CouncilRule.ANY, CouncilRule.MAJORITY),
    ),
    Setting(
        "council.rounds", kinds.integer(1), "how often a council can send work back before a person is asked"
    ),
    Setting("council.timeout", kinds.DURATION, "how long a council may take before a person is asked"),
    Setting("human", kinds.word(HumanPolicy), "whether a person always has to approve work", _HUMAN),
    Setting("verify.test", kinds.TEXT, "the test command that must pass", _first_given),
    Setting("verify.build", kinds.TEXT, "the build command that must pass", _first_given),
    Setting("verify.committed", kinds.FLAG, "whether all changes have to be committed at a hand-off", _TRUE),
    Setting("verify.scripts", kinds.TEXTS, "further commands that must pass", _united),
    Setting("verify.retries", kinds.integer(0), "how often a failed check is run again", min),
    Setting("iterations", kinds.integer(1), "maximum iterations of a task since the last human answer"),
    *_budget("task", "one task since the last human answer"),
    *_budget("epic", "one epic and everything below it since a person let it continue"),
    *_budget("run", "one `gt run`", "wall-clock time"),
    Setting(
        "prices.*.input", kinds.NUMBER, "dollars per million input tokens of this model", asks=_ANY_CHANGE
    ),
    Setting(
        "prices.*.output", kinds.NUMBER, "dollars per million output tokens of this model", asks=_ANY_CHANGE
    ),
    Setting(
        "prices.*.cached",
        kinds.COST,
        "dollars per million cached input tokens of this model",
        asks=_ANY_CHANGE,
    ),
    Setting("parallel", kinds.integer(1, MOST_PARALLEL), "how many agents work at the same time", asks=min),
    Setting(
        "isolation",
        kinds.word(Isolation),
        "whether agents work in one worktree per task, one per epic, or in your own checkout",
        asks=_only(Isolation.TASK, Isolation.EPIC),
    ),
    Setting(
        "workspace.dir",
        kinds.NEEDED_TEXT,
        "where workspaces are made, from the root of the repository",
        asks=_ANY_CHANGE,
    ),
    Setting(
        "workspace.update",
        kinds.word(WorkspaceUpdate),
        "when a workspace is updated to a base branch that moved",
    ),
    Setting("setup.copy", kinds.TEXTS, "files that are copied into a new workspace", asks=_shared),
    Setting("setup.run", kinds.TEXT, "the command that prepares a new workspace"),
    Setting(
        "merge.mode",
        kinds.word(MergeMode),
        "who merges approved work: gitticks, a person, or a pull request on a forge",
        _stricter(MergeMode.MANUAL, MergeMode.PULL_REQUEST, MergeMode.QUEUE),
        _only(MergeMode.MANUAL),
    ),
    Setting(
        "merge.strategy",
        kinds.word(MergeStrategy),
        "how work is merged; with `rebase`, one commit if replaying the branch's commits would give different files",
    ),
    Setting(
        "merge.on_conflict",
        kinds.word(OnConflict),
        "what a merge conflict does to the task",
        _stricter(OnConflict.STUCK, OnConflict.RETURN),
    ),
    Setting(
        "merge.push",
        kinds.FLAG,
        "whether merges are made on the remote's base branch and pushed there first; needed if several clones run agents",
        asks=_stricter(False, True),
    ),
    Setting(
        "merge.ahead",
        kinds.integer(0),
        "how many of the next merges are checked while one is checked; fewer than `parallel`",
    ),
    Setting(
        "merge.forge",
        kinds.word(ForgeKind),
        "the forge for pull requests; `auto` decides by the remote's host name, else GitHub",
    ),
    Setting("checkpoint_every", kinds.integer(1), "iterations of a workspace between two checkpoints"),
    Setting("sandbox.preset", kinds.word(SandboxPreset), "the sandbox for agents and checks", _PRESET),
    Setting("sandbox.allowed_paths", kinds.TEXTS, "further paths that agents may read and write", _shared),
    Setting("sandbox.denied_paths", kinds.TEXTS, "paths that agents may not see", _united),
    Setting(
        "sandbox.allowed_hosts",
        kinds.ALLOWED_HOSTS,
        "further hosts that agents may reach, such as `example.org`, `*.example.org`, `localhost:8080`",
        _shared,
    ),
    Setting("sandbox.denied_hosts", kinds.HOSTS, "hosts that agents may not reach", _united),
    Setting(
        "sandbox.max_process_time",
        kinds.DURATION,
        "how much CPU time one process of an agent may use",
        min,
    ),
    Setting(
        "sandbox.max_processes",
        kinds.integer(_LEAST_PROCESSES),
        "how many processes an agent may have at once",
        min,
    ),
    Setting(
        "sandbox.max_memory",
        kinds.size_from(_LEAST_MEMORY),
        "how much memory one process of an agent may use",
        min,
    ),
    Setting(
        "sandbox.max_file_size", kinds.size_from(_LEAST_FILE), "how large a file an agent may write", min
    ),
    Setting("permissions.mode", kinds.word(PermissionMode), "what agents may do without asking", _MODE),
    Setting("permissions.deny", kinds.RULES, "what is denied; wins over every other rule", _united),
    Setting(
        "permissions.allow",
        kinds.RULES,
        "what is allowed without asking, unless another layer denies it; a layer's `sandbox.allowed_hosts` and "
        "`sandbox.allowed_paths` limit what the rules of the others open in the sandbox",
        _united,
        _shared,
    ),
    Setting(
        "permissions.default",
        kinds.choice("ask", "allow", "deny"),
        "what happens if no rule applies",
        _stricter("deny", "ask", "allow"),
    ),
    Setting(
        "permissions.timeout", kinds.DURATION, "after how long without an answer a request is refused", min
    ),
    Setting(
        "approvals.minimum",
        kinds.choice("L0", "L1", "L2", "L3"),
        "how strong an approval must be: L0 a name, L1 a terminal, L2 a signature, L3 a hardware key",
        max,
    ),
    Setting(
        "approvals.allowed_signers",
        kinds.TEXT,
        "the file with the keys whose signatures count; one of your own where the team names none",
        _first_given,
        _ANY_CHANGE,
    ),
    Setting(
        "approvals.four_eyes",
        kinds.FLAG,
        "whether the approver must not have created the task, worked on it, or started its agent",
        _TRUE,
    ),
    Setting("limits.in_review", kinds.integer(1), "how many tasks may be in review before new work stops"),
    Setting("limits.iteration", kinds.DURATION, "how long one iteration may take"),
    Setting("limits.idle", kinds.DURATION, "how long an agent may be silent"),
    Setting("limits.gate", kinds.DURATION, "how long one check may take"),
    Setting("limits.awaiting", kinds.DURATION, "after how long without an answer people are notified again"),
    Setting(
        "limits.rest",
        kinds.DURATION,
        "how long an agent rests if its service names no time",
    ),
    Setting("limits.output", kinds.SIZE, "how much of an agent's output is kept"),
    Setting("limits.prompt", kinds.size_from(LEAST_PROMPT), "how long a prompt may be"),
    Setting("claims.lease", kinds.DURATION, "how long a runner's claim lasts without being renewed"),
    Setting(
        "sync.auto",
        kinds.word(SyncMode),
        "what is shared with the remote after each command",
        asks=_stricter(*SyncMode),
    ),
    Setting(
        "keep.transcripts",
        kinds.DURATION,
        "how long transcripts stay in the clone; a run removes older ones when it ends",
        asks=max,
    ),
    Setting(
        "keep.rescued",
        kinds.DURATION,
        "how long `gt worktree gc` leaves rescued work in the clone",
        asks=max,
    ),
    Setting("notify", kinds.TEXT, "the command that notifies people"),
)

BY_NAME = {setting.name: setting for setting in SETTINGS}
GROUPS = frozenset(
    ".".join(setting.keys[:length]) for setting in SETTINGS for length in range(1, len(setting.keys))
)


def pattern_of(keys: tuple[str, ...]) -> str:
    """Returns the row's name for a setting's keys, with `*` for the words that users choose."""
    words = list(keys)
    if len(words) > 1 and f"{words[0]}.{ANY}" in GROUPS:
        words[1] = ANY
    return ".".join(words)


def known_keys(pattern: str) -> tuple[str, ...]:
    """Returns the words that may follow a group's name; empty name for the top."""
    lead = f"{pattern}." if pattern else ""
    words = (setting.name[len(lead) :].split(".")[0] for setting in SETTINGS if setting.name.startswith(lead))
    return tuple(one for one in dict.fromkeys(words) if one != ANY)
