"""Three-way merges by meaning: frontmatter keys, sections, entries, JSON lines."""
