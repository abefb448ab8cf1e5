"""Makes `python -m gitticks` the same as `gt`, for hooks that know only an interpreter."""

from gitticks.cli.entry import main

main()
