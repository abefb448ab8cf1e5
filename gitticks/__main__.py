"""Lets `python -m gitticks` stand for `gt`, for hooks that know only an interpreter."""

from gitticks.cli.entry import main

main()
