"""Links that follow what is new are those that are made at once, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import RetrievalIndex
from worldthread.retrieve import links as links_module
from worldthread.retrieve import thread as thread_module
from worldthread.retrieve.links import Links
from worldthread.retrieve.sparse import CSRRows, GrowingRows
from worldthread.types import Episode, Extraction, Fact

NAMES = ("Anna", "Anna Moss", "Ben", "Moss", "Moss house", "Oslo", "Oslo 7", "the old Moss house", "a key", "key")


def _episode(number: int, first: str, second: str) -> Episode:
    fact = Fact(first, "knows", second)
    title = f"{second}\n" if number % 3 else ""
    return Episode(f"{title}{fact} and {number % 5}.", float(number), extraction=Extraction("test", (fact,)))


class World:
    """A graph, and an index that follows it on request."""

    def __init__(self) -> None:
        self.graph, self.index, self.embedder = TemporalGraph([]), RetrievalIndex(FakeEmbedder()), FakeEmbedder()
        self.known: dict[str, Episode] = {}

    def add(self, episode: Episode) -> None:
        self.known[episode.id] = episode
        self.graph.add(episode)

    def followed(self) -> Links:
        for part in self.index.take(self.graph, lambda ids: [self.known[id_].text for id_ in ids]):
            self.index.put(part, self.embedder.embed(part.texts))
        return self.index.links

    def at_once(self) -> Links:
        self.index._links = self.index._linked = None
        return self.index.links


def _all_arrays(links: Links) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {"df": links.df, "word_df": links.word_df, "present": links.present}
    for name in ("statements_of", "episodes_of"):
        rows: GrowingRows = getattr(links, name)
        columns, counts = rows.columns_of(np.arange(len(rows)))
        values = np.cos(np.arange(columns.max(initial=0) + 1)).astype(np.float32)
        found |= {f"{name}.columns": columns, f"{name}.counts": counts, f"{name}.filled": rows.filled}
        found[f"{name}.maxima"] = rows.maxima(values, -2.0)
    for name in ("names_of", "episodes_of_name"):
        entries = getattr(links, name).entries(np.arange(len(getattr(links, name))))
        found |= {f"{name}.{part}": values for part, values in vars(entries).items()}
    names = np.arange(len(links.df))
    found["rarity"] = np.array([links.rarity(name) for name in names])
    return found | {"idf": links.idf(names), "mass": links.mass(names)}


def _require_same(followed: dict[str, np.ndarray], at_once: dict[str, np.ndarray]) -> None:
    assert followed.keys() == at_once.keys()
    for name, values in at_once.items():
        np.testing.assert_array_equal(followed[name], values, err_msg=name)
        assert followed[name].dtype == values.dtype, name


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["remember", "forget"]), st.integers(0, 9), st.integers(0, 9), st.booleans()),
        max_size=30,
    )
)
@settings(max_examples=60, deadline=None)
def test_links_after_any_changes_are_those_made_at_once(steps: list[tuple[str, int, int, bool]]) -> None:
    world = World()
    for number, (what, first, second, looked_at) in enumerate(steps):
        if what == "remember":
            world.add(_episode(number, NAMES[first], NAMES[second]))
        elif len(world.graph):
            record = world.graph.numbered_episode(min(world.graph.live_episodes))
            assert record is not None
            world.graph.forget(record.id)
        if looked_at:
            _all_arrays(world.followed())  # makes everything that is derived
    followed = _all_arrays(world.followed())
    _require_same(followed, _all_arrays(world.at_once()))


def test_rows_made_when_they_are_looked_at_hold_the_same_as_rows_made_together(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(7)
    world = World()
    for number in range(60):
        world.add(_episode(number, *(NAMES[place] for place in chance.integers(0, len(NAMES), 2))))
    together = world.followed()
    monkeypatch.setattr(links_module, "_MADE_TOGETHER", 0)
    one_by_one = world.at_once()
    assert one_by_one is not together
    for name in range(len(one_by_one.df)):
        assert one_by_one.episodes_of_name.made(name) is None
        mentioning = set(one_by_one.episodes_mentioning(name).tolist())
        assert mentioning == set(together.episodes_of_name[name].tolist()) == set(together.episodes_mentioning(name))
    for name in ("names_of", "episodes_of_name"):
        whole, parts = getattr(together, name), getattr(one_by_one, name)
        for row in chance.permutation(len(whole)).tolist():
            for some in ([row], [row, (row + 3) % len(whole)]):
                numbers = np.array(some)
                np.testing.assert_array_equal(parts.counts(numbers), whole.counts(numbers))
                for made, expected in zip(parts.passed_on(numbers), whole.passed_on(numbers), strict=True):
                    np.testing.assert_array_equal(made, expected)
    _require_same(_all_arrays(one_by_one), _all_arrays(together))


def _rank_step_by_step(links: Links, of_episodes: np.ndarray, of_names: np.ndarray) -> np.ndarray:
    """PageRank as the formula says, one vertex after the other."""
    weights = {"episodes": of_episodes, "names": of_names}
    for _ in range(thread_module.STEPS):
        received = {name: [[] for _ in values] for name, values in weights.items()}
        for kind, other, rows in (
            ("episodes", "names", links.names_of),
            ("names", "episodes", links.episodes_of_name),
        ):
            for vertex, weight in enumerate(weights[kind]):
                entries = rows.entries(np.array([vertex]))
                if len(entries.columns) and weight > thread_module.NEGLIGIBLE * len(entries.columns):
                    for column, share in zip(entries.columns, entries.shares, strict=True):
                        passed = np.float32(np.float32(thread_module.DAMPING) * share) * weight
                        received[other][column].append(np.rint(np.float64(passed) * 2.0**50))
        for name, seeds in (("episodes", of_episodes), ("names", of_names)):
            restart = np.float32(1 - thread_module.DAMPING) * seeds
            weights[name] = (restart + np.array([sum(parts) for parts in received[name]]) / 2.0**50).astype(np.float32)
    return weights["episodes"]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_rank_is_that_of_the_formula_to_the_last_bit(
    seed: int, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not together:
        monkeypatch.setattr(links_module, "_MADE_TOGETHER", 0)
    monkeypatch.setattr(thread_module, "NEGLIGIBLE", 0.004)  # so that some vertices take no part
    monkeypatch.setattr(thread_module, "_NEGLIGIBLE", float(np.float32(0.004)))
    chance = np.random.default_rng(seed)
    world = World()
    for number in range(60):
        world.add(_episode(number, *(NAMES[int(place)] for place in chance.zipf(1.5, 2) % len(NAMES))))
        world.add(_episode(number, f"Thing {number}", f"Thing {number // 3}"))
    links = world.followed()
    assert links.names_of.together is together
    episodes, names = np.zeros(len(links.present), np.float32), np.zeros(len(links.df), np.float32)
    episodes[chance.integers(0, len(episodes), 4)] = 0.05
    names[chance.integers(0, len(names), 3)] = 0.25
    found = thread_module._rank(links, episodes, names)
    np.testing.assert_array_equal(found, _rank_step_by_step(links, episodes, names))
    assert np.count_nonzero(found) > 10


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_names_that_come_to_be_within_others_are_counted(
    seed: int, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not together:
        monkeypatch.setattr(links_module, "_MADE_TOGETHER", 0)
    # words of very different rarity in names of several words, so that shares are on both sides of the limit, and cross
    chance = np.random.default_rng(seed)
    words = [f"{letter}{other}" for letter in "BDFGKL" for other in ("ala", "eno", "iru", "opi", "umo")]
    world = World()
    crossed: list[int] = []
    look_at = links_module._Crossings.look_at

    def counting(self: links_module._Crossings, pairs: np.ndarray, *masses: np.ndarray) -> np.ndarray:
        known = len(self)
        changed = look_at(self, pairs, *masses)
        crossed.append(int(np.count_nonzero(changed < known)) if known else 0)
        return changed

    monkeypatch.setattr(links_module._Crossings, "look_at", counting)
    made = 0
    for number in range(120):
        ends = [" ".join(words[int(n) % 30] for n in chance.zipf(1.3, int(chance.integers(1, 5)))) for _ in "ab"]
        world.add(_episode(number, ends[0], ends[1]))
        if number > 20 and number % 3 == 0:
            followed = world.followed()
            made += followed is world.followed()
            if number % 20 == 0 or number > 115:
                arrays, kept = _all_arrays(followed), (world.index._links, world.index._linked)
                _require_same(arrays, _all_arrays(world.at_once()))
                world.index._links, world.index._linked = kept
    assert sum(crossed) > 0, "no share crossed the limit"
    assert len(crossed) > 20, "the links were made anew"


def test_rows_that_grow_hold_the_same_as_rows_made_at_once() -> None:
    chance = np.random.default_rng(0)
    growing = GrowingRows.of_sorted(np.zeros(0, np.int64), np.zeros(0, np.int32))
    rows, columns = np.zeros(0, np.int64), np.zeros(0, np.int32)
    values = chance.normal(size=50).astype(np.float32)
    for size in (1, 0, 30, 400, 5, 3000, 2, 1):
        more = chance.integers(0, size + 5, size), chance.integers(0, 50, size).astype(np.int32)
        rows, columns = np.concatenate((rows, more[0])), np.concatenate((columns, more[1]))
        growing.extend(*more, size + 7)
        at_once = CSRRows.grouped(rows, columns, len(growing))
        assert len(growing) == len(at_once) >= size + 7
        asked = chance.integers(0, len(growing), 40)
        places, counts = at_once.places(asked)
        found, found_counts = growing.columns_of(asked)
        assert found.tolist() == at_once.columns[places].tolist()
        assert found_counts.tolist() == growing.counts(asked).tolist() == counts.tolist()
        assert [growing[row].tolist() for row in asked] == [at_once[row].tolist() for row in asked]
        np.testing.assert_array_equal(growing.maxima(values, 7.0), at_once.maxima(values, 7.0))
        np.testing.assert_array_equal(growing.filled, at_once.filled)
    np.testing.assert_array_equal(growing.merged().columns, at_once.columns)
    np.testing.assert_array_equal(growing.merged().pointers, at_once.pointers)
