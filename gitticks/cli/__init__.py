"""The `gt` command: input and output; no rules, no git."""
