"""Extracts where things are from sentences of any game that say so, wherever the place stands in the sentence.

=====================================================  =========================================================
sentence                                               facts
=====================================================  =========================================================
There is a ball of wool here.                          (ball of wool, is in, <room>)
Sam see torch (black) and old hat here.                (torch, is in, <room>), (old hat, is in, <room>)
A bottle is sitting on the table.                      (bottle, is on, table)
On the shelf is a dented tin box, half open.           (dented tin box, is on, shelf)
You can also see a cup (in which is some tea) here.    (cup, is in, <room>), (tea, is in, cup)
The wooden crate contains:                             (pair of boots, is in, wooden crate)
  A pair of boots
=====================================================  =========================================================

Where descriptions, and what lies about, have paragraphs of their own, a paragraph that begins with an indefinite
article presents what it names ("A stuffed bear guards the door").

The place is the room when the sentence names a part of every room, such as a corner or the floor. What a sentence says
of pictures, sounds and the like cannot be told from things; only sentences with a verb of being somewhere are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from worldthread.names import normalise_name
from worldthread.types import Statement
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.english import VAGUE, MentionedThing, mentioned_thing, noun_phrase, sentences
from worldthread_lab.game.phrases import without_what_follows
from worldthread_lab.game.statement_collector import StatementCollector
from worldthread_lab.game.words import one_of, words

_PART_OF_ROOM: Final = re.compile(
    r"\b(?:rooms?|corners?|floor|ground|walls?|ceiling|cent(?:er|re)|middle|side|sides|end|distance|edge|air|area|place|"
    r"north|south|east|west|left|right|front|here|background|spot|rear|back|foot|bottom|top|"
    r"mud|sand|grass|dirt|earth|snow|gravel|dust|ashes|leaves|rubble|debris|rocks|boulders|branch(?:es)?|trees|shore|"
    r"beach|bank|road|path|field|clearing|glade|meadow|forest|woods?|grove|courtyard|cave|cavern|chamber|hall|hallway|"
    r"rails?|railings?|banisters?|rafters?|beams?|nails?|pegs?|gutter|turf|drain|flags|flagstones|floorboards|tiles|"
    r"cobbles|cobblestones|pavement|paving|doorways?|gateway|archway|entrance|threshold|face|cliffs?|hillside|slope|steps|stairs|"
    r"lobby|yard|lawn|lane|cell|cellar|passage|passageway|tunnel)\b",
    re.I,
)
_OWN: Final = re.compile(r"^(?:its|his|her|their|my) (?:own )?", re.I)
_FORMATION: Final = re.compile(
    r"an? (?:\w+ )?(?:heap|pile|stack|row|line|circle|cluster|bunch|tangle|coil|bundle|corner)\b", re.I
)
"""How things lie, rather than in what: "in a heap along the wall"."""
_BODY: Final = re.compile(
    r"(?:one|its|his|her|their|two|both|all|the) (?:\w+ )?(?:legs?|fours|foot|feet|knees?|hands?|haunches|heels|toes|"
    r"backs?|stomach|belly|side|elbows?|head)(?! [\w-]+(?:[,;]|$))\b",
    re.I,
)
"""On which part of the body somebody stands or lies: "on one leg"."""
_DIRECTION: Final = re.compile(r"the (?:(?:north|south)(?:east|west)?|east|west)")
_DETERMINER: Final = (
    r"(?:an?|some(?:body|one)'s|some|the|your|his|her|its|their|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|"
    r"many)"
)
_STATIVE: Final = (
    r"(?:is|are|was|were|lies?|sits?|stands?|hangs?|rests?|leans?|waits?|remains?)(?: (?:also|now|still|just|only))*"
    r"(?: (?:sitting|lying|standing|hanging|resting|leaning|waiting|placed|mounted|attached|propped|perched|kept|"
    r"stacked|piled|scattered|strewn|hidden|stuck|set|fixed|fastened|left|discarded|floating|curled up|asleep))?"
)
_PREPOSITION: Final = (
    r"(?P<preposition>(?:on|in|inside|within|upon|onto|into|atop)(?: top of)?|on top of|next to|beside|near|by|against|"
    r"above|over|under|underneath|beneath|below|behind|at|around|among|amongst|amid|amidst|between|along|across|beyond|"
    r"alongside|opposite)"
)
_HERE: Final = re.compile(
    rf"^(?:but |and |also )?(?P<list>{_DETERMINER}\s.+?|[A-Z][\w' -]*?),?"
    rf"(?:,[^,]*,)? {_STATIVE} (?:here|nearby|close by|right here)\b",
    re.I,
)
_THERE_IS: Final = re.compile(
    r"^(?:but |and |also |in addition,? )?there(?: also)?(?: is| are|'s| was| were| lies| stands| sits| hangs)?"
    rf"(?: also| still)? (?P<list>(?:{_DETERMINER}\s.+))$",
    re.I,
)
_THERE_BARE: Final = re.compile(
    r"^(?:hey[!,] )?(?:(?:in|on|at|by|near) [^,]+, )?there "
    r"(?P<list>(?!(?:is|are|was|were|be|has|have|had|not|no|lots?)\b)[a-z][\w' -]*?)"
    r"(?: (?:in|on|at|over|under|by|to|from|that|where|near|near by|next to|beside|behind|with|hanging|standing|here)\b"
    r".*)?$",
    re.I,
)
"""The speech of those who leave out verbs and articles: "There big box in corner"."""
_ON_BARE: Final = re.compile(
    r"^(?P<preposition>on|on top of|in|inside) (?P<where>[a-z]+(?: [a-z]+)?),? there "
    r"(?P<list>(?!(?:is|are|was|were|be|has|have|had|not|no|lots?)\b)[a-z][\w' \0-]*)$",
    re.I,
)
_LEANS_BARE: Final = re.compile(
    r"^(?P<list>[A-Z][a-z]+(?: [a-z]+){0,2}(?<!s)) (?:lean|lie|stand|sit|hang|rest) "
    rf"{_PREPOSITION} (?P<where>[a-z]+(?: [a-z]+)*)$"
)
"""In that speech too: a verb without its s after a noun without one."""
_SEES: Final = re.compile(
    r"^(?:[\w' ]{1,25}?,? )?(?:you|[A-Z]\w+) (?:can )?(?:also )?(?:see|sees|notice|find|spot)(?: also)? (?P<list>.+?)"
    r"(?P<here> here| nearby| there)?\.?$"
)
_INVERTED: Final = re.compile(
    r"^(?:(?:beside|near|next to|before|behind|above|below|around) you,? )?(?:[a-z]+(?:ing|ed|ung|en)\b[^,]*? )?"
    rf"{_PREPOSITION} (?P<where>{_DETERMINER} [^,]+?|it)"
    rf"(?:,[^,]*,|,)? (?:you (?:can )?(?:also )?see|there (?:is|are)|{_STATIVE}) (?P<list>{_DETERMINER}\s.+)$",
    re.I,
)
_INDEFINITE: Final = (
    r"(?:an?|some|one|two|three|four|several) (?:(?!(?:an?|the|some|one|it|of) )[\w'-]+ ){0,4}?[\w'-]+(?: of [\w'-]+)?"
)
_FRONTED: Final = re.compile(
    rf"^{_PREPOSITION} (?P<where>{_DETERMINER} (?:(?!(?:it|you|he|she|they|that|which|is|are|was|when|as) )[\w'-]+ )"
    r"{0,5}?(?!(?:of|and|with|points?|moments?|times?|once|least|last)\b)[\w'-]+),? "
    rf"(?:(?P<list>{_INDEFINITE}) (?:has been|have been|{_STATIVE})\b(?! (?:no|not)\b)"
    rf"|some(?:one|body)(?: has)? {one_of('left')} (?P<list2>(?:an?|some|several|two|three) [^,]+))",
    re.I,
)
"""The place first and the verb last: "On the top shelf one book has been put in upside down"."""
_PLURAL: Final = re.compile(
    rf"^{_PREPOSITION} (?P<where>(?:the|your|its|each|some|two|three|four) [^,]+?),? (?:are|lie|stand|hang|sit) "
    r"(?P<list>(?!(?:not|no|also|now)\b)(?:[a-z-]+ ){0,2}[a-z-]+s)$",
    re.I,
)
"""More than one thing has no determiner: "On the ends of the shelf are burning candles"."""
_PLACED: Final = re.compile(
    rf"^(?P<list>{_DETERMINER}\s[^,]+?)(?:(?:,[^,]*){{1,2}},)? {_STATIVE} {_PREPOSITION} "
    rf"(?P<where>{_DETERMINER} .+|what .+)$",
    re.I,
)
_NOT_PLACED: Final = one_of("not_placed")
_PARTICIPLE: Final = rf"(?!{_NOT_PLACED}\b)(?:[a-z]{{2,}}(?:ed|en|ing)|{one_of('irregular_participles')})"
_TREATED: Final = re.compile(
    r"^(?P<list>(?:an?|some(?:body|one)'s|some|one|two|three|four|several) [^,]+?)(?:(?:,[^,]*){1,2},)? "
    rf"(?:(?:is|are|has been|have been)(?: now| still| just| \w+ly)* {_PARTICIPLE}\b"
    r"|(?:has|have)(?: \w+ly)? (?!been\b)(?:\w+ed|come|fallen|grown|blown|broken|got|lain|stood|sunk|run|crept) "
    r"(?:up|down|here|in|on|onto|against|under|beneath|behind|between|among|beside|over|to (?:rest|grief)|loose)\b)",
    re.I,
)
"""What was done to a thing, or where it came to lie, says that it is here: "A float has washed up"."""
_FASTENED: Final = re.compile(
    rf"^{one_of('fastened')}(?: \w+ly| firmly)? (?:up )?(?:to|onto|into) {_DETERMINER} [^,]+?,? (?:is|are) "
    rf"(?P<list>{_DETERMINER}\s.+)$",
    re.I,
)
_ABOUT: Final = re.compile(
    r"^(?:(?:[a-z]+(?:ing|ed|en|ewn) )(?:all )?(?:about|around|nearby|close by|here)(?: here)?"
    r"(?: (?:the|this) (?:place|room|floor|ground)| you)?,? (?:is|are)"
    r"|(?:also |visible |right )?here(?:,? (?:is|are|you (?:can )?(?:also )?(?:see|notice|find|spot))|:)"
    r"|in (?:plain |full )?(?:view|sight) (?:is|are)"
    r"|your (?:eyes?|gaze|attention) (?:falls?|lights?|rests?|is caught|is drawn)"
    r"(?: also| next| then)? (?:on|upon|by|to)) "
    rf"(?P<list>{_DETERMINER}\s.+)$",
    re.I,
)
"""Things lie about in no particular place: "Scattered about the place are a hoe and a sieve"."""
_LEFT_BY: Final = re.compile(
    rf"^(?:some(?:one|body)(?: has)? {one_of('left')}|(?:the|some) [\w' -]+? (?:has|have) {one_of('left')}) "
    r"(?P<list>(?:an?|some|several|two|three) [^,]+?)"
    r"(?:,.*"
    r"| (?:against|under|behind|beside|by|near|over|across|along|between|among|outside|to|into|onto|upon|on) .*)?$",
    re.I,
)
"""What somebody, or the sea, left: "Someone has leaned a rake against the wall"."""
_NO_NAME: Final = one_of("no_names")
_NAMED: Final = re.compile(
    rf"^(?P<list>(?!(?i:{_NO_NAME})\b)(?:(?:The|Old|Young) )?[A-Z][\w'-]+\.?(?: (?:of (?:the )?)?[A-Z][\w'-]+){{0,3}})"
    rf"(?:(?:,[^,]*){{1,2}},)? (?:{_STATIVE} {_PREPOSITION} (?P<where>{_DETERMINER} .+|what .+)"
    rf"|(?:{_STATIVE}|(?!is |has |was )[a-z]+[^s\W]s) "
    r"(?:on|in|at|against|near|over|by|up|down|about|beside|behind|here)\b.*)$"
)
"""Somebody with a name or title, or what is not counted: "The Mayor paces up and down", "Seaweed lies on the sand"."""
_PRESENTED: Final = re.compile(
    r"^(?P<list>(?:an?|some|one) [\w' -]+?(?<! of)(?<! and)(?<! the))(?:(?:,[^,]*){1,2},)? "
    rf"(?!{one_of('sounds')}\b(?! (?:on|at|in|beside|by|against) ))"
    r"(?!(?:passes|flies|drifts|blows|floats|sails|goes|comes|has|was|is) )"
    r"(?P<verb>[a-z]+[^s\W]s)(?! you\b)(?!.*\b(?:your|somewhere|outside|far|distant|past|sky|horizon)\b)\b",
    re.I,
)
_COUNTED: Final = r"(?:an?|one|two|three|four|several) [a-z' -]+"
_FRAGMENT: Final = re.compile(
    rf"^(?P<list>{_COUNTED}(?:,(?: and)? {_COUNTED})*(?:,? and|,) {_COUNTED})$",
    re.I,
)
"""An enumeration without a verb: "One stove, one bed"."""
_CLAUSE_IN_ITEM: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|here|there|in|on|at|by|to|from|under|over|with|like|you|few)\b", re.I
)
_STANDS: Final = re.compile(
    r"^(?P<list>(?:the|your|[A-Z][\w-]+'s|(?:your|his|her) [\w-]+'s) (?:(?!(?:is|are|has|have|of) )[\w'-]+ ){0,3}?"
    r"[\w'-]+)"
    rf"(?:,[^,]*){{0,2}},? (?:{one_of('postures')}|is {_PARTICIPLE}|is (?:here|nearby))\b"
    r"(?!.*\b(?:outside|far|distant|distance|beyond|below|overhead|sky|horizon)\b)",
    re.I,
)
"""A paragraph of its own presents a known thing, too: "Your bag stands where it was set down"."""
_OF_A_KIND: Final = re.compile(
    r"^(?:two|three|four|five|six|several) (?P<noun>[a-z]+)s: "
    r"(?P<kinds>[a-z]+\0*(?:(?:, and |, | and )[a-z]+\0*)+)$",
    re.I,
)
"""Things of a kind, each by its adjective: "Two switches: black and white"."""
_HOLDS: Final = re.compile(
    rf"\b(?:here|there|nearby),? (?:and )?{one_of('holding')} (?P<list>(?:an?|some|two|three) .+)$", re.I
)
_HOLDS_ASIDE: Final = re.compile(
    rf"(?:an?|the) [^,]+, {one_of('holding')} (?P<list>(?:an?|some|two|three) [^,]+), ", re.I
)
"""In an aside: "A troll, brandishing an axe, blocks the way"."""
_WITH_BESIDE: Final = re.compile(
    r"\bwith (?P<list>an? (?:(?!(?:an?|the|of) )[\w'-]+ ){0,3}?[\w'-]+) (?:hanging |standing |leaning )?"
    r"(?:over|above|beside|under|underneath|behind|below|near|next to) (?:it|them)\b",
    re.I,
)
"""What is by the thing that a sentence presents: "a washstand with a mirror over it"."""
_GAPPED: Final = re.compile(
    r"\band (?:in|on|by|against|under|beside|above|over|behind) the (?:(?!(?:an?|the) )[\w'-]+ ){0,2}?"
    r"(?:corner|wall|window|door|hearth|floor|middle|centre|center|ceiling|fireplace|other side|side|end),? "
    r"(?P<list>an? (?:(?!(?:an?|the|of) )[\w'-]+ ){0,3}?[\w'-]+)(?=[,;]|$)",
    re.I,
)
"""A second clause without its verb: "There is a desk by the door, and in the corner a stove"."""
_HEADING: Final = re.compile(
    r"^(?:(?:the|your) (?P<holder>[^,:]+?) (?:contains?|holds?|consists? of)|(?:sitting |lying |resting )?"
    r"(?P<preposition>on|in|inside|upon) (?:the |your )?(?P<holder2>[^,:]+?)(?: (?:is|are|you (?:can )?see))?)"
    r"(?: in it| on it)?:$",
    re.I,
)
_ACTS: Final = re.compile(
    r"^(?:(?:even|suddenly|nearby|here),? )?(?P<list>(?:an?|some|two|three|several) (?!few\b)[\w' -]+?)"
    r"(?:,[^,]*,)? [a-z]+[^s\W]s (?:in|on|at|against|near|over|under|by|along|across|around|through|up|down|back|about|"
    r"above|below|beside|behind|between|from|out|here|there|right|very|\w+ly)\b",
    re.I,
)
"""A subject with an indefinite article and what it does: "A heron wades through the shallows"."""
_EXCEPT: Final = re.compile(
    r"\b(?:empty|bare|deserted|unfurnished|nothing|nobody|no one)\b[^.:;]{0,40}?"
    r"\b(?:except(?:ing)?(?: for)?|save(?: for)?|but(?: for)?|other than|apart from|aside from) "
    rf"(?P<list>{_DETERMINER}\s.+)$",
    re.I,
)
_HAS: Final = re.compile(
    rf"^(?P<where>(?:{_DETERMINER}\s|one of )?[\w' -]+?) (?:has|have) (?P<list>[\w' -]+?)"
    r"(?: (?:hanging|mounted|standing|lying|sitting|resting|fixed|attached|fastened))?"
    r" (?P<preposition>on top of|on|in|inside) (?:it|them)\b",
    re.I,
)
_DEPICTS: Final = re.compile(
    r"^(?:painted|carved|engraved|etched|drawn|written|inscribed|embroidered|printed|stamped|scrawled|incised)\b", re.I
)
_FAR: Final = re.compile(
    r"\b(?:further (?:down|up|on|away|off)|far (?:below|away|off)|in the distance|on the horizon)\b", re.I
)
_RELATIVE: Final = re.compile(
    r",? (?P<preposition>on|upon|in|inside|within) which "
    rf"(?=(?:is|are|sits?|stands?|lies?|hangs?|rests?|you (?:can )?see) {_DETERMINER}\s)"
)
_INTENSIFIER: Final = re.compile(r"^(?:rather|very|quite|fairly|somewhat|extremely|remarkably) (?=\S+ \S)", re.I)
_CONTAINS: Final = re.compile(
    rf"^(?:the|your) (?P<where>[^,]+?) (?:contains?|holds?)\s+(?P<list>{_DETERMINER}\s.+)$", re.I
)
_VERB: Final = re.compile(r"\s(?:is|are|was|were|has|have)\s")
_ASIDE: Final = re.compile(r"\s*\(([^()]*)\)")
_NESTED: Final = re.compile(r"(\([^()]*?)\s*\([^()]*\)")
"""An aside within an aside: "a dresser (on which is a teapot (which is closed))"."""
_ASIDE_CONTENTS: Final = re.compile(
    rf"\b(?:(?:in|(?P<on>on)) (?:which|it) (?:is|are)|contain(?:s|ing)) (?P<list>{_DETERMINER}\s.+)", re.I
)
_LATER_CONTENTS: Final = re.compile(
    rf"(?:is|are|sits?|stands?|lies?|hangs?|rests?|you (?:can )?see) (?P<list>{_DETERMINER}\s.+)", re.I
)
_GROUP: Final = re.compile(rf"\b{_DETERMINER} (?P<names>[\w' -]+?) \((?P<list>an? [^()]*)\)")
_ASIDE_STATE: Final = re.compile(r"\b(?:which is |which are |is )?(?P<state>open|closed|locked)\b", re.I)
_BORDER: Final = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+", re.I)
_CLAUSE: Final = re.compile(
    r",? (?:and|but|while) the [\w' -]+?,?(?: with [^.;]*?,)? (?:is|are|leads?|lies|stands|goes|runs|opens) .*$", re.I
)
"""Another clause after an enumeration: "there is a bollard, and the custom house is to the north"."""
_STARTS_ITEM: Final = re.compile(rf"{_DETERMINER}\s", re.I)
_APPOSITION: Final = re.compile(r"^((?!The )[A-Z][\w'-]+(?: [A-Z][\w'-]+)*),? the [a-z].*$")
"""A name and what its bearer is: "Rusty the guard dog" goes by "Rusty"."""
_LOOKS_LIKE: Final = re.compile(
    rf"^{_DETERMINER} (?:object|thing|something|item) (?:which|that) (?:looks like|seems to be|appears to be) ", re.I
)
_ENDS_PARAGRAPH: Final = re.compile(r"(?:^|[.!?:][\"')]?)\s*$")
_SHOWS: Final = re.compile(r"\b(?:see|find|notice|discover|(?:re)?appears?|lie here|are here)\b[^:]*:$", re.I)
_ABSTRACT: Final = re.compile(
    r"\b(?:exits?|ways?|paths?|passages?|passageways?|doorways?|corridors?|openings?|tunnels?|noises?|sounds?|smells?|"
    r"odou?rs?|light|darkness|nothing|no|feeling|sense|hint|chance|trace|signs? of|view|lots?|kind|sort|glimpse|"
    r"roads?|streets?|lanes?|alleys?|tremors?|rumbl\w+|crash|bang|roar|cry|scream|shout|voices?|flash|breeze|wind|draught|"
    r"likeness|scenes?|depictions?|things|yourself|himself|herself|itself|themselves|myself|"
    r"moment|pause|commotion|repetition|change|danger|point|north|south|east|west|direction|reason|need|time|something|someone|more|rest|anything|doubt|question)\b",
    re.I,
)


def extract_listings(
    room: str | None, text: str, collector: StatementCollector, *, describes_room: bool = False
) -> None:
    """Add where things are, as a text says.

    Args:
        room: the room of the player; ``None`` when it is not known.
        text: the description of a room, or the feedback to an action.
        collector: takes the statements.
        describes_room: whether the text describes a room, in which things and people are presented by what they do.
    """
    for fact in _listed_facts(room, text, describes_room):
        collector.add(fact)


@lru_cache(maxsize=2048)  # games print the same descriptions again and again
def _listed_facts(room: str | None, text: str, describes_room: bool) -> tuple[Statement, ...]:
    """Return the facts that :func:`extract_listings` adds, in order."""
    collector = StatementCollector({})
    lines = text.splitlines()
    plain: list[str] = []
    own: set[str] = set()  # lines that follow a blank line, or a line that ends: each is a paragraph of its own
    holder: tuple[str, str] | None = None  # the relation and the holder of the indented lines that follow
    indent = 0
    for number, line in enumerate(lines):
        if describes_room and line.strip() and number and _ENDS_PARAGRAPH.search(lines[number - 1]):
            own.add(line.strip())
        while line.count("(") > 1 and _NESTED.search(line):
            line = _NESTED.sub(r"\1", line)
        line = _GROUP.sub(lambda group: group["list"], line)
        depth = len(line) - len(line.lstrip())
        heading = _HEADING.match(line.strip())
        if heading is not None:
            where = mentioned_thing(heading["holder"] or heading["holder2"])
            relation = v.IS_ON if (heading["preposition"] or "").lower() in ("on", "upon") else v.IS_IN
            holder = None if where is None else (relation, where.name)
            indent = depth
        elif room is not None and _SHOWS.search(line):
            holder, indent = (v.IS_IN, room), depth
            plain.append(line)
        elif holder is not None and depth > indent:
            for found in items(line.strip()):
                collector.add_places([found], holder[0], holder[1])
        else:
            holder = None
            plain.append(line)
    it: str | None = None
    for sentence in sentences("\n".join(plain)):
        is_own = bool(own) and any(line.startswith(sentence) for line in own)
        it = _extract_sentence(sentence.rstrip(".!"), room, it, collector, describes_room, is_own) or it
    return tuple(collector.statements)


def _extract_sentence(
    sentence: str,
    room: str | None,
    it: str | None,
    collector: StatementCollector,
    describes_room: bool,
    is_own_paragraph: bool,
) -> str | None:
    """Add what one sentence says; return the last thing that it presents."""
    latest = None
    sentence, inside = divided(sentence)
    for relation, where, listed in _placements(sentence, room, it, describes_room, is_own_paragraph):
        for found in items(listed):
            if normalise_name(found.name) == normalise_name(where):
                continue
            collector.add(v.place(found.name, relation, where))
            collector.add_states(found)
            latest = found.name
        for name, aside in _asides(listed):
            contents = _ASIDE_CONTENTS.search(aside)
            for found in items(contents["list"]) if contents is not None else ():
                collector.add(
                    v.place(found.name, v.IS_ON if contents is not None and contents["on"] else v.IS_IN, name)
                )
        if inside is not None and latest is not None:
            for found in items(inside[1]):
                collector.add(v.place(found.name, inside[0], latest))
                collector.add_states(found)
    if describes_room and room is not None and " a" in sentence:
        for beside in (_WITH_BESIDE.search(sentence) if latest is not None else None, _GAPPED.search(sentence)):
            for found in items(beside["list"]) if beside is not None else ():
                if _BUILDING.search(found.name) is None or beside is None or beside.re is _GAPPED:
                    collector.add(v.place(found.name, v.IS_IN, room))
    held = None
    if latest is not None and "ing " in sentence:
        held = _HOLDS.search(sentence) or _HOLDS_ASIDE.match(sentence)
    if held is not None and latest is not None:
        for found in items(held["list"]):
            if found.name.split()[-1].lower() not in words("no_things"):
                collector.add(v.place(found.name, v.IS_IN, latest))
    return latest


def divided(sentence: str) -> tuple[str, tuple[str, str] | None]:
    """Divide a sentence before a clause such as "on which stand a bust and a bell".

    Args:
        sentence: the sentence.

    Returns:
        What is before the clause; the relation and the enumeration of the clause, ``None`` when there is none.
    """
    relative = _RELATIVE.search(sentence)
    contents = None if relative is None else _LATER_CONTENTS.match(sentence, relative.end())
    if relative is None or contents is None:
        return sentence, None
    relation = v.IS_ON if relative["preposition"].lower() in ("on", "upon") else v.IS_IN
    return sentence[: relative.start()], (relation, contents["list"])


def is_abstract(name: str) -> bool:
    """Return whether a name is of no thing or person that could be anywhere, such as "noise" or "way"."""
    return _ABSTRACT.search(name) is not None


def is_part_of_building(name: str) -> bool:
    """Return whether a name is of what belongs to a building or the land, such as "staircase" or "river"."""
    return _BUILDING.search(name) is not None


def is_part_of_room(name: str) -> bool:
    """Return whether a name is of a part of many rooms, such as "floor" or "corner"."""
    return _PART_OF_ROOM.search(name) is not None


def _placements(
    sentence: str, room: str | None, it: str | None, describes_room: bool, is_own_paragraph: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield relation, place and enumeration of a sentence that says where something is."""
    bare = _ASIDE.sub(lambda aside: "\0" * len(aside[0]), sentence)  # verbs within an aside do not count
    if _DEPICTS.match(bare) or _FAR.search(bare):
        return
    exception = _EXCEPT.search(bare)
    if exception is not None:
        if room is not None:
            yield v.IS_IN, room, sentence[exception.start("list") : exception.end("list")]
        return
    for pattern in _PATTERNS:
        match = pattern.match(bare)
        if match is None:
            continue
        groups = match.groupdict()
        if pattern is _OF_A_KIND:
            kinds = re.split(r",? and |, ", groups["kinds"].replace("\0", ""))
            if describes_room and room is not None and not is_part_of_building(groups["noun"]):
                yield v.IS_IN, room, ", ".join(f"a {kind} {groups['noun']}" for kind in kinds)
            return
        if pattern is _THERE_IS:
            clause = _CLAUSE.search(bare, match.start("list"))
            if clause is not None:
                bare, sentence = bare[: clause.start()], sentence[: clause.start()]
        part = "list2" if groups.get("list2") else "list"
        listed = sentence[match.start(part) : match.end(part)]
        if pattern is _ACTS:
            is_doubtful = (
                _IS_WAY.search(bare)
                or _LOCATED.search(groups["list"])
                or _IS.search(bare)
                or not list(_here_among(listed, False))
            )
            if describes_room and room is not None and not is_doubtful and " above" not in bare:
                yield v.IS_IN, room, listed
            return
        if pattern in _OF_DESCRIPTIONS and not describes_room:
            continue
        if pattern in (_PRESENTED, _STANDS) and not is_own_paragraph:
            continue
        if pattern is _NAMED and (
            is_part_of_room(groups["list"]) or (groups["where"] is None and " " not in groups["list"])
        ):
            continue  # "Trees stand along the road", "Water runs down the walls"
        if pattern in (_TREATED, _PRESENTED, _FRAGMENT, _FASTENED, _ABOUT, _STANDS):
            kept = ", ".join(_here_among(listed, pattern is _FRAGMENT))
            if room is not None and pattern is _ABOUT:
                yield v.IS_IN, room, listed
            elif room is not None and kept and not (pattern is _FRAGMENT and _CLAUSE_IN_ITEM.search(listed)):
                yield v.IS_IN, room, kept
            return
        if pattern is _HAS and groups["where"].lower().startswith(("each ", "every ", "all ")):
            return
        if pattern is _PLACED and _VERB.search(groups["list"]):
            continue
        if pattern in (_HERE, _THERE_BARE):
            if room is not None:
                yield v.IS_IN, room, listed
        elif pattern in (_THERE_IS, _SEES, _LEFT_BY):
            yield from _told_as_there(sentence, bare, match, room, it, is_only_seen=pattern is _SEES)
        elif pattern is _NAMED and groups["where"] is None:
            if room is not None:
                yield v.IS_IN, room, listed
        else:
            place = _place(groups.get("preposition") or "in", groups["where"], room, it)
            if place is not None:
                yield *place, listed
        return


def _told_as_there(
    sentence: str, bare: str, match: re.Match[str], room: str | None, it: str | None, *, is_only_seen: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield where the things of a sentence are that says that there is something, or that it is seen or left."""
    part = "list2" if match.groupdict().get("list2") else "list"
    listed = sentence[match.start(part) : match.end(part)]
    where = re.search(rf" (?P<preposition>on|in|inside) (?P<where>{_DETERMINER} [^,]+)$", bare[: match.end("list")])
    if where is not None and _AT_HAND.search(bare, match.start("list"), where.start()):
        where = None  # "here, munching on a pile of oats"
    caught = None if where is None else _CAUGHT.search(bare, match.start("list"), where.start())
    if caught is not None and room is not None:  # "a penknife stuck in the bark"
        yield v.IS_IN, room, sentence[match.start("list") : caught.start()]
        return
    at_hand = match.groupdict().get("here") or re.search(r"\b(?:here|nearby)(?:$|,)", listed)
    if where is not None:
        place = _place(where["preposition"], where["where"], room, it)
        if place is not None:
            yield *place, sentence[match.start("list") : where.start()]
    elif room is not None and (at_hand or not is_only_seen):  # what is only seen may be far away
        yield v.IS_IN, room, listed


_LOCATED: Final = re.compile(r"\b(?:on|in|under|inside|of) the\b", re.I)
_IS_WAY: Final = re.compile(
    r"\b(?:goes|leads|climbs|rises|descends|runs|winds|slopes) (?:back |steeply |straight )?"
    r"(?:up|down|out|in|(?:to the )?(?:north|south|east|west)\w*)\b"
)
_IS: Final = re.compile(r"\s(?:is|are|was|were)\s", re.I)
_BUILDING: Final = re.compile(
    r"\b(?:doors?|windows?|gates?|stairs|stairways?|staircases?|steps|holes?|entrances?|arch(?:es|ways?)?|cracks?|walls?|"
    r"pieces?|buildings?|towers?|rivers?|streams?)\b",
    re.I,
)
"""What belongs to a building or the land is described by what it does, too, and often from afar."""
_AT_HAND: Final = re.compile(r"\b(?:here|nearby)\b|, \w+ing\b", re.I)
_CAUGHT: Final = re.compile(
    rf" (?:{one_of('fastened')}|caught|embedded|hooked|jammed|lodged|snagged|tangled|trapped|wedged)$"
)
_PATTERNS: Final = (
    _CONTAINS, _FASTENED, _ABOUT, _INVERTED, _PLURAL, _FRONTED, _HERE, _PLACED, _HAS, _THERE_IS, _THERE_BARE, _ON_BARE,
    _LEANS_BARE, _STANDS, _LEFT_BY, _SEES, _OF_A_KIND, _FRAGMENT, _TREATED, _NAMED, _PRESENTED, _ACTS,
)  # fmt: skip
_OF_DESCRIPTIONS: Final = (_FASTENED, _ABOUT, _STANDS, _LEFT_BY, _FRAGMENT, _TREATED, _NAMED, _PRESENTED)
"""What they say is meant of the room only in the description of one."""


def _here_among(listed: str, is_fragment: bool) -> Iterator[str]:
    """Yield the items of an enumeration that may be here, with an article; buildings are described so, too."""
    for found in items(listed):
        name = found.name
        is_no_thing = name.split()[-1].lower() in words("no_things") or _BUILDING.search(name)
        if not is_no_thing and not (is_fragment and is_part_of_room(name)):
            yield f"a {name}"


def _place(preposition: str, where: str, room: str | None, it: str | None) -> tuple[str, str] | None:
    """Return the relation and the place that a phrase names: a thing, or the room; ``None`` when it is not known."""
    preposition = preposition.lower()
    if preposition == "beyond":
        return None  # it is elsewhere
    if where.lower().startswith("what "):
        return None if room is None else (v.IS_IN, room)  # "in what is left of the tower"
    if where.lower().startswith("one of "):
        return None if room is None else (v.IS_IN, room)  # which of them is not said
    if _DIRECTION.fullmatch(where.strip()):
        return None  # what lies in a direction is often elsewhere
    if (preposition == "in" and _FORMATION.match(where)) or _BODY.match(where):
        return None if room is None else (v.IS_IN, room)
    holder = mentioned_thing(_OWN.sub("", noun_phrase(_PART_OF_THING.sub("", _ASIDE.sub("", where).replace("\0", "")))))
    if holder is not None and normalise_name(holder.name) == "it":
        if it is None:
            return None
        holder = MentionedThing(it)
    if holder is not None and room is not None and is_part_of_title(holder.name, room):
        return v.IS_IN, room
    is_holder = preposition in ("on", "in", "inside", "within", "upon", "onto", "into", "atop", "on top of")
    if holder is not None and is_holder and not _PART_OF_ROOM.fullmatch(_head(holder.name)):
        return (v.IS_IN if preposition in ("in", "inside", "within", "into") else v.IS_ON), holder.name
    return None if room is None else (v.IS_IN, room)


_PART_OF_THING: Final = re.compile(
    rf"^(?:(?:the|its|each|one|both|two|all) )+(?:\w+ )?{one_of('relational')} of (?=(?:the|an?) )"
)
"""Which part of a thing is meant: "the two ends of the altar"."""


def _head(name: str) -> str:
    """Return the word of a name that says what kind of thing it is: "row" of "long row of pegs"."""
    return name.split(" of ")[0].split()[-1]


def is_part_of_title(name: str, room: str) -> bool:
    """Return whether a name in a description means the room: the last words of its title ("clearing")."""
    words, title = normalise_name(name).split(), normalise_name(re.sub(r" \(.*", "", room)).split()
    return 0 < len(words) <= len(title) and title[-len(words) :] == words


def _asides(listed: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each thing that an aside in parentheses follows, and the aside."""
    for aside in _ASIDE.finditer(listed):
        before = _BORDER.split(_ASIDE.sub("", listed[: aside.start()]))[-1]
        found = mentioned_thing(noun_phrase(_without_determiner(before)))
        if found is not None:
            yield found.name, aside[1]


def items(listed: str) -> list[MentionedThing]:
    """Return the things of an enumeration, with the states that asides give them.

    The first decides whether items have an article: where it has one, only what has one too begins another item.

    Args:
        listed: an enumeration such as ``"a lamp (lit) and a sword here"``.

    Returns:
        The things, in order.
    """
    states = {normalise_name(name): _ASIDE_STATE.search(aside) for name, aside in _asides(listed)}
    listed = re.sub(r"\s+(?:here|nearby|there(?=,))\b.*$", "", _ASIDE.sub("", listed))
    parts: list[str] = []
    has_article = _STARTS_ITEM.match(listed.strip()) is not None
    for part in _BORDER.split(listed):
        if parts and _OWN.match(part):
            continue  # what belongs to the thing before it: "a house with its arms and its blind"
        if has_article and parts and not _STARTS_ITEM.match(part):
            if len(parts[-1].split()) == 2:  # "a thick, woollen scarf", "a tired and weary man"
                joint = "," if f"{parts[-1]}," in listed else " and"
                if joint == "," or len(part.split()) > 1:
                    parts[-1] = f"{parts[-1]}{joint.removeprefix(',')} {part}"
                    continue
            if part == parts[-1] or re.match(r"\w+(?:ing|ed)\b", part):
                break  # an aside that goes on to the end
            continue  # an aside after a comma
        parts.append(part)
    found = []
    for part in parts:
        part = _APPOSITION.sub(r"\1", part.strip())
        part = _INTENSIFIER.sub("", _without_determiner(_LOOKS_LIKE.sub("", part)))
        named = mentioned_thing(noun_phrase(part))
        name = None if named is None else without_what_follows(named.name)
        named = None if named is None or name is None else MentionedThing(name, named.states)
        if named is None or VAGUE.search(named.name) or _ABSTRACT.search(named.name) or len(named.name.split()) > 6:
            continue
        state = states.get(normalise_name(named.name))
        found.append(MentionedThing(named.name, (*named.states, state["state"].lower())) if state else named)
    return found


def _without_determiner(phrase: str) -> str:
    return re.sub(rf"^{_DETERMINER}\s+", "", phrase.strip(), flags=re.I)
