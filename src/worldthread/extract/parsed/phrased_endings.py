"""Finds facts that a short message ends, by patterns over its words in which the parts of each fact are marked.

The rules of ``changes.toml`` begin with a parse and look for facts. Here it is the other way round: what the memory
knows of the speaker, and of whom the message names, says which words mean whose fact and what it is about, so that a
pattern such as "SUBJ got rid of THING" needs no parse. ``ending_phrases.toml`` has the patterns.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from worldthread.extract.parsed.change_tables import KIN, KINDS, LISTS, PAST, RELATION_KINDS, WORDS
from worldthread.extract.parsed.clauses import WORDS as PARSED_WORDS
from worldthread.extract.parsed.deaths import died
from worldthread.extract.parsed.ending_events import PARTICIPLES, as_expression, event_words, with_events
from worldthread.extract.parsed.ending_events import TABLE as EVENT_TABLE
from worldthread.extract.parsed.linked_words import FAMILY_NOUNS, PHRASE_WORDS, is_common, linked
from worldthread.extract.parsed.mentions import is_in, mention_of_text, named_facts, stem
from worldthread.extract.parsed.new_values import SETTERS, new_valued
from worldthread.extract.parsed.unnamed_endings import meant_without_name
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

_TABLE: Final = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("ending_phrases.toml").read_text(encoding="utf-8")
)
_GENERIC: Final = frozenset(["has", "have", "owns", "uses"])
_LONGEST: Final = 25  # words of a sentence
_LONGEST_MESSAGE: Final = 45  # words, of those in which a thing may be named by a part
_MOST_CHARACTERS: Final = 240
_MOST_FACTS: Final = 200

_ADVERBS: Final = (
    "(?: (?:have|has|had|am|is|are|was|were|been|just|finally|recently|lately|also|now|already|officially|really|"
    "completely|totally|fully|then|actually|sadly|happily|thankfully|luckily|unfortunately|since|both|all|got|gotten|"
    "eventually|today|yesterday|again|so|simply|formally|permanently|both))*"
)
_SLOTS: Final = {
    " BE ": rf"(?: (?:is|are|was|were|has|have|had|got|gets|became|went|remains?)|'s|'re|'ve|'d)?{_ADVERBS} ",
    "SUBJ": rf"SUBJ(?:'(?:ve|s|m|re))?{_ADVERBS}",
    "WHOM": "(?:WHOM|SUBJ)",
    "THING": "(?:THING|BARE)",
    "BE ": rf"(?:is|are|was|were|has|have|had|got|gets|became|went){_ADVERBS} ",
    "NEW": r"(?:[^\s,;:!?]+(?: [^\s,;:!?]+){0,4})",
    "GAP": (
        "(?:(?:POSS|the|all|of|last|from|at|with|in|as|on|up|to|an?|for|being|doing|going|working|using|eating|"
        "drinking|playing|having|taking|it|back|over|rest|lot|whole|any|into|away|off|down|bit|end) "
        "){0,4}?"
    ),
    "GAPPED": (
        "(?:(?:POSS|the|all|last|from|at|with|in|as|on|up|an?|for|being|doing|working|job|post|role|of|to) ){0,4}?"
    ),
    "OWNED": "(?:(?:POSS|the|all|both|of|rest|lot|whole|last|entire) ){0,3}?",
    "ELSE": (
        r"(?:(?!(?:after|before|about|than|because|from|when|since|like|as|without|until|for|the|only|just|he|she|they)"
        r" )[a-z']+ ){0,3}?"
    ),
}
_BEGIN: Final = (
    r"(?:^|[,;:.!–—-] +|\b(?:and|but|so|because|since|as|that|now|well|then|also|oh|ok|turns out|says|told me) )"
    r"(?:(?:finally|sadly|unfortunately|luckily|happily|today|yesterday|recently|now|so|actually|just|last \w+|"
    r"this (?:morning|week|month|year)|as of \w+|since \w+),? )*"
    r"(?:(?:after|since|with|due to|because of|thanks to|from|as of) (?:the |my |our |this |last |next )?\w+"
    r"(?: \w+){0,2}?,? )?"
)
_END: Final = (
    r"(?=\W*$|\s*[,;:.!–—(-]|\s(?:and|but|so|because|since|as|after|when|while|last|yesterday|today|tonight|this|on|in|"
    r"at|for|to|from|with|by|again|now|already|recently|finally|altogether|completely|entirely|"
    r"(?:an?|a few|two|three|four|five|six|ten|\d+) (?:minute|hour|day|week|month|year|while|moment|bit)s?|"
    r"just|too|either|anymore|halfway|midway|partway|"
    r"any more|earlier|also|then|during|due|thanks|instead|"
    r"forever|myself|himself|herself|ourselves|permanently)\b)"
)
_PASSING: Final = re.compile(
    r"\s*(?:early|late|home|back|for (?:the|a|an|one|now|today|two|three|some|work|lunch) ?"
    r"(?:day|week|weekend|while|walk|night|hour|month|few|moment|minute|bit|break)?s?\b|until|till|temporarily|"
    r"this week|tonight|at home|on the (?:bus|train|tram)|behind)\b"
    r"|(?<=gone) (?:to|for|out|home|on)\b|(?<=retired) to\b|(?<=cancelled)(?: for)? (?:today|this week)\b"
)
_LASTING: Final = re.compile(r"\b(?:have|has|been) <")  # "have been off cigarettes for a month"
_LEFT: Final = re.compile(r"\bleft (?:THING|BARE|WHOM|SUBJ)$")
_RECURRING: Final = re.compile(r"plays|goes|attends|takes|sings|does|trains|meets|is a|has|is in")
_THIS_TIME: Final = re.compile(r" (?:on |for )?this (?:\w+day|time|once|week|weekend|month|summer|winter|year)\b")
_DROPPED: Final = re.compile(
    r"\bdrop(?:s|ped)?\b.* (?:on|in|into|onto|off|at|down)\b|"
    r"\bdropped .*\b(?:fine|ok|okay|luckily|lucky|nothing|survived|intact|unbroken)\b"
)
_ELLIPTIC: Final = re.compile(r"[ ,;:.!–—-]*(?:(?:and|but|so|then|also|now) )*<")
_BY_RELATIVE: Final = re.compile(
    r"POSS (?:\w+ )?(?:sister|brother|mother|father|mum|mom|dad|son|daughter|cousin|aunt|uncle|niece|nephew|grand\w+|"
    r"friend|mate|neighbou?r|colleague|ex|flatmate|roommate) (?:has |have |just )*"
    r"(?:cancelled|canceled|called off|postponed|dropped|ditched|<[A-Z]*N[A-Z]*>ed) (?:THING|BARE)"
)
_FAILED: Final = re.compile(
    r"\b(?:failed|flunked)\b(?!.*\b(?:giv\w+ up|gave up|quit\w*|pack\w+ it in|stop\w*|done|dropp\w+)\b)"
)
_LEARNT: Final = re.compile(r"\b(?:learning|studying|lessons?|driv\w+|course)\b")
_FINISHED_ONE: Final = re.compile(
    r"\bfinished (?:my|the|today's|our|a|another|this) (?:\w+ ){1,3}?"
    r"(?:lesson|class|session|game|practice|shift|chapter|run)\b"
)
_ERRAND: Final = re.compile(
    rf"\b(?:went|gone|goes) to (?:{'|'.join(sorted(PHRASE_WORDS['errands']))}|"
    rf"the (?:{'|'.join(sorted(PHRASE_WORDS['errands_the']))}))\b|"
    r"\bsince (?:breakfast|lunch|dinner|noon|this morning|midnight|(?:an|one|two|three|\d+) hours?)\b"
)
_FUTILE: Final = re.compile(
    r"\b(?:stopped|gave up|quit|given up|stop|done with|tired of) (?:looking|searching|waiting|asking|arguing|worrying|"
    r"thinking|talking|hoping|trying|chasing|wondering|explaining|fighting)\b"
)
_NO_MORE: Final = re.compile(r"\bno more (?:\w+ )?(?:THING|BARE)$")
_THERE: Final = re.compile(r"\s*(?:in|on|at|left|until|till)\b")
_SOLD_OUT: Final = re.compile(r"\bsold out\b")
_OF_SOMEBODY: Final = re.compile(
    r"(?: (?:of|off|from|on|in|at|for))? (?:(?:POSS|the|his|her|their|your|my) )?(?:\w+ )?\w+(?:'s|s') (?!\w+ing\b)"
)
_SOMEWHERE: Final = re.compile(
    r" (?:at|in|on|with|early|late|for (?:a|an|the|work|lunch|school|dinner)\b|this (?:morning|"
    r"afternoon|evening)|(?:after|before) (?:breakfast|lunch|dinner|tea|supper|work|school|dark|dawn|noon|an? \w+|\d)|"
    r"around (?:\d|noon)|by (?:car|train|bus|bike|taxi|plane)|for the (?:day|night|week|weekend|evening)|alone|"
    r"there|outside|to|this|an? (?:hour|note|message|minute)|half)\b"
)
_UNREAL: Final = re.compile(
    r"\b(?:if|would|unless|imagine|pretend\w*|joking|kidding|heard|rumou?rs?|wish(?:es)?|dream(?:s|t|ed)?|supposed?|ought|"
    r"in my dreams|(?<!what )(?:the|a|this|that) (?:movie|film|book|novel|story|game|series|song|play|"
    r"episode)|without me|half of|"
    r"some of|one of|again next|not true|so that (?:he|she|they|i|we|it|my|his|her)|for a living|"
    r"but (?:\w+ ){0,4}?(?:came back|came home|came in|found|turned up|returned|got)|"
    r"but (?:(?:it|he|she|they)(?: is| are|'s|'re)|(?:they|someone|somebody|\w+ \w+) (?:sent|gave|brought|handed|put|"
    r"fixed|mended|saved|rescued) (?:it|them|him|her|me|us)?) ?"
    r"(?:back|fine|ok|okay|alright|all right|safe|still|in)?)\b|"
    r"['’](?:d)\b|\?",
)
_DOUBTFUL: Final = re.compile(
    r"\b(?:might|may(?! \d)|maybe|perhaps|could(?!n't| not)|should|almost|nearly|"
    r"(?<!don't )(?<!doesn't )(?<!longer )(?<!didn't )wants?|(?<!didn't )wanted|hop(?:e|es|"
    r"ing)|think(?:s|ing)?|consider(?:s|ing)?|tempted|try|tries|"
    r"tried|trying|offer(?:s|ed)?|lent|borrow\w*|promised?|about to|(?<!not )(?<!n't )going to|"
    r"will(?! not)|never|still|before|needs? to|years ago|in (?:19|20)\d\d)\b|['’]ll\b",
)
_CLAUSE_END: Final = re.compile(r"[,;:!–—]+ | (?=(?:but|because) )")
_PRONOUN: Final = re.compile(r"\b(?:he|him|she|her)\b")
_SOMEBODY: Final = re.compile(
    r"\b(?:"
    + "|".join(sorted(map(re.escape, PARSED_WORDS["relations"] | PARSED_WORDS["pets"]), key=len, reverse=True))
    + r")\b"
)
_BARE_PAST: Final = re.compile(
    r"(?:just |finally |already )?(?P<verb>\w{3,}ed) (?:(?:off|out|up|in|away|down|back|over|on) )?"
    r"(?:the|my|our|all|that|this|from|it|them)\b"
)
_IS_NOT: Final = re.compile(r" (?:is|are|was|were)n't(?= )")
_WITHOUT_SUBJECT: Final = re.compile(
    r"(?:just |finally |also |already |actually )*(?:sold|lost|got|gave|quit|left|cancelled|canceled|deleted|moved|"
    r"broke|stopped|started|finished|dropped|closed|returned|handed|switched|changed|bought|ditched|retired|resigned|gone|"
    r"graduated|threw|had|passed|traded|donated|split|dumped|turned|passed|failed|swapped|found|became|done|been|not|"
    r"no longer|over|off|through with|free of|rid of|back from|packed|binned|pawned|scrapped|unsubscribed|"
    r"unfollowed|joined|tested)\b(?! by\b)"
)
_NUMBER: Final = (
    r"(?:\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)"
)
_QUANTITY: Final = re.compile(rf"(?P<number>{_NUMBER}) (?P<unit>(?:an? |per )?[^\W\d_]+)")
_INNER: Final = re.compile(r"^(?P<head>.+?) (?:of|to|in|at|with|from|for|on|about|by) (?P<inner>.+)$")
_NAMED: Final = re.compile(r"^(?P<kind>.+?) (?:called|named) (?P<name>.+)$")
_ARTICLE: Final = re.compile(r"^(?:an?|the|my|our|his|her|their|some|all|one) ")
_OLD: Final = r"(?:old |own |beloved |poor |whole |dear |good old |trusty |little |lovely |last )?"
_NOT_MINE: Final = re.compile(
    r"\b(?:his|her|your|their|its|another|some|other|any|every|each|\S+(?<!SUBJ)'s|\S+s'|(?<!\bno )more|new|first|"
    r"second|next|rental|rented|hire|borrowed|company|toy|model|spare|wrong|fake|friend's) $"
)
_OTHERS: Final = re.compile(r"\b(?:he|she|they|him|them|his|her|their)\b")


class _Group(NamedTuple):
    families: tuple[str, ...]
    relation: re.Pattern[str] | None
    object: re.Pattern[str] | None
    subject: re.Pattern[str] | None
    by_subject: bool
    person: bool
    quantity: bool
    has: re.Pattern[str] | None
    events: bool
    pattern: re.Pattern[str]

    @property
    def is_of_few(self) -> bool:
        """Whether only facts with certain objects are of the group, which are meant even where they are not named."""
        return self.object is not None and not self.object.pattern.startswith("(?!")

    def covers(self, fact: Fact) -> bool:
        """Return whether the patterns of the group are about facts like this one."""
        subject, relation, value = fact.key
        if self.object is not None and self.object.fullmatch(value) is None:
            return False
        if self.subject is not None and self.subject.fullmatch(subject) is None:
            return False
        if self.has is not None and relation in _GENERIC and self.has.search(value) is None:
            return False
        is_relation = self.relation is not None and self.relation.fullmatch(relation) is not None
        return is_relation or any(is_in(family, fact) for family in self.families)


def _compiled(line: str) -> str:
    line = as_expression(line)
    for slot in ("NEW", "GAPPED", "GAP", "OWNED", "ELSE", "WHOM", " BE ", "BE ", "THING"):
        line = line.replace(slot, _SLOTS[slot])
    line = re.sub(r"(?<!\|)SUBJ(?!\)|')", lambda _: _SLOTS["SUBJ"], line)
    return f"{line}{_END}"


def _groups() -> Iterator[_Group]:
    for group in (*_TABLE["groups"], *(one | {"events": True} for one in EVENT_TABLE["groups"])):
        lines = [_compiled(line) for line in group["patterns"].strip().split("\n")]
        relation, value, subject = (
            re.compile(group[key]) if key in group else None for key in ("relation", "object", "subject")
        )
        if "named_role" in group:  # "my girlfriend is called Ida": her name is the object of a fact about a role
            named = [line.replace("THING", "(?:THING|OLD)") for line in group["patterns"].strip().split("\n")]
            yield _Group(
                (), re.compile("has name|is called|is named|is"), None, re.compile(group["named_role"]), True, False,
                False, None, False, re.compile(f"{_BEGIN}(?:{'|'.join(map(_compiled, named))})"),
            )  # fmt: skip
        yield _Group(
            tuple(group.get("families", "").split()),
            relation,
            value,
            subject,
            bool(group.get("by_subject")),
            bool(group.get("person")),
            bool(group.get("quantity")),
            re.compile(group["has"]) if "has" in group else None,
            bool(group.get("events")),
            re.compile(f"{_BEGIN}(?:{'|'.join(lines)})"),
        )


@cache
def _all_groups() -> tuple[_Group, ...]:
    return tuple(_groups())


def phrased_endings(
    sentences: Sequence[str], speaker: str, stated: Iterable[Fact], view: GraphView
) -> list[tuple[Fact, str]]:
    """Return the facts that a message ends in words that the patterns know, each with the sentence.

    Args:
        sentences: the sentences of the message, without its label and without questions.
        speaker: who says it.
        stated: the facts that the message states; they do not end.
        view: what the memory holds.

    Returns:
        Facts that hold, none twice.
    """
    found: dict[Fact, str] = {}
    skipped = set(stated)
    is_short = sum(len(sentence.split()) for sentence in sentences) <= _LONGEST_MESSAGE
    for number, sentence in enumerate(sentences):
        text = _plain_text(sentence)
        if len(text) > _MOST_CHARACTERS or not 0 < len(text.split()) <= _LONGEST or _UNREAL.search(text) is not None:
            continue
        text = ", ".join(part for part in _CLAUSE_END.split(text) if _DOUBTFUL.search(part) is None)
        if not text:
            continue
        facts = dict.fromkeys(
            [
                *view.facts(subject=speaker)[-_MOST_FACTS:],
                *named_facts(sentence, speaker, view),
                *_facts_of_things(text, speaker, view),
                *_facts_with_objects(text, speaker, view),
                *_facts_of_kinds(text, speaker, view),
                *_facts_of_pregnancies(text, speaker, view),
                *_facts_of_sums(text, speaker, view),
            ]
        )
        earlier = _plain_text(" ".join(sentences[: number + 1]))
        meant = _only_person(earlier, speaker, view)
        if meant is not None:
            facts |= dict.fromkeys(view.facts(subject=meant))
            earlier = f"{earlier} {_shown(meant, speaker)}"
        candidates = [fact for fact in facts if fact not in skipped and PAST.match(fact.key[1]) is None]
        loosely: dict[Fact, str] = {}
        for fact in candidates:
            how = _ends(fact, text, earlier, speaker)
            if how == "THING":
                found.setdefault(fact, sentence)
            elif how:
                loosely[fact] = how
        unnamed = [fact for fact, how in loosely.items() if how == "ALL"]
        unclear = set(unnamed) - set(meant_without_name(unnamed, sentence))
        of_few = [fact for fact, how in loosely.items() if how == "KIND"]
        if len({fact.key[:2] for fact in of_few}) > 1:
            unclear.update(of_few)  # "I gave up" is not about cigarettes and a garden
        for fact in unclear:
            del loosely[fact]
        for fact in died(text, sentence, speaker, view):
            if fact not in skipped:
                found.setdefault(fact, sentence)
        for fact in new_valued(candidates, text, speaker):
            found.setdefault(fact, sentence)
        parts = {
            fact: part
            for fact in candidates
            if is_short
            and fact not in loosely
            and fact not in found
            and (part := _ends_by_part(fact, text, earlier, speaker))
        }
        for fact, part in parts.items():  # two flats of which "the flat" may be either are neither
            if not any(other.key[:2] == fact.key[:2] and parts[other] == part for other in parts if other != fact):
                found.setdefault(fact, sentence)
        heads = {fact: mention_of_text(fact.object).head for fact in loosely}
        for fact in loosely:
            same = {other.key[2] for other in loosely if heads[other] == heads[fact] and loosely[other] == "BARE"}
            if len(same) < 2 or loosely[fact] != "BARE":
                found.setdefault(fact, sentence)
    for fact, sentence in tuple(found.items()):
        found |= {one: sentence for one in _said_of_name(fact, view) if one not in skipped}
    return list(found.items())


_FOR_THE_MOMENT: Final = re.compile(
    r"(?:\bSUBJ (?:just )?(?:took|take|brought|moved|carried|drove|sent) (?:THING|BARE) (?:back|"
    r"out|off|away|up|down|over|in|into|onto|on|to|"
    r"with)|\b(?:took|brought|moved|carried|drove) (?:THING|BARE) (?:out|up|over|in|into|onto|on|to|with))\b"
    r"(?! for good| of (?:the|my|POSS)| to (?:the )?(?:\w+ )?(?:dump|tip|scrap\w*|charity|"
    r"shop|store|shelter|recycling|pawn\w*)| up for "
    r"(?:sale|adoption|auction)| eBay| on ebay| (?:the )?(?:bin|trash|skip|rubbish|market))|"
    r"\b(?:dropped|drop) (?:THING|BARE) (?:on|off|at|down)\b|\b(?:dropped|drop) (?:THING|BARE),? "
    r"but (?:it|he|she|they)\b|"
    r"\b(?:handed|gave|passed|took|sent|dropped|brought) (?:in |over |off )?(?:THING|BARE) (?:in |over |off )?"
    r"(?:to|at|with) (?:the |my |our |POSS |a |an )?(?:mechanic|garage|vet|cleaners?|plumber|electrician|valet|"
    r"babysitter|sitter|kennels?|"
    r"repair\w*|shop for|workshop|dentist|doctor|groomers?|dealer for|menders?|menders'|tailor|cobbler|framer|tuner)\b|"
    r"\b(?:THING|BARE)(?: \w+){0,3}? for (?:(?:a|its|the|his|her|their|some) )?(?:repairs?|service|servicing|cleaning|"
    r"check\w*|inspection|tuning|safekeeping|the (?:day|night|week|weekend|holidays?|winter|summer))\b|"
    r"\bmissed (?:THING|BARE|OLD)\b|\b(?:bought|got|inherited|have|had) (?:THING|BARE) (?:from|for|as|when|in|at)\b|"
    r"\b(?:THING|BARE)(?: is|'s| are| was) dead (?:tired|set|serious|certain|right|wrong|on|"
    r"sure|quiet|asleep|slow|good|keen)\b|"
    r"\b(?:THING|BARE) (?:just )?(?:crashed|froze|ran away from)\b|\bleft (?:THING|BARE|OLD) "
    r"(?:this (?:morning|afternoon|evening)|early|"
    r"at (?:\d|noon|work|home|school|the)|for (?:a|the|work|lunch|now)|on the (?!bus|"
    r"train|tram|plane|ferry|coach)\w+)\b|"
    r"\b(?:their|his|her|your|neighbou?rs'?|somebody's|someone's) (?:\w+ )?(?:in |at |on )?(?:THING|"
    r"BARE)\b(?! (?:and|for me))"
)
_USED_UP: Final = re.compile(
    r"\b(?:finished|finish|dropped|drop|spilled|spilt|left|lost|threw|binned|chucked|tossed|dumped|sold|knocked|gave|"
    r"polished off|used up|burned|burnt|ate|drank|"
    r"skipped|missed|forgot|out of|ran out of|cancelled) (?:out |away |off |over )?"
    r"(?:POSS )?(?:all )?(?:THING|BARE)\b(?! (?:for good|forever|altogether|from my))"
)
_CLOSED: Final = re.compile(r"\b(?:closed|shut|close) (?:THING|BARE)\b(?! (?:down|for good|account))")
_MAY_CLOSE: Final = re.compile(rf"\b(?:{'|'.join(EVENT_TABLE['nouns']['may_close'].split())})")
_TASTES: Final = re.compile(
    r"(?:eat|drink|like|love|enjoy|prefer|adore|collect|bake|cook|order)s?|is (?:allergic|"
    r"into|fond of|keen on).*|has favou?rite .*"
)


def is_for_the_moment(fact: Fact, sentence: str, speaker: str) -> bool:
    """Return whether a sentence tells of the thing of a fact only what leaves the fact as it is: "I fed the cat".

    Args:
        fact: what somebody takes to have ended.
        sentence: the sentence that ends it, perhaps with its label.
        speaker: who says it.
    """
    own = normalise_name(speaker)
    subject, relation, value = fact.key
    text = _plain_text(sentence.removeprefix(f"{speaker}: "))
    if subject == own and is_in("own", fact) and _names_another(text, value):
        return True
    marked = _with_things(text, value.replace(f"{own}'s ", "my "), relation, own=subject == own)
    if "THING" not in marked and "BARE" not in marked:
        return False
    marked = _with_subject(marked, subject, own, text, _names(subject, own))
    if _FOR_THE_MOMENT.search(marked) is not None:
        return True
    if (
        _CLOSED.search(marked) is not None
        and _MAY_CLOSE.search(value) is None
        and relation.split()[0] in ("has", "owns", "uses")
    ):
        return True
    return _TASTES.fullmatch(relation) is not None and _USED_UP.search(marked) is not None


_ROLES: Final = frozenset(_TABLE["words"]["roles"].split())
_ANOTHERS: Final = (
    r"(?:his|her|their|your|another|some|someone else's|somebody else's|rental|rented|hired?|borrowed|company|courtesy|"
    r"loan|loaner|toy|model|spare|replacement|neighbou?r's|neighbou?rs'|friend's|(?:my|our) [a-z]+'s) (?:[a-z-]+ )?"
)
_HAVING_NONE: Final = re.compile(r"\b(?:not|no|never|without|stopped|don't|doesn't|haven't|hasn't|no longer)\b|n't\b")


def _names_another(text: str, value: str) -> bool:
    """Return whether a sentence names only other things of the kind of a thing: "the rental car", "a car burned down".

    Args:
        text: the sentence in lower case.
        value: the object of a fact.
    """
    thing = mention_of_text(_NAMED.sub(r"\g<kind>", value))
    found = list(re.finditer(rf"(?<![\w'-]){re.escape(thing.head)}(?:s|es)?(?![\w-])", text))
    if (
        not found
        or (thing.words | thing.tail) & {stem(word) for word in re.findall(r"[a-z][\w-]*", text)} - _SMALL_WORDS
    ):
        indefinite = re.match(rf"(?:an?|another) (?:\w+ )?{re.escape(thing.head)}\b", text)
        return bool(found) and len(found) == 1 and indefinite is not None and _HAVING_NONE.search(text) is None
    for one in found:
        before = text[: one.start()]
        is_other = (
            re.search(rf"\b{_ANOTHERS}$", before) is not None
            or _is_another(text[one.end() :], value)
            or (re.search(r"(?:^|[.;] )(?:an?) (?:\w+ )?$", before) is not None and _HAVING_NONE.search(text) is None)
        )
        if not is_other:
            return False
    return True


_SMALL_WORDS: Final = frozenset(["the", "a", "an", "my", "our", "in", "at", "on", "of", "for", "to", "and", "with"])


def _said_of_name(fact: Fact, view: GraphView) -> list[Fact]:
    """Return that somebody is what the speaker no longer has: "Sheila", "is a", "girlfriend"."""
    named = _NAMED.match(fact.key[2])
    if named is None or mention_of_text(named["kind"]).head not in LISTS["relations"] | LISTS["partners"] | _ROLES:
        return []
    return [one for relation in ("is a", "is") for one in view.facts(named["name"], relation, named["kind"])]


def _only_person(text: str, speaker: str, view: GraphView) -> str | None:
    """Return the only relative of the speaker whom "he" or "she" can mean in a message that names nobody.

    Args:
        text: the message.
        speaker: who says it.
        view: what the memory holds.
    """
    pronoun = _PRONOUN.search(text)
    if pronoun is None or _SOMEBODY.search(text) is not None:
        return None
    roles = PARSED_WORDS["women"] if pronoun[0] in ("she", "her") else PARSED_WORDS["men"]
    names = [f"{speaker}'s {role}" for role in sorted(roles)]
    known = [name for name in names if view.facts(subject=name)]
    return known[0] if len(known) == 1 else None


def _shown(name: str, speaker: str) -> str:
    return normalise_name(name).replace(f"{normalise_name(speaker)}'s ", "my ")


def _facts_of_things(text: str, speaker: str, view: GraphView) -> Iterator[Fact]:
    """Yield the facts of others about a thing that a sentence names, where only one of them has such a thing."""
    words = re.findall(r"[^\W_][\w'-]*", text)
    for size in (1, 2, 3):
        for start in range(1, len(words) - size + 1):
            if words[start - 1] in ("the", "his", "her", "their", "from", "by"):
                found = view.facts(object=" ".join(words[start : start + size]))
                if len({fact.subject for fact in found}) == 1 and found[0].subject != speaker:
                    yield from found


def _facts_with_objects(text: str, speaker: str, view: GraphView) -> Iterator[Fact]:
    """Yield the facts of what is the speaker's whose object a sentence names: "my family's home", "is in", "Porto"."""
    own = f"{normalise_name(speaker)}'s "
    words = re.findall(r"[^\W_][\w-]*", re.sub(r"'s?\b", "", text))
    for size in (1, 2, 3):
        for start in range(len(words) - size + 1):
            phrase = " ".join(words[start : start + size])
            if len(phrase) > 2:
                yield from (fact for fact in view.facts(object=phrase) if fact.key[0].startswith(own))
                for kind in view.facts(subject=phrase, relation="is a"):  # "Aurora" of "sailboat called Aurora"
                    for naming in ("called", "named"):
                        yield from view.facts(object=f"{kind.key[2]} {naming} {phrase}")


def _facts_of_kinds(text: str, speaker: str, view: GraphView) -> Iterator[Fact]:
    """Yield the facts of things that a sentence names by their kind: "local library" by "the library"."""
    own = f"{normalise_name(speaker)}'s "
    words = re.findall(r"[^\W_][\w-]*", re.sub(r"'s?\b", "", text))
    for number, word in enumerate(words):
        if len(word) < 3 or word in _COMMON:
            continue
        names = {
            name
            for form in {word, stem(word)}
            for name in view.names_with(form)
            if (name.startswith(own) or "'s " not in name.split(" at ")[0]) and mention_of_text(name).head == stem(word)
        }
        if len(names) > 1:
            names = {name for name in names if view.facts(subject=name)}
        if len(names) > 1:
            before = {stem(one) for one in words[max(0, number - 3) : number]}
            names = {name for name in names if mention_of_text(name).words & before}
        if len(names) == 1:
            yield from view.facts(subject=names.pop())


def _facts_of_pregnancies(text: str, speaker: str, view: GraphView) -> list[Fact]:
    """Return that a relative of the speaker is pregnant where a sentence tells of a birth, if it is one only."""
    if _BIRTH.search(text) is None:
        return []
    own = f"{normalise_name(speaker)}'s "
    objects = ["pregnant", *view.names_with("pregnant")]
    found = [fact for name in objects for fact in view.facts(object=name) if fact.key[0].startswith(own)]
    return found if len({fact.subject for fact in found}) == 1 else []


_WITHOUT_APOSTROPHE: Final = (
    (re.compile(r"\b(have|has|had|do|does|did|is|are|was|were|could|would|should|ca|wo)nt\b"), r"\1n't"),
    (re.compile(r"\b(i|you|we|they)(ve)\b"), r"\1'\2"),
    (
        re.compile(r"\b(that|he|she|there|it)s(?= (?:me|not|it|been|an?|the|over|gone|done|my|our|no|off|all|now)\b)"),
        r"\1's",
    ),
    (re.compile(r"\bim\b"), "i'm"),
)  # fmt: skip


def _facts_of_sums(text: str, speaker: str, view: GraphView) -> Iterator[Fact]:
    """Yield the facts of a sum whose setter a sentence names: of the rent by "the landlord"."""
    for noun, setters in SETTERS.items():
        if any(re.search(rf"\b{setter}\b", text) is not None for setter in setters.split()):
            yield from view.facts(subject=f"{speaker}'s {noun}")


def _plain_text(text: str) -> str:
    """Return a sentence as the patterns expect it: in lower case, with straight apostrophes and with its subject.

    Args:
        text: a sentence.
    """
    text = re.sub(r"\s+", " ", text.replace("’", "'")).strip().lower()
    for pattern, plain in _WITHOUT_APOSTROPHE:
        text = pattern.sub(plain, text)
    text = re.sub(r"\b(\w+)'s (?=(?:over|gone|finished|done|cancelled|off|fixed|sold|dead)\b)", r"\1 is ", text)
    text = re.sub(r"(\b(?:been|am|is|are|were)|'(?:ve|m|re|s)) ([a-z]{3,})-free\b", r"\1 free of \2", text)
    text = re.sub(r"\bpcs['e]?d\b", "moved house", text)  # what the US forces call a change of station
    text = re.sub(r"(?<= )r(?= [a-z])", "are", text.replace(" u ", " you "))
    begin = _BARE_PAST.match(text)
    if _WITHOUT_SUBJECT.match(text) is not None or (begin is not None and begin["verb"] in event_words()):
        text = f"i {text}"
    return re.sub(r"\b(i|we|they|you|he|she|it) (?:am|are|is) not\b", r"\1 not", text)


def _ends(fact: Fact, text: str, earlier: str, speaker: str) -> str:
    """Return how a sentence ends a fact: "THING" by its name, "BARE", "KIND" by a kind, "ALL" by none; empty if not."""
    known: dict[tuple[bool, bool, bool, bool], tuple[str, ...]] = {}
    for group in _all_groups():
        if not group.covers(fact):
            continue
        how = (group.by_subject, group.person, group.quantity, "price" in group.families)
        if how not in known:
            known[how] = tuple(_marked(fact, group, text, earlier, speaker))
        for one in known[how]:
            marked = with_events(one) if group.events else re.sub(r"\b(THING|BARE)'s (?!\w+ing\b)", r"\1 is ", one)
            match = group.pattern.search(marked)
            if match is None and "n't" in marked:
                marked = _IS_NOT.sub(" not", marked)
                match = group.pattern.search(marked)
            if match is None or _is_passing(fact, text, marked, match):
                continue
            if "BARE" in match[0]:
                return "BARE"
            if "THING" in match[0] or group.quantity or group.by_subject:
                return "THING"
            return "KIND" if group.is_of_few else "ALL"
    return ""


_MARK: Final = re.compile(r"SUBJ|WHOM|POSS|THING|<")


def _is_passing(fact: Fact, text: str, marked: str, match: re.Match[str]) -> bool:
    """Return whether what a pattern has found in a sentence with marked words ends nothing for good."""
    if _PASSING.match(marked, match.end()) is not None and _LASTING.search(match[0]) is None:
        return True
    if _RECURRING.match(fact.key[1]) is not None and _THIS_TIME.match(marked, match.end()) is not None:
        return True  # "tennis is cancelled this Saturday"
    if _DROPPED.search(text) is not None and re.search(r"<[A-Z]*[EA]|dropped", match[0]) is not None:
        return True  # "I dropped my phone on the floor"
    if _FAILED.search(text) is not None and _LEARNT.search(f"{fact.key[1]} {fact.key[2]}") is not None:
        return True  # "failed my test again"
    is_elliptic = _ELLIPTIC.match(match[0]) is not None and match.start() and "SUBJ" not in marked[: match.start()]
    if is_elliptic or _BY_RELATIVE.search(marked) is not None:
        return True  # "my cousin packed up and left Tallinn"
    if _FINISHED_ONE.search(text) is not None and "THING" in match[0]:
        return True
    if _ERRAND.search(text) is not None or (_FUTILE.search(text) is not None and "ing for" not in fact.key[1]):
        return True
    if _NO_MORE.search(match[0]) is not None and _THERE.match(marked, match.end()) is not None:
        return True  # "no more glasses in the cupboard"
    if (
        re.search(r"\bdrop(?:s|ped)\b", text) is not None
        and is_in("own", fact)
        and re.search(r"<[A-Z]*[EA][A-Z]*>ed", match[0]) is not None
        and fact.key[1].split()[0] in ("wears", "has", "owns", "drives", "rides", "keeps")
        and " of " not in text
    ):
        return True
    if _SOLD_OUT.search(text) is not None or _OF_SOMEBODY.match(marked, match.end()) is not None:
        return True  # "they took the cast off my brother's leg"
    is_left = _LEFT.search(match[0]) is not None or (
        re.search(r"\bleft\b", text) is not None and re.search(r"<[A-Z]*V[A-Z]*>ed", match[0]) is not None
    )
    return is_left and _SOMEWHERE.match(marked, match.end()) is not None  # "I left Jonas at the station"


def _ends_by_part(fact: Fact, text: str, earlier: str, speaker: str) -> str:
    """Return the phrase by which a sentence that ends a fact names a part of its object; empty if there is none."""
    own = normalise_name(speaker)
    subject, relation, _ = fact.key
    if subject != own and not _is_about_relative(subject, own):
        return ""
    is_owned = is_in("own", fact) and not is_in("membership", fact)
    families = tuple(name for name in FAMILY_NOUNS if is_in(name, fact))
    link = linked(text, fact.object, relation, families, own=subject == own, needs_head=is_owned)
    if link is None:
        return ""
    groups = (one for one in _all_groups() if one.events and not (one.by_subject or one.person or one.quantity))
    marked = with_events(_with_subject(link[0], subject, own, earlier, _names(subject, own)))
    for group in groups:
        if not group.covers(fact):
            continue
        match = group.pattern.search(marked)
        if match is None and "n't" in marked:
            match = group.pattern.search(_IS_NOT.sub(" not", marked))
        if match is None or "THING" not in match[0] or _is_passing(fact, text, marked, match):
            continue
        return link[1]
    return ""


def _marked(fact: Fact, group: _Group, text: str, earlier: str, speaker: str) -> Iterator[str]:
    """Yield a sentence with the words for the parts of a fact marked."""
    own = normalise_name(speaker)
    subject, _, value = fact.key
    is_thing = subject != own and not _is_about_relative(subject, own)
    if group.quantity:
        old = _QUANTITY.search(value)
        if old is not None:
            new = re.sub(rf"\b{_NUMBER} {re.escape(stem(old['unit']))}s?\b", "QUANTITY", text)
            if old[0] not in text:
                yield _with_subject(new, subject, own, earlier, _names(subject, own))
        return
    if group.by_subject or is_thing:
        if not is_thing and not group.by_subject:
            return
        marked = _with_things(text, subject.removeprefix(f"{own}'s "), "", own=True)
        marked = re.sub(rf"\b{re.escape(value)}\b", "OLD", marked)
        marked = _with_subject(marked, own, own, earlier, [])
        if marked != text:
            yield marked
        if "price" not in group.families:
            return
    marked = _with_things(text, value.replace(f"{own}'s ", "my "), fact.key[1], own=subject == own)
    if group.person:
        marked = marked.replace("BARE", "THING")
    yield _with_subject(marked, subject, own, earlier, _names(subject, own))


def _is_about_relative(subject: str, own: str) -> bool:
    """Return whether the subject of a fact is somebody else, and no thing.

    Args:
        subject: the subject, normalised.
        own: the name of the speaker, normalised.
    """
    noun = stem(subject.removeprefix(f"{own}'s ").split(" ")[-1])
    if subject.startswith(f"{own}'s "):
        return noun in LISTS["relations"] | LISTS["partners"] | LISTS["pets"] | _YOUNG or noun in KIN
    return noun not in KINDS and " " not in subject and noun not in _THINGS


_AFTER_IS: Final = (  # what shows that "my wife's" is "my wife is" or "has"
    rf"\w{{2,}}(?:ed|en|ing|own)\b|(?:{'|'.join(sorted(PARTICIPLES))}|now|not|no longer|no "
    rf"more|just|finally|also|already|"
    r"officially|recently|totally|completely|so|too|all|well|free|off|over|out of|out|back|on|in|at|with|to|a|an|the|"
    rf"\w+ly|better|fine|healthy|single|{_NUMBER})\b"
)
_BIRTH: Final = re.compile(r"\b(?:born|gave birth|baby|is here|has arrived)\b|'s here\b")
_COMMON: Final = frozenset([
    "the", "and", "but", "for", "from", "with", "not", "now", "out", "off", "has", "have", "had", "was", "were",
    "are", "been", "they",
])  # fmt: skip
_YOUNG: Final = frozenset(
    ["parent", "boy", "girl", "baby", "kid", "one", "toddler", "twin", "child", "youngest", "oldest"]
)
_THINGS: Final = LISTS["places"] | WORDS["containers"] | frozenset(_TABLE["words"]["things"].split())


def _names(subject: str, own: str) -> list[str]:
    """Return how somebody other than the speaker is called in a message."""
    if subject.startswith(f"{own}'s "):
        noun = subject.removeprefix(f"{own}'s ")
        forms = [f"{owner} {word}" for owner in ("my", "our") for word in sorted({noun, *KIN.get(noun, ())})]
        if noun == "parents":
            forms += ["mum and dad", "mom and dad", "my mum and dad", "my mom and dad", "my folks", "the folks"]
        return forms + (sorted({noun, *KIN[noun]}) if noun in KIN else [])
    return [subject]


def _with_subject(text: str, subject: str, own: str, earlier: str, names: list[str]) -> str:
    """Return a sentence with the words for whose fact it is marked."""
    if subject == own:
        text = re.sub(r"\b(?:i|we)(?=\b)|(?<=\band )me\b|^me(?= and\b)", "SUBJ", text)
        text = re.sub(r"\b(?:me|us)\b", "WHOM", text)
        return re.sub(r"\b(?:my|our)\b", "POSS", text)
    name = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    known = re.search(rf"(?<![\w'])(?:{name})(?![\w-])", earlier) is not None
    text = re.sub(rf"(?<![\w'])(?:{name})'s (?={_AFTER_IS})", "SUBJ's ", text)
    text = re.sub(rf"(?<![\w'])(?:{name})'s ", "POSS ", text)
    text = re.sub(rf"(?<![\w'])(?:{name})(?![\w'-])", "SUBJ", text)
    if known:
        text = re.sub(r"\b(?:he|she|they)\b", "SUBJ", text)
        text = re.sub(r"\b(?:him|them)\b|\bher\b(?= (?:out|off|go|on|to|redundant)\b|\W*$)", "WHOM", text)
        text = re.sub(r"\b(?:his|her|their)\b", "POSS", text)
    return text


def _with_things(text: str, value: str, relation: str, *, own: bool) -> str:
    """Return a sentence with the words for a thing marked: THING by all its words, BARE by its kind."""
    value = _RELATIVE.sub("", _ARTICLE.sub("", value))
    full, bare = _forms(value, relation)
    determiners = "the|this|that|these|those|" + ("my|our|all my|all our" if own else "his|her|their")

    named = _NAMED.match(value)

    def mark(match: re.Match[str]) -> str:
        before = match.string[: match.start()]
        return match[0] if _NOT_MINE.search(before) is not None else "THING"

    def mark_kind(match: re.Match[str]) -> str:
        return match[0] if _is_another(match.string[match.end() :], value) else "BARE"

    for form in full:
        if form not in text:
            continue
        if named is not None and form == named["name"] and re.search(rf"\b(?:an?|the|last) {re.escape(form)}", text):
            continue  # "the last biscuit" is not the hamster called Biscuit
        pattern = (
            rf"(?<![\w'@#-])(?:(?:{determiners}) {_OLD}{re.escape(form)}(?:s|es)?|{re.escape(form)})"
            r"(?![\w'-]*\w(?<!'s))"
        )
        marked = re.sub(pattern, mark, text)
        if marked != text:
            return marked
    for form in bare:
        if form not in text:
            continue
        pattern = rf"(?<![\w'@#-])(?:{determiners}) {_OLD}{re.escape(form)}(?:s|es)?(?![\w'-]*\w(?<!'s))"
        marked = re.sub(pattern, mark_kind, text)
        if marked != text:
            return marked
    return text


_PLACED: Final = re.compile(r" (?:in|at|on|from|of) (?:(?:the|a|an) )?(?P<word>[^\W\d_][\w'-]+)")
_PLACE_OF: Final = re.compile(r" (?:in|at|on|from|of|near|to|with) ")


def _is_another(after: str, value: str) -> bool:
    """Return whether what follows a noun shows that another thing is meant: "the flat in York" is not one in Hull."""
    place = _PLACED.match(after)
    if place is None or _PLACE_OF.search(value) is None or is_common(place["word"]):
        return False
    return place["word"] not in value.split()


_RELATIVE: Final = re.compile(r" (?:who|which|that|whose) .*$")
_TIMES_AFTER: Final = re.compile(r"\b(?:\w+days?|mornings?|evenings?|nights?|weekends?|week|month)$")
_PLACE_AFTER: Final = re.compile(r" (?:on|from|at|in) .*$")
_UNCOUNTED: Final = frozenset([
    "cancer", "flu", "covid", "asthma", "anxiety", "pain", "insomnia", "depression", "pneumonia", "bronchitis",
])  # fmt: skip


def words_end(phrase: str, ending: str) -> bool:
    """Return whether the last word of a phrase has an ending and is long enough to be made of a verb."""
    return phrase.endswith(ending) and len(phrase.split(" ")[-1]) > 5


_INSIDE: Final = re.compile(r"(?:glass|cup|mug|bottle|pint|can|shot|pack|bar|slice|bowl|dose)(?:es|s)? of (\w+)\b")


def _kin_variants(word: str) -> Iterator[str]:
    """Yield how else the owner of a thing may be called: "grandma's" for "grandmother's"."""
    if word.endswith("'s"):
        yield from (f"{other}'s" for other in sorted(KIN.get(word[:-2], ())) if other != word[:-2])


@cache
def _forms(value: str, relation: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return how a thing may be called: by all its words, and with an article by its kind.

    Args:
        value: the object of a fact, or its subject.
        relation: the relation of the fact; empty for a subject.
    """
    whole, full, bare = value, [value], list[str]()
    named = _NAMED.match(value)
    if named is not None:
        full += [named["name"]]
        value = named["kind"]
        bare.append(value)
    inner = _INNER.match(value)
    if inner is not None and not relation:
        value = inner["head"]
        bare.append(value)
    elif inner is not None:
        if relation != "owns":  # "a restaurant in Bath" may be another one than somebody's own
            full += [_ARTICLE.sub("", inner["inner"])]
        value = inner["head"]
        bare.append(value)
    words = value.split(" ")
    if inner is not None and relation:
        shorter = _PLACE_AFTER.sub("", _ARTICLE.sub("", inner["inner"]))
        if relation != "owns" or " in " not in whole:
            full.append(shorter)
        bare.append(shorter.split(" ")[-1])
        if _TIMES_AFTER.search(inner["inner"]) is not None or relation == "is":
            full.append(value)  # "yoga" of "yoga on Mondays", "captain" of "captain of the team"
    if relation in ("is a", "is an", "works as"):
        full += sorted(KINDS.get(value.split(" ")[-1], ()))
    if value == "married":
        bare += ["wedding", "engagement"]
    if relation in ("is a", "is an", "works as") and words_end(value, "er"):
        full.append(f"{value.split(' ')[-1][:-2]}ing")  # "plumbing" of a plumber
    if value.split(" ")[-1] in _UNCOUNTED:
        full.append(value.split(" ")[-1])
    if len(words) > 1:
        last = words[-1]
        if last in WORDS["containers"] | WORDS["ties"] | {"some", "collection"}:
            full.append(" ".join(words[:-1]))
        if len(words) > 2 and inner is None and words[1] in ("every", "a", "each"):
            full.append(words[0])
        bare.append(last)
    numberless = re.sub(rf"^{_NUMBER} ", "", value)
    if numberless != value:
        bare.append(numberless)
    kinds = {*KINDS.get(words[-1], ()), *RELATION_KINDS.get(relation, ())}
    bare += sorted(kinds)
    for form in tuple(full):
        full += [form.replace(word, other) for word in form.split(" ") for other in _kin_variants(word)]
    if (inside := _INSIDE.match(whole)) is not None:
        full.append(inside[1])
    if stem(words[-1]) != words[-1] and len(words) == 1:
        full.append(stem(words[-1]))
    if relation.startswith("has ") and relation != "has":
        noun = relation.removeprefix("has ")
        bare += [noun, noun.rpartition(" ")[2]]
    if relation == "does":
        base = words[0].removesuffix("e")
        full += [f"{base}ing", f"{base}{base[-1:]}ing", f"{base}ed", f"{base}{base[-1:]}ed"]
    if relation == "owes":
        full.append(words[0])
    unique = [form for form in dict.fromkeys(full) if len(form) > 1]
    return tuple(unique), tuple(form for form in dict.fromkeys(bare) if form not in unique and len(form) > 1)
