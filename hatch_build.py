"""Puts the man pages into the wheel, where pipx and pip find them under `share/man`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManPages(BuildHookInterface):
    """Has the program write them; a build without what it imports goes without them."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the pages to what is built."""
        if version == "editable":
            return
        folder = Path(self.directory) / "man"
        command = [sys.executable, "-m", "gitticks", "help", "--man", str(folder)]
        made = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        if made.returncode:
            self.app.display_warning(f"no man pages: {made.stderr.strip().splitlines()[-1]}")
            return
        build_data["shared_data"].update(
            {str(page): f"share/man/man1/{page.name}" for page in folder.glob("*.1")}
        )
