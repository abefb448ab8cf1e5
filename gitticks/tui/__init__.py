"""The terminal interface: a view of the same repository that the commands read, and of the same use cases."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitticks.actions.context import Context


def open_interface(context: Context) -> int:
    """Shows the interface until it is left, and returns the exit code."""
    os.environ.setdefault(
        "TEXTUAL_FPS", "120"
    )  # read when textual is imported; a key is answered a third sooner
    from gitticks.tui.app import GitticksApp

    app = GitticksApp(context)
    app.run()
    return app.return_code or 0
