"""The places of the interface, one a file."""
