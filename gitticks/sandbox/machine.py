"""What a sandbox needs to know about this machine: bubblewrap, system folders, tools, secrets, and whether it works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from gitticks.errors import GitticksError, MachineError
from gitticks.git.process import printable
from gitticks.model.settings import SandboxPreset, SandboxSettings, Settings
from gitticks.model.status import Isolation
from gitticks.sandbox.seccomp import filtered
from gitticks.sandbox.walls import Inside, Machine, Walls, bubblewrap, walls_of
from gitticks.store.hook_files import hook_sources

PROGRAM = "bwrap"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store")
_OF_ETC = (
    "alternatives", "bash.bashrc", "ca-certificates", "crypto-policies", "debian_version", "fonts", "gitconfig",
    "group", "host.conf", "hosts", "inputrc", "java", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime",
    "magic", "mime.types", "nsswitch.conf", "os-release", "passwd", "perl", "pki", "protocols", "resolv.conf",
    "services", "ssl", "terminfo", "timezone",
)  # fmt: skip
_SECRETS = (
    "~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.config/gh", "~/.config/glab-cli", "~/.config/gcloud",
    "~/.config/git/credentials", "~/.config/op", "~/.docker", "~/.git-credentials", "~/.kube",
    "~/.local/share/keyrings", "~/.local/share/kwalletd", "~/.netrc",
    "~/.mozilla", "~/.config/mozilla", "~/.librewolf", "~/.thunderbird", "~/.config/google-chrome", "~/.config/chromium",
    "~/.config/BraveSoftware", "~/.config/microsoft-edge", "~/.config/opera", "~/.config/vivaldi",
    "~/.var/app", "~/snap/brave", "~/snap/chromium", "~/snap/firefox", "~/snap/opera", "~/snap/thunderbird",
    "~/.npmrc", "~/.password-store", "~/.pgpass", "~/.pypirc", "~/.terraform.d", "~/.vault-token",
    "~/.bash_history", "~/.zsh_history", "~/.zhistory", "~/.histfile", "~/.sh_history",
    "~/.local/share/fish/fish_history", "~/.fly/config.yml", "~/.pulumi/credentials.json",
    "~/.cargo/credentials.toml", "~/.cargo/credentials", "~/.gem/credentials",
    "~/.config/rclone", "~/.config/sops", "~/.s3cfg", "~/.oci",
    "~/.1password", "~/.bitwarden-ssh-agent.sock", "~/.colima", "~/.lima", "~/.rd",
    "/var/lib/incus", "/var/lib/lxd", "/var/snap/lxd/common/lxd",
    "/etc/gshadow", "/etc/gshadow-", "/etc/shadow", "/etc/shadow-", "/etc/ssh", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/ssl/private", "/root/.ssh", "/var/lib/docker", "/var/spool/cron", "/boot", "/sys/kernel/security",
)  # fmt: skip
_OF_KERNEL = ("bus", "fs", "irq", "mtrr", "sys", "sysrq-trigger")
_BIN = ("bin", "sbin")
_PACKAGES = "node_modules"
"""The folder where a program that npm installed has what it loads."""
_SECONDS = 20.0
_TRY = (
    'echo in >inside && ! echo out 2>/dev/null >"$1/outside" && ! cat "$1/secret" 2>/dev/null && echo stands'
)
_TURN_OFF = "`none` turns it off where it was chosen: by `--sandbox`, or as `gt config sandbox` shows"


def read_machine(environment: Mapping[str, str]) -> Machine:
    """Returns what a sandbox needs to know about this machine."""
    program = shutil.which(PROGRAM, path=environment.get("PATH", os.defpath))
    if program is None:
        raise MachineError(
            "bubblewrap (`bwrap`) is not on PATH"
            if sys.platform == "linux"
            else "bubblewrap exists on Linux only",
            hint="`apt-get install bubblewrap`",
        )
    home = home_of(environment)
    roots = [Path(path) for path in _SYSTEM]
    system = [path for path in roots if path.exists() and not path.is_symlink()]
    named = (Path(os.path.realpath(path.replace("~", str(home), 1))) for path in _SECRETS)
    # What the person cannot look at, such as another's home, their agents cannot either; `Path.exists` raises there.
    secrets = tuple(dict.fromkeys(path for path in named if os.path.exists(path)))  # noqa: PTH110
    resolver = Path(os.path.realpath("/etc/resolv.conf"))
    return Machine(
        os.path.realpath(program),
        home,
        {path.name: str(path.readlink()) for path in roots if path.is_symlink()},
        (*system, *(path for path in (Path("/etc", name) for name in _OF_ETC) if path.exists())),
        tuple(path for path in secrets if path.is_dir()),
        tuple(path for path in secrets if not path.is_dir()),
        resolver if resolver.is_file() else None,
        tuple(path for path in (Path("/proc", name) for name in _OF_KERNEL) if path.exists()),
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    )


def home_of(environment: Mapping[str, str]) -> Path:
    """Returns the real path of the person's home."""
    return Path(os.path.realpath(environment.get("HOME") or Path.home()))


def tool_folders(environment: Mapping[str, str], projects: tuple[Path, ...] = ()) -> tuple[Path, ...]:
    """Returns the folders outside of the system's that hold the programs on PATH, Python and gitticks itself.

    Of a `bin` the folder above it, where what its programs need lies, unless that holds more than a tool: the person's
    home, or one of the `projects`.
    """
    home = home_of(environment)
    found = [Path(folder) for folder in (sys.prefix, sys.base_prefix)]
    found += [Path(__file__).resolve().parents[1], hook_sources()]
    for named in environment.get("PATH", os.defpath).split(os.pathsep):
        folder = Path(os.path.realpath(named)) if Path(named).is_absolute() else None
        if folder is not None and folder.is_dir():
            is_tool = (
                folder.name in _BIN
                and not any(one.is_relative_to(folder.parent) for one in (home, *projects))
                and folder.parent.name != ".local"
            )
            found.append(folder.parent if is_tool else folder)
    return tuple(dict.fromkeys(folder for folder in found if not _is_open(folder, home)))


def program_files(argv: tuple[str, ...], environment: Mapping[str, str]) -> Iterator[Path]:
    """Yields the program's own file and those that its words name, what links lead to, and its node packages."""
    found = shutil.which(argv[0], path=environment.get("PATH", os.defpath)) if argv else None
    for named in (found, *argv[1:]):
        if named is not None and Path(named).is_absolute() and Path(named).is_file():
            real = Path(os.path.realpath(named))
            yield from dict.fromkeys((Path(named), real))
            if _PACKAGES in real.parts:
                yield Path(*real.parts[: real.parts.index(_PACKAGES) + 1])


def _is_open(folder: Path, home: Path) -> bool:
    """True for what every sandbox sees, and for what holds the person's home."""
    return home.is_relative_to(folder) or any(folder.is_relative_to(root) for root in _SYSTEM)


def require_walls(settings: SandboxSettings, environment: Mapping[str, str]) -> None:
    """Refuses to continue where the settings ask for a sandbox that does not work here."""
    walls = walls_of(settings)
    if walls is None:
        return
    why = why_no_walls(walls, environment)
    if why is not None:
        raise GitticksError(
            f"the sandbox `{walls.preset}` does not work here: {why}",
            hint=f"`gt doctor` tries it again; {_TURN_OFF}",
        )


def require_workspace(settings: SandboxSettings, isolation: Isolation, way_out: str) -> None:
    """Refuses to let an agent work in the person's own checkout where the settings ask for a sandbox."""
    if isolation is Isolation.NONE and settings.preset is not SandboxPreset.NONE:
        raise GitticksError(
            f"the sandbox `{settings.preset}` cannot be used in your own checkout, because hooks in its `.git` run as you",
            hint=f"{way_out} gives agents a workspace; {_TURN_OFF}",
        )


def why_no_default(settings: Settings, environment: Mapping[str, str]) -> str | None:
    """Returns why the default sandbox does not work here, if nobody chose one; None if it does."""
    if settings.isolation is Isolation.NONE:
        return "`isolation: none` puts them into your own checkout, where no sandbox works"
    walls = walls_of(settings.sandbox)
    return None if walls is None else why_no_walls(walls, environment)


def why_no_walls(walls: Walls, environment: Mapping[str, str]) -> str | None:
    """Returns why the sandbox does not work here; None if it does."""
    try:
        machine = read_machine(environment)
    except GitticksError as error:
        return error.message
    return _probe(machine.program, walls.preset, environment.get("PATH", ""), str(machine.home))


@cache
def _probe(program: str, preset: SandboxPreset, path: str, home: str) -> str | None:
    """Sandboxes a folder: what runs there may write to it, but not outside it, nor read a secret."""
    machine = read_machine({"PATH": path, "HOME": home})
    walls = walls_of(SandboxSettings(preset))
    assert walls is not None  # noqa: S101 - asked for walls
    with TemporaryDirectory(prefix="gitticks-probe-") as folder:
        workspace, beside = Path(folder, "workspace"), Path(folder, "beside")
        workspace.mkdir()
        beside.mkdir()
        (beside / "secret").write_text("seen")
        words = filtered(
            bubblewrap(walls._replace(hosts=()), machine, Inside(workspace, hidden=(beside,))), Path(folder)
        )
        try:
            ran = subprocess.run(
                [*words, "prlimit", "--nproc=64", "--", "/bin/sh", "-c", _TRY, "sh", str(beside)],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                env={"PATH": path},
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"`{program}` cannot be started: {printable(str(error))}"
        if ran.returncode != 0 or ran.stdout != b"stands\n":
            said = printable(ran.stderr.decode("utf-8", "replace")) or "programs inside can get out"
            return f"{said}{_advice(said)}"
        return (
            None
            if (workspace / "inside").exists() and not (beside / "outside").exists()
            else "it lets everything through"
        )


def _advice(said: str) -> str:
    if "disable-userns" in said or "Unknown option" in said:
        return " (bubblewrap 0.8 or newer is needed)"
    if "ermission denied" in said or "not permitted" in said or "uid map" in said:
        return " (user namespaces are switched off: by AppArmor, by `kernel.unprivileged_userns_clone`, or by a container)"
    return ""
