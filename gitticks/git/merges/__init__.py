"""Merging work into a base: in memory first, then as a commit, then by moving the base and what has it checked out."""
