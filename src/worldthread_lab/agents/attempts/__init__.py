"""Agents that play attempt after attempt."""
