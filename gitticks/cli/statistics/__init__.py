"""Statistics as people and programs read them: lines, JSON, and a page with charts."""
