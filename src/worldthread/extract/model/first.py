"""The first version of reading with a chat model (``model/1``), kept so that its recordings can be replayed.

Every passage is read alone, without its date, and every new statement is compared with what is stored under its names.
:class:`~worldthread.extract.model.ModelExtractor` is the present version.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import msgspec

from worldthread.errors import AnswerError, InputError
from worldthread.extract.model.answers import (
    TEXT_LIMIT,
    bounded_schema,
    names_in,
    numbered,
    one_space,
    problem_of,
    usable_names,
    verbatim,
)
from worldthread.graph import GraphView
from worldthread.models.boundary import boundary_mark
from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured
from worldthread.names import normalise_name, number_variants
from worldthread.types import Ending, Extraction, Fact, Statement, Thesis

# In bytes, because a character of a script without spaces says more than a letter. Of 1,890 passages (MuSiQue) from
# which gpt-3.5-turbo took facts, none has more than three quarters of what this allows once it is rounded up.
_BYTES_PER_FACT: Final = 12
_BYTES_PER_THESIS: Final = 24


class FactItem(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A fact as a model writes it."""

    subject: str
    relation: str
    object: str


class ThesisItem(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A thesis as a model writes it."""

    text: str
    objects: list[str]


class FactsAnswer(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a model answers when it is asked for facts."""

    facts: list[FactItem]


class ThesesAnswer(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a model answers when it is asked for theses."""

    theses: list[ThesisItem]


class StatementsAnswer(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a model answers when it is asked for both."""

    facts: list[FactItem]
    theses: list[ThesisItem]


class EndedItem(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Stored statement number ``old`` has ended; new statement number ``new`` takes its place. Counted from 1."""

    old: int
    new: int
    reason: str


class OutdatedAnswer(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a model answers when it is asked which stored statements have ended."""

    ended: list[EndedItem]


class FirstModelExtractor:
    """Extracts statements with a chat model. A :class:`~worldthread.extract.base.Extractor`.

    An extraction depends only on the text, the candidates and the model's answers, so recorded answers give the same
    extraction again. Two things can be wrong with an answer:

    - The whole answer is unusable, and so is its repair. Both are in the failures of the extraction, verbatim (except
      that characters that UTF-8 cannot hold are written as escapes), and the episode counts as not understood. The same
      holds for an answer of which every item had to be left out, unless the items are merely blank.
    - Single items are unusable. They are left out and counted in :attr:`dropped`, and the rest is kept. The episode
      counts as understood, because the model would answer the same again.

    Thread-safe.

    Args:
        model: the chat model. The errors of its calls (no answer, budget spent, not in the recording) are raised.
        facts: ask for facts.
        theses: ask for theses.
        outdated: ask which stored statements have ended; otherwise none end, because this extractor sets no aspects.
        max_candidates: the most stored statements that one call shows, at least 1.
        max_tokens: limit of one answer; ``None`` leaves it to the server, as a model that thinks before it answers
            needs. A limit stops a small model that repeats itself without end (a passage of 100 words takes about 500
            tokens).

    Raises:
        InputError: neither facts nor theses are asked for, or ``max_candidates`` is below 1.
    """

    name: str = "model/1"

    def __init__(
        self,
        model: ChatModel,
        *,
        facts: bool = True,
        theses: bool = True,
        outdated: bool = True,
        max_candidates: int = 40,
        max_tokens: int | None = None,
    ) -> None:
        if not (facts or theses):
            raise InputError("a FirstModelExtractor must extract facts, theses or both: set facts or theses to True")
        if max_candidates < 1:
            raise InputError(f"max_candidates must be at least 1, not {max_candidates}")
        self._model = model
        self._answer_type: type[FactsAnswer] | type[ThesesAnswer] | type[StatementsAnswer]
        if facts and theses:
            self._answer_type, self._wanted = StatementsAnswer, "facts and theses"
        elif facts:
            self._answer_type, self._wanted = FactsAnswer, "facts"
        else:
            self._answer_type, self._wanted = ThesesAnswer, "theses"
        self._outdated = outdated
        self._max_candidates = max_candidates
        self._max_tokens = max_tokens
        self._statements_prompt = load_prompt("worldthread.extract", "statements", 1)
        self._outdated_prompt = load_prompt("worldthread.extract", "outdated", 1)
        own = (prompt for prompt in (self._statements_prompt, self._outdated_prompt) if prompt.digest)
        self.name = "+".join([self.name, *(prompt.id for prompt in own)])
        self._dropped: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def concurrency(self) -> int:
        """The concurrency of the model."""
        return self._model.concurrency

    @property
    def dropped(self) -> Counter[str]:
        """The number of items of usable answers that were left out since the extractor was made, by reason.

        ``"blank"``: a name is empty or says "none"; ``"too long"``: see ``NAME_LIMIT`` and ``TEXT_LIMIT``;
        ``"unusable"``: control characters; ``"duplicate"``: the extraction has it already; ``"no such number"``: there
        is no stored or new statement of this number. The object of a thesis and the reason of an ending count as items
        too.
        """
        with self._lock:
            return self._dropped.copy()

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        """Return the facts and theses that the model extracts from a passage.

        Args:
            text: the passage.
            speaker: not used: the text of a message begins with its speaker.
            at: not used.

        Returns:
            An extraction with facts before theses, each kind in the order of the answer, and no endings.

        Raises:
            ModelError: the model could not be called (see :class:`~worldthread.models.chat.ChatModel`).
        """
        mark = boundary_mark(text)
        messages = self._statements_prompt.messages(wanted=self._wanted, mark=mark.sent, text=text)
        size = len(text.encode("utf-8", "surrogatepass"))
        schema = bounded_schema(self._answer_type, facts=size // _BYTES_PER_FACT, theses=size // _BYTES_PER_THESIS)
        request = ChatRequest(messages, "extract", schema, max_tokens=self._max_tokens, mark=mark)
        try:
            answer = complete_structured(self._model, request, self._answer_type)
        except AnswerError as error:
            return Extraction(self.name, failures=verbatim(error))
        dropped: Counter[str] = Counter()
        statements: dict[Statement, None] = {}
        for statement in _statements(answer, dropped):
            if statement in statements:
                dropped["duplicate"] += 1
            statements.setdefault(statement)
        self._add_dropped(dropped)
        if not statements and (dropped["unusable"] or dropped["too long"]):
            return Extraction(self.name, failures=(msgspec.json.encode(answer).decode(),))
        return Extraction(self.name, tuple(statements))

    def outdate(
        self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
    ) -> Extraction:
        """Return ``extraction`` with the endings of the statements of ``view`` that have ended, as the model judges.

        The prompt shows the statements that hold in ``view`` about the subjects and objects of the new ones (singular
        or plural), without those that the extraction itself states: those that share most names first, of these the
        latest first. Without candidates the model is not called. An unusable answer is added to the failures, and no
        statement ends.

        Args:
            text: the passage.
            extraction: what :meth:`extract` returned for ``text``; with failures, it is returned unchanged.
            view: what the memory holds before the passage is added.
            speaker: not used.
            at: not used.

        Returns:
            The extraction with new endings, or new failures, after its own.

        Raises:
            ModelError: the model could not be called (see :class:`~worldthread.models.chat.ChatModel`).
        """
        if not self._outdated or extraction.failures:
            return extraction
        stored = _candidates(extraction, view)[: self._max_candidates]
        if not stored:
            return extraction
        old, new = numbered(stored), numbered(extraction.statements)
        mark = boundary_mark(text, old, new)
        messages = self._outdated_prompt.messages(mark=mark.sent, text=text, stored=old, new=new)
        schema = bounded_schema(OutdatedAnswer, ended=len(stored))
        request = ChatRequest(messages, "outdated", schema, max_tokens=self._max_tokens, mark=mark)
        try:
            answer = complete_structured(self._model, request, OutdatedAnswer)
        except AnswerError as error:
            return replace(extraction, failures=(*extraction.failures, *verbatim(error)))
        dropped: Counter[str] = Counter()
        endings: dict[int, Ending] = {}
        for item in answer.ended:
            if not (1 <= item.old <= len(stored) and 1 <= item.new <= len(extraction.statements)):
                dropped["no such number"] += 1
            elif item.old in endings:
                dropped["duplicate"] += 1
            else:
                successor = extraction.statements[item.new - 1]
                endings[item.old] = Ending(stored[item.old - 1], _reason(successor, item.reason, dropped))
        self._add_dropped(dropped)
        return replace(extraction, endings=(*extraction.endings, *endings.values()))

    def _add_dropped(self, dropped: Counter[str]) -> None:
        with self._lock:
            self._dropped.update(dropped)


def _statements(answer: FactsAnswer | ThesesAnswer | StatementsAnswer, dropped: Counter[str]) -> Iterator[Statement]:
    """Yield the statements of an answer in its order; count in ``dropped`` what is left out."""
    for item in () if isinstance(answer, ThesesAnswer) else answer.facts:
        names = [one_space(name) for name in (item.subject, item.relation, item.object)]
        problem = next(filter(None, map(problem_of, names)), None)
        if problem is None:
            yield Fact(names[0], names[1], names[2])
        else:
            dropped[problem] += 1
    for thesis in () if isinstance(answer, FactsAnswer) else answer.theses:
        text = one_space(thesis.text)
        problem = problem_of(text, TEXT_LIMIT)
        if problem is None:
            yield Thesis(text, tuple(usable_names(thesis.objects, dropped)))
        else:
            dropped[problem] += 1


def _reason(new: Statement, why: str, dropped: Counter[str]) -> str:
    """Return the reason of an ending: the statement that replaces the old one, and the model's reason if usable."""
    why = one_space(why)
    problem = problem_of(why, TEXT_LIMIT)
    if problem is None:
        return f"replaced by: {new} ({why})"
    dropped[problem] += 1
    return f"replaced by: {new}"


def _candidates(extraction: Extraction, view: GraphView) -> list[Statement]:
    """Return the statements of ``view`` that share a name with ``extraction``, without its own; the likeliest first."""
    shared: defaultdict[Statement, set[str]] = defaultdict(set)
    began: dict[Statement, float] = {}
    for name in sorted({normalise_name(name) for statement in extraction.statements for name in names_in(statement)}):
        for form in sorted({name} | number_variants(name)):
            for version in view.timeline(form):
                if view.covers(version.interval):
                    shared[version.statement].add(name)
                    began[version.statement] = version.interval.valid_from
    stated = set(extraction.statements)
    return sorted(
        (statement for statement in shared if statement not in stated),
        key=lambda s: (-len(shared[s]), -began[s], s.id),
    )
