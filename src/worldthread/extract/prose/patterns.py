r"""The patterns of plain statements: a subject, directly followed by a known verb, directly followed by its object.

Relations are plain words in the present tense. A statement about the past gives a fact only where it stays true ("born
in", "founded by", "was a"), and such a fact has no aspect. Questions, conditions, hearsay, wishes and guesses give no
facts: the verb must come right after the subject, so that a modal verb or a doubt before it is no match.

=============================================  ===============================  ============================
sentence                                       fact                             aspect
=============================================  ===============================  ============================
Anna lives in Rome. She moved to Rome.         Anna, lives in, Rome             residence of anna
Anna works for Acme as a clerk.                Anna, works for, Acme            employer of anna
\                                              Anna, works as, clerk            job of anna
Anna is married to Bob.                        Anna, married to, Bob            spouse of anna
Anna is 30 years old. Her age is 30.           Anna, has age, 30                age of anna
Anna's phone number is 555 0100.               Anna, has phone number, 555 0100 phone number of anna
Bob is the CEO of Acme. Acme's CEO is Bob.     Bob, is CEO of, Acme             CEO of acme
The lamp costs 5 euros.                        lamp, costs, 5 euros             price of lamp
The meeting is on Friday at 5 pm.              meeting, is on, Friday           day of meeting
The keys are in the drawer.                    keys, is in, drawer              place of keys
The shop is closed.                            shop, is, closed                 open or closed state of shop
Anna loves tea.                                Anna, loves, tea                 feeling of anna about tea
Anna is a doctor. Rome is a city in Italy.     Anna, is a, doctor               none
Heat is a film directed by Jo Lee.             Heat, directed by, Jo Lee        none
=============================================  ===============================  ============================
"""

from __future__ import annotations

import re
from typing import Final

from worldthread.extract.prose.words import FAMILIES, WORDS
from worldthread.types import Fact

ADVERBS: Final = (
    r"(?:(?:also|currently|now|still|just|recently|always|really|already|today|actually|mainly|best|officially|"
    r"commonly|generally|widely|permanently) )*+"
)
BE: Final = re.compile(rf"(?: (?:is|are|am)|['’](?:s|m|re)) {ADVERBS}")
PAST_BE: Final = re.compile(rf" (?:was|were|(?:has|have) been) {ADVERBS}")
NO_AUXILIARY: Final = re.compile(rf" {ADVERBS}")
HAVE: Final = re.compile(rf"(?: (?:has|have)|['’]ve) {ADVERBS}")
DOUBT: Final = re.compile(
    r"\?|\b(?:if|unless|whether|maybe|perhaps|probably|possibly|allegedly|reportedly|supposedly|presumably|apparently|"
    r"according to|I (?:think|guess|believe|suppose|heard)|not sure|rumou?r(?:s|ed)?|pretend(?:s|ed)?|imagines?|"
    r"wish(?:es)?|dreams?|would|should|could|might|as if|hypothetical(?:ly)?|kidding|joking|until|till|or not)\b",
    re.IGNORECASE,
)
PREPOSITION: Final = re.compile(r" (?P<word>in|on|at|by|from|as|after|to|near) ")
LOCATION: Final = re.compile(
    r"(?P<word>in|at|on|inside|under|behind|near|next to|on top of) "
    r"(?=(?:the|my|his|her|its|a) [a-z]+[.,!;]?(?:$| now| and | of )|[^a-z])"
)
NOT_PLACES: Final = frozenset({
    "process", "middle", "form", "case", "way", "sense", "list", "top", "verge", "mood", "same", "hurry", "mess",
    "trouble", "dark", "phone", "road", "move", "rise", "fence", "spot", "ground", "wrong", "right", "end", "beginning",
    "time", "hook", "run", "lead", "house", "rocks", "ropes", "edge", "hope", "order", "interest", "response", "detail",
})  # fmt: skip
AGE: Final = re.compile(r"(?P<age>\d{1,3})(?: years? old| years? of age|(?=[.!]*$))")
PREDICATE_LINK: Final = re.compile(r",? (?:and|but) (?:also (?=\w))?|,(?= (?:is|was|has|lives|works) )")
CLAUSE_LINK: Final = re.compile(r",? (?:and|but|while) |; ")
ADJECTIVE: Final = re.compile(
    r"(?:very |so |quite |really |all )?(?P<word>on|off|[a-z]{3,}(?:-[a-z]+)?)(?: now| today| again)?"
    r"(?= ?[.!;](?!\w)|$| ?,? (?:and|but) )"
)
PARTICIPLE: Final = re.compile(
    rf"(?P<word>(?:co-)?[a-z]{{2,}}ed|{'|'.join(sorted(WORDS['participles']))})"
    r"(?= (?:in|on|at|by|from|as|after|to|near) )"
)
CREATION_PARTICIPLES: Final = {
    **{verb: verb for verb in WORDS["makings"]},
    "wrote": "written", "co-wrote": "co-written",
}  # fmt: skip
CREATION_VERB: Final = re.compile(rf"(?P<verb>{'|'.join(CREATION_PARTICIPLES)}) (?=\S)")
EVENT_VERB: Final = re.compile(
    r"(?P<verb>studied at|graduated from|attended|joined|won|starred in|appeared in|played for|served in|served as|"
    r"competed in|participated in|emigrated to) (?=\S)"
)
PRESENT_VERB: Final = re.compile(
    r"(?P<verb>likes?|loves?|hates?|dislikes?|enjoys?|adores?|prefers?|owns?|has|have|costs?|weighs?|speaks?|"
    r"borders?|drives?|teach(?:es)?|belongs? to|comes? from|flows? into|flows? through|"
    r"plays? for|reports? to|contains?|"
    r"features?|manages?|stud(?:y|ies) at|lies? in|lies? on) (?=\S)"
)
NUMERAL: Final = re.compile(r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|\d[\d,.]*) ")
FEELING_VERBS: Final = frozenset(["likes", "loves", "hates", "dislikes", "enjoys", "adores"])
SINGLE_VALUED: Final = {
    "lives in": "residence", "lives at": "residence", "lives on": "residence",
    "works for": "employer", "works at": "employer", "works as": "job",
    "married to": "spouse", "is married to": "spouse",
    "costs": "price", "weighs": "weight", "plays for": "team", "reports to": "boss",
}  # fmt: skip
LIVING: Final = re.compile(r"(?:lives?|living|resides?|residing) (?P<word>in|at|on|near|with) ")
WORKING: Final = re.compile(r"(?:works?|working) (?P<word>for|at|as|in|with) ")
MOVED: Final = re.compile(r"(?:moved|relocated) to ")
MARRIED: Final = re.compile(r"(?:got )?married (?:to )?(?=\S)")
BORN: Final = re.compile(r"born(?= (?:in|on|at) )")
DIED: Final = re.compile(r"died(?= (?:in|on|at|of) )")
CALLED: Final = re.compile(r"(?P<word>called|named|known as|nicknamed) (?=\S)")
CHANGED_ATTRIBUTE: Final = re.compile(r"changed (?:my|his|her|its) (?P<noun>[a-z ]{3,30}?) to ")
OPENING: Final = re.compile(
    r"(?:(?:Also|However|Actually|Now|Today|Currently|And|But|So|Then|Well|Yes|No|Hi|Hello|Hey|Oh|By the way|In fact|"
    r"Good news|Update|FYI|Later|Recently|Finally)[,:!]? )*+(?:(?:In|On|By|Since) )?"
)
SENTENCE_END: Final = re.compile(r"\W*$")
PAST_YEAR: Final = re.compile(r"(?:1\d|20)\d\d")
_ROLE: Final = re.compile(r"is (?:the )?(?P<name>.+) of")
_YEARS: Final = re.compile(r"\d{1,3} years? (?:old|of age)")


def is_doubtful(sentence: str) -> bool:
    """Return whether a sentence asks, supposes, guesses, or reports what others say."""
    return DOUBT.search(sentence) is not None


def is_attribute(noun: str) -> bool:
    """Return whether a noun names something of which there is one at a time: "age", "favourite colour"."""
    return noun.startswith("favo") or noun.rpartition(" ")[2] in WORDS["attributes"]


def aspect_of(fact: Fact) -> str | None:
    """Return the aspect that ``fact`` would have if a sentence stated it, as far as its words show.

    Places and days have no aspect here, because only a sentence shows whether a thing can move and what is a day.

    Args:
        fact: the fact; its own aspect is ignored.

    Returns:
        The aspect, such as ``"residence of anna"``; ``None`` for most facts.
    """
    subject, relation, value = fact.key
    if relation in FEELING_VERBS:
        return f"feeling of {subject} about {value}"
    if (role := _ROLE.fullmatch(relation)) is not None and role["name"] in WORDS["roles"]:
        return f"{role['name']} of {value}"
    single = SINGLE_VALUED.get(relation)
    if relation.startswith("has ") and is_attribute(relation.removeprefix("has ")):
        single = relation.removeprefix("has ")
    elif relation == "is" and _YEARS.fullmatch(value):
        single = "age"
    elif relation == "is" and value in FAMILIES:
        single = f"{FAMILIES[value]} state"
    return None if single is None else f"{single} of {subject}"
