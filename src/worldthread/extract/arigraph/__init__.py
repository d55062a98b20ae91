"""Parsers for the formats of the AriGraph paper."""
