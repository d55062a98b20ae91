"""Agents that play."""
