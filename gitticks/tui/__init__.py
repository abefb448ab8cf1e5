"""The terminal interface: a view of the same repository that the commands read, and of the same use cases."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from gitticks.errors import Exit
from gitticks.world import World

if TYPE_CHECKING:
    from gitticks.actions.context import Context

_SWITCH_SECONDS = 0.001


def may_show_interface() -> bool:
    """True for a person on a terminal that can be drawn on."""
    is_on_terminal = all(one.isatty() for one in (sys.stdin, sys.stdout, sys.stderr))
    return is_on_terminal and os.environ.get("TERM", "dumb") != "dumb" and not World().in_session


def open_interface(context: Context) -> int:
    """Shows the interface until it is left, and returns the exit code."""
    # Read when textual is imported: with more frames a second a key is answered a third sooner.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    # A thread that reads holds the interpreter for so long at most while a key waits.
    sys.setswitchinterval(_SWITCH_SECONDS)
    from gitticks.cli.failures import tell
    from gitticks.cli.render import say
    from gitticks.tui.app import GitticksApp

    app = GitticksApp(context)
    app.run()
    app.feed.wait()
    if app.crash is not None:
        raise app.crash
    for words in app.unsaid:
        if isinstance(words, str):
            say(words, err=True)
        else:
            tell([], words.message, words.hint, Exit.FAILED)
    return app.return_code or 0
