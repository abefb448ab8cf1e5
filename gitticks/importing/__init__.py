"""Everything about other trackers: reading their data, making tasks of it, and writing it back."""
