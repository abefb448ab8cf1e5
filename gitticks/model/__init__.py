"""Frozen values and pure queries."""
