"""The meaning of NetHack's glyphs: kinds of ground, and of creatures and things on it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray


class Ground(IntEnum):
    """The ground of a square, as far as it was seen."""

    UNKNOWN = 0
    WALL = 1
    FLOOR = 2
    CORRIDOR = 3
    DOORWAY = 4
    """Without a door, or with a broken one."""
    OPEN_DOOR = 5
    CLOSED_DOOR = 6
    UP = 7
    """Stairs or a ladder."""
    DOWN = 8
    FEATURE = 9
    """A fountain, altar, throne, sink or grave, on which the player can stand."""
    TRAP = 10
    HOLE = 11
    """A trap door or a hole: it leads down."""
    LIQUID = 12
    BARRIER = 13
    """Iron bars, a tree, a raised drawbridge."""
    COVERED = 14
    """A thing lies there, and the ground under it was not seen."""


WALKABLE: Final = frozenset(
    {
        *(Ground.FLOOR, Ground.CORRIDOR, Ground.DOORWAY, Ground.OPEN_DOOR, Ground.UP, Ground.DOWN),
        *(Ground.FEATURE, Ground.COVERED),
    }
)
"""Ground that can be walked on without harm."""

DOORS: Final = frozenset({Ground.DOORWAY, Ground.OPEN_DOOR, Ground.CLOSED_DOOR})

# ranges of NetHack's map symbols (defsym.h), by their first and last number
_GROUND_OF_SYMBOLS: Final = (
    (0, 0, Ground.UNKNOWN), (1, 11, Ground.WALL), (12, 12, Ground.DOORWAY), (13, 14, Ground.OPEN_DOOR),
    (15, 16, Ground.CLOSED_DOOR), (17, 18, Ground.BARRIER), (19, 20, Ground.FLOOR), (21, 22, Ground.CORRIDOR),
    (23, 23, Ground.UP), (24, 24, Ground.DOWN), (25, 25, Ground.UP), (26, 26, Ground.DOWN), (27, 31, Ground.FEATURE),
    (32, 32, Ground.LIQUID), (33, 33, Ground.FLOOR), (34, 34, Ground.LIQUID), (35, 36, Ground.FLOOR),
    (37, 38, Ground.BARRIER), (39, 40, Ground.FLOOR), (41, 41, Ground.LIQUID), (42, 53, Ground.TRAP),
    (54, 55, Ground.HOLE), (56, 63, Ground.TRAP), (64, 64, Ground.FEATURE),
)  # fmt: skip

NOTABLE: Final = (Ground.UP, Ground.DOWN, Ground.FEATURE, Ground.TRAP, Ground.HOLE)
"""Ground that observations mention."""


class GlyphKind(IntEnum):
    """The kind of thing that a glyph shows."""

    GROUND = 0
    OTHER = 1
    """A flash, an explosion or another short effect."""
    MONSTER = 2
    PET = 3
    UNSEEN = 4
    """A creature that is there but cannot be seen, or is sensed as a danger."""
    THING = 5
    BOULDER = 6
    SWALLOWED = 7


@dataclass(frozen=True)
class Glyphs:
    """Tables over all glyphs.

    Args:
        ground: :class:`Ground` of each glyph; ``COVERED`` for things, -1 for glyphs that do not show the ground.
        sort: :class:`GlyphKind` of each glyph.
    """

    ground: NDArray[np.int8]
    sort: NDArray[np.int8]


@cache
def glyph_tables() -> Glyphs:
    """Return the tables, which are made once from the start of each range of glyphs in NLE."""
    from nle import nethack

    begins = (
        (nethack.GLYPH_MON_OFF, GlyphKind.MONSTER), (nethack.GLYPH_PET_OFF, GlyphKind.PET),
        (nethack.GLYPH_INVIS_OFF, GlyphKind.UNSEEN), (nethack.GLYPH_DETECT_OFF, GlyphKind.MONSTER),
        (nethack.GLYPH_BODY_OFF, GlyphKind.THING), (nethack.GLYPH_RIDDEN_OFF, GlyphKind.MONSTER),
        (nethack.GLYPH_OBJ_OFF, GlyphKind.THING), (nethack.GLYPH_CMAP_OFF, GlyphKind.OTHER),
        (nethack.GLYPH_SWALLOW_OFF, GlyphKind.SWALLOWED), (nethack.GLYPH_WARNING_OFF, GlyphKind.UNSEEN),
        (nethack.GLYPH_STATUE_OFF, GlyphKind.THING), (nethack.MAX_GLYPH, GlyphKind.OTHER),
    )  # fmt: skip
    sort = np.full(nethack.MAX_GLYPH + 1, GlyphKind.OTHER, np.int8)
    for begin, kind in begins:
        sort[begin:] = kind
    ground = np.where(sort == GlyphKind.THING, Ground.COVERED, -1).astype(np.int8)
    for first, last, what in _GROUND_OF_SYMBOLS:
        symbols = slice(nethack.GLYPH_CMAP_OFF + first, nethack.GLYPH_CMAP_OFF + last + 1)
        sort[symbols], ground[symbols] = GlyphKind.GROUND, what
    boulder = next(n for n in range(nethack.NUM_OBJECTS) if nethack.OBJ_NAME(nethack.objclass(n)) == "boulder")
    sort[nethack.GLYPH_OBJ_OFF + boulder] = GlyphKind.BOULDER
    return Glyphs(ground, sort)
