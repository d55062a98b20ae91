"""Reads facts and endings out of messages with a small trained model that points at their words."""
