"""Merging by meaning: what `gt sync` does in memory, git's merge driver on one file, and the board with an edit."""
