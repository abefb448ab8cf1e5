"""One use case per module: each returns values or raises a GitticksError; none prints, prompts or exits."""
