"""Reflect, then act."""
