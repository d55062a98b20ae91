"""Finds who has died, in the many words for it, without a parse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from worldthread.extract.parsed.change_tables import KIN, LISTS
from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.endings import CALLED, ended_facts
from worldthread.extract.parsed.events import Change
from worldthread.extract.parsed.mentions import Mention, mention_of_text, stem
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

_HAS: Final = (
    r"(?:'s| has| have| had| was| were| is| are| got| just| finally| sadly| suddenly| unexpectedly|"
    r" peacefully| quietly|"
    r" since| recently| been| both| all| also| then)*"
)
_DIED: Final = (
    r"(?:died|dead(?! (?:tired|set|serious|certain|right|wrong|on|sure|quiet|asleep|slow|good|"
    r"keen|last|to|end|weight|drunk))|passed away|passed on(?! (?:the|a|to|my|our|his|her))|"
    r"passed over|passed(?=\W*$|[,.!;:]| (?:on )?(?:yesterday|today|last|this|in (?:his|her)|"
    r"at (?:the age|\d)|\w+day))|"
    r"deceased|perished|expired|kicked the bucket|no more(?= *$|[,.!;:])|carked it|karked it|snuffed it|croaked it|"
    r"popped (?:his|her|its) clogs|met (?:his|her|its) maker|departed this life|"
    r"left us(?=\W*$|[,.!;:]| (?:on |last |this |yesterday|today))|"
    r"slipped away(?! (?:from|to|early|before|for))|gone to (?:god|glory|(?:his|her) rest|(?:his|her) reward|meet)|"
    r"went to be with (?:the lord|god|jesus)|been called home|called home to|passed into|crossed over(?! (?:the|to))|"
    r"died on us|didn't see the morning|didn't wake up|did not wake up|never woke up|gone for ever|gone forever|"
    r"left us for ever|left us forever|no longer with us|no longer alive|no longer among us|"
    r"not with us any ?more|in heaven|"
    r"in a better place|gone to a better place|gone to heaven|with the angels|went to sleep for the last time|"
    r"lost (?:his|her|their|the|its) (?:\w+ )?(?:fight|battle|life|struggle)|"
    r"(?:not|didn't|did not) (?:make it(?! (?:to|in|on|for|past|home|there|back|onto|as|until|"
    r"till))|survive|pull through|wake up again)|"
    r"(?:took|drew|breathed) (?:his|her|its) last(?: breath)?|succumbed|drowned|bled to death|"
    r"starved|fell asleep forever|"
    r"(?:killed|run over|put down|put to sleep|euthani[sz]ed|poisoned|slaughtered|shot|buried|cremated|laid to rest|"
    r"hit by a (?:car|bus|lorry|truck|train|van)(?! and (?:is|he's|she's) (?:fine|ok)))|"
    r"cross(?:ed)? (?:over )?the rainbow bridge|went over the rainbow bridge|drop(?:ped)? dead|"
    r"had (?:a|another|his|her) (?:\w+ )?(?:heart attack|stroke|accident) and (?:\w+ )?(?:died|"
    r"didn't make it|passed away)|"
    r"(?:heart|kidneys|liver) (?:gave out|stopped|failed)|breathed (?:his|her) last)"
)
_WHO: Final = (
    r"(?P<who>(?!(?:to|been|a|an|it|him|her|them|have|had)\b)(?:(?:my|our|the|poor|dear|old|little|"
    r"beloved|darling) )*[^\W\d_][\w-]*(?: (?!and\b|has\b|had\b|was\b|is\b)[^\W\d_][\w-]*)?)"
)
_ITSELF: Final = re.compile(
    rf"(?:^|[,;:.!–—-] +|\b(?:and|but|that|because|since|so|when|after) ){_WHO}{_HAS} {_DIED}\b(?! "
    rf"(?:of|with) laughter|inside|for (?:it|this))"
)
_FUNERAL: Final = re.compile(
    rf"(?:^|[,;:.!] |\b(?:was|is|to|at|for) ){_WHO}'s? (?:funeral|wake|burial|cremation|memorial service)\b"
)
_RESTS: Final = re.compile(
    rf"\b(?:scattered|collected|picked up|buried|spread) {_WHO}'s? (?:ashes|remains)\b"
    r"|(?:^|[,;:.!] )(?:rip|r\.i\.p\.?|rest in peace|sleep tight|fly high|run free) "
    rf"{_WHO.replace('?P<who>', '?P<rests>')}(?=\W|$)"
)
_LOST: Final = re.compile(
    r"\b(?:i|we|they) (?:just |sadly |recently |have |finally )*(?:lost|buried|cremated|laid|had to bury) "
    rf"{_WHO}(?: to rest)?(?: (?:on|in|last|to|this|yesterday|today|after|at|when|because|early|suddenly)\b|\W*$)"
)
_SLEEP: Final = re.compile(
    r"\b(?:put|have|had|let|help|helped|lay|laid|euthani[sz]e|euthani[sz]ed|say|said) (?:down "
    r"|to sleep |goodbye to |farewell to )?"
    rf"{_WHO}(?: (?P<end>put down|put to sleep|down|to sleep|go|euthani[sz]ed|cross the rainbow "
    rf"bridge|over the rainbow bridge|pass))?\b"
)
_SLEPT: Final = re.compile(
    r"\b(?:put (?:down|to sleep)|say goodbye to|said goodbye to|say farewell to|said farewell "
    r"to|euthani[sz]ed?|lay to rest) "
)
_FOUND: Final = re.compile(
    rf"\bfound {_WHO} (?:dead|floating|lifeless|not breathing|unresponsive and|belly up|stiff|cold and|"
    r"on (?:his|her|its) back in)\b"
)
_SOMEWHERE: Final = re.compile(
    r"^\W*(?:at|in front of|outside|before|until|till|for the (?:day|weekend|week)|on the phone)\b"
)
_LONG_AGO: Final = re.compile(
    r"\bwhen (?:i|we|he|she) (?:was|were)\b|\bas an? (?:\w+ )?(?:kid|child|boy|girl|teenager|"
    r"baby)\b|\b(?:years|decades|ages) ago\b|"
    r"\bin (?:19|20)\d\d\b|\b(?:first|previous|childhood|other|former|old(?= (?:dog|cat|horse) died))\b"
)
_ANY: Final = re.compile(
    r"died|dead|pass|goodbye|farewell|lost|buried|bury|funeral|wake\b|burial|put |heaven|rainbow|"
    r"no longer|with us|make it|survive|"
    r"last|succumb|drown|kill|run over|euthan|better place|found|expired|deceased|perished|"
    r"gave out|angels|cremat|laid|shot\b|hit by|no more|carked|karked|snuffed|croaked|clogs|"
    r"maker|departed|left us|slipped|"
    r"gone|called home|crossed|wake|woke|morning|ashes|rip\b|rest in peace|floating|stiff"
)
_DETERMINERS: Final = re.compile(r"^(?:(?:my|our|the|poor|dear|old|little|beloved|darling) )+")
_PETS: Final = LISTS["pets"] | WORDS["pets"]
_RELATIVES: Final = (LISTS["relations"] | LISTS["partners"] | WORDS["relations"]) - _PETS


def died(text: str, sentence: str, speaker: str, view: GraphView) -> list[Fact]:
    """Return what was so of those who have died, as far as a sentence says.

    Args:
        text: the sentence in lower case.
        sentence: the sentence as written.
        speaker: who says it.
        view: what the memory holds.
    """
    if _ANY.search(text) is None or _LONG_AGO.search(text) is not None:
        return []
    found: dict[Fact, None] = {}
    for phrase, is_plain in _dead(text):
        for target in _who(phrase, speaker, view, is_plain=is_plain):
            who = Mention(normalise_name(speaker), frozenset(), frozenset(), speaker, person=True, proper=True)
            change = Change(sentence, who=(who,), targets=(target,), life=True)
            found |= dict.fromkeys(ended_facts(change, view))
    return list(found)


def _dead(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the phrases for who has died, each with whether the words say so of anybody and not only of an animal."""
    for pattern in (_ITSELF, _FUNERAL, _FOUND):
        for match in pattern.finditer(text):
            yield match["who"], True
    for match in _LOST.finditer(text):
        yield match["who"], True
    for match in _RESTS.finditer(text):
        yield match["who"] or match["rests"], True
    for match in _SLEEP.finditer(text):
        if (match["end"] is not None or _SLEPT.match(match[0]) is not None) and _SOMEWHERE.match(
            text[match.end() :]
        ) is None:
            yield match["who"], False


def _who(phrase: str, speaker: str, view: GraphView, *, is_plain: bool) -> Iterator[Mention]:
    """Yield whom a phrase means, where the memory knows something of them."""
    phrase = re.sub(r"'s?$", "", phrase)
    words = phrase.split()
    while words:
        found = _known(" ".join(words), speaker, view, is_plain=is_plain)
        if found is not None:
            yield found
            if words[-1] in KIN and view.facts(subject=words[-1]):
                yield replace(mention_of_text(words[-1]), proper=True)
            return
        words = words[:-1]


def _known(phrase: str, speaker: str, view: GraphView, *, is_plain: bool) -> Mention | None:
    name = _DETERMINERS.sub("", phrase)
    own = re.match(r"(?:\w+ )?(?:my|our)\b", phrase) is not None
    noun = stem(name.split(" ")[-1])
    if not name or name in ("i", "we", "he", "she", "they", "it", "you"):
        return None
    is_pet = noun in _PETS
    if own or noun in KIN or is_pet:
        if not is_plain and not is_pet and not _is_pet_name(name, speaker, view):
            return None
        owned = f"{speaker}'s {name}"
        if own or noun in KIN:
            if is_pet:
                return replace(mention_of_text(name), determiner="the")
            return mention_of_text(owned) if noun in _RELATIVES or noun in KIN or view.facts(subject=owned) else None
        return replace(mention_of_text(name), determiner="the") if phrase.startswith("the ") else None
    if not is_plain and not _is_pet_name(name, speaker, view):
        return None
    if view.facts(subject=name) or view.facts(object=name) or _is_pet_name(name, speaker, view):
        return replace(mention_of_text(name), proper=True)
    return None


def _is_pet_name(name: str, speaker: str, view: GraphView) -> bool:
    """Return whether an animal has a name."""
    if any(mention_of_text(f.object).head in _PETS for f in view.facts(subject=name, relation="is a")):
        return True
    for fact in view.facts(object=name):
        if mention_of_text(fact.subject).head in _PETS or fact.key[1].rpartition(" ")[2] in _PETS:
            return True
    return any(
        (match := CALLED.search(fact.key[2])) is not None
        and name == match[1]
        and mention_of_text(fact.key[2][: match.start()]).head in _PETS
        for fact in view.facts(subject=speaker)[-200:]
    )
