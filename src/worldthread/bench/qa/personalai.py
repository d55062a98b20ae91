"""The configurations of retrieval that PersonalAI compares, section IV.C to IV.E.

Six algorithms (Table 4), five of them under four restrictions: none, or without episodes (E), theses (T) or objects (O)
to step on. WaterCircles alone is not restricted; its cells in Table 4 are empty. That is 21, and the paper speaks of
22 for every data set and model without naming the last. Here it is the union of all three algorithms, as section III.D
describes the mixed algorithm. Settings are those of Appendix E, which the methods have by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from worldthread.bench.qa.retrieval_spec import RetrievalSpec

QUESTIONS: Final = 100
"""Questions of each data set that were asked (section IV.E)."""
TOP: Final = 50
"""Triples that the filter keeps. The paper does not tell; the published code has this by default."""
K: Final = 200
"""So many of each kind reach the filter at most: more than the algorithms find."""

ALGORITHMS: Final[Mapping[str, tuple[str, ...]]] = {
    "WC": ("water_circles",),
    "AS": ("astar",),
    "BS": ("beam",),
    "WC+BS": ("water_circles", "beam"),
    "BS+AS": ("beam", "astar"),
    "AS+WC": ("astar", "water_circles"),
    "WC+BS+AS": ("water_circles", "beam", "astar"),
}
"""The methods of each algorithm, by the paper's name."""

RESTRICTIONS: Final[Mapping[str, str]] = {"all": "OTE", "E": "OT", "T": "OE", "O": "TE"}
"""The kinds of vertices that may be stepped on, by the paper's name of what is left out."""

UNRESTRICTED: Final = "all"
_NEVER_RESTRICTED: Final = frozenset({"WC", "WC+BS+AS"})

Cell = tuple[str, str]
"""An algorithm and a restriction."""


def personalai() -> dict[Cell, RetrievalSpec]:
    """The 22 ways of retrieval."""
    return {
        (algorithm, restriction): _way(methods, kinds)
        for algorithm, methods in ALGORITHMS.items()
        for restriction, kinds in RESTRICTIONS.items()
        if restriction == UNRESTRICTED or algorithm not in _NEVER_RESTRICTED
    }


def _way(methods: tuple[str, ...], kinds: str) -> RetrievalSpec:
    settings = {} if kinds == RESTRICTIONS[UNRESTRICTED] else {"vertices": kinds}
    return RetrievalSpec.parse("+".join(methods), settings)


SWEEPS: Final = {"personalai": personalai}
"""What can be asked for in one command, by name."""
