"""Reads prose with a chat model; see :mod:`worldthread.extract.model`."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import msgspec

from worldthread.errors import AnswerError, InputError
from worldthread.extract.groups import CHARACTERS_BEFORE, MESSAGES_BEFORE, EpisodeGroup
from worldthread.extract.model.answers import TEXT_LIMIT, names_in, numbered, one_space, problem_of, verbatim
from worldthread.extract.model.candidates import clashing
from worldthread.extract.model.forms import (
    AnswerForm,
    EndedStatement,
    EndingsAnswer,
    FormReader,
    endings_schema,
    kinds_in,
    usable_pairs,
)
from worldthread.extract.model.schema import ReadingSchema
from worldthread.extract.model.stated_times import shown_date, stated_time, worded_time
from worldthread.extract.when import is_date, shown_time
from worldthread.extract.zones import time_of_reading
from worldthread.graph import GraphView
from worldthread.models.boundary import BoundaryMark, boundary_mark
from worldthread.models.chat import ChatModel, ChatRequest, Message
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured
from worldthread.names import normalise_name
from worldthread.support.arguments import require_count, require_unicode
from worldthread.types import Ending, Episode, Extraction, Statement

INSTRUCTION_LIMIT: Final = 4000
"""Longest instruction of one's own, in characters."""

_SOURCE_LIMIT: Final = 100  # characters of a source that are shown


@dataclass(frozen=True)
class _ReadText:
    """A text with what is known of its circumstances."""

    text: str
    speaker: str = ""
    at: float | None = None
    source: str = ""
    before: tuple[str, ...] = ()

    @property
    def date(self) -> str:
        """When it was said, in words."""
        if self.at is None:
            return "not known"
        if is_date(self.at):
            return shown_date(self.at)
        return f"turn {shown_time(self.at)} (no dates: leave times in the words)"

    def context(self, mark: str) -> str:
        """Return what is known of its circumstances, between two lines with the mark; empty when nothing is."""
        lines = [f"Source: {one_space(self.source)[:_SOURCE_LIMIT]}"] if self.source.strip() else []
        if self.speaker and not self.text.startswith(f"{self.speaker}: "):
            lines.append(f"Speaker: {one_space(self.speaker)[:_SOURCE_LIMIT]}")
        lines += map(one_space, self.before)
        return "\n".join([f"[context {mark}]", *lines, f"[end of context {mark}]"]) if lines else ""


@dataclass(frozen=True, eq=False)
class UnsettledExtraction(Extraction):
    """An extraction whose endings are still to be found, with what the model said for that.

    Args:
        changed: names of what has changed, by the text.
        read: the text with its circumstances.
    """

    changed: tuple[str, ...] = ()
    read: _ReadText = field(default_factory=lambda: _ReadText(""))

    @property
    def settled(self) -> Extraction:
        """The extraction alone."""
        return Extraction(self.extractor, self.statements, self.endings, self.failures, self.same_names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Extraction):
            return NotImplemented
        return self.settled == (other.settled if isinstance(other, UnsettledExtraction) else other)

    def __hash__(self) -> int:
        return hash(self.settled)


class ModelExtractor:
    """Extracts statements with a chat model. A :class:`~worldthread.extract.base.Extractor`.

    An extraction depends only on the texts and their circumstances, the candidates and the model's answers, so recorded
    answers give the same extraction again. Two things can be wrong with an answer:

    - The whole answer is unusable, and so is its repair. Several messages are then read one by one. Otherwise both are
      in the failures of the extraction, verbatim (except that characters that UTF-8 cannot hold are written as
      escapes), and the episode counts as not understood. The same holds for an answer of which every item had to be
      left out, unless the items are merely blank.
    - Single items are unusable. They are left out and counted in :attr:`dropped`, and the rest is kept. The episode
      counts as understood, because the model would answer the same again.

    Thread-safe.

    Args:
        model: the chat model. The errors of its calls (no answer, budget spent, not in the recording) are raised.
        facts: ask for facts.
        theses: ask for theses; ``None`` asks unless there is a schema.
        outdated: ask which stored statements have ended, where one can clash. Otherwise statements end by their
            aspects, times and corrections alone.
        max_candidates: the most stored statements that one call shows, at least 1.
        max_tokens: limit of one answer; ``None`` leaves it to the server, as a model that thinks before it answers
            needs. A limit stops a small model that repeats itself without end (a passage of 100 words takes about 500
            tokens).
        language: the language of relations and sentences, whatever the language of a text; names stay as written.
        schema: the kinds and relations that may be extracted; ``None`` for any.
        instruction: an instruction of one's own, added to the prompt.
        version: the version of the prompt. Recordings of earlier releases have 3, which shows what happened once with
            its first day only, and knows times in the form that is asked for alone.

    Raises:
        InputError: neither facts nor theses are asked for, a schema without facts, or an argument cannot be used.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        facts: bool = True,
        theses: bool | None = None,
        outdated: bool = True,
        max_candidates: int = 40,
        max_tokens: int | None = None,
        language: str = "English",
        schema: ReadingSchema | None = None,
        instruction: str = "",
        version: Literal[3, 4] = 4,
    ) -> None:
        if version not in (3, 4):
            raise InputError(f"the version of the prompt for reading must be 3 or 4, not {version!r}")
        theses = schema is None if theses is None else theses
        if not (facts or theses):
            raise InputError("a ModelExtractor must extract facts, theses or both: set facts or theses to True")
        if schema is not None and not facts:
            raise InputError("a schema narrows the facts: set facts to True, or leave the schema out")
        if max_candidates < 1:
            raise InputError(f"max_candidates must be at least 1, not {max_candidates}")
        self._model = model
        self._form = AnswerForm(facts, theses, schema)
        self._schema = schema
        self._outdated = outdated
        self._max_candidates = require_count(max_candidates, "max_candidates")
        self._max_tokens = max_tokens
        self._language = one_space(require_unicode(language, "language")) or "English"
        self._instruction = require_unicode(instruction, "instruction").strip()
        if len(self._instruction) > INSTRUCTION_LIMIT:
            raise InputError(
                f"the instruction has {len(self._instruction)} characters; write at most {INSTRUCTION_LIMIT}, because "
                "it is part of every request"
            )
        self._version: Literal[3, 4] = version
        self._statements_prompt = load_prompt("worldthread.extract", "statements", version)
        self._endings_prompt = load_prompt("worldthread.extract", "endings", 2)
        self._dropped: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Return what makes the same extractor in another process, the prompts in force here included."""
        return {
            "options": {
                "facts": self._form.facts,
                "theses": self._form.theses,
                "outdated": self._outdated,
                "max_candidates": self._max_candidates,
                "max_tokens": self._max_tokens,
                "language": self._language,
                "schema": self._schema,
                "instruction": self._instruction,
                "version": self._version,
            },
            "model": self._model,
            "prompts": (self._statements_prompt, self._endings_prompt),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["model"], **state["options"])  # type: ignore[misc]
        self._statements_prompt, self._endings_prompt = state["prompts"]

    @property
    def model(self) -> ChatModel:
        """The chat model."""
        return self._model

    @property
    def name(self) -> str:
        """Name and version, prompts of one's own, a language other than English, digests of schema and instruction."""
        own = (prompt for prompt in (self._statements_prompt, self._endings_prompt) if prompt.digest)
        parts = [f"model/{self._version}", *(prompt.id for prompt in own)]
        if self._language.lower() != "english":
            parts.append(f"language-{self._language}")
        if self._schema is not None:
            parts.append(f"schema-{self._schema.digest}")
        if self._instruction:
            digest = hashlib.blake2b(self._instruction.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
            parts.append(f"instruction-{digest}")
        return "+".join(parts)

    @property
    def concurrency(self) -> int:
        """The concurrency of the model."""
        return self._model.concurrency

    @property
    def dropped(self) -> Counter[str]:
        """The number of items of usable answers that were left out since the extractor was made, by reason.

        ``"blank"``: a name is empty or says "none"; ``"too long"``: a name of more than 200 or a text of more than
        1,000 characters; ``"unusable"``: control characters; ``"duplicate"``: the extraction has it already; ``"no such
        number"``: there is no message or stored statement of this number; ``"no such name"``: the better one of two
        names is in no text that was read; ``"no such time"``: it is no date, or a date where the memory counts turns
        (the fact is kept); ``"not in the schema"``. The object of a thesis, the aspect of a fact and the reason of an
        ending count as items too.
        """
        with self._lock:
            return self._dropped.copy()

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        """Return the facts and theses that the model extracts from a passage.

        Args:
            text: the passage.
            speaker: who says it.
            at: world time of the passage, against which the model understands "yesterday".

        Returns:
            An extraction with facts before theses, each kind in the order of the answer, and corrections as its only
            endings.

        Raises:
            ModelError: the model could not be called (see :class:`~worldthread.models.chat.ChatModel`).
        """
        return self._read_one(_ReadText(text, speaker, at))

    def extract_group(self, group: EpisodeGroup) -> list[Extraction]:
        """Return what each episode of a group states, with one call; see :mod:`worldthread.extract.groups`.

        Args:
            group: the episodes, with what was said before them.

        Returns:
            An extraction for each episode, in their order.

        Raises:
            ModelError: the model could not be called.
        """
        texts = [_text_of(episode, group.user) for episode in group.episodes]
        if len(texts) > 1:
            first = replace(texts[0], before=group.before)
            try:
                return self._read_many(first, texts)
            except AnswerError:
                pass  # one message must not cost the others
        return [self._read_one(text) for text in _with_before(texts, group.before)]

    def outdate(
        self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
    ) -> Extraction:
        """Return ``extraction`` with the endings of the statements of ``view`` that have ended, as the model judges.

        The model is asked only if a stored statement can clash: if it is about something that has changed by the
        text, or differs from a new fact of the same relation in one end and in the aspect. An unusable answer is added
        to the failures, and no statement ends.

        Args:
            text: the passage.
            extraction: what :meth:`extract` or :meth:`extract_group` returned for ``text``; with failures, it is
                returned without a call.
            view: what the memory holds before the passage is added.
            speaker: as for :meth:`extract`.
            at: as for :meth:`extract`.

        Returns:
            The extraction with new endings, or new failures, after its own.

        Raises:
            ModelError: the model could not be called (see :class:`~worldthread.models.chat.ChatModel`).
        """
        changed: tuple[str, ...] = ()
        read = _ReadText(text, speaker, at)
        if isinstance(extraction, UnsettledExtraction):
            changed, read, extraction = extraction.changed, extraction.read, extraction.settled
        if not self._outdated or extraction.failures:
            return extraction
        stored = self.candidates(extraction, changed, view)[: self._max_candidates]
        if not stored:
            return extraction
        listed = numbered(stored)
        mark = boundary_mark(text, listed, *read.before, read.source, read.speaker)
        messages = self._endings_prompt.messages(
            date=read.date, context=read.context(mark.sent), mark=mark.sent, text=text, stored=listed
        )
        request = ChatRequest(messages, "outdated", endings_schema(len(stored)), max_tokens=self._max_tokens, mark=mark)
        try:
            answer = complete_structured(self._model, request, EndingsAnswer)
        except AnswerError as error:
            return replace(extraction, failures=(*extraction.failures, *verbatim(error)))
        dropped: Counter[str] = Counter()
        endings: dict[int, Ending] = {}
        for item in answer.ended:
            if not 1 <= item.old <= len(stored):
                dropped["no such number"] += 1
            elif item.old in endings:
                dropped["duplicate"] += 1
            else:
                endings[item.old] = self._ending(stored[item.old - 1], item, read.at, dropped)
        self._add_dropped(dropped)
        return replace(extraction, endings=(*extraction.endings, *endings.values()))

    def candidates(self, extraction: Extraction, changed: Iterable[str], view: GraphView) -> list[Statement]:
        """Return the stored statements that a text may end, the likeliest first; a subclass may choose others.

        Args:
            extraction: what the text states.
            changed: names of what the text says has changed.
            view: what the memory holds before the text is added.

        Returns:
            The statements; the model is asked about the first ones.
        """
        return clashing(extraction, changed, view)

    def _read_one(self, read: _ReadText) -> Extraction:
        """Return the extraction of one text."""
        try:
            answer = self._ask(read, [read.text], self._form.one, is_one=True)
        except AnswerError as error:
            return Extraction(self.name, failures=verbatim(error))
        dropped: Counter[str] = Counter()
        pairs = usable_pairs(answer.same, "\n".join((*read.before, read.text)), kinds_in([answer]), dropped)
        extraction = self._extraction(answer, read, pairs, dropped)
        self._add_dropped(dropped)
        return extraction

    def _read_many(self, first: _ReadText, texts: Sequence[_ReadText]) -> list[Extraction]:
        """Return the extractions of several messages.

        Raises:
            AnswerError: the answer and its repair were unusable.
        """
        answer = self._ask(first, [text.text for text in texts], self._form.many, is_one=False, times=texts)
        dropped: Counter[str] = Counter()
        known = "\n".join((*first.before, *(text.text for text in texts)))
        pairs = usable_pairs(answer.same, known, kinds_in(answer.messages), dropped)
        by_number: dict[int, Any] = {}
        for message in answer.messages:
            if not 1 <= message.number <= len(texts):
                dropped["no such number"] += 1
            elif message.number in by_number:
                dropped["duplicate"] += 1
            else:
                by_number[message.number] = message
        owner = _place_of(pairs, texts)
        found = []
        for number, read in enumerate(_with_before(texts, first.before), start=1):
            own = tuple(pair for pair, place in zip(pairs, owner, strict=True) if place == number)
            message = by_number.get(number)
            found.append(
                Extraction(self.name, same_names=own)
                if message is None
                else self._extraction(message, read, own, dropped, pairs)
            )
        self._add_dropped(dropped)
        return found

    def _ask(
        self,
        read: _ReadText,
        texts: Sequence[str],
        into: type[Any],
        *,
        is_one: bool,
        times: Sequence[_ReadText] = (),
    ) -> Any:
        """Return the answer to the question for the statements of one text, or of several messages.

        Raises:
            AnswerError: the answer and its repair were unusable.
        """
        body = texts[0] if is_one else _listed(times)
        mark = boundary_mark(body, *read.before, read.source, read.speaker)
        messages = self._messages(read, body, mark, is_one=is_one)
        schema = self._form.json_schema(texts, is_one=is_one)
        request = ChatRequest(messages, "extract", schema, max_tokens=self._max_tokens, mark=mark)
        return complete_structured(self._model, request, into)

    def _messages(self, read: _ReadText, body: str, mark: BoundaryMark, *, is_one: bool) -> tuple[Message, ...]:
        lists = self._form.in_words
        form = (
            f'Answer with one JSON object: {lists}, "same", "changed".'
            if is_one
            else f'Answer with one JSON object: {{"messages": [{{"number", {lists}, "changed"}}], "same"}}; leave out '
            "messages that say nothing worth keeping."
        )
        rules = [] if self._schema is None else [self._schema.as_text()]
        rules += [self._instruction] if self._instruction else []
        context = read.context(mark.sent)
        return self._statements_prompt.messages(
            language=self._language,
            rules="\n\n".join(rules),
            form=form,
            date=read.date,
            context=context,
            mark=mark.sent,
            text=body,
        )

    def _extraction(
        self,
        answer: Any,
        read: _ReadText,
        pairs: tuple[tuple[str, str], ...],
        dropped: Counter[str],
        all_pairs: tuple[tuple[str, str], ...] = (),
    ) -> Extraction:
        """Return the extraction of one text from the part of an answer that is about it."""
        own: Counter[str] = Counter()
        reader = FormReader(read.at, self._schema, own, worded=self._version > 3)
        statements: dict[Statement, None] = {}
        for statement in reader.statements(answer):
            if statement in statements:
                own["duplicate"] += 1
            statements.setdefault(statement)
        never = {ending.statement: ending for ending in reader.never if ending.statement not in statements}
        # a model that left the list out did not say that nothing has changed
        listed = [n for s in statements for n in names_in(s)] if answer.changed is None else answer.changed
        changed = tuple(name for name in map(one_space, listed) if problem_of(name) is None)
        own["blank"] += len(listed) - len(changed)
        dropped.update(own)
        if not statements and not never and (own["unusable"] or own["too long"]):
            return Extraction(self.name, failures=(msgspec.json.encode(answer).decode(),))
        changed += tuple(one for pair in all_pairs or pairs for one in pair if _names(changed, pair))
        return UnsettledExtraction(
            self.name, tuple(statements), tuple(never.values()), (), pairs, changed=changed, read=read
        )

    def _ending(self, statement: Statement, item: EndedStatement, at: float | None, dropped: Counter[str]) -> Ending:
        """Return the ending of a stored statement, as the model judges."""
        why = one_space(item.reason)
        problem = problem_of(why, TEXT_LIMIT)
        if problem is not None:
            dropped[problem] += 1
            why = "never true" if item.never else "no longer true"
        if item.never:
            return Ending(statement, why, never=True)
        until = None
        if item.until is not None and problem_of(item.until) != "blank":
            time = (worded_time if self._version > 3 else stated_time)(item.until, at)
            if time is None:
                dropped["no such time"] += 1
            elif at is None or not time.begin <= at < time.end:  # else it ended by the text itself
                until = time.end
        return Ending(statement, why, until)

    def _add_dropped(self, dropped: Counter[str]) -> None:
        with self._lock:
            self._dropped.update(+dropped)


def _text_of(episode: Episode, user: str) -> _ReadText:
    speaker = episode.speaker or episode.user or user
    return _ReadText(episode.text, speaker, time_of_reading(episode), episode.source)


def _with_before(texts: Sequence[_ReadText], before: tuple[str, ...]) -> Iterator[_ReadText]:
    """Yield messages of one conversation, each with those before it, of which ``before`` are the first."""
    for text in texts:
        yield replace(text, before=before)
        before = (*before, text.text[:CHARACTERS_BEFORE])[-MESSAGES_BEFORE:]


def _listed(texts: Sequence[_ReadText]) -> str:
    """Return messages as a numbered list; further lines are indented, so that none can imitate another message."""
    lines = []
    said = texts[0].date
    for number, text in enumerate(texts, start=1):
        is_other_day = text.date != said and text.at is not None and is_date(text.at)
        date = f"({text.date}) " if is_other_day else ""
        said = text.date
        lines.append(f"{number}. {date}" + "\n   ".join(text.text.splitlines()))
    return "\n".join(lines)


def _place_of(pairs: Sequence[tuple[str, str]], texts: Sequence[_ReadText]) -> list[int]:
    """Return the number of the message that shows each pair of names: the first with the better one, else the last."""
    return [
        next((n for n, text in enumerate(texts, 1) if normalise_name(better) in normalise_name(text.text)), len(texts))
        for _, better in pairs
    ]


def _names(names: Sequence[str], pair: tuple[str, str]) -> bool:
    return bool({*map(normalise_name, names)} & {*map(normalise_name, pair)})
