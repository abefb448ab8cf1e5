"""Begins tasks in a repository: the state branch, its first settings, and the board where people edit them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.actions.config import change_setting
from gitticks.actions.context import Context
from gitticks.errors import NotFoundError
from gitticks.model.policy import HumanPolicy

if TYPE_CHECKING:
    from gitticks.agents.registry import FoundAgent

_CONFIG = """\
# What holds for everybody who works on this repository with gitticks.
# `gt config` lists every setting; what is not here has its default.
version: 1
"""
_HUMAN = """\
# always: a person approves all work; when-required: only where a task or an agent asks for one.
human: {policy}
"""
_BASE = """\
# The branch that approved work is merged into.
base: {branch}
"""


class Begun(Enum):
    """Where the state branch came from."""

    CREATED = "created"
    TAKEN_OVER = "taken over from origin"
    THERE = "there already"


@dataclass(frozen=True, slots=True)
class Initialised:
    """What `gt init` made and found.

    `base` is None where it is not known yet; `has_commits` is False before the repository's first commit.
    `is_offline` tells that nobody could ask origin for a state branch.
    """

    begun: Begun
    board: Path
    is_board_new: bool
    base: str | None
    has_commits: bool
    is_offline: bool
    tests: str | None
    human: HumanPolicy


@dataclass(frozen=True, slots=True)
class AgentLine:
    """An agent that can be started here, and what it says of its version."""

    name: str
    version: str | None


def is_begun(context: Context) -> bool:
    """True if the repository has a state branch already, or could take over one that was fetched before."""
    from gitticks.git.refs import read_ref
    from gitticks.store.layout import REMOTE_STATE_REF, STATE_REF

    common_dir = context.repository.common_dir
    return read_ref(common_dir, STATE_REF) is not None or read_ref(common_dir, REMOTE_STATE_REF) is not None


def initialise(context: Context, *, base: str | None = None, human: HumanPolicy | None = None) -> Initialised:
    """Makes what is missing of state branch, board and hooks; what is there stays as it is.

    Args:
        context: where.
        base: the branch that approved work is merged into; taken into the settings.
        human: who has to approve work; taken into the settings.

    Raises:
        GitticksError: the repository is bare, or of a kind that gitticks cannot work with.
        NotFoundError: `base` is no branch.
        RefusedError: this is an agent's session.
    """
    from gitticks.git.process import git_version
    from gitticks.git.refs import has_commits, read_ref
    from gitticks.git.remote_branch import Fetched, fetch_branch
    from gitticks.store.board import board_path, create_board
    from gitticks.store.hooks import keep_board_hooks
    from gitticks.store.layout import REMOTE_STATE_REF, STATE_BRANCH
    from gitticks.store.merging.driver import install_merge_driver
    from gitticks.store.tip import refuse_lost_branch

    context.require_person("begin tasks in a repository")
    git_version()
    repository = context.repository
    repository.require_main_worktree("the board")
    _ = context.author
    _check_base(context, base)
    fetched = Fetched.HERE if context.store.exists else fetch_branch(repository, "origin", STATE_BRANCH)
    begun = Begun.THERE
    if not context.store.exists:
        refuse_lost_branch(repository)
        theirs = read_ref(repository.common_dir, REMOTE_STATE_REF)
        begun = Begun.CREATED if theirs is None else Begun.TAKEN_OVER
        context.store.initialise(context.author, _first_config(context, base, human))
    if begun is not Begun.CREATED:
        _change_settings(context, base, human)
    is_board_new = board_path(repository) is None
    board = create_board(repository)
    keep_board_hooks(repository)
    install_merge_driver(repository)
    settings = context.settings
    return Initialised(
        begun=begun,
        board=board,
        is_board_new=is_board_new,
        base=settings.base or _derived_base(context),
        has_commits=has_commits(repository),
        is_offline=fetched is Fetched.UNREACHABLE,
        tests=settings.verify.test,
        human=settings.human,
    )


def find_agents(context: Context) -> tuple[AgentLine, ...]:
    """Returns the agents on PATH with their versions; asking them takes a moment."""
    from gitticks.actions.trust import are_settings_trusted
    from gitticks.agents.base import AgentKind
    from gitticks.agents.registry import Registry

    settings, is_trusted = context.settings, are_settings_trusted(context)
    registry = Registry(settings.agents, settings.agent, settings.permissions.mode, context.world.environment)
    found: tuple[FoundAgent, ...] = tuple(
        one for one in registry.found() if one.path is not None and one.spec.kind is not AgentKind.SCRIPT
    )
    return tuple(
        AgentLine(one.spec.name, registry.version_of(one) if is_trusted or not one.is_configured else None)
        for one in found
    )


def _check_base(context: Context, base: str | None) -> None:
    from gitticks.git.refs import branch_exists, has_commits

    if base is not None and has_commits(context.repository) and not branch_exists(context.repository, base):
        raise NotFoundError(f"there is no branch `{base}`", hint="`git branch --list` shows the branches")


def _derived_base(context: Context) -> str | None:
    from gitticks.git.refs import default_base, has_commits

    return default_base(context.repository) if has_commits(context.repository) else None


def _first_config(context: Context, base: str | None, human: HumanPolicy | None) -> str:
    """Returns the first settings; a base that nothing else would remember is one of them."""
    from gitticks.git.refs import read_symbolic_ref

    if base is None and read_symbolic_ref(context.repository.common_dir, "refs/remotes/origin/HEAD") is None:
        base = _derived_base(context)
    text = _CONFIG
    if human is not None:
        text += _HUMAN.format(policy=human.value)
    return text if base is None else text + _BASE.format(branch=_quoted(base))


def _quoted(branch: str) -> str:
    from gitticks.document.yaml_scalars import render

    return render(branch)


def _change_settings(context: Context, base: str | None, human: HumanPolicy | None) -> None:
    """Sets what was asked for in the settings that are there."""
    asked = {"base": base, "human": human.value if human else None}
    for name, value in asked.items():
        if value is not None:
            change_setting(context, name, value)
