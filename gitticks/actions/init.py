"""Sets up tasks in a repository: the state branch, its first settings, and the board."""

from __future__ import annotations

import re
import shutil
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from gitticks.actions.config import change_setting, refuse_odd_base, refuse_unknown_base
from gitticks.actions.context import Context
from gitticks.board.hooks import keep_board_hooks
from gitticks.board.ignored import keep_board_ignores
from gitticks.board.place import board_path, create_board
from gitticks.document.yaml_scalars import render
from gitticks.errors import RefusedError
from gitticks.git.checkouts import head
from gitticks.git.config import write_common_setting
from gitticks.git.process import git_version
from gitticks.git.refs import default_base, read_ref, read_symbolic_ref
from gitticks.git.sharing import AskedRemote, Fetched, look_for_branch, remote_of_branch, remotes
from gitticks.model.settings import HumanPolicy
from gitticks.safe_read import read_json, read_plain_text
from gitticks.store.authors import remember_names
from gitticks.store.layout import CONFIG_PATH, STATE_BRANCH, STATE_REF, refuse_lost_branch, remote_state_ref
from gitticks.store.merging.checkout import install_merge_driver
from gitticks.store.runnable_files import trust_own
from gitticks.store.sharing import remember_shared, remove_impossible, warnings_of

_CONFIG = """\
# Settings for everybody who works on this repository with gitticks.
# `gt config` lists every setting; what is not set here has its default.
version: 1
"""
_HUMAN = """\
# always: a person approves all work; when-required: only if a task or an agent asks for one.
human: {policy}
"""
_BASE = """\
# The branch that approved work is merged into.
base: {branch}
"""
_MAKE_TARGET = re.compile(r"^(test|check):(?!=)", re.MULTILINE)


class Begun(Enum):
    """Where the state branch came from."""

    CREATED = "created"
    TAKEN_OVER = "taken over from a remote"
    THERE = "there already"


class Initialised(NamedTuple):
    """What `gt init` made and found.

    `base` is None where it is not known yet; `has_commits` is False before the repository's first commit.
    `remote` is whose state branch was taken over; `silent` are the remotes that nobody could ask for one.
    """

    begun: Begun
    board: Path
    is_board_new: bool
    base: str | None
    has_commits: bool
    remote: str | None
    silent: tuple[AskedRemote, ...]
    tests: str | None
    human: HumanPolicy
    proposed_tests: str | None = None


def is_begun(context: Context) -> bool:
    """True if the repository has a state branch already, or could take over one that was fetched before."""
    common_dir = context.repository.common_dir
    refs = [STATE_REF, *(remote_state_ref(name) for name in remotes(context.repository))]
    return any(read_ref(common_dir, ref) is not None for ref in refs)


def initialise(context: Context, *, base: str | None = None, human: HumanPolicy | None = None) -> Initialised:
    """Makes what is missing of state branch, board and hooks; what is there stays as it is.

    The branch that approved work is merged into, and who has to approve it, are taken into the settings.
    """
    context.require_person("set up tasks in a repository")
    git_version()
    repository = context.repository
    repository.require_project_dir("the board")
    # So that all others are seen to be others, before anything is written.
    remember_names(repository, (context.author.name,))
    has_commits = head(repository) is not None
    if base is not None and has_commits:
        refuse_unknown_base(context, base)
    begun = Begun.THERE
    remote: str | None = None
    silent: tuple[AskedRemote, ...] = ()
    if not context.store.exists:
        remote, silent = _begin(context, _first_config(context, base, human))
        begun = Begun.CREATED if remote is None else Begun.TAKEN_OVER
    if begun is not Begun.CREATED:
        for name, value in (("base", base), ("human", human and human.value)):
            if value is not None:
                change_setting(context, name, value)
    is_board_new = board_path(repository) is None
    if is_board_new and begun is not Begun.CREATED:
        context.warnings += warnings_of(remove_impossible(context.store))  # else git could fill no board
    board = create_board(repository)
    keep_board_hooks(repository)
    keep_board_ignores(repository)
    install_merge_driver(repository)
    settings = context.settings
    return Initialised(
        begun=begun,
        board=board,
        is_board_new=is_board_new,
        base=settings.base or _derived_base(context),
        has_commits=head(repository) is not None,
        remote=remote,
        silent=silent,
        tests=settings.verify.test,
        human=settings.human,
        proposed_tests=None
        if settings.verify.test
        else test_command(repository.require_project_dir("the board")),
    )


def _begin(context: Context, config: str) -> tuple[str | None, tuple[AskedRemote, ...]]:
    """Makes the state branch or takes a remote's; returns whose it took, and the remotes that gave no answer."""
    asked = look_for_branch(context.repository, STATE_BRANCH)
    refuse_lost_branch(context.repository)
    having = [one.name for one in asked if one.commit is not None]
    if len(having) > 1:
        raise RefusedError(
            f"several remotes have tasks: {', '.join(f'`{name}`' for name in having)}",
            hint=f"`git config branch.{STATE_BRANCH}.remote {having[0]}` chooses one, then run `gt init`",
        )
    silent = tuple(one for one in asked if one.outcome in (Fetched.UNREACHABLE, Fetched.REFUSED))
    if not having:
        context.store.initialise(context.author, config)
        trust_own(context.repository, {CONFIG_PATH: (None, config.encode())})
        return None, silent
    remember_shared(
        context.store, having[0], context.store.initialise(context.author, config, remote=having[0])
    )
    if remote_of_branch(context.repository, STATE_BRANCH) != having[0]:
        write_common_setting(context.repository.common_dir, f"branch.{STATE_BRANCH}.remote", having[0])
        write_common_setting(context.repository.common_dir, f"branch.{STATE_BRANCH}.merge", STATE_REF)
    return having[0], silent


def _derived_base(context: Context) -> str | None:
    return default_base(context.repository) if head(context.repository) is not None else None


def _first_config(context: Context, base: str | None, human: HumanPolicy | None) -> str:
    """Returns the first settings; a base that nothing else would remember is one of them."""
    if base is None and read_symbolic_ref(context.repository.common_dir, "refs/remotes/origin/HEAD") is None:
        base = _derived_base(context)
    refuse_odd_base(base or "", "`gt init --base BRANCH` takes another branch")
    text = _CONFIG
    if human is not None:
        text += _HUMAN.format(policy=human.value)
    return text if base is None else text + _BASE.format(branch=render(base))


def test_command(project: Path) -> str | None:
    """Guesses the project's test command from its files; None where none names one.

    A make target comes first: a person wrote it for just that.
    """
    make = next(
        (name for name in ("Makefile", "GNUmakefile", "makefile") if (project / name).is_file()), None
    )
    target = _MAKE_TARGET.search(_text(project / make)) if make else None
    if target is not None:
        return f"make {target[1]}"
    if (project / "Cargo.toml").is_file():
        return "cargo test"
    if (project / "go.mod").is_file():
        return "go test ./..."
    # What `npm init` writes is no test.
    npm = read_json(
        project / "package.json", lambda package: package["scripts"]["test"].strip(), "no test specified"
    )
    if "no test specified" not in npm:
        return "npm test"
    if (project / "tox.ini").is_file() or "[tool.tox]" in _text(project / "pyproject.toml"):
        return "tox"
    if not _has_pytest(project):
        return None
    return "python -m pytest" if shutil.which("python") else "python3 -m pytest"  # Debian has no `python`


def _has_pytest(project: Path) -> bool:
    if (project / "pytest.ini").is_file() or "[tool:pytest]" in _text(project / "setup.cfg"):
        return True
    if "pytest" in _text(project / "pyproject.toml"):
        return True
    folder = project / "tests"
    return folder.is_dir() and any(folder.glob("test_*.py"))


def _text(path: Path) -> str:
    try:
        return read_plain_text(path)
    except (OSError, ValueError):
        return ""
