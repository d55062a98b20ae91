"""The temporal graph, a pure function of its episodes. It does no I/O and calls no model."""

from __future__ import annotations

from worldthread.graph.fold import STATE_HASH_VERSION, Fold, fold, state_hash
from worldthread.graph.name_links import NameLinks
from worldthread.graph.temporal import TemporalGraph
from worldthread.graph.view import GraphView

__all__ = ["STATE_HASH_VERSION", "Fold", "GraphView", "NameLinks", "TemporalGraph", "fold", "state_hash"]
