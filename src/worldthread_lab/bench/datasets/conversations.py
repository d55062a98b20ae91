"""Conversations with questions: LoCoMo and BEAM, as our own data prepares them, and LongMemEval as it is published.

A line of a LoCoMo file is a conversation with ``id``, ``sessions`` (each with ``session``, ``date_time`` and ``turns``)
and ``questions``; a line of a BEAM file has ``turns``, each with its ``role`` and its ``day``, and ``questions``. A
file of LongMemEval is a JSON array of questions, each with the sessions of a conversation of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from worldthread.errors import FormatError
from worldthread_lab.bench.datasets.files import read_array, read_lines

LOCOMO_CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_LOCOMO_TIME: Final = "%I:%M %p on %d %B, %Y"
_LONGMEMEVAL_TIME: Final = "%Y/%m/%d (%a) %H:%M"
_BEAM_UNANSWERED: Final = "abstention"
_LONGMEMEVAL_UNANSWERED: Final = "_abs"  # at the end of the id of a question


@dataclass(frozen=True)
class Turn:
    """What one speaker says at once.

    Args:
        id: unique in its conversation.
        speaker: name or role of the speaker.
        text: what is said.
    """

    id: str
    speaker: str
    text: str


@dataclass(frozen=True)
class Session:
    """Turns that belong together.

    Args:
        name: unique in its conversation.
        at: world time of its beginning, in seconds since 1970-01-01 UTC.
        turns: in order.
    """

    name: str
    at: float
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class ConversationQuestion:
    """A question about a conversation.

    Args:
        text: the question.
        category: kind of question, as the data set names it.
        evidence: ids of the turns that the answer needs; may be empty.
        answer: the right answer in words; empty where the conversation gives none.
        at: world time at which it is asked; ``None`` for after the last session.
    """

    text: str
    category: str
    evidence: frozenset[str]
    answer: str = ""
    at: float | None = None


@dataclass(frozen=True)
class Conversation:
    """A conversation and the questions about it.

    Args:
        id: unique in its data set.
        sessions: in order.
        questions: in the order of the file.
    """

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[ConversationQuestion, ...]


class _LocomoTurn(msgspec.Struct):
    id: str
    speaker: str
    text: str
    photo: str | None = None


class _LocomoSession(msgspec.Struct):
    session: int
    date_time: str
    turns: list[_LocomoTurn]


class _LocomoQuestion(msgspec.Struct):
    question: str
    category: int
    evidence: list[str]
    answer: str | int | float | None = None


class _LocomoConversation(msgspec.Struct):
    id: str
    sessions: list[_LocomoSession]
    questions: list[_LocomoQuestion]


class _BeamTurn(msgspec.Struct):
    id: int
    role: str
    day: str
    text: str


class _BeamQuestion(msgspec.Struct):
    question: str
    category: str
    evidence: list[int]
    answer: str | None = None


class _BeamConversation(msgspec.Struct):
    id: str
    turns: list[_BeamTurn]
    questions: list[_BeamQuestion]


class _LongMemEvalTurn(msgspec.Struct):
    role: str
    content: str
    has_answer: bool = False


class _LongMemEvalQuestion(msgspec.Struct):
    question_id: str
    question_type: str
    question: str
    answer: str | int | float
    question_date: str
    haystack_dates: list[str]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[_LongMemEvalTurn]]


def load_locomo(path: Path) -> tuple[Conversation, ...]:
    """Load conversations of LoCoMo (Maharana et al. 2024).

    A turn with a photo says what the photo shows, in brackets. Evidence that names no turn is left out.

    Args:
        path: the file.

    Returns:
        The conversations.

    Raises:
        FormatError: a line does not have the expected form.
    """

    def conversation(row: _LocomoConversation) -> Conversation:
        sessions = tuple(
            Session(
                f"session {session.session}",
                _time(session.date_time, _LOCOMO_TIME, path),
                tuple(Turn(turn.id, turn.speaker, _with_photo(turn)) for turn in session.turns),
            )
            for session in row.sessions
        )
        known = {turn.id for session in sessions for turn in session.turns}
        questions = tuple(
            ConversationQuestion(
                question.question,
                LOCOMO_CATEGORIES.get(question.category, str(question.category)),
                frozenset(question.evidence) & known,
                "" if question.answer is None else str(question.answer),
            )
            for question in row.questions
        )
        return Conversation(row.id, sessions, questions)

    rows = read_lines(path, _LocomoConversation, "a conversation with id, sessions and questions")
    return tuple(map(conversation, rows))


def load_beam(path: Path) -> tuple[Conversation, ...]:
    """Load chats of BEAM (Tavakoli et al. 2025); the turns of one day are a session.

    Args:
        path: the file.

    Returns:
        The conversations.

    Raises:
        FormatError: a line does not have the expected form.
    """

    def conversation(row: _BeamConversation) -> Conversation:
        sessions = tuple(
            Session(day, _time(day, "%Y-%m-%d", path), tuple(turns)) for day, turns in _by_day(row.turns).items()
        )
        questions = tuple(
            ConversationQuestion(
                question.question,
                question.category,
                frozenset(map(str, question.evidence)),
                "" if question.category == _BEAM_UNANSWERED else question.answer or "",
            )
            for question in row.questions
        )
        return Conversation(row.id, sessions, questions)

    return tuple(map(conversation, read_lines(path, _BeamConversation, "a conversation with id, turns and questions")))


def load_longmemeval(path: Path) -> tuple[Conversation, ...]:
    """Load LongMemEval (Wu et al. 2025): a conversation for each question, with the sessions in order of time.

    Args:
        path: the file.

    Returns:
        The conversations, in the order of the file.

    Raises:
        FormatError: an entry does not have the expected form.
    """

    def conversation(row: _LongMemEvalQuestion) -> Conversation:
        if not len(row.haystack_dates) == len(row.haystack_session_ids) == len(row.haystack_sessions):
            raise FormatError(f"question {row.question_id!r} has not a date and an id for each session", path=path)
        sessions, evidence = [], set[str]()
        found = zip(row.haystack_dates, row.haystack_session_ids, row.haystack_sessions, strict=True)
        for number, (date, name, turns) in enumerate(found):
            said = tuple(Turn(f"{number}:{place}", turn.role, turn.content) for place, turn in enumerate(turns))
            evidence |= {one.id for one, turn in zip(said, turns, strict=True) if turn.has_answer}
            sessions.append(Session(f"{number}:{name}", _time(date, _LONGMEMEVAL_TIME, path), said))
        question = ConversationQuestion(
            row.question,
            row.question_type,
            frozenset(evidence),
            "" if row.question_id.endswith(_LONGMEMEVAL_UNANSWERED) else str(row.answer),
            _time(row.question_date, _LONGMEMEVAL_TIME, path),
        )
        return Conversation(row.question_id, tuple(sorted(sessions, key=lambda one: one.at)), (question,))

    return tuple(map(conversation, read_array(path, _LongMemEvalQuestion, "a question of LongMemEval")))


def _with_photo(turn: _LocomoTurn) -> str:
    return " ".join(filter(None, (turn.text, f"[photo: {turn.photo}]" if turn.photo else "")))


def _by_day(turns: list[_BeamTurn]) -> dict[str, list[Turn]]:
    days: dict[str, list[Turn]] = {}
    for turn in turns:
        days.setdefault(turn.day, []).append(Turn(str(turn.id), turn.role, turn.text))
    return days


def _time(text: str, form: str, path: Path) -> float:
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise FormatError(
            f"{text!r} is no time of the form {form}; expected the time of a session", path=path
        ) from None
