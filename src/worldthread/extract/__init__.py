"""Extracts statements from text: prose and games, by rule or with a chat model."""
