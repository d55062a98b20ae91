"""Agents that play in attempts."""
