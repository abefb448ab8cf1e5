"""The `gt` command: shows and asks; it holds no rule and calls no git."""
