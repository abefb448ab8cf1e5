"""The terminal interface: a view of the same repository that the commands read, and of the same use cases."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitticks.actions.context import Context


def open_interface(context: Context) -> int:
    """Shows the interface until it is left, and returns the exit code."""
    # Read when textual is imported: with more frames a second a key is answered a third sooner.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from gitticks.tui.app import GitticksApp

    app = GitticksApp(context)
    app.run()
    if app.crash is not None:
        raise app.crash
    return app.return_code or 0
