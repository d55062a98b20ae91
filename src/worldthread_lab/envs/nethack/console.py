"""The keyboard and the messages of the game: presses keys, then reads and answers until the game awaits a command.

* Texts that have to be dismissed (``--More--``, menus, lists) are read and dismissed.
* A question that belongs to the command, such as its direction, gets the command's answer.
* Any other yes-or-no question is left for the player.
* Every other question is answered with the escape key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from worldthread.errors import GameError
from worldthread.support.text import one_line
from worldthread_lab.envs.nethack.engine import ESCAPE, RETURN, NetHackEngine

Reply: TypeAlias = tuple[str, str]
"""A regular expression for a question, and the keys that answer it."""

Chooser: TypeAlias = Callable[[list[str]], str]
"""Returns the letters to press for the lines of a menu."""

_PAGE_END: Final = re.compile(r"--More--|\(end\)|\((?P<page>\d+) of (?P<pages>\d+)\)")
_YES_OR_NO: Final = re.compile(r"\s*\[yn[aq]*\].*")
_CHOICE: Final = re.compile(r"\s*\[[^\]]*\].*")
_ASKS_PLACE: Final = re.compile(r"\(For instructions type a")
_TOMB: Final = re.compile(r"\|(.{18})\|")
_PATIENCE: Final = 500


class Console:
    """The keyboard and the messages of one game.

    Attributes:
        question: the yes-or-no question that the game asks the player; ``None`` when it awaits a command.
        messages: the messages since the list was last cleared.
        epitaph: the lines that the game printed after its end.
    """

    def __init__(self, engine: NetHackEngine) -> None:
        self.engine = engine
        self.question: str | None = None
        self.messages: list[str] = []
        self.epitaph: list[str] = []

    def press(self, keys: str | int, *, replies: Sequence[Reply] = (), choose: Chooser | None = None) -> str:
        """Press keys, and read all messages until the game awaits a command.

        Args:
            keys: characters, or the number of a single key.
            replies: the first one that matches a question answers it. Each is used once.
            choose: chooses from menus, which then do not become messages.

        Returns:
            The messages, which are added to :attr:`messages` too.
        """
        begin = len(self.messages)
        self.question = None
        for key in (keys,) if isinstance(keys, int) else keys:
            if not self.engine.over:
                self.engine.press(key)
        self._settle(list(replies), choose)
        return " ".join(self.messages[begin:])

    def _settle(self, replies: list[Reply], choose: Chooser | None) -> None:
        engine = self.engine
        for _ in range(_PATIENCE):
            if engine.over:
                return
            message = engine.message
            if engine.asks_dismissal:
                self._read_page(choose)
            elif engine.asks_key or engine.asks_line:
                reply = next((reply for reply in replies if re.search(reply[0], message)), None)
                if reply is not None:
                    replies.remove(reply)
                elif engine.asks_key and _YES_OR_NO.search(message):
                    self.question = _YES_OR_NO.sub("", message)
                    return
                else:
                    self.messages.append(_CHOICE.sub("", message))
                for key in ESCAPE if reply is None else reply[1]:
                    engine.press(key)
            elif _ASKS_PLACE.search(message):
                self.messages.append(message)
                engine.press(ESCAPE)
            else:
                if message and not _YES_OR_NO.search(message):  # an answered question stays on the screen
                    self.messages.append(message)
                return
        raise GameError(f"NetHack asks without end. Its screen: {engine.lines()}")

    def _read_page(self, choose: Chooser | None) -> None:
        """Read a line, a text or a menu that has to be dismissed, and dismiss it."""
        engine = self.engine
        screen, message = engine.lines(), engine.message
        ends = [(row, match) for row, line in enumerate(screen) if (match := _PAGE_END.search(line))]
        row, end = ends[-1] if ends else (0, None)
        key = RETURN
        if message and screen[0].startswith(message[:40].rstrip()):
            self.messages.append(message)
        elif engine.ending:
            self.epitaph += _epitaph(screen)
        elif end is not None:
            page = [text for line in screen[:row] if (text := line[end.start() :].strip())]
            if choose is None:
                self.messages.append("\n".join(page))
            else:
                for letter in choose(page):
                    engine.press(letter)
            if end["page"] != end["pages"]:
                key = ">"
            elif end[0] != "--More--" and choose is None:
                key = ESCAPE
        engine.press(key)


def _epitaph(screen: list[str]) -> list[str]:
    """Return the cause of death on the tombstone, without the date, and the sentences below."""
    carved = [match[1].strip() for line in screen if (match := _TOMB.search(line))]
    gold = next((n for n, line in enumerate(carved) if line.endswith(" Au")), None)
    lines = []
    if gold is not None:
        cause = " ".join(line for line in carved[gold + 1 :] if line and not re.search(r"^\d{4}$|\*", line))
        lines.append(f"{cause[:1].upper()}{cause[1:]}.")
    plain = " ".join(line for line in screen if line and "|" not in line and "--More--" not in line)
    farewell = re.search(r"\bYou .*\.", plain)
    return [*lines, one_line(farewell[0])] if farewell else lines
