"""Instructions for coding agents: their text, and the block of it that is kept in a project's own file."""
