"""Valid actions of a Z-machine game: the commands of its grammar that would change the world.

The procedure is that of jericho's ``get_valid_actions``: name the things in reach, keep those that can be examined,
fill the templates of the grammar with one name of each, try every command from the current state, and offer one command
for each distinct change of the world. This implementation differs from jericho's:

- The result is the same in every process.
- The nouns of a text are found with the game's own dictionary, without a language model (jericho uses spaCy). A thing
  that is only mentioned, such as a lake or a far door, is combined with carried things only, and so is everything near
  where there are more than eight things. Things that only the descriptions of these mention, such as the button on a
  panel or a spell in a book, are tried alone.
- A command with a random outcome, such as a blow in a fight, is offered when it changes the world under any of a few
  draws, not only under the next one, which the player cannot know.
- An action that halts the interpreter does not hide those after it.
- Commands that the game's parser cannot accept are inferred from others and left out: when "you can't use multiple
  objects with that verb" answers ``put all on table`` and ``put all on floor``, and other things can be put on both,
  then nothing else is tried with ``put all on``. Only replies that take no time in the game count for this.
- Where very many commands with two things are left, only some are tried: as many of each template, beginning with
  things to which the game gave a rare reply, such as a lock among things without one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

from worldthread.envs.jericho_engine import CommandTrial, CommandTrials, GameObject, JerichoEngine

FINDER_VERSION: Final = "4"
"""Version of everything that decides which actions are found."""

_HOLE = "OBJ"
_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")
_NO_THINGS = frozenset(
    {
        *("a", "an", "the", "this", "that", "these", "those", "here", "there", "it", "them", "him", "her", "me"),
        *("i", "you", "he", "she", "they", "we", "us", "my", "mine", "your", "yours", "his", "hers", "its", "our"),
        *("ours", "their", "theirs", "yourself", "self", "myself"),
        *("all", "another", "both", "each", "every", "everything"),
        *("one", "other", "others", "some", "any", "and", "of", "at", "can", "see", "is", "are"),
        *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "half"),
        *("north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest"),
        *("n", "s", "e", "w", "ne", "nw", "se", "sw", "u", "d", "up", "down", "in", "out", "inside", "outside"),
    }
)
"""Words that many games list as nouns, but that name nothing to act on."""
_NOUN = 1.1
_WHOLE_NAME = 0.6
_ADJECTIVE = 0.1
_LETTER = 0.01
"""Scores by which jericho chooses among the names of a thing: the last word, the whole name, an earlier word; minus a
penalty for each letter."""
_OTHER_DRAWS = (0x2545F491, 0x0BADF00D, 0x51ED270B)
"""Numbers of the random generator under which commands with a random outcome are tried again."""
_MAX_PAIRED = 8
"""Most things near and not carried that are combined with each other: two of them rarely have an effect together, and
their pairs would be most of the commands in a crowded place."""
_MAX_DETAILS = 8
"""Most nouns that are taken from the descriptions of things."""
_MAX_PAIRS = 5_000
"""Most commands with two things that are tried in one state, beside those that show what the parser accepts. Most
places have fewer; elsewhere the templates share this number."""
_MIN_TO_INFER = 4
"""Fewest nouns with which inferring what the parser rejects saves time."""


class _Name(NamedTuple):
    words: str
    score: float
    is_carried: bool


class _Nouns(NamedTuple):
    """One name for each thing.

    Args:
        carried: things that the player carries.
        near: other things in reach, and ``all``.
        mentioned: things that the description of the place mentions.
        details: things that only the descriptions of the others mention.
    """

    carried: list[bytes]
    near: list[bytes]
    mentioned: list[bytes]
    details: list[bytes]


class _Template(NamedTuple):
    """A command with holes for things.

    Args:
        parts: the text around the holes.
        usage: how often players use its verb, as jericho counted.
    """

    parts: tuple[bytes, ...]
    usage: int


class ActionFinder:
    """Finds the valid actions of a game.

    Args:
        engine: the game; every call leaves it in the state in which it was.
    """

    def __init__(self, engine: JerichoEngine) -> None:
        self._engine = engine

    def find(self, chance: int | None = None) -> tuple[str, ...]:
        """Find the valid actions of the current state.

        Args:
            chance: the number of the random generator before each command; ``None``: the current one.

        Returns:
            The actions, sorted; empty when the game is over.
        """
        if self._engine.over or self._engine.won:
            return ()
        things = self._engine.things()
        with self._engine.trials(chance) as trials:
            survey = _Survey(trials)
            nouns = self._nouns(things, trials)
            names = frozenset(word for thing in things for word in _WORD.findall(thing.name.lower()))
            tables = []
            for template in self._templates:
                if len(template.parts) == 3:
                    tables.append(_Table(survey, template, nouns, names))
                else:
                    survey.fill(template, nouns)
            _share_out(tables)
            return survey.valid_actions()

    def _nouns(self, things: list[GameObject], trials: CommandTrials) -> _Nouns:
        descriptions: dict[str, str | None] = {}

        def description(words: str) -> str | None:
            if words not in descriptions:
                descriptions[words] = _recognised(trials.attempt(b"examine " + _encoded(words)).reply)
            return descriptions[words]

        alike: dict[str, list[_Name]] = {}
        for name in self.names(things):
            described = description(name.words)
            if described is not None:
                alike.setdefault(described, []).append(name)
        reach = {
            max(names, key=lambda name: name.score).words: any(name.is_carried for name in names)
            for names in alike.values()
        }
        known = dict.fromkeys(alike)  # descriptions, in the order in which they were found

        def others(text: str) -> Iterator[bytes]:
            """Yield the nouns of a text that name further things."""
            for word in self._words_in(text):
                described = description(word)
                if described is not None and described not in known:
                    known[described] = None
                    yield _encoded(word)

        mentioned = list(others(_text(trials.attempt(b"look").reply)))
        return _Nouns(
            [_encoded(noun) for noun, is_carried in reach.items() if is_carried],
            [_encoded(noun) for noun, is_carried in reach.items() if not is_carried] + [b"all"],
            mentioned,
            list(islice(others(" ".join(known)), _MAX_DETAILS)),
        )

    def _words_in(self, text: str) -> list[str]:
        """Return the nouns of a text that may name things, in the order of the text."""
        length = self._engine.word_length
        words = dict.fromkeys(_WORD.findall(text.lower()))
        return [word for word in words if word not in _NO_THINGS and word[:length] in self._engine.nouns]

    def names(self, things: list[GameObject]) -> Iterable[_Name]:
        """Yield the names, among those that the game understands, of the things where the player is."""
        player = things[self._engine.player]
        if not 0 < player.parent < len(things):
            return
        seen: set[_Name] = set()
        waiting = [(things[player.parent].child, False)]
        while waiting:
            number, is_carried = waiting.pop()
            if not 0 < number < len(things):
                continue
            thing = things[number]
            waiting += [(thing.sibling, is_carried), (thing.child, is_carried or number == player.number)]
            if number == player.number:
                continue
            for name in _names_of(thing.name, is_carried):
                if name not in seen and self._is_understood(name.words):
                    seen.add(name)
                    yield name

    def _is_understood(self, words: str) -> bool:
        return len(words.split()) > 1 or words[: self._engine.word_length] in self._engine.words

    @cached_property
    def _templates(self) -> list[_Template]:
        from jericho import util

        return [
            _Template(tuple(part.encode("ascii") for part in text.split(_HOLE)), util.verb_usage_count(text))
            for text in self._engine.templates
        ]


class _Survey:
    """The effects of the commands that were tried in one state."""

    def __init__(self, trials: CommandTrials) -> None:
        self._trials = trials
        self._effects: dict[bytes, tuple[int, bytes]] = {}
        self._doubtful: list[tuple[bytes, int]] = []
        idle = [trials.attempt(command) for command in (b"wait", b"look")]
        self._idle_chances = {trial.chance for trial in idle} | {trials.chance}
        # in a game that counts no moves, or waits for an answer now, a reply without a move is no rejection
        self.infers = all(trial.took_time for trial in idle)

    def fill(self, template: _Template, nouns: _Nouns) -> None:
        """Try a template without a hole, or a template with one hole and every noun."""
        parts, usage = template
        if len(parts) == 1:
            self.attempt(parts[0], usage)
        else:
            for noun in (*nouns.carried, *nouns.near, *nouns.mentioned, *nouns.details):
                self.attempt(parts[0] + noun + parts[1], usage)

    def valid_actions(self) -> tuple[str, ...]:
        """Return one action for each change, sorted."""
        for line, usage in self._doubtful:
            for draw in _OTHER_DRAWS:
                change = self._trials.attempt(line, draw).change
                if change is not None:
                    self._note(line, usage, change)
                    break
        return tuple(sorted({line.decode("ascii") for _, line in self._effects.values()}))

    def attempt(self, line: bytes, usage: int) -> CommandTrial:
        """Try a line and record its effect."""
        trial = self._trials.attempt(line)
        if trial.change is not None:
            self._note(line, usage, trial.change)
        elif trial.took_time and trial.chance not in self._idle_chances:
            self._doubtful.append((line, usage))
        return trial

    def _note(self, line: bytes, usage: int, change: bytes) -> None:
        """Keep for each change the action with the most used verb, then the shortest, then the first by alphabet."""
        known = self._effects.get(change)
        if known is None or (-usage, len(line), line) < (-known[0], len(known[1]), known[1]):
            self._effects[change] = (usage, line)


class _Table:
    """A template with two holes: rows are nouns of the first, columns nouns of the second.

    A parser rejects a command for its words, not for its effect, so that its reply to one pair can be attributed to one
    noun: a row is rejected when it gets the same rejection in two columns in which another row does not. And when every
    remaining noun was tried in both holes, always with the same rejection, the template cannot be used with any.

    Nouns that are only mentioned are paired with carried things only.
    """

    def __init__(self, survey: _Survey, template: _Template, nouns: _Nouns, names: frozenset[str]) -> None:
        self._survey = survey
        self._template = template
        self._names = names
        self._nouns = [*nouns.carried, *nouns.near, *nouns.mentioned]
        self._carried = len(nouns.carried)
        self._in_reach = self._carried + len(nouns.near)
        self._pairs_near = len(nouns.near) - 1 <= _MAX_PAIRED  # "all" is not a thing
        self._infer = survey.infers and self._in_reach >= _MIN_TO_INFER
        self._answers: dict[tuple[int, int], CommandTrial] = {}
        self._waiting = self._acceptable()

    def __len__(self) -> int:
        """Return the number of pairs that the parser may accept and that were not tried."""
        return len(self._waiting)

    def fill(self, most: int) -> int:
        """Try the pairs that the parser may accept.

        Args:
            most: most pairs to try, not counting those that are tried to find out which to prefer.

        Returns:
            The number of pairs that were tried.
        """
        before = len(self._answers)
        pairs = self._waiting
        if len(pairs) > most:
            self._sample()
            pairs = self._rarest_first()[: max(0, before + most - len(self._answers))]
        for pair in pairs:
            self._answer(*pair)
        return len(self._answers) - before

    def _sample(self) -> None:
        """Try pairs until every row and every column has an answer."""
        rows, columns = ({pair[hole] for pair in self._answers} for hole in (0, 1))
        for at in range(len(self._nouns) if self._carried > 1 else 0):
            other = (at + 1) % self._carried
            if at not in rows:
                self._answer(at, other)
            if at not in columns:
                self._answer(other, at)

    def _rarest_first(self) -> list[tuple[int, int]]:
        """Return the untried pairs, first those with a noun to which the game gave a rare reply."""
        # the change is part of the kind: in some places the world changes by itself, whatever the player does
        kinds = {pair: (answer.change, self._words(answer.reply)) for pair, answer in self._answers.items()}
        counts = Counter(kinds.values())
        most = len(kinds)
        commonness: dict[tuple[int, int], int] = {}  # by hole and noun
        for pair, kind in kinds.items():
            for place in enumerate(pair):
                commonness[place] = min(commonness.get(place, most), counts[kind])
        return sorted(
            (pair for pair in self._waiting if pair not in self._answers),
            key=lambda pair: min(commonness.get(place, most) for place in enumerate(pair)),
        )

    def _words(self, reply: bytes) -> tuple[str, ...]:
        """Return the words of a reply without the names of things."""
        return tuple(word for word in _WORD.findall(_text(reply).lower()) if word not in self._names)

    def _acceptable(self) -> list[tuple[int, int]]:
        """Return the untried pairs that the parser may accept, inferred from its answers to some pairs."""
        rows, columns = list(range(len(self._nouns))), list(range(len(self._nouns)))
        if self._infer:
            rows = [row for row in rows if row >= self._in_reach or not self._is_rejected(row, is_row=True)]
            columns = [
                column for column in columns if column >= self._in_reach or not self._is_rejected(column, is_row=False)
            ]
            if self._is_no_sentence(rows, columns):
                return []
        return [
            (row, column)
            for row in rows
            for column in columns
            if row != column
            and (row, column) not in self._answers
            and self._is_worth_trying(min(row, column), max(row, column))
        ]

    def _is_worth_trying(self, first: int, second: int) -> bool:
        return first < self._carried or (self._pairs_near and second < self._in_reach)

    def _is_no_sentence(self, rows: list[int], columns: list[int]) -> bool:
        """Whether each of these nouns, with one of the others, gets the same rejection."""
        pairs = [(row, other) for row in rows for other in self._partner(row, columns)]
        pairs += [(other, column) for column in columns for other in self._partner(column, rows)]
        answers = {self._answer(*pair).rejection for pair in pairs}
        return len(answers) == 1 and None not in answers

    def _partner(self, at: int, among: list[int]) -> list[int]:
        """Return the next noun in reach, the first after the last; an empty list when there is none."""
        others = [other for other in among if other != at and other < self._in_reach]
        return [other for other in others if other > at][:1] or others[:1]

    def _is_rejected(self, at: int, *, is_row: bool) -> bool:
        """Whether the parser rejects a row or a column for its noun."""
        size = self._in_reach
        near, far = ((at + 1) % size, (at + 2) % size) if is_row else ((at - 1) % size, (at - 2) % size)

        def answer(first: int, second: int) -> bytes | None:
            return (self._answer(first, second) if is_row else self._answer(second, first)).rejection

        rejection = answer(at, near)
        if rejection is None or answer(at, far) != rejection:
            return False
        others = [other for other in range(size) if other not in (at, near, far)]
        return any(answer(other, near) != rejection and answer(other, far) != rejection for other in others[:2])

    def _answer(self, row: int, column: int) -> CommandTrial:
        pair = (row, column)
        if pair not in self._answers:
            first, middle, last = self._template.parts
            line = first + self._nouns[row] + middle + self._nouns[column] + last
            self._answers[pair] = self._survey.attempt(line, self._template.usage)
        return self._answers[pair]


def _share_out(tables: list[_Table]) -> None:
    """Fill the tables: small ones completely; the others share what is left of the limit equally."""
    left = _MAX_PAIRS
    for number, table in enumerate(sorted(tables, key=len)):
        left -= table.fill(left // (len(tables) - number))


def _text(reply: bytes) -> str:
    return reply.decode("cp1252", "replace")


def _encoded(words: str) -> bytes:
    return words.encode("ascii", "replace")


def _recognised(reply: bytes) -> str | None:
    """Return a reply to ``examine`` without line breaks; ``None`` when the game did not recognise the thing."""
    from jericho import util

    cleaned: str = util.clean(_text(reply))
    return cleaned if util.recognized(cleaned) else None


def _names_of(name: str, is_carried: bool) -> Iterable[_Name]:
    words = name.split()
    if not words:
        return
    yield _Name(name, _WHOLE_NAME - _LETTER * len(name), is_carried)
    if len(words) > 1:
        for word in words[:-1]:
            yield _Name(word, _ADJECTIVE - _LETTER * len(word), is_carried)
        yield _Name(words[-1], _NOUN - _LETTER * len(words[-1]), is_carried)
