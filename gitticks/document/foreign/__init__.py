"""Reads what other trackers keep: text in, values out, with every mistake named by its line."""
