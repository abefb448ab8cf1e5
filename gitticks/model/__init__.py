"""Frozen values and pure queries; the words of the specification as types."""
