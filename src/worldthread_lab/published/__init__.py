"""Retrieval methods as published papers describe them."""
