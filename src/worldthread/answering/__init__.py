"""Answers to questions without a model: the part of what is remembered that answers, or that there is not enough."""

from worldthread.answering.decision import Evidence
from worldthread.answering.finding import Found, MemoryAccess, find_answer, find_in_messages
from worldthread.answering.reading import Messages

__all__ = ["Evidence", "Found", "MemoryAccess", "Messages", "find_answer", "find_in_messages"]
