"""Joins three versions of a text by what its parts mean: keys of frontmatter, sections, entries, lines of JSON."""
