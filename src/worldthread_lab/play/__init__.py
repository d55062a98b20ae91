"""Playing games: the loop, runs and their files, replays, sweeps, and the audit of the memory."""
