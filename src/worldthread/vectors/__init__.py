"""Tables of unit vectors, and search in them."""
