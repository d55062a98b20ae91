"""The contamination check of GLoW (Appendix C): whether a model knows the map of a game without being shown it.

The check plays the first commands of a game's own walkthrough, which yields a graph of the visited places and the
commands between them. It asks the model, without any context, for the route between two places. An answer is right when
it contains the commands of a shortest route in that graph, word by word and consecutively.

GLoW does not publish which pairs of places it asks about. All ordered pairs of places with different names that are at
most two commands apart come close to the numbers of its Table 5; no other distance does. The engine identifies places;
questions use the titles that the game prints.

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

from worldthread.errors import BudgetError, InputError, MissingExtraError, ModelError, ReplayError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest
from worldthread.models.configured import ConfiguredChat
from worldthread.models.meter import Meter, UsageTotals
from worldthread.models.prompts import load_prompt
from worldthread.types import Fact
from worldthread_lab.envs import games, make, spec_of
from worldthread_lab.envs.base import Environment
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of
from worldthread_lab.game.extractor import GameExtractor
from worldthread_lab.play.statistics import wilson_interval

PURPOSE: Final = "contamination"
STEPS: Final = 300
"""The most commands of the walkthrough that are played."""
DISTANCE: Final = 2
"""The most commands between the two places of a question."""
MAX_TOKENS: Final = 300

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_JOINING: Final = frozenset({"go", "then", "and"})
_SEVERAL: Final = re.compile(r"\.|\bthen\b", re.IGNORECASE)
"""Separator of several commands on one line."""
_NUMBERED: Final = re.compile(r" \(object \d+\)$")

Route = tuple[tuple[str, ...], ...]
"""Commands in order, each as its words."""


@dataclass(frozen=True)
class Walkthrough:
    """The map that a walkthrough reveals.

    Args:
        names: titles of the places by the engine's unique names, in the order of the first visits.
        commands: commands that lead from one place to another, by engine names of the two places.
        steps: number of commands played.
    """

    names: dict[str, str]
    commands: dict[tuple[str, str], frozenset[str]]
    steps: int


@dataclass(frozen=True)
class RouteQuestion:
    """A question about the route from one place to another.

    Args:
        game: title of the game.
        start: name of the place where the route starts.
        goal: name of the place where the route ends.
        routes: all shortest routes between places of these names; not empty.
    """

    game: str
    start: str
    goal: str
    routes: frozenset[Route]

    def request(self) -> ChatRequest:
        """Return the request to the model."""
        messages = load_prompt("worldthread_lab.bench", "route", 1).messages(
            game=self.game, start=self.start, goal=self.goal
        )
        return ChatRequest(messages, PURPOSE, max_tokens=MAX_TOKENS)

    def is_answered_by(self, answer: str) -> bool:
        """Check whether an answer contains the words of one of the routes consecutively.

        Capitals, punctuation, the numbers of a list and the words "go", "then" and "and" do not count; directions may
        be abbreviated ("ne").

        Args:
            answer: text of the answer.

        Returns:
            Whether the answer is right.
        """
        words = words_of(answer)
        return any(_contains([word for command in route for word in command], words) for route in self.routes)


@dataclass(frozen=True)
class GameFigures:
    """The results of a model on one game.

    Args:
        game: id of the game.
        questions: number of questions answered.
        right: number of right answers.
        blind: number of these questions that the best single direction answers: the score by chance.
        texts: number of distinct questions; places may share a name.
        not_asked: number of questions whose call to the model failed, by reason.
        totals: calls, tokens and dollars; answers from a recording or a cache count as reused and cost nothing.
    """

    game: str
    questions: int
    right: int
    blind: int
    texts: int
    not_asked: Counter[str]
    totals: UsageTotals

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON; the accuracy is ``None`` without an answer."""
        return {
            "game": self.game,
            "questions": self.questions,
            "right": self.right,
            "accuracy": round(self.right / self.questions, 5) if self.questions else None,
            "accuracy_interval": wilson_interval(self.right, self.questions) if self.questions else None,
            "blind": self.blind,
            "texts": self.texts,
            "not_asked": dict(self.not_asked),
            "calls": self.totals.calls,
            "reused": self.totals.reused,
            "prompt_tokens": self.totals.usage.prompt_tokens,
            "completion_tokens": self.totals.usage.completion_tokens,
            "dollars": self.totals.dollars,
        }


def pooled(figures: Sequence[GameFigures]) -> GameFigures:
    """Return the sums over all games."""
    return GameFigures(
        "all",
        sum(one.questions for one in figures),
        sum(one.right for one in figures),
        sum(one.blind for one in figures),
        sum(one.texts for one in figures),
        sum((one.not_asked for one in figures), Counter()),
        sum((one.totals for one in figures), UsageTotals()),
    )


# -- the map -----------------------------------------------------------------------------------------------------------


def open_game(id: str) -> Environment:
    """Open a game without a limit of moves and, as a walkthrough does not need it, a search for valid actions."""
    scheme, colon, _ = id.partition(":")
    has_search = scheme == "jericho" if colon else spec_of(id).package == "jericho"
    options: dict[str, Any] = {"valid_actions": False} if has_search else {}
    return make(id, max_moves=float("inf"), **options)


def title_of(id: str) -> str:
    """Return the title by which a model may know a game: that of the registered game, else the file name."""
    if ":" not in id:
        return spec_of(id).title
    name = re.split(r"[/\\]", id.partition(":")[2])[-1].rpartition(".")[0] or id.partition(":")[2]
    return next((spec.title for spec in games() if spec.name == name), name)


def explore(env: Environment, max_steps: int = STEPS) -> Walkthrough:
    """Play the walkthrough of a game and record where its commands lead.

    Args:
        env: the game; it is reset, not closed.
        max_steps: the most commands that are played.

    Returns:
        The map that the walkthrough reveals.

    Raises:
        InputError: the game has no walkthrough.
    """
    text, _ = env.reset()
    walkthrough = env.truth().walkthrough
    if not walkthrough:
        raise InputError(f"the game {env.id!r} has no walkthrough, which the check needs")
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
    names = {place: _most_frequent_title(found, place) for place, found in titles.items()}
    return Walkthrough(names, {pair: frozenset(found) for pair, found in commands.items()}, steps)


def _place_of(env: Environment) -> str | None:
    return next((p[2] for p in env.truth().propositions if p[:2] == ("at", "P")), None)


def _title(text: str, command: str | None, place: str) -> str:
    """Return the title that the text of an arrival prints, else the engine's name of the place.

    Args:
        text: text of the arrival.
        command: command that led there; ``None`` at the start.
        place: the engine's name of the place. An engine may abbreviate it ("GreDoor"): a title that does not contain
            its letters in order belongs to another place.

    Returns:
        The title.
    """
    # a command that is not a direction can move the player too: its text is read as that of "look"
    action = None if command is None else (command if direction_of(command) else "look")
    extraction = GameExtractor().extract(GameStep(text, action), TemporalGraph().view())
    short = _plain(place)
    for statement in extraction.statements:
        if isinstance(statement, Fact) and statement.key[:2] == (v.PLAYER, v.IS_IN):
            letters = iter(statement.object.casefold())
            if all(letter in letters for letter in short.casefold() if letter.isalnum()):
                return statement.object
    return short


def _most_frequent_title(titles: Counter[str], place: str) -> str:
    """Return the most frequent printed title; the engine's name only if no title was printed."""
    printed = Counter({title: number for title, number in titles.items() if title != _plain(place)})
    return (printed or titles).most_common(1)[0][0]


def _plain(place: str) -> str:
    return _NUMBERED.sub("", place).strip()


def route_questions(game: str, walkthrough: Walkthrough, max_distance: int = DISTANCE) -> list[RouteQuestion]:
    """Make a question for every ordered pair of places with different names within a distance.

    Places may share names; then a route between any two of them is right.

    Args:
        game: title of the game.
        walkthrough: map of the game.
        max_distance: the most commands between the two places.

    Returns:
        The questions.
    """
    pairs: list[tuple[str, str]] = []
    routes: dict[tuple[str, str], set[Route]] = defaultdict(set)
    for start in walkthrough.names:
        for goal, found in _shortest_routes(walkthrough, start, max_distance):
            names = (walkthrough.names[start], walkthrough.names[goal])
            if names[0].casefold() != names[1].casefold():
                routes[names] |= found
                pairs.append(names)
    return [RouteQuestion(game, *names, frozenset(routes[names])) for names in pairs]


def _shortest_routes(walkthrough: Walkthrough, start: str, max_distance: int) -> Iterator[tuple[str, set[Route]]]:
    """Yield every place within the distance, with all shortest routes to it."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for here, there in walkthrough.commands:
        neighbours[here].append(there)
    reached: dict[str, set[Route]] = {start: {()}}
    frontier = [start]
    for _ in range(max_distance):
        found: dict[str, set[Route]] = defaultdict(set)
        for here in frontier:
            for there in neighbours[here]:
                # a command without a word that counts, such as a number, would match any answer
                steps = {tuple(words_of(command)) for command in walkthrough.commands[here, there]} - {()}
                if there not in reached and steps:
                    found[there] |= {(*route, step) for route, step in product(reached[here], steps)}
        yield from found.items()
        reached |= found
        frontier = list(found)


# -- the answers -------------------------------------------------------------------------------------------------------


def words_of(text: str) -> list[str]:
    """Return the words that count in the comparison of a route and an answer."""
    found = (word.casefold() for word in _WORD.findall(text))
    return [_expanded(word) for word in found if word not in _JOINING and not word.isdigit()]


def _expanded(word: str) -> str:
    return (direction_of(word) or word) if len(word) <= 2 else word


def _contains(wanted: Sequence[str], words: Sequence[str]) -> bool:
    size = len(wanted)
    return any(list(words[start : start + size]) == list(wanted) for start in range(len(words) - size + 1))


def sample_questions(questions: Sequence[RouteQuestion], limit: int | None) -> list[RouteQuestion]:
    """Return all questions, or a random sample of ``limit``, always the same, in their order."""
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
    """Ask every question and compare the answers with the routes; questions with the same text are asked once.

    A question whose call to the model fails is not counted. Once the budget is spent, no further question is asked.

    Args:
        model: model to ask, with as many concurrent calls as it allows.
        game: id of the game, for the figures.
        questions: questions about the game.
        on_done: called with the number of questions that have just been finished.

    Returns:
        The results.

    Raises:
        ReplayError: the recording that is replayed has no answer to a question.
        MissingExtraError: the client library of the model is not installed.
    """
    by_text: dict[tuple[str, str], list[RouteQuestion]] = defaultdict(list)
    for question in questions:
        by_text[question.start, question.goal].append(question)
    waiting = list(by_text.values())
    meter = Meter(model)
    answered: list[RouteQuestion] = []
    right = 0
    problems: Counter[str] = Counter()
    with ThreadPoolExecutor(model.concurrency, thread_name_prefix="worldthread-contamination") as pool:
        running: dict[Future[ChatAnswer], list[RouteQuestion]] = {}
        while waiting or running:
            while waiting and len(running) < model.concurrency:
                same_text = waiting.pop(0)
                running[pool.submit(meter.complete, same_text[0].request())] = same_text
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                same_text = running.pop(future)
                try:
                    answer = future.result().text
                except (ReplayError, MissingExtraError):
                    raise
                except ModelError as error:
                    problems[str(error)] += len(same_text)
                    if isinstance(error, BudgetError):
                        waiting.clear()
                else:
                    answered += same_text
                    right += sum(question.is_answered_by(answer) for question in same_text)
                on_done(len(same_text))
    blind = max(sum(question.is_answered_by(direction) for question in answered) for direction in v.OPPOSITE)
    return GameFigures(game, len(answered), right, blind, len(by_text), problems, _priced(model, meter.overall()))


def _priced(model: ChatModel, totals: UsageTotals) -> UsageTotals:
    """Return the totals with the prices of a configured model, which may come from the user."""
    if not isinstance(model, ConfiguredChat):
        return totals
    price = model.meter.price
    return replace(totals, dollars=None if price is None else price.dollars(totals.usage))


def questions_of(id: str, max_steps: int = STEPS, max_distance: int = DISTANCE) -> list[RouteQuestion]:
    """Play the walkthrough of a game and make its questions.

    Args:
        id: id of the game.
        max_steps: the most commands that are played.
        max_distance: the most commands between the two places of a question.

    Returns:
        The questions.

    Raises:
        GameError, InputError, MissingExtraError: the game cannot be opened, or has no walkthrough.
    """
    with closing(open_game(id)) as env:
        return route_questions(title_of(id), explore(env, max_steps), max_distance)
