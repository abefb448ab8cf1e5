"""gitticks: a Git-native task tracker and agent runner."""

__version__ = "0.1.0"
