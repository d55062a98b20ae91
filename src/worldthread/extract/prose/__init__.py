"""Extracts facts and theses from prose, by rule."""
