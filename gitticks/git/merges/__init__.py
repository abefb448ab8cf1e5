"""Merges work into a base: first in memory, then as a commit, then by moving the base and its checkouts."""
