"""Completes words while they are typed: what a shell asks, what fits there, and how each shell is told."""
