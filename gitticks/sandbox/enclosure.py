"""Sandboxes what runs in one checkout: tools, git directory, network, limits, environment."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gitticks.git.checkouts import Checkout
from gitticks.git.repository import Repository
from gitticks.model.settings import SandboxPreset, SandboxSettings
from gitticks.redaction import find_secrets, is_secret_name
from gitticks.sandbox.bringing_home import bring_home
from gitticks.sandbox.client_files import copied, held_settings, make_missing, programs_in
from gitticks.sandbox.machine import program_files, read_machine, tool_folders
from gitticks.sandbox.private_git import found_private, make_private, shared_modules
from gitticks.sandbox.proxy import PROXY_PORT, local_ports, serving
from gitticks.sandbox.seccomp import filter_program, filtered
from gitticks.sandbox.walls import PROXY_SOCKET, Inside, Walls, bubblewrap, is_below

_FORWARDER = Path(__file__).with_name("forwarder.py")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|_PWD\b|_AUTH\b|CREDENTIAL|PRIVATE|_KEY\b|_KEY_|APIKEY|_PAT\b|_DSN\b|DATABASE_URL|COOKIE"
    r"|^(AWS|AZURE|DBUS|DOCKER|GCLOUD|GH|GITHUB|GITLAB|GPG|KUBE|SSH|VAULT|XAUTHORITY|DISPLAY|WAYLAND|TMUX)",
    re.IGNORECASE,
)
_CACHES = {
    "GOCACHE": "/tmp/go-build",  # noqa: S108 - the sandbox's own
    "PIP_CACHE_DIR": "/tmp/pip",  # noqa: S108
    "UV_CACHE_DIR": "/tmp/uv",  # noqa: S108
    "npm_config_cache": "/tmp/npm",  # noqa: S108
}
"""Caches that a tool must be able to write to; those of the person stay as they are."""


class ClientNeeds(NamedTuple):
    """What an agent's program needs of its own; paths may begin with `~`.

    `hosts` are those of its service, `variables` the prefixes of its variables. It keeps its sessions in `folders`,
    but what tells it what to run, the `settings` in these, it may only read, and what there is of programs, less what
    it writes itself, its `state`; of `copies`, files and folders, it gets one, thrown away.
    """

    hosts: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    state: tuple[str, ...] = ()


class Enclosure(NamedTuple):
    """A sandbox that is set up: `walled` is the command line before a command, `variables` describes it to the command."""

    walls: Walls
    walled: tuple[str, ...]
    variables: Mapping[str, str]
    kept_variables: tuple[str, ...] = ()

    def around(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the command line that runs a command in the sandbox."""
        return (*self.walled, *argv)

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """Returns what a command in the sandbox sees of an environment; bubblewrap itself gets no more."""
        kept = {
            name: value
            for name, value in outer.items()
            if name not in _PROXIES and (name.startswith(self.kept_variables) or not _is_secret(name, value))
        }
        if self.walls.has_open_network:
            kept |= {name: outer[name] for name in _PROXIES if name in outer}
        return {**_CACHES, **kept, **self.variables}


def _is_secret(name: str, value: str) -> bool:
    return bool(_SECRET.search(name)) or is_secret_name(name) or bool(find_secrets(value))


def take_home(
    repository: Repository, checkout: Checkout, branch: str | None, *, base: str | None
) -> tuple[str, ...]:
    """Takes what was committed in a sandbox in a checkout, if it ever had any, and returns what a person should know.

    `branch` is the checkout's own, `base` the configured one.

    Raises:
        GitticksError: it is broken or hostile; of the work nothing was taken.
        MachineError: there is something, and no bubblewrap any more to look at it behind, say.
    """
    private = found_private(repository, checkout)
    if private is None:
        return ()

    def walled() -> tuple[str, ...]:
        alone = Walls(SandboxPreset.STRICT, SandboxSettings())
        inside = Inside(
            checkout.git_dir,
            readable=_existing(tool_folders(os.environ, (checkout.path, repository.common_dir))),
            overlaid={checkout.git_dir: private.folder},
            lent=private.stores,
        )
        return bubblewrap(alone, read_machine(os.environ), inside)

    return bring_home(repository, private, walled, branch, base)


@contextlib.contextmanager
def enclosed(
    walls: Walls,
    repository: Repository,
    checkout: Checkout,
    environment: Mapping[str, str],
    *,
    argv: tuple[str, ...] = (),
    client: ClientNeeds | None = None,
    has_terminal: bool = False,
    note: Path | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> Iterator[Enclosure]:
    """Sandboxes a checkout while the block runs.

    The program and the files that `argv` names, as the settings have them, must be readable inside. Without a `client`
    nobody takes the commits, as those of checks and set-up commands. With `has_terminal` a person sits at the command's
    terminal. `warn` is called with what had to be put back afterwards; if this process is killed, `put_back_noted` does
    that from the `note`.

    Raises:
        GitticksError: the walls cannot be built here.
    """
    machine = read_machine(environment)
    needs = client or ClientNeeds()
    with contextlib.ExitStack() as held:
        # In the session's own folder, if it has one: what a killed run left there goes with the next session.
        temporary = environment.get("TMPDIR")
        place = temporary if temporary and Path(temporary).is_dir() else None
        own = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="gitticks-", dir=place)))
        hidden = [one for pattern in walls.hidden for one in _matches(pattern, machine.home, checkout.path)]
        private_folder = None if client is not None else own / "git"
        private = make_private(repository, checkout, private_folder, hidden=hidden)
        walls = walls._replace(hosts=(*walls.hosts, *needs.hosts))
        proxy = None
        if walls.hosts and not walls.has_open_network:
            proxy = own / "proxy"
            held.enter_context(serving(proxy, walls.hosts, walls.denied_hosts))
        projects = (checkout.path, repository.common_dir)
        tools = (*tool_folders(environment, projects), *program_files(argv, environment))
        top, home = checkout.path, machine.home
        folders = _expanded(needs.folders, home, top)
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        thrown_away = _expanded(needs.copies, home, top)
        for path in thrown_away:
            if path.parent in folders:  # there an agent could make it
                make_missing(path)
        links = [path for path in thrown_away if path.is_symlink()]  # nothing can be mounted on one
        copies = copied((path for path in thrown_away if path not in links), own)
        fixed = (*_expanded(needs.settings, home, top), *links)
        own_state = {*fixed, *thrown_away, *_expanded((*needs.state, *walls.writable), home, top)}
        programs = tuple(programs_in(folders, (*fixed, *thrown_away), own_state))
        settings = held.enter_context(held_settings(fixed, programs, warn, note))
        denied = [one for pattern in walls.pinned for one in _matches(pattern, home, top)]
        doors = _existing((*folders, *_expanded(walls.writable, home, top)))
        doors = tuple(_without_lures(doors, top, warn))
        shut = tuple(path for path in doors if path not in folders and is_below(_real(path), denied))
        writable = tuple(path for path in doors if path not in shut)
        # Elsewhere nothing can be written anyway, and this would show it.
        found = (path for path in denied if is_below(path, {top, *writable, *map(_real, writable)}))
        link = top / ".git"
        pinned = (*settings, *_existing((*found, *((link,) if link.is_file() else ()))))
        inside = Inside(
            top,
            readable=_existing((*tools, *private.hooks, *shut, *_expanded(walls.readable, home, top))),
            writable=writable,
            hidden=tuple(path for path in hidden if path.is_dir()),
            hidden_files=tuple(path for path in hidden if not path.is_dir()),
            pinned=tuple(dict.fromkeys((*pinned, *_repository_in(writable, repository, checkout)))),
            overlaid={checkout.git_dir: private.folder, **shared_modules(private), **copies},
            lent=private.stores,
            proxy=proxy,
            has_terminal=has_terminal and (filter_program() is not None or _is_typing_refused()),
        )
        words = filtered(bubblewrap(walls, machine, inside), own)
        variables = {"TMPDIR": "/tmp", "GITTICKS_SANDBOX": walls.preset.value}  # noqa: S108
        if proxy is not None:
            opened = local_ports(walls.hosts, walls.denied_hosts)
            ports = ",".join(str(port) for port in dict.fromkeys((PROXY_PORT, *opened)))
            words += (sys.executable, "-I", "-S", str(_FORWARDER), str(PROXY_SOCKET), ports)
            variables |= dict.fromkeys(_PROXIES, f"http://127.0.0.1:{PROXY_PORT}")
            variables |= {
                "NO_PROXY": "localhost,127.0.0.1",
                "no_proxy": "localhost,127.0.0.1",
                "NODE_USE_ENV_PROXY": "1",
            }
        limited = (*words, *_limits(walls, is_agent=client is not None))
        yield Enclosure(walls, limited, variables, needs.variables)


def _is_typing_refused() -> bool:
    """True if the kernel lets no program type into its terminal; else it must not have one of its own."""
    try:
        return Path("/proc/sys/dev/tty/legacy_tiocsti").read_text(encoding="ascii").strip() == "0"
    except OSError:
        return False


def _limits(walls: Walls, *, is_agent: bool) -> tuple[str, ...]:
    """Returns the command that sets the limits in the sandbox, where processes are counted for them alone."""
    limits = walls.limits
    words = (
        f"--nproc={limits.max_processes}",
        f"--data={limits.max_memory}",
        f"--fsize={limits.max_file_size}",
        "--core=0",
    )
    # The kernel says what it was at the first limit; at the last one it only kills.
    seconds = limits.max_process_time
    return ("prlimit", *words, *((f"--cpu={seconds}:{seconds + 5}",) if is_agent else ()), "--")


def _without_lures(paths: tuple[Path, ...], workspace: Path, warn: Callable[[str], None]) -> Iterator[Path]:
    """Yields what an earlier session has not turned into a link to somewhere else, as it could where it may write."""
    for path in paths:
        real = _real(path)
        above = [top for top in (workspace, *paths) if top in path.parents]
        lured = next((top for top in above if not real.is_relative_to(os.path.realpath(top))), None)
        if lured is None:
            yield path
        else:
            warn(
                f"`{path}` is not writable in the sandbox: it leads to `{real}`, and agents may write to `{lured}`, "
                "so one of them may have made it do so (`gt config sandbox.allowed_paths` can name where it leads)"
            )


def _repository_in(writable: tuple[Path, ...], repository: Repository, checkout: Checkout) -> Iterator[Path]:
    """Yields where the repository lies below what is writable: who opens a folder of projects does not mean this one's."""
    for folder in writable:
        real = _real(folder)
        if repository.common_dir.is_relative_to(real):
            yield folder / repository.common_dir.relative_to(real)
        top = repository.main_worktree
        if top not in (None, real, checkout.path) and top.is_relative_to(real):
            yield folder / top.relative_to(real)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _existing(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(path for path in paths if path.exists()))


def _expanded(paths: tuple[str, ...], home: Path, workspace: Path) -> tuple[Path, ...]:
    """Returns the paths that a setting means: `~` is the person's home, a relative one is in the workspace."""
    full = (
        (home, path[1:].lstrip("/")) if path == "~" or path.startswith("~/") else (workspace, path)
        for path in paths
    )
    return tuple(Path(os.path.normpath(top / path)) for top, path in full)


def _matches(pattern: str, home: Path, workspace: Path) -> Iterator[Path]:
    """Yields what there is of a path or glob; what does not exist cannot be hidden, since that would create it."""
    if not any(sign in pattern for sign in "*?["):
        (path,) = _expanded((pattern,), home, workspace)
        if path.exists():
            yield _real(path)
        return
    top = workspace
    if pattern.startswith("~/"):
        top, pattern = home, pattern[2:]
    elif Path(pattern).is_absolute():
        top, pattern = Path("/"), pattern.lstrip("/")
    with contextlib.suppress(ValueError, OSError):
        yield from (_real(path) for path in top.glob(pattern) if path.exists())
