"""Looks for what is broken, says how to fix it, and fixes what can be fixed safely."""
