"""One shell that is told a command at a time, in a repository and a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Self

LIMIT_SECONDS = 300
SETTINGS = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"


class Shell:
    """A bash that keeps its directory and variables from one command to the next.

    It is ended after `LIMIT_SECONDS` in all, which shows as a command that exited with -1.
    """

    def __init__(self, directory: Path, environment: dict[str, str], output: Path) -> None:
        self._output = output
        self._code = 0
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._limit = Timer(LIMIT_SECONDS, self._bash.kill)
        self._limit.start()

    @classmethod
    def in_fresh_repository(cls, folder: Path) -> Self:
        """Starts a shell in a repository of one commit, `folder/project`, with the programs of this Python first."""
        home, project = folder / "home", folder / "project"
        home.mkdir()
        (home / ".gitconfig").write_text(SETTINGS)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT_", "GITTICKS_", "XDG_"))
        }
        programs = Path(sys.executable).parent
        environment = kept | {
            "HOME": str(home),
            "PATH": f"{programs}{os.pathsep}{kept.get('PATH', os.defpath)}",
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "PAGER": "cat",
            "EDITOR": "false",
            "VISUAL": "false",
            "COLUMNS": "100",
        }
        for command in (
            ["init", "--quiet", str(project)],
            ["-C", str(project), "commit", "-qm", "begin", "--allow-empty"],
        ):
            subprocess.run(["git", *command], env=environment, check=True)
        return cls(project, environment, folder / "output")

    def run(self, command: str) -> tuple[int, str]:
        """Returns the command's exit code and all that it printed, stderr included; `$?` is the command's before."""
        stdin, stdout = self._bash.stdin, self._bash.stdout
        if stdin is None or stdout is None:
            raise AssertionError("the shell was started with pipes")
        try:
            stdin.write(f'{{ (exit {self._code})\n{command}\n}} >"{self._output}" 2>&1 </dev/null\necho $?\n')
            stdin.flush()
            answer = stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        self._code = int(answer or "-1")
        return self._code, self._output.read_text(encoding="utf-8", errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limit.cancel()
        self._bash.kill()
        self._bash.communicate()
