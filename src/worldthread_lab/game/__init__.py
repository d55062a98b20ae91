"""Facts from the texts of games, by rules."""
