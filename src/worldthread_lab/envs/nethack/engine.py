"""NetHack itself, run by NLE: takes keys and shows a screen.

It reads from NLE only what a player sees or can look up at no cost: the map with the description of each square by the
command ``;``, the lines above and below it, and the inventory; and the flags that say whether the game awaits a command
or an answer.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError, MissingExtraError

ROWS: Final = 21
COLUMNS: Final = 79
"""Size of the map. The screen has one line above it and two below."""

ESCAPE: Final = "\x1b"
RETURN: Final = "\r"

_READ: Final = (
    "glyphs", "screen_descriptions", "blstats", "message", "misc", "program_state", "tty_chars",
    "inv_strs", "inv_letters", "inv_oclasses",
)  # fmt: skip
_OPTIONS: Final = (
    # NLE's defaults, except that the game picks up only gold by itself and asks no questions at its end
    "autopickup", "pickup_types:$", "pickup_burden:unencumbered", "disclose:-i -a -v -g -c -o",
    "color", "mention_walls", "nobones", "nocmdassist", "nolegacy", "nosparkle", "runmode:teleport",
    "showexp", "showscore", "time",
)  # fmt: skip
_GAME_OVER: Final = 0
_AWAITS_COMMAND: Final = 3
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "role": (
        "archeologist", "barbarian", "caveman", "cavewoman", "healer", "knight", "monk", "priest", "priestess",
        "ranger", "rogue", "samurai", "tourist", "valkyrie", "wizard",
    ),
    "race": ("human", "elf", "dwarf", "gnome", "orc"),
    "align": ("lawful", "neutral", "chaotic"),
    "gender": ("male", "female"),
}  # fmt: skip
_ANY: Final = frozenset({"@", "random"})


class NetHackEngine:
    """One game of NetHack.

    Args:
        character: words for role, race, alignment and gender, joined by hyphens, in full or as their first three
            letters, such as ``"valkyrie"`` or ``"wiz-elf-cha-mal"``; missing ones are drawn at random, and
            ``"random"`` draws all of them.

    Raises:
        InputError: a word is not a role, race, alignment or gender.
        MissingExtraError: nle is not installed.
    """

    def __init__(self, character: str) -> None:
        options = character_options(character)
        require_nle("NetHack")
        from nle import nethack

        self._character = character
        self._ascended = int(nethack.ASCENDED)
        # no recording; the game writes its files to a folder of its own, which close() removes
        self._game = nethack.Nethack(
            observation_keys=_READ, playername="Agent", ttyrec=None, options=options, fix_moon_phase=True
        )
        self.over = True
        self._seen: dict[str, NDArray[Any]] = {}

    def start(self, seed: int, chance: int | None = None) -> list[str]:
        """Start a new game.

        Args:
            seed: decides everything: the dungeon, all random events, and the phase of the moon.
            chance: decides the random events after the beginning instead; ``None``: the seed does.

        Returns:
            The greetings.

        Raises:
            InputError: NetHack has no such character.
        """
        seed %= 2**63
        # the levels have a random generator of their own (lgen): the dungeon does not depend on the player's actions
        self._game.set_initial_seeds(core=seed, disp=seed, reseed=False, lgen=seed)
        self._seen = dict(zip(_READ, self._game.reset(), strict=True))
        self.over = False
        greetings = [self.message]
        while not self._seen["program_state"][_AWAITS_COMMAND]:
            if "--More--" not in "".join(self.lines()):
                raise InputError(f"NetHack has no such character: {self._character!r}")
            self.press(RETURN)
            greetings.append(self.message)
        self._set_birthday(seed % 2**31)
        if chance is not None:
            self._game.set_current_seeds(core=chance, disp=chance, reseed=False, lgen=None)
        return [text for text in greetings if text]

    def press(self, key: str | int) -> None:
        """Press one key, and update the screen."""
        _, self.over = self._game.step(ord(key) if isinstance(key, str) else key)

    def close(self) -> None:
        """Stop the game and remove its folder. Safe to call twice."""
        if self._game is not None:
            self._game.close()
        self._game = None
        self.over = True

    # -- what the game waits for ------------------------------------------------------------------------------------

    @property
    def asks_key(self) -> bool:
        """Whether the game asks a question that one key answers."""
        return bool(self._seen["misc"][0])

    @property
    def asks_line(self) -> bool:
        """Whether the game asks a question that a line of text answers."""
        return bool(self._seen["misc"][1])

    @property
    def asks_dismissal(self) -> bool:
        """Whether the game shows a text or a menu that has to be dismissed."""
        return bool(self._seen["misc"][2])

    @property
    def ending(self) -> bool:
        """Whether the game has ended and shows its last texts."""
        return bool(self._seen["program_state"][_GAME_OVER])

    @property
    def ascended(self) -> bool:
        """Whether the game is over and was won."""
        return bool(self.over and int(self._game.how_done()) == self._ascended)

    # -- the screen -------------------------------------------------------------------------------------------------

    @property
    def glyphs(self) -> NDArray[np.int16]:
        """The glyphs of the map, of shape ``(ROWS, COLUMNS)``: the engine's own buffer, which the next key changes."""
        return self._seen["glyphs"]

    @property
    def stats(self) -> NDArray[np.int64]:
        """The numbers of the bottom lines in NLE's order: the engine's own buffer, which the next key changes."""
        return self._seen["blstats"]

    @property
    def message(self) -> str:
        """The message above the map, without line breaks; empty when there is none."""
        return _text(self._seen["message"])

    def lines(self) -> list[str]:
        """Return the lines of the whole screen."""
        return [_text(row) for row in self._seen["tty_chars"]]

    def description(self, row: int, column: int) -> str:
        """Return the description of a square by the command ``;``."""
        return _text(self._seen["screen_descriptions"][row, column])

    def inventory(self) -> list[tuple[str, str, int]]:
        """Return letter, text and NetHack's class of each carried thing."""
        letters = self._seen["inv_letters"]
        count = int(np.count_nonzero(letters))
        return [
            (chr(letters[n]), _text(self._seen["inv_strs"][n]), int(self._seen["inv_oclasses"][n]))
            for n in range(count)
        ]

    def _set_birthday(self, seconds: int) -> None:
        """Set the start time of the game, so that the same seed gives the same world at any time.

        NetHack varies shops (names, prices) and some monsters with the time at which the game starts, which NLE up to
        1.3.0 does not fix. Nothing on the first level depends on it.

        Args:
            seconds: the start time, in seconds since 1970-01-01 UTC.
        """
        library = ctypes.CDLL(None)
        library.dlopen.restype = library.dlsym.restype = ctypes.c_void_p
        library.dlopen.argtypes = (ctypes.c_char_p, ctypes.c_int)
        library.dlsym.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
        library.dlclose.argtypes = (ctypes.c_void_p,)
        handle = library.dlopen(self._game.dlpath.encode(), os.RTLD_NOW | os.RTLD_NOLOAD)
        if handle is None:
            return
        address = library.dlsym(handle, b"ubirthday")
        if address is not None:
            ctypes.c_long.from_address(address).value = seconds
        library.dlclose(handle)


def require_nle(purpose: str) -> None:
    """Raise :class:`MissingExtraError` when nle is not installed."""
    if importlib.util.find_spec("nle") is None:
        raise MissingExtraError(purpose, extra="nethack", package="nle")


def character_options(character: str) -> list[str]:
    """Return NetHack's options for a character.

    Args:
        character: see :class:`NetHackEngine`.

    Returns:
        All options with which a game is started.

    Raises:
        InputError: a word is not a role, race, alignment or gender, or two words give the same of these.
    """
    chosen: dict[str, str] = {}
    for word in () if character in _ANY else character.lower().split("-"):
        found = [(kind, name) for kind, names in _CHOICES.items() for name in names if word in (name, name[:3])]
        if not found or found[0][0] in chosen:
            known = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in _CHOICES.items())
            raise InputError(f"character {character!r}: {word!r} cannot be used. Known are 'random' and {known}")
        kind, name = found[0]
        chosen[kind] = name
    return [*_OPTIONS, *(f"{kind}:{chosen.get(kind, 'random')}" for kind in _CHOICES)]


def _text(buffer: NDArray[np.uint8]) -> str:
    return buffer.tobytes().partition(b"\0")[0].decode("latin-1").rstrip()
