"""The decisions: transitions, gates, verdicts and signals as data, and `decide`, the one pure function over them."""
