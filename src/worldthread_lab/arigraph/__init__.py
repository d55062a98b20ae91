"""The extractor of the AriGraph paper, and parsers for the formats of its model answers."""
