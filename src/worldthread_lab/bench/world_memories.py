"""One frontier, several models (Appendix G of GLoW): what each model makes of the same best trajectories.

A play of ``glow`` records every request. The requests that analyse the frontier are taken from its recording and sent,
word by word, to other models, so the world memories that come back differ by the model alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from worldthread.errors import AnswerError, InputError, ModelCallError
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest
from worldthread.models.recording_file import read_recording
from worldthread.models.structured import complete_structured, parse_answer
from worldthread_lab.agents.attempts.world_memory import GlobalMemory
from worldthread_lab.play.run_model import RECORDING_FILE

PURPOSE: Final = "analyse"
"""The purpose under which ``glow`` asks for the analysis of its frontier."""


@dataclass(frozen=True)
class WorldMemory:
    """What one model made of the frontier.

    Args:
        model: the name of the model.
        memory: the analysis; ``None`` when the answer could not be used.
        problem: why it could not be used; empty when it could.
    """

    model: str
    memory: GlobalMemory | None
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        memory = None if self.memory is None else msgspec.to_builtins(self.memory)
        return {"model": self.model, "memory": memory, "problem": self.problem}


@dataclass(frozen=True)
class RecordedAnalysis:
    """An analysis of the frontier that a play asked for.

    Args:
        number: which analysis of the play; 1 for the first.
        request: the request as it was sent.
        own: what the model of the play answered.
    """

    number: int
    request: ChatRequest
    own: WorldMemory


def recorded_analyses(folder: str | Path) -> tuple[RecordedAnalysis, ...]:
    """Return the analyses of the frontier in the recording of a run.

    Args:
        folder: the folder of the run.

    Returns:
        The analyses in the order of the play. The repair of an answer belongs to the analysis that was repaired.

    Raises:
        InputError: the run has no recording, or its agent never analysed a frontier.
        FormatError: the recording is damaged.
        StoreError: the recording cannot be read.
    """
    path = Path(folder) / RECORDING_FILE
    if not path.is_file():
        raise InputError(f"{folder} has no {RECORDING_FILE}: give the folder of a run that asked a model")
    recording = read_recording(path)
    found: list[RecordedAnalysis] = []
    for call in recording.calls:
        asked = call.request
        if asked.purpose != PURPOSE:
            continue
        own = _own(recording.model, call.outcome)
        if found and _is_repair(asked, found[-1].request):
            found[-1] = replace(found[-1], own=own)
        else:
            found.append(RecordedAnalysis(len(found) + 1, asked, own))
    if not found:
        raise InputError(
            f"the run in {folder} never analysed a frontier: only the agent glow does, once its first explorations are "
            "over"
        )
    return tuple(found)


def analyse_with(model: ChatModel, request: ChatRequest) -> WorldMemory:
    """Send a recorded request to a model.

    Args:
        model: the model.
        request: the request, of :func:`recorded_analyses`.

    Returns:
        What it made of the frontier; an unusable answer is stated and no error.

    Raises:
        ModelError: the model failed; see :meth:`ChatModel.complete`.
    """
    try:
        return WorldMemory(model.name, complete_structured(model, request, GlobalMemory))
    except AnswerError as error:
        return WorldMemory(model.name, None, str(error))


def chosen_analysis(analyses: Sequence[RecordedAnalysis], number: int | None) -> RecordedAnalysis:
    """Return one of the analyses.

    Args:
        analyses: those of a run.
        number: which one, 1 for the first; ``None`` for the last.

    Returns:
        The analysis.

    Raises:
        InputError: there is none of this number.
    """
    if number is None:
        return analyses[-1]
    if not 1 <= number <= len(analyses):
        raise InputError(f"the run has {len(analyses)} analyses of its frontier, so there is no number {number}")
    return analyses[number - 1]


def _is_repair(request: ChatRequest, before: ChatRequest) -> bool:
    """Return whether a request sends a bad answer back: it goes on where the one before it ended."""
    first = before.messages
    return len(request.messages) > len(first) and request.messages[: len(first)] == first


def _own(model: str, outcome: ChatAnswer | ModelCallError) -> WorldMemory:
    if not isinstance(outcome, ChatAnswer):
        return WorldMemory(model, None, str(outcome))
    try:
        return WorldMemory(model, parse_answer(outcome.text, GlobalMemory))
    except AnswerError as error:
        return WorldMemory(model, None, str(error))
