"""The settings of `config.yaml` with their defaults; plain values, so that reading commands can afford them.

Durations are seconds, sizes are bytes. `gitticks.document.settings` reads and writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from gitticks.model.approval import NAME
from gitticks.model.status import Isolation

FORMAT_VERSION = 1
"""The newest format of the state branch that this release writes; a newer one is only read."""
MOST_PARALLEL = 64
LEAST_PROMPT = 10_000
"""A shorter one has hardly more than the rules that every prompt holds."""

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_NOTHING_NAMED: Mapping[str, Any] = MappingProxyType({})


class ReviewPolicy(StrEnum):
    """Who reviews work before a person sees it."""

    NONE = "none"
    AGENT = "agent"
    COUNCIL = "council"


class HumanPolicy(StrEnum):
    """Whether a person is always asked, or only where the task or a signal asks for one."""

    ALWAYS = "always"
    WHEN_REQUIRED = "when-required"


class MergeMode(StrEnum):
    """Whether gitticks merges approved work, or leaves that to a person, or to a pull request on a forge."""

    QUEUE = "queue"
    MANUAL = "manual"
    PULL_REQUEST = "pull-request"


class ForgeKind(StrEnum):
    """The forges that take pull requests; `auto` is what the host's name says, else GitHub."""

    AUTO = "auto"
    GITHUB = "github"
    GITLAB = "gitlab"


class OnConflict(StrEnum):
    """What a merge conflict does to the task."""

    RETURN = "return"
    STUCK = "stuck"


class BudgetLimits(NamedTuple):
    """Limits of one budget; cost in dollars, None is unlimited."""

    iterations: int | None = None
    tokens: int | None = None
    cost: float | None = None
    duration: float | None = None

    @property
    def is_set(self) -> bool:
        """True if anything is limited."""
        return self != BudgetLimits()


class Policy(NamedTuple):
    """What `decide` needs to know of the settings.

    `review_waiver` says why an agent's review is waived for this task although policy asks for one.
    `minimum_approval` is the weakest strength that closes work, from L0 (git's name alone) to L3 (a hardware key);
    with `four_eyes` nobody closes what they created, worked on or had an agent work on. `budget` is that of a task, an epic's is counted outside of it.
    """

    review: ReviewPolicy = ReviewPolicy.AGENT
    human: HumanPolicy = HumanPolicy.ALWAYS
    isolation: Isolation = Isolation.TASK
    merge_mode: MergeMode = MergeMode.QUEUE
    on_conflict: OnConflict = OnConflict.RETURN
    review_limit: int = 2
    council_rounds: int = 3
    iterations: int = 10
    review_waiver: str | None = None
    minimum_approval: str = NAME
    four_eyes: bool = False
    budget: BudgetLimits = BudgetLimits()

    @property
    def is_name_too_little(self) -> bool:
        """True if an approval has to be strong, or a second person's; then one is always given, and by a command."""
        return self.minimum_approval != NAME or self.four_eyes


class PromptWay(StrEnum):
    """How a `command` agent is given its prompt."""

    STDIN = "stdin"
    FILE = "file"
    ARGUMENT = "argument"


class PermissionMode(StrEnum):
    """What an agent may do without asking, from the strictest to the loosest."""

    INTERACTIVE = "interactive"
    AUTO_EDIT = "auto-edit"
    AUTO_ALL = "auto-all"
    YOLO = "yolo"


class SandboxPreset(StrEnum):
    """An agent's sandbox."""

    STRICT = "strict"
    PERMISSIVE = "permissive"
    NONE = "none"


class MergeStrategy(StrEnum):
    """How approved work reaches the base."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"


class WorkspaceUpdate(StrEnum):
    """Whether a workspace follows its base while work continues."""

    MANUAL = "manual"
    BETWEEN_ITERATIONS = "between-iterations"


class SyncMode(StrEnum):
    """What a command shares with the remote when it is done."""

    OFF = "off"
    PUSH = "push"
    BOTH = "both"


class CouncilRule(StrEnum):
    """How many blocking councillors block."""

    ANY = "any"
    MAJORITY = "majority"


class AgentKind(StrEnum):
    """The agents that gitticks knows how to start and to read; `command` stands for any other program."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    AMP = "amp"
    OPENCODE = "opencode"
    COMMAND = "command"
    SCRIPT = "script"


class AgentSettings(NamedTuple):
    """One entry under `agents`; `provider` is for OpenCode alone, `sandbox_mode` for Codex."""

    type: AgentKind | None = None
    argv: tuple[str, ...] = ()
    prompt: PromptWay = PromptWay.STDIN
    model: str | None = None
    mode: PermissionMode | None = None
    args: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    provider: str | None = None
    sandbox_mode: str | None = None


class ReviewerSettings(NamedTuple):
    """One reviewer of the list; `agent` None means the task's own agent."""

    name: str
    agent: str | None = None
    focus: str | None = None


class CouncilSettings(NamedTuple):
    """The council's rule, its rounds and its time limit."""

    rule: CouncilRule = CouncilRule.ANY
    rounds: int = 3
    timeout: int = 10 * MINUTE


class VerifySettings(NamedTuple):
    """The quality gates that hold work back; commands are run by the shell."""

    test: str | None = None
    build: str | None = None
    committed: bool = True
    scripts: tuple[str, ...] = ()
    retries: int = 0


class BudgetSettings(NamedTuple):
    """The budgets of each task, each epic and the whole run."""

    task: BudgetLimits = BudgetLimits()
    epic: BudgetLimits = BudgetLimits()
    run: BudgetLimits = BudgetLimits(cost=20.0)


class Price(NamedTuple):
    """Dollars for a million tokens of one model; without `cached` what is read from its cache costs as much as other input.

    A price without `input` or `output` is not complete yet, and nothing can be counted by it.
    """

    input: float | None = None
    output: float | None = None
    cached: float | None = None

    @property
    def missing(self) -> str | None:
        """Returns what it lacks."""
        if self.input is None:
            return "input"
        return "output" if self.output is None else None


class WorkspaceSettings(NamedTuple):
    """Where workspaces lie, relative to the checkout, and whether they follow their base."""

    dir: str = ".gitticks-work"
    update: WorkspaceUpdate = WorkspaceUpdate.MANUAL


class SetupSettings(NamedTuple):
    """What makes a new workspace ready: files to copy from the checkout, and a command."""

    copy: tuple[str, ...] = ()
    run: str | None = None


class MergeSettings(NamedTuple):
    """How approved work is merged."""

    mode: MergeMode = MergeMode.QUEUE
    strategy: MergeStrategy = MergeStrategy.MERGE
    on_conflict: OnConflict = OnConflict.RETURN
    push: bool = False
    ahead: int = 1
    forge: ForgeKind = ForgeKind.AUTO


class SandboxSettings(NamedTuple):
    """The sandbox of agents; without a chosen preset, the default applies only if this machine supports it."""

    preset: SandboxPreset = SandboxPreset.PERMISSIVE
    allowed_paths: tuple[str, ...] = ()
    denied_paths: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    denied_hosts: tuple[str, ...] = ()
    max_process_time: int = 5 * MINUTE
    max_processes: int = 512
    max_memory: int = 8_000_000_000
    max_file_size: int = 2_000_000_000


class PermissionRule(NamedTuple):
    """One rule: an operation and the paths, commands or hosts that it speaks of."""

    operation: str
    paths: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def patterns(self) -> tuple[str, ...]:
        """Returns what it speaks of, of the one kind that its operation has; empty for all of it."""
        return (*self.paths, *self.commands, *self.hosts)


class PermissionSettings(NamedTuple):
    """What agents may do: deny rules first, then allow rules, then the default (`ask`, `allow`, `deny`)."""

    mode: PermissionMode = PermissionMode.AUTO_EDIT
    deny: tuple[PermissionRule, ...] = ()
    allow: tuple[PermissionRule, ...] = ()
    default: str = "ask"
    timeout: int = 5 * MINUTE


class ApprovalSettings(NamedTuple):
    """How strong an approval must be, and whether the one who asked may give it."""

    minimum: str = "L0"
    allowed_signers: str | None = None
    four_eyes: bool = False


class LimitSettings(NamedTuple):
    """Bounds on single things."""

    in_review: int = 10
    iteration: int = 30 * MINUTE
    idle: int = 10 * MINUTE
    gate: int = 10 * MINUTE
    awaiting: int = DAY
    rest: int = 15 * MINUTE
    output: int = 64_000_000
    prompt: int = 200_000


class ClaimSettings(NamedTuple):
    """How long a runner's claim holds without being renewed."""

    lease: int = 10 * MINUTE


class SyncSettings(NamedTuple):
    """What is shared after each command."""

    auto: SyncMode = SyncMode.OFF


class KeepSettings(NamedTuple):
    """How long the clone keeps what is not on the branch."""

    transcripts: int = 14 * DAY
    rescued: int = 90 * DAY


class Settings(NamedTuple):
    """Everything that can be set; with no file, these defaults hold."""

    version: int = FORMAT_VERSION
    base: str | None = None
    agent: str | None = None
    agents: Mapping[str, AgentSettings] = _NOTHING_NAMED
    review: ReviewPolicy = ReviewPolicy.AGENT
    reviewers: tuple[ReviewerSettings, ...] = ()
    review_limit: int = 2
    council: CouncilSettings = CouncilSettings()
    human: HumanPolicy = HumanPolicy.ALWAYS
    verify: VerifySettings = VerifySettings()
    iterations: int = 10
    budget: BudgetSettings = BudgetSettings()
    prices: Mapping[str, Price] = _NOTHING_NAMED
    parallel: int = 3
    isolation: Isolation = Isolation.TASK
    workspace: WorkspaceSettings = WorkspaceSettings()
    setup: SetupSettings = SetupSettings()
    merge: MergeSettings = MergeSettings()
    checkpoint_every: int = 5
    sandbox: SandboxSettings = SandboxSettings()
    permissions: PermissionSettings = PermissionSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    limits: LimitSettings = LimitSettings()
    claims: ClaimSettings = ClaimSettings()
    sync: SyncSettings = SyncSettings()
    keep: KeepSettings = KeepSettings()
    notify: str | None = None
