"""Random histories of a memory, made to find whatever depends on the order of arrival.

Names come in forms of one normalised name (case, width, ß, accents, articles), texts and sentences repeat, neighbours
are symmetrical, episodes arrive late and change which spelling is shown, and others are forgotten or replaced.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from worldthread.graph import TemporalGraph
from worldthread.models import Embedder
from worldthread.retrieve import RetrievalIndex
from worldthread.retrieve.search import search
from worldthread.retrieve.text import hits_as_text
from worldthread.types import KINDS, Ending, Episode, Extraction, Fact, Hit, Statement, Thesis

NAMES = (
    ("STRASSE 5", "straße 5", "Straße 5", "the Strasse 5"),
    ("Café Zoé", "Cafe\u0301 Zoe\u0301", "CAFÉ ZOÉ"),
    ("Cafe Zoe", "the cafe zoe"),
    ("Anna", "anna", "ANNA", "Ａｎｎａ"),
    ("Anna Rossi", "anna rossi", "ANNA ROSSI"),
    ("Rossi", "rossi"),
    ("Bob", "BOB", "bob"),
    ("the Moss house", "Moss House", "moss house"),
    ("Moss", "moss"),
    ("Lima 7", "LIMA 7", "lima ７"),
    ("key", "the key", "Key"),
    ("keys", "Keys"),
    ("Twin A", "twin a"),
    ("Twin B", "twin b"),
)
RELATIONS = (("lives in", "Lives in", "LIVES IN"), ("knows", "Knows"), ("is in", "Is in"), ("ﬁnds", "finds"))
SENTENCES = (
    "{0} lives near {1}.",
    "{0} gave the key to {1}",
    "It rains.",
    "{0} and {1} met in the {2}.",
    "nothing is known of {1}",
)
QUESTIONS = (
    "Where does Anna live?",
    "Who knows Anna Rossi and Bob?",
    "What is in the Moss house at STRASSE 5?",
    "Did Twin A meet Twin B in Café Zoé?",
    "key",
    "what happened, and when?",
)


def _form(chance: random.Random, forms: Sequence[str]) -> str:
    return chance.choice(forms)


def _statement(chance: random.Random, names: Sequence[Sequence[str]]) -> Statement:
    forms = [_form(chance, chance.choice(names)) for _ in range(3)]
    aspect = f"aspect {chance.randrange(4)}" if chance.random() < 0.3 else None
    if chance.random() < 0.55:
        return Fact(forms[0], _form(chance, chance.choice(RELATIONS)), forms[1], aspect)
    text = chance.choice(SENTENCES).format(*forms)
    text = chance.choice((text, text.upper(), text.lower(), text.rstrip("."), text.replace(" ", "  ")))
    return Thesis(text, tuple(forms[: chance.randrange(4)]), aspect)


def _extraction(chance: random.Random, names: Sequence[Sequence[str]], known: list[Statement]) -> Extraction:
    statements = tuple(_statement(chance, names) for _ in range(chance.choice((0, 1, 1, 2, 3, 5))))
    if statements and chance.random() < 0.2:
        statements += statements[:1]
    endings = ()
    if known and chance.random() < 0.2:
        endings = (Ending(chance.choice(known), "it is over"),)
    known += statements
    return Extraction("test/1", statements, endings)


def random_episodes(chance: random.Random) -> list[Episode]:
    """Return different episodes; many have the same texts, times and statements."""
    names = chance.sample(NAMES, chance.randrange(3, len(NAMES) + 1))
    known: list[Statement] = []
    texts = []
    for _ in range(chance.randrange(1, 8)):
        body = " ".join(
            chance.choice(SENTENCES).format(*(_form(chance, chance.choice(names)) for _ in range(3)))
            for _ in range(chance.randrange(1, 3))
        )
        title = _form(chance, chance.choice(names))
        texts.append(f"{title}\n{body}" if chance.random() < 0.4 else body)
    found: dict[str, Episode] = {}
    for _ in range(chance.randrange(2, 26)):
        source = chance.choice(("", "", "a", "b"))
        at = float(chance.randrange(5))
        text, extraction = chance.choice(texts), _extraction(chance, names, known)
        speaker = chance.choice(("", "", "Anna", "BOB", "assistant"))
        text = f"{speaker}: {text}" if speaker else text
        episode = Episode(text, at, source, extraction, speaker=speaker)
        found.setdefault(episode.id, episode)
    if chance.random() < 0.3 and found:  # the same statements in every form, so that spellings compete
        episode = next(iter(found.values()))
        for number in range(3):
            statements = tuple(_respelled(chance, s) for s in episode.extraction.statements)
            twin = Episode(
                episode.text, float(number), "twin", Extraction("test/1", statements), speaker=episode.speaker
            )
            found.setdefault(twin.id, twin)
    return list(found.values())


def _respelled(chance: random.Random, statement: Statement) -> Statement:
    forms = {form: group for group in NAMES for form in group}

    def other(name: str) -> str:
        return chance.choice(forms.get(name, (name,)))

    if isinstance(statement, Fact):
        return Fact(other(statement.subject), statement.relation, other(statement.object), statement.aspect)
    text = chance.choice((statement.text.upper(), statement.text.lower()))
    if Thesis(text, statement.objects) != statement:  # the capital of ß is another letter
        text = statement.text
    return Thesis(text, tuple(map(other, statement.objects)), statement.aspect)


@dataclass(frozen=True)
class Step:
    """One step of a history: what is done, and with which episodes."""

    what: str  # "add", "forget" or "ask"
    episodes: tuple[Episode, ...] = ()


def random_history(chance: random.Random) -> list[Step]:
    """Return steps that add the episodes in any order and batches, and forget and replace some on the way.

    A replacement is a forgetting and an adding of the same episode with another extraction, as a store does it.
    """
    waiting = random_episodes(chance)
    chance.shuffle(waiting)
    names = chance.sample(NAMES, 4)
    there: dict[str, Episode] = {}
    steps: list[Step] = []
    while waiting or chance.random() < 0.5:
        what = chance.choice(("add", "add", "add", "forget", "replace", "ask"))
        if what == "add" and waiting:
            count = chance.choice((1, 1, 2, len(waiting)))
            batch, waiting = waiting[:count], waiting[count:]
            there.update((episode.id, episode) for episode in batch)
            steps.append(Step("add", tuple(batch)))
        elif what in ("forget", "replace") and there:
            episode = chance.choice(list(there.values()))
            steps.append(Step("forget", (episode,)))
            del there[episode.id]
            if what == "replace":
                extraction = _extraction(chance, names, [])
                again = Episode(episode.text, episode.at, episode.source, extraction, speaker=episode.speaker)
                there[again.id] = again
                steps.append(Step("add", (again,)))
            elif chance.random() < 0.4:
                waiting.append(episode)
        elif what == "ask":
            steps.append(Step("ask"))
        elif what == "add":
            break
    return steps


class World:
    """A graph, and an index that follows it on request."""

    def __init__(self, embedder: Embedder, episodes: Iterable[Episode] = ()) -> None:
        self.embedder = embedder
        self.graph = TemporalGraph()
        self.index = RetrievalIndex(embedder)
        self.pieces: list[dict[str, Any]] = []
        self.episodes: dict[str, Episode] = {}
        self.add(episodes)
        self.follow()

    def add(self, episodes: Iterable[Episode]) -> None:
        for episode in episodes:
            self.graph.add(episode)
            self.episodes[episode.id] = episode

    def forget(self, episodes: Iterable[Episode]) -> None:
        for episode in episodes:
            self.graph.forget(episode.id)
            del self.episodes[episode.id]

    def follow(self, most: int | None = None) -> None:
        """Bring the index up to date; ``most``: only so many new episodes."""
        for _ in range(1 if most is not None else 9):
            pending = self.index.take(self.graph, lambda ids: [self.episodes[i].text for i in ids], most)
            for part in pending:
                self.index.put(part, self.embedder.embed(part.texts))
            if not pending and not self.index.is_behind:
                break

    def live(self, steps: Iterable[Step], ask: Callable[[World], object]) -> World:
        for step in steps:
            if step.what == "add":
                self.add(step.episodes)
            elif step.what == "forget":
                self.forget(step.episodes)
            else:
                self.follow()
                ask(self)
        self.follow()
        return self

    def saved_and_restored(self) -> None:
        """Go on with an index that was saved and loaded, where a store would keep one."""
        if self.graph.is_compact:
            number, arrays = self.index.piece_to_arrays() or (0, self.index.to_arrays())
            self.pieces = [*self.pieces[:number], arrays]
            self.index = RetrievalIndex(self.embedder)
            assert self.index.restore(self.graph, *self.pieces)

    def answers(self, method: str, question: str, *, k: int, at: float | None, only_current: bool) -> list[Any]:
        """Everything that a search gives, in a form that differs whenever one bit or letter does."""
        hits = search(
            self.index, question, self.embedder.embed([question])[0], method=method, k=k, kinds=KINDS, at=at,
            only_current=only_current, episode_of=self.episodes.__getitem__,
        )  # fmt: skip
        return [hits_as_text(hits, 300), *map(every_bit, hits)]


def every_bit(hit: Hit) -> tuple[Any, ...]:
    """A hit with everything that is shown of it, which ``==`` of facts and theses leaves out."""
    version = hit.version
    return (
        hit.kind, hit.item.id, str(hit.item), getattr(hit.item, "objects", ()), hit.score.hex(), hit.path,
        None if version is None else (version.interval, version.sources, version.ended_by, version.reason),
    )  # fmt: skip


def anew(world: World, order: Sequence[Episode]) -> World:
    """A memory of the same episodes that arrived in another order."""
    fresh = World(world.embedder, order)
    assert fresh.graph.state_hash() == world.graph.state_hash()
    return fresh


def in_fold_order(world: World) -> list[Episode]:
    return [world.episodes[id_] for id_ in world.graph.episodes()]
