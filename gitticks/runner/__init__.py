"""The loop: pick, iterate, verify, review, merge, recover; the only concurrent part."""
