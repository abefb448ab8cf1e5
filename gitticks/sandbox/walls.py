"""What the sandbox lets through, by the settings and the permission rules, as arguments of bubblewrap; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gitticks.model.settings import PermissionRule, SandboxPreset, SandboxSettings
from gitticks.workflow.permissions import Answer, Operation, PolicyLayer, heard_to_allow

PROXY_SOCKET = Path("/run/gitticks-proxy")
"""Where the socket of the proxy lies in the sandbox."""
_NAMESPACES = (
    "--unshare-user",
    "--disable-userns",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
)
_EVERY_HOST = "*"
_LITTLE = "16000000"
"""How much fits where only sockets and what is mounted have to be."""
_MASK, _MASK_OF_FILE = ("--perms", "0555", "--size", _LITTLE, "--tmpfs"), ("--ro-bind", "/dev/null")


class Walls(NamedTuple):
    """What is let through besides the workspace, its mailbox and the tools on PATH.

    `hosts` are host names, `*.example.org` for all below one, `*` for all; `name:port` for another port than 80 and
    443. No host at all is no network. What is `hidden` or `denied_hosts` wins over what is let through. What is
    `pinned` may only be read.
    """

    preset: SandboxPreset
    limits: SandboxSettings
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    denied_hosts: tuple[str, ...] = ()

    @property
    def has_open_network(self) -> bool:
        """True if the network is the machine's own, with no proxy between."""
        is_all = _EVERY_HOST in self.hosts and not self.denied_hosts
        return is_all and self.preset is SandboxPreset.PERMISSIVE


def walls_of(settings: SandboxSettings) -> Walls | None:
    """Returns the sandbox that the settings ask for; None if they ask for none."""
    if settings.preset is SandboxPreset.NONE:
        return None
    hosts = settings.allowed_hosts
    if settings.preset is SandboxPreset.PERMISSIVE:
        hosts = (*hosts, _EVERY_HOST)
    return Walls(
        settings.preset,
        settings,
        writable=settings.allowed_paths,
        hidden=settings.denied_paths,
        hosts=hosts,
        denied_hosts=settings.denied_hosts,
    )


@dataclass(frozen=True, slots=True)
class Machine:
    """What bubblewrap finds on this machine; every path exists.

    Attributes:
        program: bubblewrap's own.
        home: the person's.
        links: what stands for another folder in `/`, such as `bin` for `usr/bin`.
        system: what every program needs to read.
        secrets: folders that nobody in a sandbox may see.
        secret_files: the same of files.
        resolver: the file that says how names are looked up, where it is outside of the system's folders.
        kernel: what of `/proc` sets up the kernel; root may write there without any capability.
        memory: of the whole machine, in bytes; 0 if it is not known.
    """

    program: str
    home: Path
    links: Mapping[str, str] = field(default_factory=dict)
    system: tuple[Path, ...] = ()
    secrets: tuple[Path, ...] = ()
    secret_files: tuple[Path, ...] = ()
    resolver: Path | None = None
    kernel: tuple[Path, ...] = ()
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Inside:
    """What one command needs in the sandbox; every path exists.

    `overlaid` says which folder stands in the place of which, `lent` the same of what is only read; `pinned` is
    read-only within what is writable.
    """

    workspace: Path
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    hidden_files: tuple[Path, ...] = ()
    pinned: tuple[Path, ...] = ()
    overlaid: Mapping[Path, Path] = field(default_factory=dict)
    lent: Mapping[Path, Path] = field(default_factory=dict)
    proxy: Path | None = None
    has_terminal: bool = False


def bubblewrap(walls: Walls, machine: Machine, inside: Inside) -> tuple[str, ...]:
    """Returns the command line up to the command that is to run in the sandbox."""
    is_strict = walls.preset is SandboxPreset.STRICT
    words = [machine.program, *_NAMESPACES, "--cap-drop", "ALL", "--die-with-parent"]
    if not inside.has_terminal:
        words.append("--new-session")
    if not walls.has_open_network:
        words.append("--unshare-net")
    if is_strict:
        for name, target in machine.links.items():
            words += ["--symlink", target, f"/{name}"]
    else:
        words += ["--ro-bind", "/", "/"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for path in machine.kernel:
        words += ["--ro-bind", str(path), str(path)]
    mounts = dict(_mounts(walls, machine, inside))
    # A folder comes before what is in it, so that the nearest word on a path holds.
    for place in sorted(mounts, key=lambda path: (len(path.parts), path)):
        words += [*mounts[place], str(place)]
    return (*words, "--remount-ro", "/dev", "--chdir", str(inside.workspace), "--")


def _mounts(walls: Walls, machine: Machine, inside: Inside) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yields what is mounted where; for the same place, the last one wins."""
    is_strict = walls.preset is SandboxPreset.STRICT
    empty = [Path("/tmp"), Path("/dev/shm")]  # noqa: S108 - the sandbox's own
    if is_strict:
        empty.append(machine.home)
        yield from ((path, ("--ro-bind", str(path))) for path in machine.system)
    # What is written there takes memory: together they get no more than half of it.
    size = min(walls.limits.max_memory, machine.memory // 2 // len(empty) or walls.limits.max_memory)
    yield from ((path, ("--perms", "0700", "--size", str(size), "--tmpfs")) for path in empty)
    empty.append(Path("/run"))
    yield empty[-1], ("--perms", "0700", "--size", _LITTLE, "--tmpfs")
    if machine.resolver is not None and walls.has_open_network:
        yield machine.resolver, ("--ro-bind", str(machine.resolver))
    hidden = {*inside.hidden, *inside.hidden_files, *machine.secrets, *machine.secret_files}
    readable = [path for path in inside.readable if not is_below(path, hidden)]
    writable = [path for path in inside.writable if not is_below(path, hidden)]
    # A link in a folder that is shown is there already, and bubblewrap cannot mount anything on one.
    whole = {
        path for path in (*machine.system, *readable, *writable) if path.is_dir() or not path.is_symlink()
    }
    bare = (Path("/"),) if is_strict else tuple(empty)
    readable = [
        path
        for path in readable
        if not path.is_symlink() or (is_below(path, bare) and not whole.intersection(path.parents))
    ]
    yield from ((path, ("--ro-bind", str(path))) for path in readable)
    yield from ((path, ("--bind", str(path))) for path in writable)
    shown = {*machine.system, *readable, *writable} if is_strict else {Path("/")}
    yield from ((path, _MASK) for path in machine.secrets if is_below(path, shown))
    yield from ((path, _MASK_OF_FILE) for path in machine.secret_files if is_below(path, shown))
    yield inside.workspace, ("--bind", str(inside.workspace))
    yield from ((path, ("--ro-bind", str(path))) for path in inside.pinned)
    yield from ((place, ("--bind", str(source))) for place, source in inside.overlaid.items())
    yield from ((place, ("--ro-bind", str(source))) for place, source in inside.lent.items())
    yield from ((path, _MASK) for path in inside.hidden)
    yield from ((path, _MASK_OF_FILE) for path in inside.hidden_files)
    if inside.proxy is not None:
        yield PROXY_SOCKET, ("--ro-bind", str(inside.proxy))


def is_below(path: Path, folders: Collection[Path]) -> bool:
    """True for one of the folders, and for what is in one."""
    return path in folders or any(parent in folders for parent in path.parents)


def with_rules(walls: Walls, layers: Iterable[PolicyLayer]) -> Walls:
    """Returns a sandbox that blocks what the rules deny and lets through what they allow.

    What is listed for the sandbox elsewhere is not widened by a rule. Rules for commands cannot be enforced by it. What may not be read is hidden, what may not be written is read-only, as far as it exists when the walls are built.
    A rule that takes something back with `!`, or is about every file, cannot be a wall. Paths in the workspace need no
    door.
    """
    every = tuple(layers)
    denied = [rule for layer in every for rule in layer.deny]
    allowed = [rule for layer in heard_to_allow(every) for rule in layer.allow if rule not in layer.overruled]
    hosts = (*walls.hosts, *_hosts(allowed))
    if any(layer.default is Answer.DENY for layer in every) or _is_network_denied(denied):
        hosts = tuple(host for host in hosts if host != _EVERY_HOST)
    return walls._replace(
        hidden=_united(walls.hidden, _globs(denied, Operation.FILE_READ)),
        pinned=_united(walls.pinned, _globs(denied, Operation.FILE_WRITE)),
        readable=_united(walls.readable, _places(allowed, Operation.FILE_READ)),
        writable=_united(walls.writable, _places(allowed, Operation.FILE_WRITE)),
        hosts=() if _is_network_denied(denied) else _united(hosts),
        denied_hosts=_united(walls.denied_hosts, (host for rule in denied for host in _positive(rule.hosts))),
    )


def _united(*lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for some in lists for one in some))


def _hosts(rules: Iterable[PermissionRule]) -> Iterable[str]:
    for rule in rules:
        if rule.operation == Operation.NETWORK:
            yield from _positive(rule.hosts) if rule.hosts else (_EVERY_HOST,)


def _is_network_denied(rules: Iterable[PermissionRule]) -> bool:
    return any(
        rule.operation == Operation.NETWORK and (not rule.hosts or _EVERY_HOST in rule.hosts)
        for rule in rules
    )


def _globs(rules: Iterable[PermissionRule], operation: Operation) -> Iterable[str]:
    """Yields the paths and globs of rules as the sandbox reads them: a bare name is a file anywhere."""
    for rule in rules:
        if rule.operation == operation:
            for path in _positive(rule.paths):
                is_name = "/" not in path.rstrip("/") and path != "**"
                plain = path.removeprefix("./").removesuffix("/**").rstrip("/")
                if plain and plain != "**":
                    yield f"**/{plain}" if is_name else plain


def _places(rules: Iterable[PermissionRule], operation: Operation) -> Iterable[str]:
    """Yields the folders and files outside of the workspace that rules open, by their beginning without a glob."""
    for rule in rules:
        if rule.operation == operation:
            for path in _positive(rule.paths):
                plain = path.removesuffix("/**").rstrip("/")
                if plain.startswith(("/", "~/")) and not any(sign in plain for sign in "*?["):
                    yield plain


def _positive(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return () if any(one.startswith("!") for one in patterns) else patterns
