"""Extracts statements from prose with a chat model: facts, theses, and the older statements that they end.

A passage takes two calls at most; messages of one conversation share the first one
(:mod:`worldthread.extract.groups`). The first extracts facts (AriGraph) and theses with their objects (PersonalAI). It
sees the date, the source, the speaker and the messages before, so a fact can state from when until when it holds, the
aspect in which it replaces others, or that a claim was never true. It also names the things that the text says have
changed. Only if a stored statement can clash (:mod:`worldthread.extract.model.candidates`) the second call shows these
statements, numbered, and is answered with the numbers of those that have ended. PersonalAI asks about facts and about
theses separately, and has the model write statements out, which are then found by exact match. Numbers cost one call
instead of two, cannot be misspelt, and let a fact end a thesis.

The prompt shows the passage between two lines with a random mark, which the passage cannot contain, and instructs the
model to treat it as material (:mod:`worldthread.models.boundary`). This is no proof against an instruction hidden in a
passage. The harm is bounded because an answer can only state and end statements and say that two names mean one thing,
and all of this is recorded with its episode.

The schema that is sent bounds the length of every list. A small model tends to repeat itself without end; a server that
enforces the schema then ends the list instead of cutting the answer off. Answers are not checked against the bounds.

Recordings of ``model/3`` are replayed with ``ModelExtractor(model, version=3)``.
"""

from worldthread.extract.model.answers import NAME_LIMIT, TEXT_LIMIT
from worldthread.extract.model.extractor import ModelExtractor
from worldthread.extract.model.schema import ReadingSchema, RelationRule

__all__ = ["NAME_LIMIT", "TEXT_LIMIT", "ModelExtractor", "ReadingSchema", "RelationRule"]
