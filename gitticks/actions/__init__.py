"""One use case a module: each returns values or raises a GitticksError; none prints, asks or exits."""
