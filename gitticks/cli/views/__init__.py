"""One page per module: what a command found, as lines, JSON, HTML or a picture."""
