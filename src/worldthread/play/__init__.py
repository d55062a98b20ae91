"""Plays: the loop of a game, runs, sweeps, trajectories, and the audit of the memory."""
