"""Shell completion: what the shell asks, what fits, and how each shell is answered."""
