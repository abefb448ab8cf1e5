"""Where sessions run: the order and the result of a session as values, and the places that run one."""
