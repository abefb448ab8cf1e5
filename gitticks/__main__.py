"""Makes `python -m gitticks` the same as `gt`, for hooks that know only an interpreter."""

import sys

# Clients call it before each use of a tool, so nothing else is loaded.
if sys.argv[1:3] == ["hook", "permission"]:
    from gitticks.cli.permission_hook import answer_hook

    sys.exit(answer_hook(sys.argv[3:]))

from gitticks.cli.entry import main

main()
