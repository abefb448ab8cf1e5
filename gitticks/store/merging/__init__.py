"""Merging by meaning: for `gt sync` in memory, for git's merge driver, and for edits on the board."""
