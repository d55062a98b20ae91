"""Audit of two memories of the same play against the truth: the published graph of AriGraph's agent, and our graph.

The logged actions of an attempt are replayed on the game file (:mod:`worldthread_lab.bench.arigraph.action_replay`).
After every step, the audit compares the true state, the triplets in the published agent's graph, and the facts of our
graph, which the game extractor builds from the same texts. Both are expected to hold what the audit of our own plays
expects (:class:`worldthread_lab.play.audit.Expectation`). The player's place is left out, as the published agent
receives it apart from its graph, and so are kinds of things, which only our graph states.

*Precision* is the share of statements with a meaning in the world that are true now. *Recall* is the share of true and
observed facts that are held. A statement is *stale* if it was true after an earlier step and is not true now, and
*wrong* if it never was true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from worldthread.errors import ReplayError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.arigraph.extractor import AriGraphExtractor, RoomChange
from worldthread_lab.bench.arigraph.action_replay import ActionReplay, ReplayedStep
from worldthread_lab.bench.arigraph.claims import Claim, Claims, World, kind_of, world_of
from worldthread_lab.bench.arigraph.log_texts import LoggedStep, Triplet, rooms_of
from worldthread_lab.envs.base import Environment
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.extractor import GameExtractor
from worldthread_lab.play.audit import Expectation
from worldthread_lab.play.audit_mapping import Key, is_checkable

TRUE: Final = "true"
STALE: Final = "stale"
WRONG: Final = "wrong"
FOUND: Final = "found"
NEVER_HELD: Final = "never held"
DROPPED: Final = "dropped"

_LEFT_OUT: Final = frozenset({"player", "kinds"})
_DENIED: Final = {v.HAS_NO_EXIT: v.HAS_EXIT, v.DOES_NOT_UNLOCK: v.UNLOCKS}


@dataclass(frozen=True)
class Figures:
    """Counts of an audit, summed over steps.

    Args:
        steps: number of audited steps.
        statements: number of statements held.
        stale_steps: number of steps with at least one stale statement.
        counts: numbers by (verdict, kind); the verdict on a held statement is :data:`TRUE`, :data:`STALE` or
            :data:`WRONG`, that on an expected fact :data:`FOUND`, :data:`NEVER_HELD` or :data:`DROPPED` (ended while
            true).
    """

    steps: int = 0
    statements: int = 0
    stale_steps: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, *what: str, kind: str | None = None) -> int:
        """Return the number of statements with one of the verdicts ``what``, of one kind or of all."""
        return sum(n for (one, of), n in self.counts.items() if one in what and kind in (None, of))

    def precision(self, kind: str | None = None) -> float:
        """Return the share of judged statements that are true; 1 without statements."""
        judged = self.count(TRUE, STALE, WRONG, kind=kind)
        return self.count(TRUE, kind=kind) / judged if judged else 1.0

    def recall(self, kind: str | None = None) -> float:
        """Return the share of expected facts that are held; 1 without expected facts."""
        expected = self.count(FOUND, NEVER_HELD, DROPPED, kind=kind)
        return self.count(FOUND, kind=kind) / expected if expected else 1.0

    @property
    def judged(self) -> float:
        """The share of held statements that have a meaning in the world; 1 without statements."""
        return self.count(TRUE, STALE, WRONG) / self.statements if self.statements else 1.0

    @property
    def stale_share(self) -> float:
        """The share of steps with at least one stale statement."""
        return self.stale_steps / self.steps if self.steps else 0.0

    def __add__(self, other: Figures) -> Figures:
        return Figures(
            self.steps + other.steps,
            self.statements + other.statements,
            self.stale_steps + other.stale_steps,
            self.counts + other.counts,
        )


@dataclass(frozen=True)
class Mistake:
    """A held statement that is not true, or a true statement that is not held.

    Args:
        what: verdict: :data:`STALE`, :data:`WRONG`, :data:`NEVER_HELD` or :data:`DROPPED`.
        kind: topic of the statement.
        statement: the statement as text.
        first: number of the step at which it begins.
        steps: number of steps for which it lasts.
    """

    what: str
    kind: str
    statement: str
    first: int
    steps: int = 1


@dataclass(frozen=True)
class StatementVerdict:
    """The verdict on a statement of the published graph.

    Args:
        step: number of the step.
        triplet: the logged triplet.
        claim: its interpretation; ``None`` if the true state cannot decide it.
        what: :data:`TRUE`, :data:`STALE` or :data:`WRONG`; empty without a claim.
    """

    step: int
    triplet: Triplet
    claim: Claim | None
    what: str


class MemoryAudit:
    """The audit of one memory, step by step.

    Attributes:
        figures: counts over all steps.
        mistakes: all mistakes, by verdict and statement.
    """

    def __init__(self) -> None:
        self.figures = Figures()
        self.mistakes: dict[tuple[str, str], Mistake] = {}
        self._held_before: set[Key] = set()

    def observe(
        self,
        number: int,
        statements: int,
        claims: Iterable[Claim],
        expected: Iterable[Key],
        world: World,
        ever: set[Key],
    ) -> list[str]:
        """Audit the memory after one step.

        Args:
            number: number of the step.
            statements: number of statements that the memory holds.
            claims: claims of the statements that have a meaning in the world.
            expected: facts that the memory should hold.
            world: the true state.
            ever: all facts that were true after some step, including this one.

        Returns:
            The verdicts on the claims, in order.
        """
        counts: Counter[tuple[str, str]] = Counter()
        held: set[Key] = set()
        verdicts = []
        for claim in claims:
            what = _judge(claim, world, ever)
            verdicts.append(what)
            counts[what, claim.kind] += 1
            held |= {*claim.readings, *claim.also}
            held |= {world.equivalents[key] for key in claim.readings if key in world.equivalents}
            if what != TRUE:
                self._note(what, claim.kind, claim.statement, number)
        for key in expected:
            what = FOUND if key in held else DROPPED if key in self._held_before else NEVER_HELD
            counts[what, kind_of(key)] += 1
            if what != FOUND:
                self._note(what, kind_of(key), ", ".join(key), number)
        self._held_before |= held
        self.figures += Figures(1, statements, int(STALE in verdicts), counts)
        return verdicts

    def _note(self, what: str, kind: str, statement: str, number: int) -> None:
        known = self.mistakes.get((what, statement))
        self.mistakes[what, statement] = (
            Mistake(what, kind, statement, number) if known is None else replace(known, steps=known.steps + 1)
        )


def _judge(claim: Claim, world: World, ever: set[Key]) -> str:
    if any(key in world.facts for key in claim.readings):
        return TRUE
    if any(key in ever for key in claim.readings):
        return TRUE if claim.past else STALE
    return WRONG


@dataclass
class MemoryComparison:
    """The audits of both memories on one attempt, with the same texts.

    Args:
        inventory: whether the text of the inventory counts as observed. The published agent's planner receives it, but
            its graph does not; our extractor does.

    Attributes:
        theirs: audit of the published graph.
        theirs_alike: audit of the published graph, limited to relations that the game extractor also states.
        ours: audit of our graph.
        verdicts: verdicts on all statements of the published graph.
    """

    inventory: bool
    theirs: MemoryAudit = field(default_factory=MemoryAudit, init=False)
    theirs_alike: MemoryAudit = field(default_factory=MemoryAudit, init=False)
    ours: MemoryAudit = field(default_factory=MemoryAudit, init=False)
    verdicts: list[StatementVerdict] = field(default_factory=list, init=False)
    _expectation: Expectation = field(default_factory=Expectation, init=False)
    _ever: set[Key] = field(default_factory=set, init=False)
    _graph: TemporalGraph = field(default_factory=TemporalGraph, init=False)
    _claims: Claims | None = field(default=None, init=False)

    def observe(self, replayed: ReplayedStep, triplets: Sequence[Triplet]) -> None:
        """Audit both memories after one step.

        Args:
            replayed: the step.
            triplets: triplets in the published graph after the step.
        """
        step = GameStep(
            replayed.text,
            replayed.action,
            replayed.info.inventory if self.inventory else None,
            replayed.task,
            replayed.logged.step,
        )
        propositions = replayed.truth.propositions
        allowed = self._expectation.observe(step, replayed.truth)
        expected = [key for key in self._expectation.facts if kind_of(key) not in _LEFT_OUT]
        world = world_of(propositions, allowed)
        self._ever |= world.facts
        if self._claims is None:
            self._claims = Claims(propositions)
        interpreted = [(triplet, self._claims.of(triplet, allowed)) for triplet in dict.fromkeys(triplets)]
        audited = [(triplet, claim) for triplet, claim in interpreted if claim is None or claim.kind not in _LEFT_OUT]
        claims = [claim for _, claim in audited if claim is not None]
        number = replayed.logged.step
        verdicts = iter(self.theirs.observe(number, len(audited), claims, expected, world, self._ever))
        self.verdicts += [StatementVerdict(number, t, claim, next(verdicts) if claim else "") for t, claim in audited]
        alike = [claim for claim in claims if claim.own]
        self.theirs_alike.observe(number, len(audited), alike, expected, world, self._ever)
        extraction = GameExtractor().extract(step, self._graph.view())
        self._graph.add(Episode(step.text, float(number), extraction=extraction))
        self._observe_ours(number, expected, world, allowed)

    def _observe_ours(self, number: int, expected: Sequence[Key], world: World, allowed: frozenset[Key]) -> None:
        facts = [fact for fact in self._graph.view().facts() if kind_of(fact.key) not in _LEFT_OUT]
        claims = []
        denials: set[Key] = set()
        for fact in facts:
            if is_checkable(fact.key, allowed):
                claims.append(Claim(", ".join(fact.key), (fact.key,), kind_of(fact.key)))
            denied = _DENIED.get(fact.key[1])
            if denied is not None and (fact.key[0], denied, fact.key[2]) not in allowed:
                denials.add(fact.key)
        world = World(world.facts | denials, world.equivalents)
        self.ours.observe(number, len(facts), claims, expected, world, self._ever | denials)


@dataclass(frozen=True)
class AttemptAudit:
    """A replayed and audited attempt.

    Args:
        run: name of the run.
        attempt: number of the attempt.
        game: name of the game file.
        steps: number of steps of the log.
        moves: number of single moves.
        score: score that the replay reached.
        max_score: maximum score of the game.
        is_won: whether the replay reached the maximum score.
        differing: number of the first step whose text differs from the logged one, at which the replay stopped;
            ``None`` if all texts agree.
        rebuilt: whether the graph was rebuilt from the logged triplets by the published rules, as the log has none.
        alone: comparison with the texts of the game only.
        with_inventory: comparison with the text of the inventory as well.
    """

    run: str
    attempt: int
    game: str
    steps: int
    moves: int
    score: float
    max_score: float | None
    is_won: bool
    differing: int | None
    rebuilt: bool
    alone: MemoryComparison
    with_inventory: MemoryComparison

    @property
    def name(self) -> str:
        """Name of the run and number of the attempt."""
        return f"{self.run} {self.attempt}"


def audit_attempt(env: Environment, game: str, steps: Sequence[LoggedStep]) -> AttemptAudit:
    """Replay one attempt and audit both memories after every step, until a text differs from the log.

    Args:
        env: the game of the attempt; it is reset, not closed.
        game: name of the game.
        steps: steps of the attempt, in order.

    Returns:
        The audit.

    Raises:
        FormatError: a "go to" of the log cannot be replayed.
        InputError: a logged triplet is not a valid fact.
    """
    replay = ActionReplay(env, steps)
    alone, with_inventory = MemoryComparison(inventory=False), MemoryComparison(inventory=True)
    for replayed, triplets in zip(replay, published_graphs(steps), strict=True):
        if replay.differing:
            break
        alone.observe(replayed, triplets)
        with_inventory.observe(replayed, triplets)
    return AttemptAudit(
        run=steps[0].run,
        attempt=steps[0].attempt,
        game=game,
        steps=len(steps),
        moves=replay.moves,
        score=replay.info.score,
        max_score=replay.info.max_score,
        is_won=replay.is_won,
        differing=replay.differing[0][0] if replay.differing else None,
        rebuilt=any(step.graph is None for step in steps),
        alone=alone,
        with_inventory=with_inventory,
    )


def published_graphs(steps: Sequence[LoggedStep]) -> Iterator[list[Triplet]]:
    """Return the published agent's graph after each step of one attempt.

    If the log has no graphs, the graph is rebuilt from its new triplets and outdated texts by the published rules. It
    may then lack triplets that were deleted and extracted again in one step.

    Args:
        steps: steps of the attempt, in order.

    Yields:
        The triplets of the graph after each step.

    Raises:
        InputError: a logged triplet is not a valid fact.
    """
    if all(step.graph is not None for step in steps):
        yield from (step.graph or [] for step in steps)
        return
    graph = TemporalGraph()
    rooms = rooms_of(steps)
    for number, step in enumerate(steps):
        answer = step.outdated_raw or "[]"
        extractor = AriGraphExtractor(_no_text, partial(_logged, answer))
        stated = Extraction(extractor.name, tuple(Fact(*triplet) for triplet in step.new_triplets))
        visited = {room for room in rooms[: number + 1] if room}
        move = _move(steps[number - 1], rooms[number - 1], rooms[number]) if number else None
        extraction = extractor.outdate(step.observation, stated, graph.view(), rooms=visited, move=move)
        graph.add(Episode(step.observation, float(step.step), extraction=extraction))
        yield [(fact.subject, fact.relation, fact.object) for fact in graph.view().facts()]


def _move(last: LoggedStep, before: str | None, after: str | None) -> RoomChange | None:
    return RoomChange(before, after, last.action_taken) if before and after and last.action_taken else None


def _logged(answer: str, candidates: Sequence[Fact], new: Sequence[Fact]) -> str:
    return answer


def _no_text(text: str) -> str:
    raise ReplayError("the logs contain parsed triplets, not the text of the model")


@dataclass(frozen=True)
class AuditReport:
    """The audits of the attempts whose replay reached the maximum score.

    Args:
        attempts: the audits.
        left_out: reasons why other attempts were left out, by name.
    """

    attempts: list[AttemptAudit]
    left_out: dict[str, str]


def audit_runs(
    runs: dict[tuple[str, int], list[LoggedStep]],
    open_game: Callable[[str], Environment],
    *,
    watch: Callable[[str], None] = lambda phase: None,
) -> AuditReport:
    """Audit all attempts whose replay reaches the maximum score and whose texts agree with the log.

    Args:
        runs: the steps of each (run, attempt), see :func:`worldthread_lab.bench.arigraph.log_texts.attempts`.
        open_game: opens the game of a name such as ``"cook_hard"``: the part of the run's name before ``_arigraph``.
        watch: called with the name of every attempt before its replay.

    Returns:
        The audits.

    Raises:
        GameError: a game cannot be opened.
        FormatError: a "go to" of a log cannot be replayed.
        InputError: a logged triplet is not a valid fact.
    """
    audited: list[AttemptAudit] = []
    left_out: dict[str, str] = {}
    with ExitStack() as opened:
        games: dict[str, Environment] = {}
        for (run, attempt), steps in runs.items():
            watch(f"{run} {attempt}")
            game = game_of(run)
            if game not in games:
                games[game] = opened.enter_context(open_game(game))
            one = audit_attempt(games[game], game, steps)
            if one.differing is not None:
                left_out[one.name] = f"the text of step {one.differing} is not that of the log"
            elif not one.is_won:
                left_out[one.name] = f"{one.score:g} of {one.max_score or 0:g} points"
            else:
                audited.append(one)
    return AuditReport(audited, left_out)


def game_of(run: str) -> str:
    """Return the game of a run: ``"cook_hard"`` for ``"cook_hard_arigraph_without_episodic"``."""
    return run.partition("_arigraph")[0]
