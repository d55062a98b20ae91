"""Extracts statements from text: with a small trained network, by rule, or with a chat model."""
