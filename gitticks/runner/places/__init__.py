"""Where sessions run: what a session is told and gives back as values, and the places that hold one."""
