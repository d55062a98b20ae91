"""Links that follow earlier ones are those that are made at once, to the last bit."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

pytest.importorskip("hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import RetrievalIndex
from worldthread.retrieve.links import Links
from worldthread.retrieve.sparse import CSRRows
from worldthread.types import Episode, Extraction, Fact

NAMES = ("Anna", "Anna Moss", "Ben", "Moss", "Moss house", "Oslo", "Oslo 7", "the old Moss house", "a key", "key")


def _episode(number: int, first: int, second: int) -> Episode:
    fact = Fact(NAMES[first], "knows", NAMES[second])
    title = f"{NAMES[second]}\n" if number % 3 else ""
    return Episode(f"{title}{fact} and {number % 5}.", float(number), extraction=Extraction("test", (fact,)))


def _all_arrays(links: Links) -> dict[str, np.ndarray]:
    found = {}
    for name in (*(field.name for field in fields(links)), "episodes_of_name", "to_names", "to_episodes"):
        value = getattr(links, name)
        if isinstance(value, CSRRows):
            found |= {f"{name}.pointers": value.pointers, f"{name}.columns": value.columns}
            found |= {f"{name}.by_column": value.by_column}
        else:
            found[name] = np.asarray(value)
    return found


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["remember", "forget"]), st.integers(0, 9), st.integers(0, 9), st.booleans()),
        max_size=30,
    )
)
@settings(max_examples=60, deadline=None)
def test_links_after_any_changes_are_those_made_at_once(steps: list[tuple[str, int, int, bool]]) -> None:
    graph, embedder = TemporalGraph([]), FakeEmbedder()
    index = RetrievalIndex(embedder)
    known: dict[str, Episode] = {}

    def follow(follower: RetrievalIndex) -> Links:
        for part in follower.take(graph, lambda ids: [known[id_] for id_ in ids]):
            follower.put(part, embedder.embed(part.texts))
        return follower.links

    for number, (what, first, second, looked_at) in enumerate(steps):
        if what == "remember":
            episode = _episode(number, first, second)
            known[episode.id] = episode
            graph.add(episode)
        elif len(graph):
            record = graph.numbered_episode(min(graph.live_episodes))
            assert record is not None
            graph.forget(record.id)
        if looked_at:
            _all_arrays(follow(index))  # makes everything that is derived
    followed = _all_arrays(follow(index))
    index._links = index._links_before = None
    at_once = _all_arrays(index.links)
    assert followed.keys() == at_once.keys()
    for name, values in at_once.items():
        np.testing.assert_array_equal(followed[name], values, err_msg=name)
        assert followed[name].dtype == values.dtype, name


def test_the_order_of_entries_is_taken_over_only_where_they_are_the_same() -> None:
    before = CSRRows(np.array([0, 2, 4]), np.array([3, 1, 1, 2], np.int32))
    assert before.by_column.tolist() == [1, 2, 3, 0]
    for columns in ([3, 1, 1, 2, 0, 1, 9], [3, 1, 1, 2], [3, 1, 2, 1, 0], [3, 1], []):
        rows = CSRRows(np.array([0, len(columns)]), np.array(columns, np.int32))
        rows.follow(before)
        assert rows.by_column.tolist() == np.argsort(columns, kind="stable").tolist()
        assert rows.by_column.dtype == np.int64
