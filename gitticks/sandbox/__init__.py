"""Walls around what agents and checks run: bubblewrap's namespaces, a git directory of their own, a network by list."""
