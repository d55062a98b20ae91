"""Reads German, French and Spanish: what a passage in one of these languages states, by tables of words and forms."""
