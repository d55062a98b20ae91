"""The audit of a memory of a Z-machine game, along the game's walkthrough, by the engine's tree of objects.

:mod:`worldthread_lab.play.audit` needs a world whose state is a list of propositions in the words that the screen uses.
A Z-machine game has a tree of numbered objects instead. This module decides which of them a name in a memory means, by
the words that the game's own parser knows for each (:mod:`worldthread_lab.envs.zmachine_objects`), and checks:

=========  =====================================================================================================
kind       statements, and when they are right
=========  =====================================================================================================
player     (player, is in, room): the engine's room is the one for which the memory began to use this name
carried    (thing, is in, inventory): an object of this name is in the player's object
thing      (thing, is in or on, place): an object of this name is in the place, directly or within other things
fixture    the same of objects that cannot be taken: scenery, and in some games people; attributes mark them;
           a thing that is seen in a room counts as found there
seen       (thing, is seen in, room): an object of this name is in the room; not counted among all, since what a room's
           text speaks of may be seen from there and be elsewhere
way        (there, is north of, here): from here, north leads there; tried by the engine when the player is here. A
           refusal in other words than the game's usual ones, or while the player is in or on something, bars the way
           for now and says nothing of where it leads, and neither does what carries the player off in most directions
state      (thing, is, open or closed or locked): the attribute that says so is set or not set on the object of this
           name; checked where the attribute is known (:func:`opening_flips`)
exit       (room, has or has no exit, direction): tried in the same way; a refusal in other words than the game's
           usual ones leaves the exit open to both readings, since something may bar it
=========  =====================================================================================================

*Expected* of a memory is what is true and was on screen: the player's room once its title was printed during the visit;
where a thing is, once it was in view and a text, an inventory or the command named it, for as long as it stays there;
a way that was walked; that a thing is open or closed, once a text or the command named it in the step in which it was
opened or closed, until that changes. Exits are checked and not expected, since texts are free to describe them. Of
presumed ways the audit counts how many are right; they are no statements that something is so.

What a name of the memory means is decided among the objects that were in view so far. A statement is not checked when
its names mean no object, when they mean only objects that early games keep outside of rooms, or when it is dark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from worldthread.errors import InputError
from worldthread.extract.base import GameStep
from worldthread.graph import GraphView, TemporalGraph
from worldthread.names import normalise_name
from worldthread.types import Episode
from worldthread_lab.agents import make_agent
from worldthread_lab.envs.files import find_game_file
from worldthread_lab.envs.jericho import JerichoEnvironment, open_jericho
from worldthread_lab.envs.jericho_engine import SUFFIXES
from worldthread_lab.envs.unbound_story import UnboundStory
from worldthread_lab.envs.zmachine_objects import StoryObject, StoryObjects, TrueTree
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of
from worldthread_lab.game.extractor import GameExtractor
from worldthread_lab.play.audit import AuditShares
from worldthread_lab.play.audit_mapping import Key
from worldthread_lab.play.loop import Play
from worldthread_lab.play.true_step import TrueStep
from worldthread_lab.play.unbound_plays import play_commands, read_commands, wander

KINDS: Final = ("player", "carried", "thing", "fixture", "seen", "way", "exit", "state")
"""The kinds of statements, as the table above names them."""
_TARGETED: Final = ("player", "carried", "thing", "way", "exit", "state")
_COMMON_MARK: Final = 0.3
_RARE_MARK: Final = 0.1
"""An attribute marks scenery when this share of what is never taken has it, and at most this share of what is."""
_MOVES_OF_AGENT: Final = 300
_MOVES_OF_WANDERER: Final = 250
_NUMBER: Final = re.compile(r" \(\d+\)$")
_OPENS: Final = re.compile(r"(?:open|unlock|close|shut)\b", re.IGNORECASE)
_IS_OPEN: Final = re.compile(r"\b(?:open|opens|opened)\b", re.IGNORECASE)
_IS_CLOSED: Final = re.compile(r"\b(?:close|closes|closed|shut|shuts)\b", re.IGNORECASE)
_LEAST_FLIPS: Final = 3
_OWN_SHARE: Final = 0.75
_LEAST_GAMES: Final = 2
"""In how many other games of a compiler the same attribute must mark what is open."""


@dataclass(frozen=True)
class StoryFigures(AuditShares):
    """Figures of one kind of statement, pooled over the steps of a play.

    Args:
        held: statements of the memory that could be checked.
        true: the part of ``held`` that was true.
        stale: the part of ``held`` that was true once and is false now.
        expected: what was true and had been on screen.
        found: the part of ``expected`` that the memory held.
    """

    held: int = 0
    true: int = 0
    stale: int = 0
    expected: int = 0
    found: int = 0

    def __add__(self, other: StoryFigures) -> StoryFigures:
        """Return the pooled figures."""
        return StoryFigures(
            self.held + other.held,
            self.true + other.true,
            self.stale + other.stale,
            self.expected + other.expected,
            self.found + other.found,
        )

    @property
    def stale_share(self) -> float:
        """``stale / held``; 0 when nothing was held."""
        return self.stale / self.held if self.held else 0.0

    def summary(self) -> dict[str, float | int]:
        """Return the figures, ready for JSON."""
        return {
            "precision": round(self.precision, 4),
            "recall": round(self.recall, 4),
            "stale_share": round(self.stale_share, 4),
            "held": self.held,
            "expected": self.expected,
        }


@dataclass
class StoryReport:
    """The result of the audit of one play.

    Attributes:
        figures: by kind of statement.
        steps: the number of audited steps.
        unchecked: statements about places that could not be checked, summed over steps.
        rooms: how many rooms the player was in.
        merged: rooms that go by the name of another room in the memory.
        split: further names of rooms that have one in the memory already.
        wrong_ways: ways that the memory asserts and that lead elsewhere, each counted once.
        presumed: ways that the memory presumes, each counted once.
        presumed_wrong: the part of ``presumed`` that was wrong at some step.
        mistakes: turn, kind of statement, kind of mistake ("wrong", "stale", "missed") and words, each mistake once.
        lasted: for how many steps each of these mistakes was there.
        unknown_names: subjects that no object is called by, with how many steps they were held.
        open_mark: the attribute of what is open; ``None``: not known.
        open_mark_is_own: whether other games could not teach it, so that the game's own openings decide.
    """

    figures: dict[str, StoryFigures] = field(default_factory=lambda: dict.fromkeys(KINDS, StoryFigures()))
    steps: int = 0
    unchecked: int = 0
    rooms: int = 0
    merged: int = 0
    split: int = 0
    wrong_ways: int = 0
    presumed: int = 0
    presumed_wrong: int = 0
    mistakes: list[tuple[int, str, str, str]] = field(default_factory=list)
    lasted: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unknown_names: Counter[str] = field(default_factory=Counter)
    open_mark: int | None = None
    open_mark_is_own: bool = False

    @property
    def total(self) -> StoryFigures:
        """All kinds together but what is seen, and fixtures, which count for precision only."""
        fixtures = self.figures["fixture"]
        pooled = StoryFigures(fixtures.held, fixtures.true, fixtures.stale)
        for kind in _TARGETED:
            pooled += self.figures[kind]
        return pooled

    def to_dict(self) -> dict[str, object]:
        """Return the report without the single mistakes, ready for JSON."""
        held = self.total.held
        return {
            "all": self.total.summary(),
            **{kind: figures.summary() for kind, figures in self.figures.items()},
            "steps": self.steps,
            "checked": round(held / (held + self.unchecked), 4) if held + self.unchecked else 1.0,
            "rooms": self.rooms,
            "rooms_merged": self.merged,
            "rooms_split": self.split,
            "wrong_ways": self.wrong_ways,
            "presumed_ways": self.presumed,
            "presumed_ways_wrong": self.presumed_wrong,
            "open_attribute": self.open_mark,
            "open_attribute_is_own": self.open_mark_is_own,
        }


def play_walkthrough(env: JerichoEnvironment, most: int | None = None) -> list[TrueStep]:
    """Play the walkthrough of a game and record what is on screen and what is true.

    Args:
        env: the game; best without valid actions, which are not needed.
        most: the largest number of steps; ``None`` for all.

    Returns:
        The opening and one entry for each command up to the end of the game.
    """
    text, info = env.reset()
    walkthrough = env.truth().walkthrough
    played = [TrueStep(GameStep(text, None, info.inventory), env.true_tree(), env.true_ways())]
    for turn, action in enumerate(walkthrough[:most], 1):
        text, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            break
        played.append(TrueStep(GameStep(text, action, info.inventory, turn=turn), env.true_tree(), env.true_ways()))
    return played


def play_agent(env: JerichoEnvironment, agent: str, steps: int) -> list[TrueStep]:
    """Let an agent play a game, and record what is on screen and what is true.

    Args:
        env: the game, with the list of valid actions from which the agent chooses.
        agent: the name of an agent that needs no model and never returns to earlier states.
        steps: the largest number of moves.

    Returns:
        The opening and one entry for each move up to the end of the game.

    Raises:
        InputError: there is no such agent, or it returns to earlier states.
    """
    graph = TemporalGraph()
    player = make_agent(agent, graph)
    if player.returns:
        raise InputError(f"{agent!r} returns to earlier states, so that its moves are no single play")
    played: list[TrueStep] = []
    for record in Play(env, player, graph, seed=0, max_moves=steps, audit=False):
        action = None if record.decision is None else record.decision.action
        step = GameStep(record.observation, action, record.info.inventory, turn=record.turn)
        if record.info.won or record.info.lost:
            break
        played.append(TrueStep(step, env.true_tree(), env.true_ways()))
    return played


def opening_flips(story: bytes, played: list[TrueStep]) -> Counter[int]:
    """Count the attributes that a play sets when a text says that something opens, and clears when it closes.

    Args:
        story: the story file.
        played: the play, from :func:`play_walkthrough`.

    Returns:
        For each attribute, how often opening set it, or closing cleared it, on an object that the command names.
    """
    reader = StoryObjects(story)
    objects = reader.objects()
    found: Counter[int] = Counter()
    for before, after in pairwise(played):
        action = after.step.action or ""
        if not _OPENS.match(action):
            continue
        said = f"{action}\n{after.step.text}"
        named = set(reader.words_of(action)[1:])
        for n, thing in objects.items():
            if n >= len(after.tree.attributes) or not thing.words & named:
                continue
            old, new = before.tree.attributes[n], after.tree.attributes[n]
            if _IS_OPEN.search(said):
                found.update(new - old)
            if _IS_CLOSED.search(said):
                found.update(old - new)
    return found


def open_mark(own: Counter[int], others: Iterable[Counter[int]]) -> int | None:
    """Return the attribute that marks what is open, learned from the plays of other games of the same compiler.

    Args:
        own: the flips of the game itself, which must confirm what the others say and never decide.
        others: the flips of the other games.

    Returns:
        The attribute with the greatest share of the flips, summed over the other games; ``None`` when fewer than two of
        them have it, or when the game's own openings do not flip it more often than any other.
    """
    shares: Counter[int] = Counter()
    games: Counter[int] = Counter()
    for flips in others:
        for mark, count in flips.items():
            shares[mark] += round(1000 * count / flips.total())
            games[mark] += 1
    if not shares:
        return None
    mark = min(shares, key=lambda one: (-shares[one], one))
    confirmed = own[mark] > max((count for other, count in own.items() if other != mark), default=0)
    return mark if games[mark] >= _LEAST_GAMES and confirmed else None


def own_open_mark(own: Counter[int]) -> int | None:
    """Return the attribute that nearly all openings of a game flip; ``None`` when there are few, or none stands out."""
    if not own:
        return None
    mark, count = own.most_common(1)[0]
    return mark if count >= _LEAST_FLIPS and count >= _OWN_SHARE * own.total() else None


def audit_games(
    games: Iterable[str],
    most: int | None = None,
    agent: str | None = None,
    *,
    walkthroughs: Sequence[Path] = (),
    wanderers: int = 0,
) -> Iterator[tuple[str, StoryReport]]:
    """Audit the memories of several games; what is open is checked by an attribute that the other games teach.

    Where they cannot teach it, the game's own openings do.

    Args:
        games: the games, as :func:`audit_game` takes them.
        most: the largest number of steps of each; ``None`` for all, or 300 of an agent and 250 of a wanderer.
        agent: the agent that plays, as for :func:`play_agent`; ``None``: the walkthroughs are played.
        walkthroughs: a walkthrough of each game, for stories that jericho has no bindings of.
        wanderers: how many plays of a wanderer (:mod:`worldthread_lab.play.unbound_plays`) to audit as well of each
            game with such a walkthrough.

    Yields:
        Each play, by the name of its game and the number of the wanderer, and its report.

    Raises:
        UnknownGameError, GameFileError, GenerationError, MissingExtraError: as
            :func:`~worldthread_lab.envs.jericho.open_jericho`.
        InputError: as :func:`play_agent`; or there are walkthroughs, and not one for each game.
    """
    games = list(games)
    if walkthroughs and len(walkthroughs) != len(games):
        raise InputError(f"{len(walkthroughs)} walkthroughs for {len(games)} games: name one for each, in their order")
    plays: dict[str, tuple[bytes, list[TrueStep]]] = {}
    if walkthroughs:
        for game, walkthrough in zip(games, walkthroughs, strict=True):
            plays |= _play_unbound(game, read_commands(walkthrough), most, wanderers)
    else:
        plays = {game: _play(game, most, agent) for game in games}
    flips = {name: opening_flips(story, played) for name, (story, played) in plays.items()}
    compilers = {name: StoryObjects(story).is_inform for name, (story, _) in plays.items()}
    for name, (story, played) in plays.items():
        alike = [
            flips[other]
            for other, (its_story, _) in plays.items()
            if its_story != story and compilers[other] == compilers[name]
        ]
        own = sum((flips[other] for other, (its_story, _) in plays.items() if its_story == story), Counter[int]())
        mark = open_mark(own, alike)
        report = _audit(story, played, own_open_mark(own) if mark is None else mark)
        report.open_mark_is_own = mark is None
        yield name, report


def _play_unbound(
    game: str, commands: tuple[str, ...], most: int | None, wanderers: int
) -> dict[str, tuple[bytes, list[TrueStep]]]:
    story = UnboundStory(find_game_file(game, subfolder="jericho", suffixes=SUFFIXES))
    try:
        plays = {game: (story.story, play_commands(story, commands, most))}
        for number in range(1, wanderers + 1):
            played = wander(story, most or _MOVES_OF_WANDERER, number)
            plays[f"{Path(game).stem}, wanderer {number}"] = story.story, played
        return plays
    finally:
        story.close()


def audit_game(game: str, most: int | None = None) -> StoryReport:
    """Play the walkthrough of a game, remember it by rule, and audit the memory after every step.

    Args:
        game: the path of the story, or a bare name to search for in the folders of ``$WORLDTHREAD_GAMES``.
        most: the largest number of steps; ``None`` for all.

    Returns:
        The report.

    Raises:
        UnknownGameError, GameFileError, GenerationError, MissingExtraError: as
            :func:`~worldthread_lab.envs.jericho.open_jericho`.
    """
    return _audit(*_play(game, most), None)


def _play(game: str, most: int | None, agent: str | None = None) -> tuple[bytes, list[TrueStep]]:
    env = open_jericho(game, id=f"jericho:{game}", valid_actions=agent is not None)
    try:
        if agent is not None:
            return env.story, play_agent(env, agent, most or _MOVES_OF_AGENT)
        return env.story, play_walkthrough(env, most)
    finally:
        env.close()


def _audit(story: bytes, played: list[TrueStep], mark: int | None) -> StoryReport:
    graph, extractor = TemporalGraph(), GameExtractor()

    def read(step: GameStep) -> GraphView:
        extraction = extractor.extract(step, graph.view())
        graph.add(Episode(f"> {step.action}\n{step.text}", step.turn, "audit", extraction))
        return graph.view()

    return StoryAuditor(story, played, open_mark=mark).audit(read)


class StoryAuditor:
    """Compares a memory with the truth of a Z-machine game, step by step.

    Args:
        story: the story file.
        played: the play, from :func:`play_walkthrough`; some of what is true shows only in the whole of it.
        open_mark: the attribute of what is open; ``None``: not known, and nothing that is open or closed is checked.
    """

    def __init__(self, story: bytes, played: list[TrueStep], *, open_mark: int | None = None) -> None:
        self._open_mark = open_mark
        self._opened: dict[int, bool] = {}  # object -> whether it was opened or closed when a text named it
        self._story = StoryObjects(story)
        known = len(played[0].tree.parents)
        self._objects = {number: thing for number, thing in self._story.objects().items() if number < known}
        self._played = played
        # early games of Inform move the player into this object when it is dark
        self._dark = {number for number, thing in self._objects.items() if _words(thing.name) == v.DARKNESS}
        self._room_holder = played[0].tree.room_holder()
        self._rooms = [self._room_of(true.tree, true.tree.player) for true in played]
        self._room_numbers = {room for room in self._rooms if room}
        self._floating = self._find_floating()
        self._movable = self._find_movable()
        self._usual_refusal = self._find_usual_refusal()
        self._seen: set[int] = set()
        self._floats_in: dict[int, frozenset[int]] = {}
        self._leads: dict[tuple[int, str], int] = {}
        self._special: set[tuple[int, str]] = set()
        self._barred: set[tuple[int, str]] = set()
        self._named: dict[int, int] = {}  # object -> its holder when a text named it
        self._walked: dict[tuple[int, str], int] = {}
        self._shown_now = False
        self._shown: set[int] = set()
        self._meaning: dict[str, int] = {}  # room of the memory -> room of the engine
        self._stands_for: dict[str, set[int]] = {}
        self._true_once: set[Key] = set()
        self._wrong_ways: set[Key] = set()
        self._presumed: dict[Key, bool] = {}
        self._resolved: dict[str, frozenset[int]] = {}
        self.report = StoryReport(open_mark=open_mark)

    def audit(self, read: Callable[[GameStep], GraphView]) -> StoryReport:
        """Audit a memory over the whole play.

        Args:
            read: takes a step into the memory and returns the memory's view after it.

        Returns:
            The report.
        """
        for number, true in enumerate(self._played):
            self._observe(number, true)
            self._check(number, true, read(true.step))
        report = self.report
        report.rooms = len({room for room in self._rooms if room})
        report.merged = sum(len(rooms) - 1 for rooms in self._stands_for.values())
        names = Counter(self._meaning.values())
        report.split = sum(count - 1 for count in names.values())
        report.wrong_ways = len(self._wrong_ways)
        report.presumed, report.presumed_wrong = len(self._presumed), list(self._presumed.values()).count(False)
        return report

    # what is true

    def _room_of(self, tree: TrueTree, number: int) -> int:
        """Return the room of an object; 0 when it is in none."""
        return self._room_among(tree.holders(number))

    def _room_among(self, chain: tuple[int, ...]) -> int:
        """Return the room among what holds an object, listed from the inside out; 0 when there is none."""
        if not self._room_holder:
            room = chain[-1] if chain else 0
        else:
            room = chain[-2] if len(chain) > 1 and chain[-1] == self._room_holder else 0
        return 0 if room in self._dark else room

    def _find_floating(self) -> frozenset[int]:
        """Return the objects that the engine moves to wherever they can be seen: always here, or nowhere."""
        moving: set[int] = set()
        staying: set[int] = set()
        first = self._played[0].tree
        for true, room in zip(self._played, self._rooms, strict=True):
            for number, parent in enumerate(true.tree.parents):
                if parent not in (0, room):
                    staying.add(number)
                elif parent != first.parents[number]:
                    moving.add(number)
        return frozenset(moving - staying)

    def _find_movable(self) -> frozenset[int]:
        """Return the objects that can be taken, by the attributes that set those apart which the player takes."""
        first = self._played[0].tree
        taken = {
            n
            for true in self._played
            for n, parent in enumerate(true.tree.parents)
            if parent == true.tree.player and first.parents[n] != first.player
        }
        others = {
            n for true in self._played for n, parent in enumerate(true.tree.parents) if parent in self._room_numbers
        } - {*taken, first.player}

        def share(attribute: int, among: set[int]) -> float:
            return sum(attribute in first.attributes[n] for n in among) / len(among) if among else 0.0

        if self._story.is_inform:  # scenery is marked, and what is static
            marks = {a for a in range(48) if share(a, others) >= _COMMON_MARK and share(a, taken) <= _RARE_MARK}
            return frozenset(n for n in self._objects if not marks & first.attributes[n])
        # what can be taken is marked
        mark = max(range(32), key=lambda a: (share(a, taken), -share(a, others)))
        return frozenset(taken | {n for n in self._objects if mark in first.attributes[n]})

    def _find_usual_refusal(self) -> str:
        replies: Counter[str] = Counter()
        for true, room in zip(self._played, self._rooms, strict=True):
            replies.update(_words(reply) for chain, reply in true.ways.values() if self._room_among(chain) == room)
        return replies.most_common(1)[0][0] if replies else ""

    def _observe(self, number: int, true: TrueStep) -> None:
        """Take in what is true after a step, and what of it was on screen."""
        tree, step, room = true.tree, true.step, self._rooms[number]
        before = self._rooms[number - 1] if number else 0
        text = f" {_words(step.text)} "
        title = f" {_words(self._objects[room].name)} " if room else ""
        lines = {_words(line) for line in step.text.splitlines()}
        arrived = room != before
        shown = bool(room) and (title.strip() in lines or any(line.startswith(title.strip() + " ") for line in lines))
        self._shown_now = shown or (self._shown_now and not arrived)
        direction = direction_of(step.action) if step.action else None
        if arrived and direction and before in self._shown and shown:
            self._walked[before, direction] = room
        if arrived and direction:
            self._leads[before, direction] = room
        if self._shown_now:
            self._shown.add(room)
        ends = {way: self._room_among(chain) for way, (chain, _) in true.ways.items()}
        led = Counter(ends.values())
        for way, there in ends.items():
            if there != room and led[there] > len(ends) // 2:
                continue  # something carries the player off whatever the player does, which says nothing of the way
            is_inside = tree.parents[tree.player] != room  # a car or a fireplace, which must be left first
            is_barred = there == room and (is_inside or _words(true.ways[way][1]) != self._usual_refusal)
            if is_barred:
                self._special.add((room, way))
            if is_barred or not there:  # or the player dies there
                self._barred.add((room, way))
                self._leads.setdefault((room, way), there)
            else:
                self._barred.discard((room, way))
                self._leads[room, way] = there
        here = [n for n in self._objects if n != tree.player and tree.parents[n] and self._room_of(tree, n) == room]
        if len(self._seen | set(here)) > len(self._seen):
            self._seen.update(here)
            self._resolved.clear()
        self._floats_in[room] = frozenset(n for n in here if n in self._floating)
        carried = {n for n in here if tree.player in tree.holders(n)}
        shown_text = f" {text} {_words(step.action or '')} "
        inventory = f" {_words(step.inventory or '')} "
        counts: Counter[str] = Counter(word for n in here for word in self._objects[n].words)
        for n in here:
            if n in self._floating:
                continue
            if self._is_named(n, shown_text, counts) or (n in carried and self._is_named(n, inventory, counts)):
                self._named[n] = tree.parents[n]
        for n, parent in list(self._named.items()):
            if tree.parents[n] != parent:
                del self._named[n]
        if number and self._open_mark is not None:
            self._observe_openings(self._played[number - 1].tree, tree, shown_text, counts)

    def _observe_openings(self, before: TrueTree, now: TrueTree, text: str, counts: Counter[str]) -> None:
        for n in self._objects:
            was, is_open = (self._open_mark in tree.attributes[n] for tree in (before, now))
            if was != is_open:
                self._opened.pop(n, None)
                if self._is_named(n, text, counts):
                    self._opened[n] = is_open

    def _is_named(self, number: int, text: str, counts: Counter[str]) -> bool:
        """Whether a text has the name of an object, or the last word of it where no other object has the word."""
        name = _words(self._objects[number].name)
        if not name:
            return False
        if f" {name} " in text:
            return True
        last = name.split()[-1]
        key = last[: self._story.word_length]
        return counts[key] == 1 and f" {last} " in text

    # what the memory holds

    def _check(self, number: int, true: TrueStep, view: GraphView) -> None:
        room, tree, turn = self._rooms[number], true.tree, true.step.turn
        self.report.steps += 1
        facts = view.facts()
        self._learn_room_names(view, room)
        held: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        places: list[tuple[frozenset[int], str]] = []
        seen: list[tuple[frozenset[int], str]] = []
        states: list[tuple[frozenset[int], bool]] = []
        ways: set[tuple[int, str, int]] = set()
        for fact in facts:
            key = fact.key
            subject, relation, object_ = key
            if relation in v.PRESUMED_DIRECTION_OF:
                right = self._way_is_right(subject, v.PRESUMED_DIRECTION_OF[relation], object_)
                if right is not None:
                    self._presumed[key] = self._presumed.get(key, True) and right
                continue
            kind, verdict = self._verdict(key, tree, room)
            if kind is None:
                continue
            if kind in ("thing", "fixture", "carried"):
                places.append((self._resolve(subject), object_))
            elif kind == "seen":
                seen.append((self._all_called(subject), object_))
            elif kind == "way" and object_ in self._meaning and subject in self._meaning:
                ways.add((self._meaning[object_], v.DIRECTION_OF[relation], self._meaning[subject]))
            elif kind == "state":
                states.append((self._resolve(subject), object_ == v.OPEN))
            if verdict is None:
                if kind == "seen" or (kind == "state" and self._open_mark is None):
                    continue
                self.report.unchecked += 1
                if kind == "thing" and not self._resolve(subject):
                    self.report.unknown_names[subject] += 1
                continue
            held[kind]["held"] += 1
            if verdict:
                held[kind]["true"] += 1
                self._true_once.add(key)
                continue
            mistake = "wrong"
            if key in self._true_once:
                held[kind]["stale"] += 1
                mistake = "stale"
            if kind == "way":
                self._wrong_ways.add(key)
            self._note(turn, kind, mistake, ", ".join(key))
        self._count_expected(turn, room, tree, view, places, seen, states, ways, held)
        for kind, counts in held.items():
            self.report.figures[kind] += StoryFigures(**counts)

    def _learn_room_names(self, view: GraphView, room: int) -> None:
        name = normalise_name(view.value(v.PLAYER, v.IS_IN) or "")
        if name and name != v.DARKNESS and room:
            self._stands_for.setdefault(name, set()).add(room)
            self._meaning.setdefault(name, room)

    def _verdict(self, key: Key, tree: TrueTree, room: int) -> tuple[str | None, bool | None]:
        """Return the kind of a statement and whether it is right; ``None`` for what is not checked."""
        subject, relation, object_ = key
        if relation == v.IS_SEEN_IN:
            return "seen", self._is_at(self._all_called(subject), object_, tree)
        if relation in (v.IS_IN, v.IS_ON):
            if subject == v.PLAYER:
                return "player", None if object_ == v.DARKNESS or not room else self._meaning.get(object_) == room
            candidates = self._resolve(subject)
            kind = "carried" if object_ == v.INVENTORY else "thing"
            if kind == "thing" and candidates and not candidates & self._movable:
                kind = "fixture"
            return kind, self._is_at(candidates, object_, tree)
        if relation == v.IS and object_ in v.LOCK_STATES:
            return "state", self._is_open(self._resolve(subject), object_, tree)
        if relation in v.DIRECTION_OF:
            return "way", self._way_is_right(subject, v.DIRECTION_OF[relation], object_)
        if relation in (v.HAS_EXIT, v.HAS_NO_EXIT):
            here = self._meaning.get(subject)
            leads = None if here is None else self._leads.get((here, object_))
            if here is None or leads is None:
                return "exit", None
            exists = leads != here
            barred = (here, object_) in self._special
            return "exit", exists or barred if relation == v.HAS_EXIT else not exists or barred
        return None, None

    def _is_open(self, candidates: frozenset[int], state: str, tree: TrueTree) -> bool | None:
        if self._open_mark is None:
            return None
        found = {self._open_mark in tree.attributes[n] for n in candidates}
        return found.pop() == (state == v.OPEN) if len(found) == 1 else None

    def _way_is_right(self, there: str, direction: str, here: str) -> bool | None:
        start, end = self._meaning.get(here), self._meaning.get(there)
        leads = None if start is None else self._leads.get((start, direction))
        if leads is None or end is None or (leads == start and (start, direction) in self._barred):
            return None
        return leads == end

    def _is_at(self, candidates: frozenset[int], where: str, tree: TrueTree) -> bool | None:
        inside = {n for n in candidates if self._is_judged(n, tree)}
        if not inside:
            return None
        carried = {n for n in inside if tree.player in tree.holders(n)}
        if where == v.INVENTORY:
            return bool(carried)
        room = self._meaning.get(where)
        if room is not None:
            return any(
                n in self._floats_in.get(room, ()) if n in self._floating else self._room_of(tree, n) == room
                for n in inside - carried
            )
        holders = self._all_called(where)
        if not holders:
            return None
        return any(holders & set(tree.holders(n)) for n in inside)

    def _is_judged(self, number: int, tree: TrueTree) -> bool:
        """Whether the tree tells where an object is: early games keep what is in several rooms elsewhere."""
        return not tree.parents[number] or self._room_of(tree, number) != 0 or not self._room_holder

    def _resolve(self, name: str) -> frozenset[int]:
        """Return the objects that a name may mean.

        These are the objects of exactly this name; else those with all its words; else the one that was in view and
        is called by its last word, or shares most words with it: descriptions use words that the parser does not know.
        """
        if name not in self._resolved:
            words = set(self._story.words_of(_NUMBER.sub("", name)))
            things = {n: thing.words for n, thing in self._objects.items() if n not in self._room_numbers}
            found = {n for n, known in things.items() if words and words <= known}
            found = found & self._seen or found
            exact = {n for n in found if set(self._story.words_of(self._objects[n].name)) == words}
            if not found:
                head = self._story.words_of(_NUMBER.sub("", name).split(" of ")[0])[-1:]
                shared = {
                    n: (bool(things[n].intersection(head)), len(words & things[n]))
                    for n in self._seen
                    if n in things and words & things[n]
                }
                most = max(shared.values(), default=(False, 0))
                alike = [n for n, count in shared.items() if count == most]
                found = set(alike) if len(alike) == 1 else set()
            self._resolved[name] = frozenset(exact or found)
        return self._resolved[name]

    def _all_called(self, name: str) -> frozenset[int]:
        """Return the objects in view so far that have all words of a name, and others too."""
        words = set(self._story.words_of(_NUMBER.sub("", name)))
        return self._resolve(name) | {n for n in self._seen if words and words <= self._objects[n].words}

    def _count_expected(
        self,
        turn: int,
        room: int,
        tree: TrueTree,
        view: GraphView,
        places: list[tuple[frozenset[int], str]],
        seen: list[tuple[frozenset[int], str]],
        states: list[tuple[frozenset[int], bool]],
        ways: set[tuple[int, str, int]],
        held: dict[str, Counter[str]],
    ) -> None:
        if self._shown_now:
            here = normalise_name(view.value(v.PLAYER, v.IS_IN) or "")
            self._expect("player", held, turn, self._meaning.get(here) == room, f"player, is in, {self._name(room)}")
        at: dict[int, set[str]] = {}
        for candidates, where in places:
            for n in candidates:
                at.setdefault(n, set()).add(where)
        for candidates, where in seen:
            for n in candidates - self._movable:
                at.setdefault(n, set()).add(where)
        for n, parent in self._named.items():
            if parent == tree.player:
                kind = "carried"
                found = v.INVENTORY in at.get(n, ())
            else:
                kind = "thing" if n in self._movable else "fixture"
                found = any(self._is_place(where, parent, tree) for where in at.get(n, ()))
            self._expect(kind, held, turn, found, f"{self._name(n)}, is in, {self._name(parent)}")
        for n, is_open in self._opened.items():
            found = any(n in candidates and said == is_open for candidates, said in states)
            self._expect("state", held, turn, found, f"{self._name(n)}, is, {v.OPEN if is_open else v.CLOSED}")
        for (start, direction), end in self._walked.items():
            if self._leads.get((start, direction)) == end:
                found = (start, direction, end) in ways
                self._expect("way", held, turn, found, f"{self._name(end)}, {direction} of, {self._name(start)}")

    def _is_place(self, where: str, holder: int, tree: TrueTree) -> bool:
        """Whether a place of the memory is the holder of a thing, or what holds the holder when no text named that."""
        while True:
            if holder == tree.player:
                return where == v.INVENTORY
            if holder in self._room_numbers:
                return self._meaning.get(where) == holder
            if holder in self._all_called(where):
                return True
            if holder in self._named or not tree.parents[holder]:
                return False
            holder = tree.parents[holder]

    def _expect(self, kind: str, held: dict[str, Counter[str]], turn: int, found: bool, words: str) -> None:
        held[kind]["expected"] += 1
        if found:
            held[kind]["found"] += 1
        else:
            self._note(turn, kind, "missed", words)

    def _note(self, turn: int, kind: str, mistake: str, words: str) -> None:
        if (kind, mistake, words) not in self.report.lasted:
            self.report.mistakes.append((turn, kind, mistake, words))
        self.report.lasted[kind, mistake, words] += 1

    def _name(self, number: int) -> str:
        thing = self._objects.get(number, StoryObject(number, "", frozenset()))
        return f"{thing.name} ({number})"


def _words(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9']+", text.casefold()))
