"""Tables of vectors, and the search in them."""
