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
- Where the parser asks which of several things a word means, each of the names that it lists is tried. The lines of the
  game's grammar that jericho has no template for are tried too: those where a routine of the game decides what fits,
  such as the spells of a book.
- Commands that the game's parser cannot accept are inferred from others and left out: when "you can't use multiple
  objects with that verb" answers ``put all on table`` and ``put all on floor``, and other things can be put on both,
  then nothing else is tried with ``put all on``. Only replies that take no time in the game count for this.
- Of the templates that the game's grammar gives one action ("take", "get", "pick up"), one is tried
  (:mod:`worldthread_lab.envs.zmachine_grammar`, games made with Inform). Holes for what is held take carried things
  only: other things must be taken first; where the parser rejects a thing in a hole for two actions, it does for all.
- In a large story, where a command takes a millisecond, no more than some 900 commands are tried: first each common
  verb with what is in reach, then each thing once in each hole of a command with two, and all pairs of those to which
  the game replies unusually.
- Where very many commands with two things are left, only some are tried: as many of each template, beginning with
  things to which the game gave a rare reply, such as a lock among things without one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import islice, pairwise
from typing import Final, NamedTuple

from worldthread_lab.envs.jericho_engine import CommandTrial, CommandTrials, GameObject, JerichoEngine
from worldthread_lab.envs.zmachine_grammar import (
    CREATURE,
    ELEMENTARY,
    HELD,
    HOLE,
    NUMBER,
    SEVERAL,
    GrammarHole,
    StoryGrammar,
    TemplateMeaning,
)
from worldthread_lab.envs.zmachine_objects import StoryObject, StoryObjects, read_tree

FINDER_VERSION: Final = "6"
"""Version of everything that decides which actions are found."""

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
_WHICH = re.compile(r"^which\b[^,?]*,? *do you mean,? (.+?)\?", re.IGNORECASE | re.DOTALL)
"""How parsers ask which of several things a word means."""
_CHOICES = re.compile(r",(?: or)? | or ")
_ARTICLE = re.compile(r"^(?:the|a|an|some|your) ", re.IGNORECASE)
_ALL = b"all"
_CLASSES: Final = {
    "multi": "noun", "multiinside": "noun", "multiheld": HELD, "multiexcept": HELD,
}  # fmt: skip
"""Kinds of holes into which the same single things fit. A thing that is not held must be taken first, which is an
action of its own."""
_CHOSEN: Final = frozenset({"scope", "routine", "filter", "attribute"})
"""Kinds of holes for which the game decides what fits, and not the parser."""
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
_LARGE_STORY = 1 << 18
"""Bytes. In a larger story (version 8), a command takes a millisecond and more; in others a tenth of that."""
_MAX_TRIALS = 30_000
_MAX_TRIALS_LARGE = 900
"""Most commands that are tried in one state; in small stories no place is known to have more."""
_SHARE_OF_SINGLE_THINGS = 0.6
_SHARE_OF_LIKELY = 0.9
"""Parts of the limit within which the likeliest commands with one thing, and with two, are tried."""
_VERY_COMMON = 1_500
_COMMON = 200
"""How often jericho counted a verb that is tried first with everything, and first with all that is in reach."""
_SAMPLES = 3
"""With how many things other verbs are tried, to see whether the game tells things apart."""
_MOST_ODD = 3
"""Most replies of one kind that set a thing apart."""
_FEWEST_REDRAWN = 20
"""Fewest commands with a random outcome that are tried again."""
_FEWEST_PARTNERS = 2
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
        holes: which things fit; ``None`` where the grammar of the game cannot be read.
        action: the number of its action; -1 where it is not known.
    """

    parts: tuple[bytes, ...]
    usage: int
    holes: tuple[GrammarHole, ...] | None = None
    action: int = -1


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
        things = self._things()
        with self._engine.trials(chance) as trials:
            is_large = len(self._engine.story) > _LARGE_STORY
            survey = _Survey(trials, _MAX_TRIALS_LARGE if is_large else _MAX_TRIALS)
            nouns = self._nouns(things, trials)
            names = frozenset(word for thing in things for word in _WORD.findall(thing.name.lower()))
            templates = sorted(self._templates, key=lambda template: -template.usage)
            fitting = _Fitting(survey, nouns, templates)
            for template in templates:
                if len(template.parts) == 1:
                    survey.attempt(template.parts[0], template.usage)
            columns = [_Column(survey, template, fitting, names) for template in templates if len(template.parts) == 2]
            tables = [_Table(survey, template, fitting, names) for template in templates if len(template.parts) == 3]
            if is_large:
                self._try_likely(survey, columns, tables)
            for column in columns:
                column.try_rest()
            tables = [table for table in tables if table.try_to_reject()]
            _share_out(tables, min(_MAX_PAIRS, survey.left))
            return survey.valid_actions()

    def _try_likely(self, survey: _Survey, columns: list[_Column], tables: list[_Table]) -> None:
        """Try first what is likeliest to have an effect, where not everything can be tried."""
        with survey.share(_SHARE_OF_SINGLE_THINGS):
            for column in columns:
                column.try_likely()
        with survey.share(_SHARE_OF_LIKELY):
            for table in tables:
                table.try_likely()
            for column in columns:
                column.try_varied()

    def _things(self) -> list[GameObject]:
        """Return all objects with their whole names; jericho's list lacks abbreviations, and what has no name."""
        parents = read_tree(self._engine.story, self._engine.memory(), self._engine.player).parents
        children: dict[int, list[int]] = {}
        for number, parent in enumerate(parents):
            children.setdefault(parent, []).append(number)
        following = {one: other for alike in children.values() for one, other in pairwise(alike)}
        known = self._objects
        return [
            GameObject(
                number,
                known[number].name if number in known else "",
                parent,
                following.get(number, 0),
                children[number][0] if number in children else 0,
            )
            for number, parent in enumerate(parents)
        ]

    @cached_property
    def _objects(self) -> dict[int, StoryObject]:
        return StoryObjects(self._engine.story).objects()

    def _nouns(self, things: list[GameObject], trials: CommandTrials) -> _Nouns:
        descriptions: dict[str, str | None] = {}
        choices: dict[str, tuple[str, ...]] = {}  # a word that means several things -> their names

        def description(words: str) -> str | None:
            if words not in descriptions:
                reply = trials.attempt(b"examine " + _encoded(words)).reply
                choices[words] = _choices(reply)
                descriptions[words] = None if choices[words] else _recognised(reply)
            return descriptions[words]

        alike: dict[str, list[_Name]] = {}
        for name in self.names(things, synonyms=True):
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
                alone = description(word)
                for name in choices[word] or (word,):
                    described = description(name) if choices[word] else alone
                    if described is not None and described not in known:
                        known[described] = None
                        yield _encoded(name)

        mentioned = list(others(_text(trials.attempt(b"look").reply)))
        return _Nouns(
            [_encoded(noun) for noun, is_carried in reach.items() if is_carried],
            [_encoded(noun) for noun, is_carried in reach.items() if not is_carried] + [_ALL],
            mentioned,
            list(islice(others(" ".join(known)), _MAX_DETAILS)),
        )

    def _words_in(self, text: str) -> list[str]:
        """Return the nouns of a text that may name things, in the order of the text."""
        length = self._engine.word_length
        words = dict.fromkeys(_WORD.findall(text.lower()))
        return [word for word in words if word not in _NO_THINGS and word[:length] in self._engine.nouns]

    def names(self, things: list[GameObject], *, synonyms: bool = False) -> Iterable[_Name]:
        """Yield the names, among those that the game understands, of the things where the player is.

        Args:
            things: all objects, indexed by their number.
            synonyms: whether to yield the parser's words for a thing that it does not know by its printed name.
        """
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
            understood = [name for name in _names_of(thing.name, is_carried) if self._is_understood(name.words)]
            if synonyms and not any(len(name.words.split()) == 1 for name in understood) and number in self._objects:
                words = sorted(self._objects[number].words & self._engine.words)
                understood += [_Name(word, _ADJECTIVE - _LETTER * len(word), is_carried) for word in words]
            for name in understood:
                if name not in seen:
                    seen.add(name)
                    yield name

    def _is_understood(self, words: str) -> bool:
        return len(words.split()) > 1 or words[: self._engine.word_length] in self._engine.words

    @cached_property
    def _templates(self) -> list[_Template]:
        """One template for each action and the things that it takes, in the order in which jericho lists them."""
        from jericho import util

        try:
            grammar = StoryGrammar(self._engine.story)
        except ValueError:
            grammar = None
        best: dict[object, tuple[tuple[int, int, int, str], _Template]] = {}
        own = [] if grammar is None else grammar.templates()  # jericho lists none where a routine decides what fits
        for text in dict.fromkeys([*self._engine.templates, *own]):
            usage: int = util.verb_usage_count(text)
            parts = tuple(part.encode("ascii") for part in text.split(HOLE))
            meaning = None if grammar is None else grammar.meaning(text)
            if meaning is None:
                best[text] = (0, 0, 0, text), _Template(parts, usage)
                continue
            holes = meaning.holes[::-1] if meaning.is_reversed else meaning.holes
            rank = (-usage, len(text.split()), len(text), text)
            known = best.get(alike := _sameness(meaning))
            if known is None or rank < known[0]:
                best[alike] = rank, _Template(parts, usage, holes, meaning.action)
        return [template for _, template in best.values()]


def _sameness(meaning: TemplateMeaning) -> object:
    """Return what is equal for templates that make the game do the same with the same things."""
    return meaning.action, tuple((_CLASSES.get(hole.kind, hole.kind), hole.test) for hole in meaning.holes)


class _Fitting:
    """Which nouns fit into a hole.

    The parser rejects a noun for the kind of the hole and not for the action: where the same rejection answers two
    actions, it answers all of them.

    Args:
        survey: what was tried.
        nouns: the nouns of the place.
        templates: the templates of the game.
    """

    def __init__(self, survey: _Survey, nouns: _Nouns, templates: list[_Template]) -> None:
        self._survey = survey
        self._nouns = nouns
        self._probes: dict[GrammarHole, list[_Template]] = {}
        for template in templates:
            if template.holes is not None and len(template.holes) == 1:
                self._probes.setdefault(template.holes[0], []).append(template)
        self._rejected: dict[GrammarHole, frozenset[bytes]] = {}
        self.carried = len(nouns.carried)
        self.in_reach = self.carried + len(nouns.near)
        self.near = len(nouns.near) - 1  # "all" is not a thing
        self.reach = frozenset([*nouns.carried, *nouns.near])
        self.all = [*nouns.carried, *nouns.near, *nouns.mentioned, *nouns.details]
        self.paired = len(self.all) - len(nouns.details)
        """Number of nouns that are combined with others."""

    def nouns(self, template: _Template, number: int) -> list[bytes]:
        """Return the nouns that fit into a hole of a template."""
        if template.holes is None:
            return self.all
        hole = template.holes[number]
        if hole.kind == NUMBER:
            return []
        several = [] if hole.kind in SEVERAL else [_ALL]
        if _CLASSES.get(hole.kind) == HELD:
            return [*self._nouns.carried, *([] if several else [_ALL])]
        rejected = self._find_rejected(hole)
        return [noun for noun in self.all if noun not in rejected and noun not in several]

    def _find_rejected(self, hole: GrammarHole) -> frozenset[bytes]:
        """Return the nouns that the parser rejects in a hole, whatever the action."""
        if hole not in self._rejected:
            found: frozenset[bytes] = frozenset()
            probes = self._probes.get(hole, [])
            if self._survey.infers and len(probes) > 1 and (hole.kind == CREATURE or hole.kind not in ELEMENTARY):
                one, other = probes[:2]
                found = frozenset(noun for noun in self.all if self._is_rejected(noun, one, other))
            self._rejected[hole] = found
        return self._rejected[hole]

    def _is_rejected(self, noun: bytes, one: _Template, other: _Template) -> bool:
        first, second = (
            self._survey.attempt(probe.parts[0] + noun + probe.parts[1], probe.usage).rejection
            for probe in (one, other)
        )
        return first is not None and first == second


class _Survey:
    """The effects of the commands that were tried in one state.

    Args:
        trials: tries commands.
        most: most commands to try.
    """

    def __init__(self, trials: CommandTrials, most: int) -> None:
        self._trials = trials
        self._most = most
        self._limit = most
        self._effects: dict[bytes, tuple[int, bytes]] = {}
        self._tried: dict[bytes, CommandTrial] = {}
        self._doubtful: list[tuple[bytes, int]] = []
        idle = [trials.attempt(command) for command in (b"wait", b"look")]
        self._idle_chances = {trial.chance for trial in idle} | {trials.chance}
        # in a game that counts no moves, or waits for an answer now, a reply without a move is no rejection
        self.infers = all(trial.took_time for trial in idle)

    @property
    def left(self) -> int:
        """Number of commands that may still be tried."""
        return self._limit - len(self._tried)

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        """Let this part of all commands be tried within ``with``, those before it included."""
        self._limit = int(self._most * part)
        try:
            yield
        finally:
            self._limit = self._most

    def valid_actions(self) -> tuple[str, ...]:
        """Return one action for each change, sorted."""
        for line, usage in self._doubtful[: max(_FEWEST_REDRAWN, self._most // 100)]:
            for draw in _OTHER_DRAWS:
                change = self._trials.attempt(line, draw).change
                if change is not None:
                    self._note(line, usage, change)
                    break
        return tuple(sorted({line.decode("ascii") for _, line in self._effects.values()}))

    def attempt(self, line: bytes, usage: int) -> CommandTrial:
        """Try a line once and record its effect."""
        known = self._tried.get(line)
        if known is not None:
            return known
        trial = self._tried[line] = self._trials.attempt(line)
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


class _Column:
    """A template with one hole, and the nouns that fit.

    Args:
        survey: what was tried.
        template: the template.
        fitting: which nouns fit.
        names: the words of the names of things.
    """

    def __init__(self, survey: _Survey, template: _Template, fitting: _Fitting, names: frozenset[str]) -> None:
        self._survey = survey
        self._template = template
        self._names = names
        self._nouns = fitting.nouns(template, 0)
        self._reach = [noun for noun in self._nouns if noun in fitting.reach]
        self._kinds: set[tuple[str, ...]] = set()

    def try_likely(self) -> None:
        """Try a common verb with what is in reach, and the most common with all; other verbs with a few things."""
        if self._template.usage >= _VERY_COMMON:
            self._try(self._nouns)
        elif self._template.usage >= _COMMON:
            self._try(self._reach)
        else:
            self._try(self._reach[:: max(1, len(self._reach) // _SAMPLES)][:_SAMPLES])

    def try_varied(self) -> None:
        """Try what is in reach when the game replied differently to the few things."""
        if len(self._kinds) > 1:
            self._try(self._reach)

    def try_rest(self) -> None:
        """Try all nouns."""
        self._try(self._nouns)

    def _try(self, nouns: list[bytes]) -> None:
        for noun in nouns:
            if self._survey.left <= 0:
                return
            answer = self._survey.attempt(
                self._template.parts[0] + noun + self._template.parts[1], self._template.usage
            )
            self._kinds.add(_words_without(self._names, answer.reply))


class _Table:
    """A template with two holes: rows are nouns of the first, columns nouns of the second.

    A parser rejects a command for its words, not for its effect, so that its reply to one pair can be attributed to one
    noun: a row is rejected when it gets the same rejection in two columns in which another row does not. And when every
    remaining noun was tried in both holes, always with the same rejection, the template cannot be used with any.

    Nouns that are only mentioned are paired with carried things only. What only descriptions mention is paired with
    what is in reach, in holes for which the game decides what fits, such as the spells that can be cast on a thing.
    """

    def __init__(self, survey: _Survey, template: _Template, fitting: _Fitting, names: frozenset[str]) -> None:
        self._survey = survey
        self._template = template
        self._names = names
        self._nouns = fitting.all
        self._paired = fitting.paired
        numbers = {noun: at for at, noun in reversed(list(enumerate(self._nouns)))}
        self._holes = [
            [
                numbers[noun]
                for noun in fitting.nouns(template, hole)
                if numbers[noun] < fitting.paired
                or (template.holes is not None and template.holes[hole].kind in _CHOSEN)
            ]
            for hole in (0, 1)
        ]
        self._carried = fitting.carried
        self._in_reach = fitting.in_reach
        self._pairs_near = fitting.near <= _MAX_PAIRED
        rows, columns = map(len, self._holes)
        self._infer = survey.infers and min(rows, columns) >= _MIN_TO_INFER
        self._answers: dict[tuple[int, int], CommandTrial] = {}
        self._waiting: list[tuple[int, int]] = []

    def __len__(self) -> int:
        """Return the number of pairs that the parser may accept and that were not tried."""
        return len(self._waiting)

    def try_likely(self) -> None:
        """Try each noun once in each hole, and all pairs of a noun to which the game replies as to few others."""
        rows, columns = self._holes
        if not rows or not columns:
            return
        for at in range(max(len(rows), len(columns))):
            row, column = rows[at % len(rows)], columns[at % len(columns)]
            if row == column:
                column = columns[(at + 1) % len(columns)]
            if row != column and self._is_worth_trying(min(row, column), max(row, column)) and self._survey.left > 0:
                self._answer(row, column)
        kinds = {pair: self._kind(answer) for pair, answer in self._answers.items()}
        counts = Counter(kinds.values())
        if not counts:
            return
        (usual, times), *_ = counts.most_common(1)
        if times == len(kinds):
            return
        for (row, column), kind in kinds.items():
            if kind == usual or counts[kind] > _MOST_ODD:
                continue
            for pairs in ([(row, other) for other in columns], [(other, column) for other in rows]):
                self._try_odd([pair for pair in pairs if pair[0] != pair[1]], kind, usual)

    def _try_odd(self, pairs: list[tuple[int, int]], kind: object, usual: object) -> None:
        """Try the pairs of one noun, if the game replies to the first of them in an unusual way too."""
        pairs = [pair for pair in pairs if self._is_worth_trying(min(pair), max(pair))]
        fresh = [pair for pair in pairs if pair not in self._answers]
        if not fresh or self._survey.left <= 0:
            return
        first = self._answer(*fresh[0])
        if self._kind(first) == usual or (first.rejection is not None and self._kind(first) == kind):
            return
        for pair in fresh[1:]:
            if self._survey.left > 0:
                self._answer(*pair)

    def try_to_reject(self) -> bool:
        """Find out what the parser cannot accept; return whether pairs are left."""
        if self._survey.left > 0:
            self._waiting = self._acceptable()
        return bool(self._waiting)

    def _kind(self, answer: CommandTrial) -> tuple[bytes | None, tuple[str, ...]]:
        # the change is part of the kind: in some places the world changes by itself, whatever the player does
        return answer.change, _words_without(self._names, answer.reply)

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
        for hole, own in enumerate(self._holes):
            known = {pair[hole] for pair in self._answers}
            for at in own if self._carried > 1 else ():
                partners = [other for other in self._holes[1 - hole] if other < self._carried and other != at]
                if at not in known and partners:
                    partner = next((other for other in partners if other > at), partners[0])
                    self._answer(*((at, partner) if hole == 0 else (partner, at)))

    def _rarest_first(self) -> list[tuple[int, int]]:
        """Return the untried pairs, first those with a noun to which the game gave a rare reply."""
        kinds = {pair: self._kind(answer) for pair, answer in self._answers.items()}
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

    def _acceptable(self) -> list[tuple[int, int]]:
        """Return the untried pairs that the parser may accept, inferred from its answers to some pairs."""
        rows, columns = self._holes
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
        if second >= self._paired:
            return first < self._in_reach
        return first < self._carried or (self._pairs_near and second < self._in_reach)

    def _is_no_sentence(self, rows: list[int], columns: list[int]) -> bool:
        """Whether each of these nouns, with one of the others, gets the same rejection."""
        pairs = [(row, other) for row in rows for other in self._others(row, columns)[:1]]
        pairs += [(other, column) for column in columns for other in self._others(column, rows)[:1]]
        answers = {self._answer(*pair).rejection for pair in pairs}
        return len(answers) == 1 and None not in answers

    def _others(self, at: int, among: list[int], *, forward: bool = True) -> list[int]:
        """Return the other nouns in reach, beginning with the next one, or with the one before."""
        others = sorted(other for other in among if other != at and other < self._in_reach)
        if not forward:
            others.reverse()
        border = next((n for n, other in enumerate(others) if (other > at) == forward), 0)
        return others[border:] + others[:border]

    def _is_rejected(self, at: int, *, is_row: bool) -> bool:
        """Whether the parser rejects a row or a column for its noun."""
        same, opposite = self._holes if is_row else self._holes[::-1]
        partners = self._others(at, opposite, forward=is_row)
        if len(partners) < _FEWEST_PARTNERS:
            return False
        near, far = partners[:_FEWEST_PARTNERS]

        def answer(first: int, second: int) -> bytes | None:
            return (self._answer(first, second) if is_row else self._answer(second, first)).rejection

        rejection = answer(at, near)
        if rejection is None or answer(at, far) != rejection:
            return False
        others = [other for other in same if other < self._in_reach and other not in (at, near, far)]
        return any(answer(other, near) != rejection and answer(other, far) != rejection for other in others[:2])

    def _answer(self, row: int, column: int) -> CommandTrial:
        pair = (row, column)
        if pair not in self._answers:
            first, middle, last = self._template.parts
            line = first + self._nouns[row] + middle + self._nouns[column] + last
            self._answers[pair] = self._survey.attempt(line, self._template.usage)
        return self._answers[pair]


def _share_out(tables: list[_Table], left: int) -> None:
    """Fill the tables: small ones completely; the others share what is left of the limit equally."""
    for number, table in enumerate(sorted(tables, key=len)):
        left -= table.fill(left // (len(tables) - number))


def _words_without(names: frozenset[str], reply: bytes) -> tuple[str, ...]:
    """Return the words of a reply without the names of things."""
    return tuple(word for word in _WORD.findall(_text(reply).lower()) if word not in names)


def _text(reply: bytes) -> str:
    return reply.decode("cp1252", "replace")


def _encoded(words: str) -> bytes:
    return words.encode("ascii", "replace")


def _recognised(reply: bytes) -> str | None:
    """Return a reply to ``examine`` without line breaks; ``None`` when the game did not recognise the thing."""
    from jericho import util

    cleaned: str = util.clean(_text(reply))
    return cleaned if util.recognized(cleaned) else None


def _choices(reply: bytes) -> tuple[str, ...]:
    """Return the names of the things among which the parser asks to choose; empty when it does not ask."""
    asked = _WHICH.match(_text(reply).strip())
    if asked is None:
        return ()
    names = _CHOICES.split(" ".join(asked[1].split()))
    return tuple(_ARTICLE.sub("", name).lower() for name in names if name)


def _names_of(name: str, is_carried: bool) -> Iterable[_Name]:
    words = name.split()
    if not words:
        return
    yield _Name(name, _WHOLE_NAME - _LETTER * len(name), is_carried)
    if len(words) > 1:
        for word in words[:-1]:
            yield _Name(word, _ADJECTIVE - _LETTER * len(word), is_carried)
        yield _Name(words[-1], _NOUN - _LETTER * len(words[-1]), is_carried)
