"""Where sessions run: a session's order and result as values, and the places that run one."""
