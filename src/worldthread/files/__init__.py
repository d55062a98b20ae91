"""Files: paths, JSON Lines, and what other programs wrote."""
