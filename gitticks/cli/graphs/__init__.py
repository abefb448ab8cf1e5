"""Pictures of what waits for what, one form a module."""
