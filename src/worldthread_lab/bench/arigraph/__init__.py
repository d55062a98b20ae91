"""Replay and audit of the published logs of AriGraph's agent."""
