"""Builds the sdist and the wheel, installs the wheel into a clean environment, and tries what it has to hold.

`python -m tools.package` is what CI runs; what is built is left in `dist/`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

DIST = Path("dist")
_IN_THE_WHEEL = (
    "gitticks/cli/completion/gt.bash",
    "gitticks/cli/completion/gt.zsh",
    "gitticks/cli/completion/gt.fish",
    "gitticks/actions/demo_project.txt",
    "gitticks/py.typed",
)
_MAN_PAGES = ("gt.1", "gt-create.1", "gt-run.1")
_IN_THE_SDIST = ("pyproject.toml", "gitticks/__init__.py", "tests/conftest.py", "hooks/", "LICENSE")


def main() -> int:
    """Builds, installs and tries; returns the exit code."""
    shutil.rmtree(DIST, ignore_errors=True)
    _run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(DIST))
    (sdist,) = DIST.glob("*.tar.gz")
    # As `pip` and `pipx` build: from the sdist, with only what pyproject.toml asks for.
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(DIST), str(sdist))
    (wheel,) = DIST.glob("*.whl")
    held = zipfile.ZipFile(wheel).namelist()
    missing = [one for one in _IN_THE_WHEEL if one not in held]
    missing += [
        one for one in _MAN_PAGES if not any(name.endswith(f"/share/man/man1/{one}") for name in held)
    ]
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    missing += [one for one in _IN_THE_SDIST if not any(name.startswith(one) for name in names)]
    if missing:
        print(f"error: missing in what was built: {', '.join(missing)}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        _try(wheel, Path(folder))
    print(f"built and tried: {wheel.name}, {sdist.name}")
    return 0


def _try(wheel: Path, folder: Path) -> None:
    """Installs the wheel as `pipx` does, into an environment of its own, and goes a newcomer's first steps."""
    environment, project, home = folder / "venv", folder / "project", folder / "home"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    _run(str(python), "-m", "pip", "install", "--quiet", str(wheel))
    _run(str(python), "-m", "pip", "check")
    project.mkdir()
    home.mkdir()
    clean = {
        "PATH": f"{environment / 'bin'}:{os.environ['PATH']}",
        "HOME": str(home),
        **{f"GIT_{who}_{what}": "Ada" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    for words in (
        ["git", "init", "-q", "-b", "main"],
        ["git", "commit", "-q", "--allow-empty", "-m", "first"],
        ["gt", "--version"],
        ["gt", "init"],
        ["gt", "create", "Fix the login"],
        ["gt", "list"],
        ["gt", "completion", "bash"],
        ["gt", "help", "--man", str(folder / "man")],
        ["gt", "help", "review-by-a-council"],
        ["gt", "doctor"],
        ["gt", "demo", "--yes"],
        ["gitticks", "--version"],
    ):
        _run(*words, at=project, environment=clean)
    if not (folder / "man" / "gt-create.1").is_file():
        raise SystemExit("error: no man page of `gt create` was written")


def _run(*words: str, at: Path | None = None, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(words, cwd=at, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        raise SystemExit(f"error: `{' '.join(words)}` ended with {done.returncode}")


if __name__ == "__main__":
    sys.exit(main())
