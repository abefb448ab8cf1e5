"""Text to values and back, without losing a byte: task files, their sections, history lines and settings."""
