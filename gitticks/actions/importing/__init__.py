"""Brings tasks in from other trackers: found and read, given ids and links of ours, committed at once."""
