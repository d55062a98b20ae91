"""Two memories of the same play, audited against the truth: the published graph of AriGraph's agent, and ours.

The logged actions of an attempt are played again on the game file (:mod:`worldthread.bench.arigraph.action_replay`).
After every step of the log stand three things side by side: the true state, the triplets that the published agent's
graph held then, and the facts of our graph, made by the game reader from the very texts that the agent saw. What can be
expected of both is what the audit of our own plays expects (:class:`worldthread.play.audit.Expectation`). The player's
own place is left out, since the published agent is told it apart from its graph, and so is of what kind a thing is,
which only ours states.

*Precision* is the share of statements with a meaning in the world that are true now. *Recall* is the share of facts
that are true, and have been observable, that are held. A statement is *stale* when it was true after some step and is
not now, *wrong* when it never was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from worldthread.bench.arigraph.action_replay import ActionReplay, ReplayedStep
from worldthread.bench.arigraph.claims import Claim, Claims, World, kind_of, world_of
from worldthread.bench.arigraph.log_texts import LoggedStep, Triplet, rooms_of
from worldthread.envs.base import Environment
from worldthread.errors import ReplayError
from worldthread.extract.arigraph.extractor import AriGraphExtractor, RoomChange
from worldthread.extract.base import GameStep
from worldthread.extract.game import vocabulary as v
from worldthread.extract.game.extractor import GameExtractor
from worldthread.graph import TemporalGraph
from worldthread.play.audit import Expectation
from worldthread.play.audit_mapping import Key, is_checkable
from worldthread.types import Episode, Extraction, Fact

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
    """What an audit counted, summed over steps.

    Args:
        steps: steps audited.
        statements: everything held.
        stale_steps: steps with at least one stale statement.
        counts: by (what, kind): what is :data:`TRUE`, :data:`STALE` or :data:`WRONG` of statements held;
            :data:`FOUND`, :data:`NEVER_HELD` or :data:`DROPPED` (given up while true) of facts expected.
    """

    steps: int = 0
    statements: int = 0
    stale_steps: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, *what: str, kind: str | None = None) -> int:
        """How many are one of ``what``, of one kind or of all."""
        return sum(n for (one, of), n in self.counts.items() if one in what and kind in (None, of))

    def precision(self, kind: str | None = None) -> float:
        """The share of judged statements that are true; 1 when none was held."""
        judged = self.count(TRUE, STALE, WRONG, kind=kind)
        return self.count(TRUE, kind=kind) / judged if judged else 1.0

    def recall(self, kind: str | None = None) -> float:
        """The share of expected facts that are held; 1 when none was expected."""
        expected = self.count(FOUND, NEVER_HELD, DROPPED, kind=kind)
        return self.count(FOUND, kind=kind) / expected if expected else 1.0

    @property
    def judged(self) -> float:
        """The share of statements held that mean something in the world; 1 when none was held."""
        return self.count(TRUE, STALE, WRONG) / self.statements if self.statements else 1.0

    @property
    def stale_share(self) -> float:
        """The share of steps with a stale statement."""
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
    """A statement that was not true, or a true one that was not held.

    Args:
        what: :data:`STALE`, :data:`WRONG`, :data:`NEVER_HELD` or :data:`DROPPED`.
        kind: what it is about.
        statement: in words.
        first: step of the log with which it begins.
        steps: for how many steps.
    """

    what: str
    kind: str
    statement: str
    first: int
    steps: int = 1


@dataclass(frozen=True)
class StatementVerdict:
    """How one statement of the published graph was judged.

    Args:
        step: number of the step.
        triplet: as it is logged.
        claim: what it was taken to say; ``None`` for nothing that the true state could tell.
        what: :data:`TRUE`, :data:`STALE` or :data:`WRONG`; empty without a claim.
    """

    step: int
    triplet: Triplet
    claim: Claim | None
    what: str


class MemoryAudit:
    """Counts what one memory holds, step by step."""

    def __init__(self) -> None:
        self.figures = Figures()
        self.mistakes: dict[tuple[str, str], Mistake] = {}
        """Each mistake once, by what it is and its words."""
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
        """Audit the memory after one step: what became of each of ``claims``.

        Args:
            number: of the step.
            statements: how many the memory holds.
            claims: what those say that mean something in the world.
            expected: facts that it should hold.
            world: the true state.
            ever: every fact that was true after some step, this one included.
        """
        counts: Counter[tuple[str, str]] = Counter()
        held: set[Key] = set()
        verdicts = []
        for claim in claims:
            what = _judge(claim, world, ever)
            verdicts.append(what)
            counts[what, claim.kind] += 1
            held |= {*claim.readings, *claim.also}
            held |= {world.told[key] for key in claim.readings if key in world.told}
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
    """Both memories on one attempt, with the same texts.

    Args:
        inventory: whether the inventory's text counts as seen. The published agent's planner is told it, its graph is
            not; a reader of ours is.

    Attributes:
        theirs: the published graph.
        theirs_alike: the published graph, with only the relations that the game reader states too.
        ours: our graph.
        verdicts: on every statement of the published graph.
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
            triplets: what the published graph held after it.
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
        read = [(triplet, self._claims.of(triplet, allowed)) for triplet in dict.fromkeys(triplets)]
        spoken = [(triplet, claim) for triplet, claim in read if claim is None or claim.kind not in _LEFT_OUT]
        claims = [claim for _, claim in spoken if claim is not None]
        number = replayed.logged.step
        verdicts = iter(self.theirs.observe(number, len(spoken), claims, expected, world, self._ever))
        self.verdicts += [StatementVerdict(number, t, claim, next(verdicts) if claim else "") for t, claim in spoken]
        alike = [claim for claim in claims if claim.own]
        self.theirs_alike.observe(number, len(spoken), alike, expected, world, self._ever)
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
        told = World(world.facts | denials, world.told)
        self.ours.observe(number, len(facts), claims, expected, told, self._ever | denials)


@dataclass(frozen=True)
class AttemptAudit:
    """One attempt, played again and audited.

    Args:
        run: name of the run.
        attempt: its number.
        game: name of the game file.
        steps: steps of the log.
        moves: single moves made.
        score: reached.
        max_score: of the game.
        is_won: whether that is the whole score.
        differing: the first step with a text that differs from the logged one, where the replay ended; ``None`` when
            all agree.
        rebuilt: the log holds no graph; it was made from the logged triplets by the published rules.
        alone: the comparison by the texts alone.
        with_inventory: the comparison with the inventory's text.
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
        """Run and number."""
        return f"{self.run} {self.attempt}"


def audit_attempt(env: Environment, game: str, steps: Sequence[LoggedStep]) -> AttemptAudit:
    """Play one attempt again and audit both memories after every step, as long as the texts agree with the log.

    Args:
        env: the game that was played; it is reset, not closed.
        game: its name.
        steps: of the attempt, in order.

    Raises:
        FormatError: a "go to" of the log cannot be played.
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
    """The triplets that the published agent's graph held after each step of one attempt.

    A log without graphs is read from its new triplets and outdated texts by the published rules. Such a log may lack a
    triplet that was deleted and extracted again in one step.

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
        reader = AriGraphExtractor(_no_text, partial(_logged, answer))
        stated = Extraction(reader.name, tuple(Fact(*triplet) for triplet in step.new_triplets))
        visited = {room for room in rooms[: number + 1] if room}
        move = _move(steps[number - 1], rooms[number - 1], rooms[number]) if number else None
        extraction = reader.outdate(step.observation, stated, graph.view(), rooms=visited, move=move)
        graph.add(Episode(step.observation, float(step.step), extraction=extraction))
        yield [(fact.subject, fact.relation, fact.object) for fact in graph.view().facts()]


def _move(last: LoggedStep, before: str | None, after: str | None) -> RoomChange | None:
    return RoomChange(before, after, last.action_taken) if before and after and last.action_taken else None


def _logged(answer: str, candidates: Sequence[Fact], new: Sequence[Fact]) -> str:
    return answer


def _no_text(text: str) -> str:
    raise ReplayError("the logs hold triplets as they were parsed, not the text of the model")


@dataclass(frozen=True)
class AuditReport:
    """Attempts that reached the whole score again, audited; and those that did not.

    Args:
        attempts: audited.
        left_out: names of the others, and why.
    """

    attempts: list[AttemptAudit]
    left_out: dict[str, str]


def audit_runs(
    runs: dict[tuple[str, int], list[LoggedStep]],
    open_game: Callable[[str], Environment],
    *,
    watch: Callable[[str], None] = lambda phase: None,
) -> AuditReport:
    """Audit every attempt that reaches the whole score again and whose texts agree with the log.

    Args:
        runs: the steps of each (run, attempt), see :func:`worldthread.bench.arigraph.log_texts.attempts`.
        open_game: gives the game of a name such as ``"cook_hard"``: what stands before ``_arigraph`` in a run's name.
        watch: told of every attempt before it is played.

    Raises:
        GameError: a game cannot be opened.
        FormatError, InputError: see :func:`audit_attempt`.
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
    """The game of a run: ``"cook_hard"`` for ``"cook_hard_arigraph_without_episodic"``."""
    return run.partition("_arigraph")[0]
