"""Reading prose with a chat model: facts, theses, and the older statements that they end.

Two calls a passage at most. The first takes facts (AriGraph) and theses with their objects (PersonalAI) from the
passage alone. The second is shown the stored statements that share a name with the new ones, both lists numbered, and
answers with pairs of numbers. PersonalAI asks about facts and about theses apart, and has the model write statements
out, which are then looked for by exact match; numbers cost one call instead of two, cannot be misspelt, and let a fact
end a thesis.

What a passage says is shown between two lines that bear a mark made from the passage itself, and the model is told to
take it as material. That is no proof against an instruction hidden in a passage; what bounds the harm is that an answer
can only state and end statements, and that both are part of the record with their episode.

The schema that is sent bounds the length of every list. A small model tends to repeat itself without end, and a server
that holds it to the schema then ends the list instead of cutting the answer off. Answers are not checked against it.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from worldthread.errors import AnswerError, InputError
from worldthread.graph import GraphView
from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of
from worldthread.names import normalise_name, normalise_text, number_variants
from worldthread.types import Ending, Extraction, Fact, Statement, Thesis

NAME_LIMIT: Final = 200
"""Longest name of a subject, relation or object, in characters. What is longer is a piece of text, not a name."""

TEXT_LIMIT: Final = 1000
"""Longest text of a thesis, and of the reason of an ending, in characters."""

# In bytes, since a sign of a script without spaces says more than a letter. Of 1,890 passages that gpt-3.5-turbo took
# facts from (MuSiQue), none has more than three quarters of what this allows once it is rounded up.
_BYTES_PER_FACT: Final = 12
_BYTES_PER_THESIS: Final = 24

_BLANK: Final = frozenset({"", "none", "n/a", "null", "-", "?"})
_SPACE: Final = re.compile(r"[ \t\r\n]+")


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


class ModelExtractor:
    """Reads prose with a chat model. A :class:`~worldthread.extract.base.Extractor`.

    A reading depends on the text, the candidates and the model's answers alone, so with recorded answers it comes out
    the same again. Two things can be wrong with an answer:

    - It is unusable as a whole, and so is its repair: both are in the failures of the reading, verbatim (but for
      characters that no file can hold, which are written as escapes), and the episode counts as not read. So does an
      answer with nothing but items that had to be left out, unless they are merely blank.
    - Single items are unusable: they are left out and counted in :attr:`dropped`, and the rest is kept. The episode
      counts as read: the model would say the same again.

    May be used from several threads at once.

    Args:
        model: what is asked. Its errors of calling (no answer, budget spent, not in the recording) pass through.
        facts: ask for facts.
        theses: ask for theses.
        outdated: ask which stored statements have ended; without it only aspects end statements, and this reader gives
            none.
        max_candidates: how many stored statements the model is shown at once, at least 1.
        max_tokens: limit of one answer; ``None`` leaves it to the server, as a model that thinks before it answers
            needs. A small model that may repeat itself for ever is stopped by it (a passage of 100 words takes about
            500).

    Raises:
        InputError: neither facts nor theses are asked for, or ``max_candidates`` is below 1.
    """

    name: Final = "model/1"

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
            raise InputError("a reader must be asked for facts, for theses, or for both")
        if max_candidates < 1:
            raise InputError(f"max_candidates must be at least 1, not {max_candidates}")
        self._model = model
        self._into: type[FactsAnswer] | type[ThesesAnswer] | type[StatementsAnswer]
        if facts and theses:
            self._into, self._wanted = StatementsAnswer, "facts and theses"
        elif facts:
            self._into, self._wanted = FactsAnswer, "facts"
        else:
            self._into, self._wanted = ThesesAnswer, "theses"
        self._outdated = outdated
        self._max_candidates = max_candidates
        self._max_tokens = max_tokens
        self._statements_prompt = load_prompt("worldthread.extract", "statements", 1)
        self._outdated_prompt = load_prompt("worldthread.extract", "outdated", 1)
        self._dropped: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def concurrency(self) -> int:
        """That of the model."""
        return self._model.concurrency

    @property
    def dropped(self) -> Counter[str]:
        """How many items of usable answers were left out since the reader was made, by reason.

        ``"blank"``: a name is empty or says "none"; ``"too long"``: see :data:`NAME_LIMIT` and :data:`TEXT_LIMIT`;
        ``"unusable"``: control characters; ``"duplicate"``: the reading has it already; ``"no such number"``: of a
        stored or of a new statement. An object of a thesis, and the reason of an ending, counts as an item of its own.
        """
        with self._lock:
            return self._dropped.copy()

    def extract(self, text: str) -> Extraction:
        """The facts and theses that the model takes from ``text``; facts first, each kind in its order.

        Raises:
            ModelError: the model could not be asked (see :class:`~worldthread.models.chat.ChatModel`).
        """
        messages = self._statements_prompt.messages(wanted=self._wanted, mark=_mark(text), text=text)
        size = len(text.encode("utf-8", "surrogatepass"))
        schema = _bounded(self._into, facts=size // _BYTES_PER_FACT, theses=size // _BYTES_PER_THESIS)
        request = ChatRequest(messages, "extract", schema, max_tokens=self._max_tokens)
        try:
            answer = complete_structured(self._model, request, self._into)
        except AnswerError as error:
            return Extraction(self.name, failures=_verbatim(error))
        dropped: Counter[str] = Counter()
        statements: dict[Statement, None] = {}
        for statement in _statements(answer, dropped):
            if statement in statements:
                dropped["duplicate"] += 1
            statements.setdefault(statement)
        self._count(dropped)
        if not statements and (dropped["unusable"] or dropped["too long"]):
            return Extraction(self.name, failures=(msgspec.json.encode(answer).decode(),))
        return Extraction(self.name, tuple(statements))

    def outdate(self, text: str, extraction: Extraction, view: GraphView) -> Extraction:
        """``reading`` with the statements of ``view`` that the model says have ended.

        The model is shown what holds in ``view`` about the subjects and objects of the new statements (in either
        number), but for what the reading itself states: first what shares most names with them, then what began last.
        Without any there is no call. An unusable answer joins the failures, and the statements stay.

        Raises:
            ModelError: the model could not be asked (see :class:`~worldthread.models.chat.ChatModel`).
        """
        if not self._outdated or extraction.failures:
            return extraction
        stored = _candidates(extraction, view)[: self._max_candidates]
        if not stored:
            return extraction
        messages = self._outdated_prompt.messages(
            mark=_mark(text), text=text, stored=_numbered(stored), new=_numbered(extraction.statements)
        )
        schema = _bounded(OutdatedAnswer, ended=len(stored))
        request = ChatRequest(messages, "outdated", schema, max_tokens=self._max_tokens)
        try:
            answer = complete_structured(self._model, request, OutdatedAnswer)
        except AnswerError as error:
            return replace(extraction, failures=(*extraction.failures, *_verbatim(error)))
        dropped: Counter[str] = Counter()
        endings: dict[int, Ending] = {}
        for item in answer.ended:
            if not (1 <= item.old <= len(stored) and 1 <= item.new <= len(extraction.statements)):
                dropped["no such number"] += 1
            elif item.old in endings:
                dropped["duplicate"] += 1
            else:
                old, new = stored[item.old - 1], extraction.statements[item.new - 1]
                endings[item.old] = Ending(old, _reason(new, item.reason, dropped))
        self._count(dropped)
        return replace(extraction, endings=(*extraction.endings, *endings.values()))

    def _count(self, dropped: Counter[str]) -> None:
        with self._lock:
            self._dropped.update(dropped)


def _bounded(into: type[msgspec.Struct], **limits: int) -> dict[str, Any]:
    """The schema of ``into``, with at most so many items in its lists, rounded up to a power of two, 8 at least.

    Rounded, because a server may take seconds to prepare a schema that it has not seen.
    """
    schema = schema_of(into)
    for name, items in schema["properties"].items():
        items["maxItems"] = 1 << max(3, (limits[name] - 1).bit_length())
    return schema


def _statements(answer: FactsAnswer | ThesesAnswer | StatementsAnswer, dropped: Counter[str]) -> Iterator[Statement]:
    """The statements of an answer in its order; counts in ``dropped`` what is left out."""
    for item in () if isinstance(answer, ThesesAnswer) else answer.facts:
        names = [_SPACE.sub(" ", name).strip() for name in (item.subject, item.relation, item.object)]
        problem = next(filter(None, map(_problem, names)), None)
        if problem is None:
            yield Fact(*names)
        else:
            dropped[problem] += 1
    for thesis in () if isinstance(answer, FactsAnswer) else answer.theses:
        text = _SPACE.sub(" ", thesis.text).strip()
        problem = _problem(text, TEXT_LIMIT)
        if problem is None:
            yield Thesis(text, tuple(_objects(thesis.objects, dropped)))
        else:
            dropped[problem] += 1


def _objects(names: Iterable[str], dropped: Counter[str]) -> Iterator[str]:
    seen = set()
    for name in (_SPACE.sub(" ", name).strip() for name in names):
        problem = _problem(name) or ("duplicate" if normalise_name(name) in seen else None)
        if problem is None:
            seen.add(normalise_name(name))
            yield name
        else:
            dropped[problem] += 1


def _problem(text: str, limit: int = NAME_LIMIT) -> str | None:
    """Why ``text`` cannot be a name, or the text of a thesis; ``None`` when it can."""
    if len(text) > limit:
        return "too long"
    if normalise_text(text) in _BLANK:
        return "blank"
    try:
        Fact(text, "is", "name")
    except InputError:
        return "unusable"
    return None


def _reason(new: Statement, why: str, dropped: Counter[str]) -> str:
    """The reason of an ending: the statement that takes the place, and what the model said if that can be kept."""
    why = _SPACE.sub(" ", why).strip()
    problem = _problem(why, TEXT_LIMIT)
    if problem is None:
        return f"replaced by: {new} ({why})"
    dropped[problem] += 1
    return f"replaced by: {new}"


def _names(statement: Statement) -> tuple[str, ...]:
    return (statement.subject, statement.object) if isinstance(statement, Fact) else statement.objects


def _candidates(extraction: Extraction, view: GraphView) -> list[Statement]:
    """What holds in ``view`` about the names in ``reading``, but for what it states itself; the likeliest first."""
    shared: defaultdict[Statement, set[str]] = defaultdict(set)
    began: dict[Statement, float] = {}
    for name in sorted({normalise_name(name) for statement in extraction.statements for name in _names(statement)}):
        for form in sorted({name} | number_variants(name)):
            for version in view.timeline(form):
                if version.interval.is_open if view.at is None else view.at in version.interval:
                    shared[version.statement].add(name)
                    began[version.statement] = version.interval.valid_from
    stated = set(extraction.statements)
    return sorted(
        (statement for statement in shared if statement not in stated),
        key=lambda s: (-len(shared[s]), -began[s], s.id),
    )


def _numbered(statements: Sequence[Statement]) -> str:
    return "\n".join(f"{number}. {_SPACE.sub(' ', str(s))}" for number, s in enumerate(statements, 1))


def _mark(text: str) -> str:
    """Eight hexadecimal digits that a passage cannot well contain, for they depend on all of it."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def _verbatim(error: AnswerError) -> tuple[str, ...]:
    """The answer and its repair, with lone surrogates, which UTF-8 cannot hold, as escapes."""
    texts = dict.fromkeys((error.text, error.repair))
    return tuple(text.encode("utf-8", "backslashreplace").decode() for text in texts if text is not None)
