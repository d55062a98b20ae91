"""Facts and theses from prose, by rules."""
