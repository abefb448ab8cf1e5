"""Opens the interface where standard output is no terminal: what `gt --web` starts for each page."""

from gitticks.actions.context import Context
from gitticks.tui import open_interface
from gitticks.world import World

if __name__ == "__main__":
    raise SystemExit(open_interface(Context(World().elsewhere(), does_much=True)))
