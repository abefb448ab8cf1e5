"""One page a module: what a command found, as lines for people, and for those who read JSON, HTML or a picture."""
