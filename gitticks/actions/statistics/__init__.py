"""What the histories of all tasks add up to."""
