"""Other trackers: reads their data, makes tasks of it, and writes it back."""
