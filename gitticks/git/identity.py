"""Who a commit is by, and which editor they use, by git's own order of asking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gitticks.errors import GitticksError, RefusedError
from gitticks.git.config import read_config, read_own_setting
from gitticks.git.process import run_git
from gitticks.git.repository import Repository

_CONFIGURED = r"^(user|author)\.(name|email)$"
_NAME_HINT = '`git config --global user.name "Your Name"`'
_EMAIL_HINT = '`git config --global user.email "you@example.org"`'


def editor_command(repository: Repository, environment: Mapping[str, str]) -> str:
    """Returns the command line of the editor: `GIT_EDITOR`, `core.editor`, `VISUAL`, `EDITOR`, else git's own choice.

    A `core.editor` of the repository's own configuration does not count: an agent could have written it.
    """
    if environment.get("GIT_EDITOR"):
        return environment["GIT_EDITOR"]
    own = read_own_setting("core.editor")
    if own:
        return own
    for name in ("VISUAL", "EDITOR"):
        if environment.get(name):
            return environment[name]
    usual = run_git(["var", "GIT_EDITOR"], directory=repository.common_dir, check=False)
    if usual.code == 0 and usual.text:
        return usual.text
    raise GitticksError("no editor is set", hint="`git config --global core.editor nano`, or set EDITOR")


class Identity(NamedTuple):
    """A name and an address, free of the characters that would end them inside a commit."""

    name: str
    email: str

    def variables(self) -> dict[str, str]:
        """Returns the environment that makes the git binary commit as this identity."""
        return {
            "GIT_AUTHOR_NAME": self.name,
            "GIT_AUTHOR_EMAIL": self.email,
            "GIT_COMMITTER_NAME": self.name,
            "GIT_COMMITTER_EMAIL": self.email,
        }


AGENTS_HOST = "@gitticks.localhost"
ENGINE_IDENTITY = Identity("gitticks", "gitticks@localhost")
OWN_ADDRESSES = (AGENTS_HOST, ENGINE_IDENTITY.email)
"""How the addresses of agents and of the engine end, which are no people; `@localhost` alone may be a person's."""


def agent_identity(agent: str) -> Identity:
    """Returns the fixed identity that changes asked for by `agent` are committed under."""
    name = _cleaned(agent) or "agent"
    mailbox = "".join(
        letter for letter in name.lower() if letter.isascii() and (letter.isalnum() or letter in "-_")
    )
    return Identity(f"{name} (gitticks agent)", f"{mailbox or 'agent'}{AGENTS_HOST}")


def identity(repository: Repository, environment: Mapping[str, str]) -> Identity:
    """Returns who the person is: by the environment, else by git's configuration as seen from here.

    A workspace's own configuration names the agent that works there, so in one that of the repository counts.
    """
    name = _cleaned(environment.get("GIT_AUTHOR_NAME", ""))
    email = _cleaned(environment.get("GIT_AUTHOR_EMAIL", ""))
    if not (name and email):
        configured = read_config(repository, _CONFIGURED)
        if configured.get("user.email", "").endswith(AGENTS_HOST):
            configured = read_config(repository, _CONFIGURED, of_all=True)
        name = name or _cleaned(configured.get("author.name") or configured.get("user.name", ""))
        email = email or _cleaned(configured.get("author.email") or configured.get("user.email", ""))
        email = email or _cleaned(environment.get("EMAIL", ""))
    if not name:
        hint = _NAME_HINT if email else f"{_NAME_HINT} and {_EMAIL_HINT}"
        raise GitticksError("git does not know your name", hint=hint)
    if not email:
        raise GitticksError("git does not know your address", hint=_EMAIL_HINT)
    if email.endswith(AGENTS_HOST):
        raise RefusedError(
            f"git takes you for an agent, {name} <{email}>",
            hint="`unset GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL`, or set your own name with `git config`",
        )
    return Identity(name, email)


def _cleaned(text: str) -> str:
    """Returns `text` without what git refuses in an identity, and without dots and quotes at its ends."""
    inner = "".join(letter for letter in text if letter.isprintable() and letter not in "<>")
    return inner.strip(" .,:;\"'\\")
