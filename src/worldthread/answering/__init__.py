"""Answers to questions without a model: the part of what is remembered that answers, or that there is not enough."""

from worldthread.answering.finding import Found, MemoryAccess, find_answer

__all__ = ["Found", "MemoryAccess", "find_answer"]
