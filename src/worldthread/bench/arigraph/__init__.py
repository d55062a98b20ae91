"""The published logs of AriGraph: replays and audits."""
