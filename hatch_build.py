"""Puts the man pages into the wheel, where pipx and pip find them under `share/man`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_WRITE = """
import sys
from pathlib import Path
from gitticks.cli.app import gt
from gitticks.cli.commands.about import write_pages
write_pages(gt, Path(sys.argv[1]))
"""


class ManPages(BuildHookInterface):
    """Has the program write them; a build without what it imports goes without them."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the pages to what is built."""
        if version == "editable":
            return
        folder = Path(self.directory) / "man"
        command = [sys.executable, "-c", _WRITE, str(folder)]
        made = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        if made.returncode:
            self.app.display_warning(f"no man pages: {made.stderr.strip().rpartition(chr(10))[2]}")
            return
        build_data["shared_data"].update(
            {str(page): f"share/man/man1/{page.name}" for page in folder.glob("*.1")}
        )
