"""Measures answers about conversations: those of a memory beside those from the nearest turns and from the whole talk.

A judge marks each answer twice. It counts as right strictly if both marks say so, leniently if one does. A question
that the conversation does not answer is right when it is declined, and needs no judge.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from worldthread.answering.answer import Answer
from worldthread.errors import AnswerError, FormatError, InputError
from worldthread.extract.model.stated_times import shown_date
from worldthread.files.decoding import decode_json
from worldthread.memory.memory import Memory
from worldthread.models import Embedder
from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.meter import Meter
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of
from worldthread.types import Episode
from worldthread_lab.bench.conversations import remember_turns
from worldthread_lab.bench.datasets.conversations import Conversation, ConversationQuestion, Session, Turn
from worldthread_lab.bench.qa.judge import SEED, judge
from worldthread_lab.play.statistics import wilson_interval

SYSTEMS: Final = ("memory", "nearest", "whole")
"""What can answer: :meth:`worldthread.Memory.ask`, the model from the ten nearest turns, the model from all turns."""

NEAREST: Final = 10
_PACKAGE: Final = "worldthread_lab.bench.qa"
_PROMPT_VERSION: Final = 1
_PURPOSE: Final = "answer"
_AFTER: Final = 86_400.0  # how long after the last session is asked what has no time
_MARKS: Final = (SEED, SEED + 1)

Key: TypeAlias = tuple[str, str, str]
"""System, conversation and question."""


class AnsweredTalk(msgspec.Struct, frozen=True):
    """An answer and its marks: a line of the file of answers.

    Args:
        models: the names of what answered, marked and embedded.
        system: one of :data:`SYSTEMS`.
        conversation: id of the conversation.
        question: the question.
        category: its kind.
        key: the right answer; empty where only declining is right.
        answer: what was answered; empty for a declined question.
        evidence: what the answer was taken from.
        marks: the judge's marks, in order.
        reasons: the judge's reasons.
        tokens: tokens of prompts and replies, all calls counted, without those of the judge.
        seconds: duration of the answer.
        problem: why there is no answer; empty where there is one. It counts as wrong.
    """

    models: tuple[str, str, str]
    system: str
    conversation: str
    question: str
    category: str
    key: str
    answer: str
    evidence: tuple[str, ...]
    marks: tuple[bool, ...]
    reasons: tuple[str, ...]
    tokens: int
    seconds: float
    problem: str = ""


class TalkReply(msgspec.Struct, forbid_unknown_fields=True):
    """What the model is asked to fill in when it sees turns."""

    answer: str | None


@dataclass(frozen=True)
class TalkShare:
    """A share of questions.

    Args:
        right: how many.
        of: of how many.
        interval: the 95 % Wilson interval of the share.
    """

    right: int
    of: int
    interval: tuple[float, float]


@dataclass(frozen=True)
class TalkScore:
    """How a system answered some questions.

    Args:
        strict: those whose answer is right by both marks.
        lenient: those whose answer is right by at least one.
        declined: how many were declined.
        problems: how many the model could not be asked, or answered in no usable form.
        tokens: mean number of tokens a question.
        seconds: mean duration.
    """

    strict: TalkShare
    lenient: TalkShare
    declined: int
    problems: int
    tokens: float
    seconds: float


@dataclass(frozen=True)
class TalkModels:
    """What answers and what marks.

    Args:
        answers: the chat model that answers.
        judge: the chat model that marks.
        embedder: embeds turns and questions.
    """

    answers: ChatModel
    judge: ChatModel
    embedder: Embedder

    @property
    def names(self) -> tuple[str, str, str]:
        """Their names."""
        return self.answers.name, self.judge.name, self.embedder.name


def sampled(conversations: Sequence[Conversation], count: int | None, seed: int) -> list[Conversation]:
    """Return conversations with some of their questions, drawn at random, as evenly over the kinds as there are.

    Args:
        conversations: the conversations.
        count: how many questions in all; ``None`` for all of them.
        seed: of the draw.
    """
    if count is None:
        return list(conversations)
    by_kind: dict[str, list[tuple[str, ConversationQuestion]]] = {}
    for conversation in conversations:
        for question in conversation.questions:
            by_kind.setdefault(question.category, []).append((conversation.id, question))
    chance = random.Random(seed)
    for rows in by_kind.values():
        chance.shuffle(rows)
    drawn: list[tuple[str, ConversationQuestion]] = []
    while len(drawn) < count and any(by_kind.values()):
        drawn += [rows.pop() for _, rows in sorted(by_kind.items()) if rows][: count - len(drawn)]
    taken = set(drawn)
    kept = (
        Conversation(one.id, one.sessions, tuple(q for q in one.questions if (one.id, q) in taken))
        for one in conversations
    )
    return [one for one in kept if one.questions]


def read_answers(path: Path) -> dict[Key, AnsweredTalk]:
    """Return the answers in a file; none where there is no file.

    Args:
        path: the file that :func:`measure` writes.

    Raises:
        FormatError: a line is no answer.
    """
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else (), 1):
        try:
            row = decode_json(line, AnsweredTalk)
        except msgspec.DecodeError as error:
            raise FormatError(f"line {number} is no answer ({error}); remove it, or the file", path=path) from None
        found[row.system, row.conversation, row.question] = row
    return found


def measure(
    conversations: Sequence[Conversation],
    models: TalkModels,
    path: Path,
    systems: Sequence[str] = SYSTEMS,
    on_progress: Callable[[int], None] | None = None,
) -> list[AnsweredTalk]:
    """Ask all questions, and mark the answers.

    Each answer is written to the file when it is there; what the file has is not asked again.

    Args:
        conversations: the conversations.
        models: what answers and what marks.
        path: the file of answers, JSON lines.
        systems: of :data:`SYSTEMS`.
        on_progress: called with the number of answers since the last call.

    Returns:
        The answers, in the order of the conversations.

    Raises:
        FormatError: a line of the file is no answer.
        InputError: the file has answers or marks of other models.
        ModelError: a model could not be asked. What was answered is kept.
    """
    rows = read_answers(path)
    if others := [row.models for row in rows.values() if row.models != models.names]:
        raise InputError(
            f"{path} is of other models ({', '.join(others[0])} instead of {', '.join(models.names)}): "
            "name another folder"
        )
    answered: list[AnsweredTalk] = []
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for conversation in conversations:
            wanted = [(system, question) for question in conversation.questions for system in systems]
            missing = [one for one in wanted if _key(conversation, *one) not in rows]
            if on_progress is not None:
                on_progress(len(wanted) - len(missing))
            for one, row in zip(missing, _answers(conversation, models, missing), strict=True):
                file.write(msgspec.json.encode(row).decode() + "\n")
                file.flush()
                rows[_key(conversation, *one)] = row
                if on_progress is not None:
                    on_progress(1)
            answered += (rows[_key(conversation, *one)] for one in wanted)
    return answered


def _key(conversation: Conversation, system: str, question: ConversationQuestion) -> Key:
    return system, conversation.id, question.text


def _answers(
    conversation: Conversation, models: TalkModels, wanted: Sequence[tuple[str, ConversationQuestion]]
) -> Iterator[AnsweredTalk]:
    """Yield the answers of systems to questions, from one memory, which is made when something is asked."""
    if not wanted:
        return
    meter = Meter(models.answers)
    last = max(session.at for session in conversation.sessions) + _AFTER
    now = [last]
    with Memory(model=meter, extractor="reader", embedder=models.embedder, clock=lambda: now[0]) as memory:
        turn_of = remember_turns(memory, conversation)
        memory.reading_done()
        for system, question in wanted:
            now[0] = last if question.at is None else question.at
            before, start = _tokens(meter), time.perf_counter()
            try:
                answer, evidence, problem = *_asked(system, question, now[0], conversation, memory, turn_of), ""
            except AnswerError as error:
                answer, evidence, problem = "", (), str(error)
            seconds = round(time.perf_counter() - start, 3)
            tokens = _tokens(meter) - before
            marks = [judge(models.judge, question.text, [question.answer], answer, seed=seed) for seed in _MARKS
                     ] if question.answer and answer else []  # fmt: skip
            right = tuple(mark.right for mark in marks) or (not question.answer and not answer and not problem,) * 2
            yield AnsweredTalk(
                models.names, system, conversation.id, question.text, question.category, question.answer, answer,
                evidence, right, tuple(mark.reasons for mark in marks), tokens, seconds, problem,
            )  # fmt: skip


def _tokens(meter: Meter) -> int:
    used = meter.overall()
    return used.usage.prompt_tokens + used.usage.completion_tokens


def _asked(
    system: str,
    question: ConversationQuestion,
    now: float,
    conversation: Conversation,
    memory: Memory,
    turn_of: Mapping[str, str],
) -> tuple[str, tuple[str, ...]]:
    """Return the answer of a system, empty for a declined question, and what it was taken from."""
    if system == "memory":
        found: Answer = memory.ask(question.text)
        return found.text or "", tuple(_shown(hit.item) for hit in found.sources)
    turns = None
    if system == "nearest":
        hits = memory.recall(question.text, k=NEAREST, kinds=["episode"], method="dense").hits
        turns = {turn_of[hit.item.id] for hit in hits if isinstance(hit.item, Episode)}
    assert memory.model is not None
    lines = list(_talk(conversation.sessions, turns))
    messages = load_prompt(_PACKAGE, "talk-answer", _PROMPT_VERSION).messages(
        talk="\n".join(lines), now=shown_date(now), question=question.text
    )
    request = ChatRequest(messages, _PURPOSE, schema_of(TalkReply), today=shown_date(now))
    reply = complete_structured(memory.model, request, TalkReply)
    return (reply.answer or "").strip(), () if turns is None else tuple(lines)


def _talk(sessions: Iterable[Session], turns: set[str] | None) -> Iterator[str]:
    """Yield the lines of a talk, or those of some turns, each session under its day."""
    for session in sessions:
        said: list[Turn] = [turn for turn in session.turns if turns is None or turn.id in turns]
        if said:
            yield f"[{shown_date(session.at)}]"
            yield from (f"{turn.speaker}: {turn.text}" for turn in said)


def _shown(item: Any) -> str:
    return item.text if isinstance(item, Episode) else str(item)


def scores(answered: Sequence[AnsweredTalk]) -> dict[str, dict[str, TalkScore]]:
    """Return how each system answered: all questions, and those of each kind.

    Args:
        answered: the answers; at least one.
    """
    found: dict[str, dict[str, TalkScore]] = {}
    for system in dict.fromkeys(row.system for row in answered):
        rows = [row for row in answered if row.system == system]
        kinds = sorted({row.category for row in rows})
        found[system] = {"all": _score(rows)} | {
            kind: _score([row for row in rows if row.category == kind]) for kind in kinds
        }
    return found


def _score(rows: Sequence[AnsweredTalk]) -> TalkScore:
    def share(right: Iterable[bool]) -> TalkShare:
        count = sum(right)
        return TalkShare(count, len(rows), wilson_interval(count, len(rows)))

    return TalkScore(
        share(all(row.marks) for row in rows),
        share(any(row.marks) for row in rows),
        sum(not row.answer and not row.problem for row in rows),
        sum(bool(row.problem) for row in rows),
        round(sum(row.tokens for row in rows) / len(rows), 1),
        round(sum(row.seconds for row in rows) / len(rows), 3),
    )


def as_json(found: Mapping[str, Mapping[str, TalkScore]]) -> str:
    """Return scores as one JSON object."""
    return json.dumps({system: {kind: asdict(one) for kind, one in kinds.items()} for system, kinds in found.items()})
