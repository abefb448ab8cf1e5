"""Statistics from the histories of all tasks."""
