"""Answers to questions, from what a memory recalls."""
