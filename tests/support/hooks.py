"""A person's own hooks, and everything of a repository that installing hooks could leave a trace in."""

from __future__ import annotations

from pathlib import Path

from tests.support.repositories import git

LOOKED_AT = ("config", "config.worktree", "hooks", "worktrees")


def write_hook(
    folder: Path, name: str, script: str, *, shebang: str = "#!/bin/sh\n", mode: int = 0o755
) -> Path:
    """Writes a hook, with its folder, and returns its file."""
    folder.mkdir(parents=True, exist_ok=True)
    hook = folder / name
    hook.write_bytes(f"{shebang}{script}\n".encode())
    hook.chmod(mode)
    return hook


def logging_hook(folder: Path, name: str, log: Path, *, answer: int = 0) -> Path:
    """Writes a hook that notes in `log` how it was called, and answers."""
    return write_hook(folder, name, f'echo own {name} "$@" >> "{log}"\nexit {answer}')


def traces(common_dir: Path) -> dict[str, tuple[int, bytes]]:
    """Returns mode and bytes of every hook (of a link: where it leads) and what every configuration file sets, by path.

    A file that sets nothing counts as none. Of worktrees only their own configuration counts; git changes the rest by itself.
    """
    found = {}
    for name in LOOKED_AT:
        place = common_dir / name
        files = [place] if place.is_file() or place.is_symlink() else sorted(place.rglob("*"))
        if place.is_dir():
            found[name] = (place.lstat().st_mode, b"")
        for file in files:
            path = str(file.relative_to(common_dir))
            if name == "worktrees" and file.name != "config.worktree":
                continue
            content = _settings(file) if file.name.startswith("config") else _content(file)
            if content is not None:
                found[path] = (file.lstat().st_mode, content)
    return found


def _settings(file: Path) -> bytes | None:
    return git("config", "--file", str(file), "--list", at=file.parent).encode() or None


def _content(file: Path) -> bytes:
    if file.is_symlink():
        return bytes(file.readlink())
    return b"" if file.is_dir() else file.read_bytes()
