"""Does a model know the map of a game that it was never shown? The contamination check of GLoW (its Appendix C).

The first commands of a game's own walkthrough are played, which gives a graph of the places seen and of the commands
that led from one to another. The model is asked, without any context, for the way between two places. It is right when
its answer holds the commands of a shortest way in that graph, word by word, one right after the other.

Which pairs of places are asked about is not published. All ordered pairs of places with different names that are at
most two commands apart come near to the numbers of its Table 5, which no other distance does. Places are told apart by
the engine, and called by the titles that the game prints.

This is an audit: walkthroughs and the true place of the player never reach an agent.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from worldthread.envs import games, make, spec_of
from worldthread.envs.base import Environment
from worldthread.errors import BudgetError, InputError, MissingExtraError, ModelError, ReplayError
from worldthread.extract.base import GameStep
from worldthread.extract.game import vocabulary as v
from worldthread.extract.game.commands import direction_of
from worldthread.extract.game.extractor import GameExtractor
from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest
from worldthread.models.configured import ConfiguredChat
from worldthread.models.meter import Meter, UsageTotals
from worldthread.models.prompts import load_prompt
from worldthread.play.statistics import wilson_interval
from worldthread.types import Fact

PURPOSE: Final = "contamination"
STEPS: Final = 300
"""Commands of the walkthrough that are played at most."""
DISTANCE: Final = 2
"""Commands that lie between two places asked about at most."""
MAX_TOKENS: Final = 300

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_JOINING: Final = frozenset({"go", "then", "and"})
_SEVERAL: Final = re.compile(r"\.|\bthen\b", re.IGNORECASE)
"""Between commands on one line, of which a world takes one at a time."""
_NUMBERED: Final = re.compile(r" \(object \d+\)$")

Route = tuple[tuple[str, ...], ...]
"""Commands in their order, each as its words."""


@dataclass(frozen=True)
class Walkthrough:
    """What a walkthrough showed of a game.

    Args:
        names: of the places, by what the engine calls them, which is different for all; in the order in which they were
            seen.
        commands: that led from a place to another, by the two.
        steps: commands played.
    """

    names: dict[str, str]
    commands: dict[tuple[str, str], frozenset[str]]
    steps: int


@dataclass(frozen=True)
class RouteQuestion:
    """A question for the way from one place to another.

    Args:
        game: title of the game.
        start: name of the place where the way begins.
        goal: name of the place where it ends.
        routes: every shortest way between places of these names; not empty.
    """

    game: str
    start: str
    goal: str
    routes: frozenset[Route]

    def request(self) -> ChatRequest:
        """What the model is asked."""
        messages = load_prompt("worldthread.bench", "route", 1).messages(
            game=self.game, start=self.start, goal=self.goal
        )
        return ChatRequest(messages, PURPOSE, max_tokens=MAX_TOKENS)

    def is_answered_by(self, answer: str) -> bool:
        """Whether ``answer`` holds the words of one of the ways, one right after the other.

        Capitals and punctuation do not count; nor do the numbers of a list and the words "go", "then" and "and";
        directions may be shortened ("ne").
        """
        said = words_of(answer)
        return any(_stands_in([word for command in route for word in command], said) for route in self.routes)


@dataclass(frozen=True)
class GameFigures:
    """How much of one game a model knew.

    Args:
        game: its id.
        questions: asked and answered.
        right: of those.
        blind: of those, answered by the one direction that answers most: what is right by chance alone.
        texts: different questions; places may share a name.
        not_asked: questions for which the model could not be asked, by reason.
        tally: calls, tokens and dollars; answers from a recording or a cache are counted as reused and cost nothing.
    """

    game: str
    questions: int
    right: int
    blind: int
    texts: int
    not_asked: Counter[str]
    tally: UsageTotals

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON can hold them; accuracy is ``None`` without an answer."""
        return {
            "game": self.game,
            "questions": self.questions,
            "right": self.right,
            "accuracy": round(self.right / self.questions, 5) if self.questions else None,
            "accuracy_interval": wilson_interval(self.right, self.questions) if self.questions else None,
            "blind": self.blind,
            "texts": self.texts,
            "not_asked": dict(self.not_asked),
            "calls": self.tally.calls,
            "reused": self.tally.reused,
            "prompt_tokens": self.tally.usage.prompt_tokens,
            "completion_tokens": self.tally.usage.completion_tokens,
            "dollars": self.tally.dollars,
        }


def pooled(figures: Sequence[GameFigures]) -> GameFigures:
    """All games together."""
    return GameFigures(
        "all",
        sum(one.questions for one in figures),
        sum(one.right for one in figures),
        sum(one.blind for one in figures),
        sum(one.texts for one in figures),
        sum((one.not_asked for one in figures), Counter()),
        sum((one.tally for one in figures), UsageTotals()),
    )


# -- the map -----------------------------------------------------------------------------------------------------------


def open_game(id: str) -> Environment:
    """A game for its walkthrough alone, without a search for valid actions.

    Raises:
        GameError, InputError, MissingExtraError: see :func:`worldthread.envs.make`.
    """
    scheme, colon, _ = id.partition(":")
    searches = scheme == "jericho" if colon else spec_of(id).package == "jericho"
    options: dict[str, Any] = {"valid_actions": False} if searches else {}
    return make(id, max_moves=float("inf"), **options)


def title_of(id: str) -> str:
    """The title by which a model may know a game: that of the registered game of this name, else the file's name."""
    if ":" not in id:
        return spec_of(id).title
    name = re.split(r"[/\\]", id.partition(":")[2])[-1].rpartition(".")[0] or id.partition(":")[2]
    return next((spec.title for spec in games() if spec.name == name), name)


def explore(env: Environment, max_steps: int = STEPS) -> Walkthrough:
    """Play the walkthrough of a game and note where its commands led.

    Args:
        env: the game; it is reset, not closed.
        max_steps: commands that are played at most.

    Raises:
        InputError: the game has no walkthrough.
    """
    text, _ = env.reset()
    walkthrough = env.truth().walkthrough
    if not walkthrough:
        raise InputError(f"the game {env.id!r} brings no walkthrough, which the check is made from")
    titles: dict[str, Counter[str]] = defaultdict(Counter)
    commands: dict[tuple[str, str], set[str]] = defaultdict(set)
    here = _place_of(env)
    if here is not None:
        titles[here][_title(text, None, here)] += 1
    steps = 0
    for command in [one for line in walkthrough for one in _SEVERAL.split(line) if one.strip()][:max_steps]:
        text, _, terminated, truncated, _ = env.step(command)
        steps += 1
        before, here = here, _place_of(env)
        if here is not None and here != before:
            titles[here][_title(text, command, here)] += 1
            if before is not None:
                commands[before, here].add(command)
        if terminated or truncated:
            break
    names = {place: _called(found, place) for place, found in titles.items()}
    return Walkthrough(names, {pair: frozenset(found) for pair, found in commands.items()}, steps)


def _place_of(env: Environment) -> str | None:
    return next((p[2] for p in env.truth().propositions if p[:2] == ("at", "P")), None)


def _title(text: str, command: str | None, place: str) -> str:
    """The title that the text of an arrival prints; the engine's own name of the place where it prints none.

    An engine may shorten a name ("GreDoor"): a title that does not hold its letters in their order is of another place.
    """
    # any move: where the text stands is known
    action = None if command is None else (command if direction_of(command) else "look")
    extraction = GameExtractor().extract(GameStep(text, action), TemporalGraph().view())
    short = _plain(place)
    for statement in extraction.statements:
        if isinstance(statement, Fact) and statement.key[:2] == (v.PLAYER, v.IS_IN):
            letters = iter(statement.object.casefold())
            if all(letter in letters for letter in short.casefold() if letter.isalnum()):
                return statement.object
    return short


def _called(titles: Counter[str], place: str) -> str:
    """The commonest title; the engine's own name only when none was printed."""
    printed = Counter({title: number for title, number in titles.items() if title != _plain(place)})
    return (printed or titles).most_common(1)[0][0]


def _plain(place: str) -> str:
    return _NUMBERED.sub("", place).strip()


def route_questions(game: str, walk: Walkthrough, max_distance: int = DISTANCE) -> list[RouteQuestion]:
    """One question for every ordered pair of places with different names that are near enough.

    Places may share names; then a way between any two of them is right.

    Args:
        game: title of the game.
        walk: what is known of it.
        max_distance: commands between the two at most.
    """
    pairs: list[tuple[str, str]] = []
    routes: dict[tuple[str, str], set[Route]] = defaultdict(set)
    for start in walk.names:
        for goal, path in _ways(walk, start, max_distance):
            names = (walk.names[start], walk.names[goal])
            if names[0].casefold() != names[1].casefold():
                routes[names] |= path
                pairs.append(names)
    return [RouteQuestion(game, *names, frozenset(routes[names])) for names in pairs]


def _ways(walk: Walkthrough, start: str, max_distance: int) -> Iterator[tuple[str, set[Route]]]:
    """Every place within reach, with all its shortest ways."""
    beside: dict[str, list[str]] = defaultdict(list)
    for here, there in walk.commands:
        beside[here].append(there)
    reached: dict[str, set[Route]] = {start: {()}}
    edge = [start]
    for _ in range(max_distance):
        found: dict[str, set[Route]] = defaultdict(set)
        for here in edge:
            for there in beside[here]:
                # a command without a word that counts, such as a number, could not be told from silence
                steps = {tuple(words_of(command)) for command in walk.commands[here, there]} - {()}
                if there not in reached and steps:
                    found[there] |= {(*way, step) for way, step in product(reached[here], steps)}
        yield from found.items()
        reached |= found
        edge = list(found)


# -- the answers -------------------------------------------------------------------------------------------------------


def words_of(text: str) -> list[str]:
    """The words that count when a way and an answer are compared."""
    found = (word.casefold() for word in _WORD.findall(text))
    return [_in_full(word) for word in found if word not in _JOINING and not word.isdigit()]


def _in_full(word: str) -> str:
    return (direction_of(word) or word) if len(word) <= 2 else word


def _stands_in(wanted: Sequence[str], said: Sequence[str]) -> bool:
    size = len(wanted)
    return any(list(said[start : start + size]) == list(wanted) for start in range(len(said) - size + 1))


def drawn(questions: Sequence[RouteQuestion], limit: int | None) -> list[RouteQuestion]:
    """All questions, or ``limit`` of them drawn at random, always the same, in their order."""
    if limit is None or limit >= len(questions):
        return list(questions)
    chosen = sorted(random.Random(0).sample(range(len(questions)), limit))
    return [questions[number] for number in chosen]


def measure(
    model: ChatModel,
    game: str,
    questions: Iterable[RouteQuestion],
    on_done: Callable[[int], None] = lambda questions: None,
) -> GameFigures:
    """Ask every question and compare the answers with the ways; each text is asked once.

    A question for which the model could not be asked is not counted; once the budget is spent no further one is asked.

    Args:
        model: answers; calls run at once as it allows.
        game: id of the game, for the figures.
        questions: about it.
        on_done: is told how many more questions are done.

    Raises:
        ReplayError: the recording that is replayed holds no answer.
        MissingExtraError: the client library is not installed.
    """
    by_text: dict[tuple[str, str], list[RouteQuestion]] = defaultdict(list)
    for question in questions:
        by_text[question.start, question.goal].append(question)
    waiting = list(by_text.values())
    meter = Meter(model)
    asked: list[RouteQuestion] = []
    right = 0
    problems: Counter[str] = Counter()
    with ThreadPoolExecutor(model.concurrency, thread_name_prefix="worldthread-contamination") as pool:
        running: dict[Future[ChatAnswer], list[RouteQuestion]] = {}
        while waiting or running:
            while waiting and len(running) < model.concurrency:
                alike = waiting.pop(0)
                running[pool.submit(meter.complete, alike[0].request())] = alike
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                alike = running.pop(future)
                try:
                    answer = future.result().text
                except (ReplayError, MissingExtraError):
                    raise
                except ModelError as error:
                    problems[str(error)] += len(alike)
                    if isinstance(error, BudgetError):
                        waiting.clear()
                else:
                    asked += alike
                    right += sum(question.is_answered_by(answer) for question in alike)
                on_done(len(alike))
    blind = max(sum(question.is_answered_by(direction) for question in asked) for direction in v.OPPOSITE)
    return GameFigures(game, len(asked), right, blind, len(by_text), problems, _priced(model, meter.overall()))


def _priced(model: ChatModel, tally: UsageTotals) -> UsageTotals:
    """``tally`` with the prices of a configured model, which may be the user's own."""
    if not isinstance(model, ConfiguredChat):
        return tally
    price = model.meter.price
    return replace(tally, dollars=None if price is None else price.dollars(tally.usage))


def questions_of(id: str, max_steps: int = STEPS, max_distance: int = DISTANCE) -> list[RouteQuestion]:
    """The questions about a game.

    Raises:
        GameError, InputError, MissingExtraError: the game cannot be opened, or has no walkthrough.
    """
    with closing(open_game(id)) as env:
        return route_questions(title_of(id), explore(env, max_steps), max_distance)
