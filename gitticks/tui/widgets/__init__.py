"""What the places are made of: rows by pure functions, and the few widgets that draw them."""
