"""The retrieval configurations that PersonalAI compares, sections IV.C to IV.E.

Six algorithms (Table 4), five of them under four restrictions: none, or not visiting episodes (E), theses (T) or
objects (O). WaterCircles alone is not restricted; its cells in Table 4 are empty. That makes 21; the paper states 22
for each data set and model without naming the last. Here it is the union of all three algorithms, which section III.D
describes as the mixed algorithm. Settings are those of Appendix E, the defaults of the methods; the depth of
WaterCircles, which the paper does not name, is that of the published code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from worldthread_lab.bench.qa.retrieval_spec import UNION, RetrievalSpec

QUESTIONS: Final = 100
"""Number of questions of each data set (section IV.E)."""
TOP: Final = 50
"""Number of triples that the filter keeps: the default of the published code, as the paper does not state it."""
K: Final = 200
"""The most results of each kind that reach the filter: more than the algorithms find."""

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
"""The kinds of vertices that may be visited, by the paper's name of the kind that is left out."""

UNRESTRICTED: Final = "all"
_NEVER_RESTRICTED: Final = frozenset({"WC", "WC+BS+AS"})

PUBLISHED_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {"water_circles": {"depth": 1}}
"""Settings in which the sweep differs from the defaults of a method."""

Cell = tuple[str, str]
"""Names of an algorithm and a restriction."""


def personalai() -> dict[Cell, RetrievalSpec]:
    """Return the 22 retrieval configurations."""
    return {
        (algorithm, restriction): _spec(methods, kinds)
        for algorithm, methods in ALGORITHMS.items()
        for restriction, kinds in RESTRICTIONS.items()
        if restriction == UNRESTRICTED or algorithm not in _NEVER_RESTRICTED
    }


def _spec(methods: tuple[str, ...], kinds: str) -> RetrievalSpec:
    restriction = {} if kinds == RESTRICTIONS[UNRESTRICTED] else {"vertices": kinds}
    parts = tuple(RetrievalSpec(name, {**PUBLISHED_SETTINGS.get(name, {}), **restriction}) for name in methods)
    return parts[0] if len(parts) == 1 else RetrievalSpec(UNION, parts=parts)


SWEEPS: Final = {"personalai": personalai}
"""Sweeps that one command runs, by name."""
