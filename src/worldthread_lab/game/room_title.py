"""Finds the room that a text describes: by a title that is marked, by a line that looks like one, or by darkness."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of

_MARKED_TITLE: Final = re.compile(
    r"^[ \t]*(?:-=[ \t]*(?P<title>\S.*?)[ \t]*=-|<<[ \t]*(?P<title2>\S.*?)[ \t]*>>)[ \t]*$", re.M
)
# a line without the punctuation of a sentence; it may hold an abbreviation ("N. Main Street", "E/W Passage") or a word
# in quotes
_WORD: Final = r"(?:[A-Z][a-z]?\.|[\"\u201c][\w' -]+[\"\u201d]|[\w'\u2019&/#+\u2013\u2014-]+)"
_PLAIN_TITLE: Final = re.compile(
    rf"^(?!(?:You|There|It|Its|That|Nothing|No|Which|What|But|As|An?)\b)"
    rf"(?P<title>(?=[\"\u201c]?[A-Z]|\d+(?:st|nd|rd|th)\b){_WORD}(?:,? {_WORD}){{0,7}}"
    r"(?:,? \([^()\n]+\)){0,2})$"
)
_ARTICLE_TITLE: Final = re.compile(rf"An? {_WORD}(?: {_WORD}){{0,5}}$")
_ODD_TITLE: Final = re.compile(
    r"(?=[A-Z\d\"'\u201c(])(?:(?:[^\s.]+|[A-Z][a-z]{0,3}\.|(?:[A-Z]\.)+) ){0,11}[^\s.]*[\w'\u2019\")\]]$"
)
"""A title with marks of a sentence in it ("Deck 3: Galley"), or one that begins as a sentence may ("No Man's Land")."""
# a title amid other feedback is written like a name: these are the words that need no capital
_SMALL_WORD: Final = re.compile(
    r"(?:an?|and|as|at|above|across|after|along|among|around|before|behind|below|beneath|beside|between|beyond|but|by|"
    r"down|for|from|in|inside|into|is|near|of|off|on|or|out|outside|over|past|the|through|to|towards?|under|up|upon|"
    r"with|within|without),?$"
)
_POSTURE: Final = re.compile(
    r",? \((?:in|inside|on|at|under|behind|sitting|lying|standing)\b[^()]*\)$|, (?:in|on) (?:the|an?) [a-z -]+$"
)
_IN_OR_ON: Final = re.compile(
    r"[,(] ?(?:(?:sitting|lying|standing) )?(?P<preposition>in|inside|on) (?:the|an?) (?P<thing>[a-z][\w' -]*?)\)?$"
)
_ENTERS: Final = re.compile(
    r"(?:enter|board|exit|leave|climb|jump|go|follow|cross|swim|disembark|get (?:in|out|on|off)|stand)\b", re.I
)
"""A command that may bring the player elsewhere without naming a direction."""
_CARRIED_OFF: Final = re.compile(
    r"\byou (?:suddenly )?(?:find yourself (?:\w+ ){0,2}?(?:in|into|on|at|back|inside|outside|under|beside|near|"
    r"by|among|"
    r"standing|sitting|lying|floating|falling|surrounded|facing|alone|elsewhere|somewhere)\b"
    r"|are (?:carried|swept|transported|teleported|whisked)|arrive at|"
    r"come to an? (?:\w+ )?stop)\b"
    r"|\byour surroundings (?:appear|seem|have)\b",
    re.I,
)
_MOST_SMALL_WORDS: Final = 6
"""A longer title is written like a name; another line of more words is a sentence without its stop."""
_SHORTEST_DESCRIPTION: Final = 45
"""Characters. An unmarked line of a text that follows no move is a title only above a description this long."""

_DARK: Final = re.compile(
    r"\bpitch[- ](?:black|dark)\b|\btoo dark to see\b|\bin (?:complete|total|utter) darkness\b", re.I
)


class RoomTitle(NamedTuple):
    """A room's title in a text.

    Args:
        name: the name of the room.
        before: the text before the title, which is feedback to the action.
        after: the text after the title, which describes the room.
        is_marked: whether it has the marks of TextWorld (``-= Attic =-``), which gives every room a title of its own.
        inside: the preposition and the thing in or on which the title says the player is; ``None`` when it does not.
    """

    name: str
    before: str
    after: str
    is_marked: bool = False
    inside: tuple[str, str] | None = None


def find_room_title(text: str, action: str | None, is_room: Callable[[str], bool]) -> RoomTitle | None:
    """Return the title of the room that ``text`` describes.

    Marked titles (``-= Attic =-``) come first. After a move, every line that looks like a title is one, and of those
    of unusual form those that are written like a name and begin a paragraph; after other actions, only the name of a
    known room, and a capitalised name with a description right below it.

    Args:
        text: the observation.
        action: the command that led to it; ``None`` for the opening text.
        is_room: returns whether a name is that of a known room.

    Returns:
        The title; ``None`` when the text describes no room.
    """
    titles = list(_MARKED_TITLE.finditer(text))
    if titles:
        marked = titles[-1]
        return RoomTitle(
            marked["title"] or marked["title2"],
            text[: titles[0].start()],
            text[marked.end() :].removeprefix("\n"),
            bool(marked["title"]),
        )
    moves = action is not None and (
        direction_of(action) is not None or action.lower() in ("look", "l") or _ENTERS.match(action) is not None
    )
    walks = action is not None and direction_of(action) is not None
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines):
        name = _POSTURE.sub("", line.strip())
        above = lines[number - 1].strip() if number else ""
        below = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if line[:1] == " " or above.endswith(":"):
            continue
        heads_text = not above and (walks or len(below) >= _SHORTEST_DESCRIPTION) and _is_name(name)
        if not _PLAIN_TITLE.match(line.strip()) and not (_is_odd(name) and (heads_text or is_room(name))):
            continue
        if (len(name.split()) > _MOST_SMALL_WORDS or '"' in name) and not _is_name(name):
            continue  # 'The red knob reads "Off"'
        has_posture = name != line.strip()  # "Lake Shore, in the wooden canoe"
        if moves or has_posture or is_room(name) or heads_text:
            found.append((number, name))
    if not found:
        return None
    number, name = found[-1 if action is None else 0]  # an opening names the game and its authors first
    posture = _IN_OR_ON.search(lines[number].strip())
    inside = None if posture is None else (posture["preposition"], posture["thing"])
    return RoomTitle(name, "\n".join(lines[:number]), "\n".join(lines[number + 1 :]), inside=inside)


def _is_odd(name: str) -> bool:
    """Return whether a line may be a title of unusual form; most lines end as sentences do."""
    if name[-1:] in ("", ".", "!", "?", ",", ":"):
        return False
    return _ARTICLE_TITLE.match(name) is not None or _ODD_TITLE.match(name) is not None


def _is_name(line: str) -> bool:
    """Return whether all words but the small ones begin with a capital, and not all letters are capitals."""
    words = [word for word in line.split() if not _SMALL_WORD.match(word)]
    return not line.isupper() and all(not word[0].isalpha() or word[0].isupper() for word in words)


def is_carried(action: str) -> bool:
    """Return whether a command that led to another room is neither a walk nor an entering."""
    return direction_of(action) is None and _ENTERS.match(action) is None and not action.lower().startswith("go")


def is_carried_off(text: str) -> bool:
    """Return whether a text without a title says that the player was brought elsewhere."""
    return _CARRIED_OFF.search(text) is not None


def enters_darkness(text: str, action: str | None) -> bool:
    """Return whether ``action`` led to a place where it is too dark to see.

    Args:
        text: the observation.
        action: the command that led to it; ``None`` for the opening text.
    """
    if action is None or not _DARK.search(text):
        return False
    return direction_of(action) is not None or any(line.strip().lower() == v.DARKNESS for line in text.splitlines())
