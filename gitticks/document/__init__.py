"""Converts text to values and back without losing a byte: task files, sections, history, settings."""
