"""Finds problems, says how to fix them, and fixes what is safe to fix."""
