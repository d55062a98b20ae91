"""What adapters keep of a conversation comes back as it was, of any length, and only what is said is read."""

from __future__ import annotations

import io
from typing import Any

import pytest

from worldthread import Memory
from worldthread.adapters.conversation_log import ConversationLog, PastMessage
from worldthread.adapters.keyed import KeyedEpisodes, KeyedItem

PICTURE = "data:image/png;base64," + "A" * 1_500_000
ITEMS: list[tuple[dict[str, Any], Any, str]] = [
    ({"role": "user", "content": "click it"}, "user", "click it"),
    ({"type": "computer_call_output", "output": {"image_url": PICTURE}}, None, ""),
    ({"role": "user", "content": [{"text": "My cat is ill."}, {"image": PICTURE}]}, "user", "My cat is ill."),
    ({"role": "assistant", "content": "half \ud83d and \0"}, "assistant", "half \ud83d and \0"),
    ({"role": "user", "content": "Long. " * 2000}, "user", "Long. " * 2000),
]


def test_items_of_a_megabyte_come_back_and_are_not_searched() -> None:
    with Memory(model="none", embedder="fake") as memory:
        log = ConversationLog(memory, "s", source="test", user="Ines")
        log.add(PastMessage(*item) for item in ITEMS)
        assert log.payloads() == [payload for payload, _, _ in ITEMS]
        assert log.payloads(2) == [payload for payload, _, _ in ITEMS[-2:]]
        assert max(len(episode.text) for episode in memory.episodes()) < 20_000
        assert all("AAAA" not in str(dict(episode.metadata)) for episode in memory.episodes())
        assert log.recall("Whose cat is ill?").episodes
        exported = io.BytesIO()
        memory.export(exported)
        exported.seek(0)
        with Memory(model="none", embedder="fake") as other:
            other.import_(exported)
            assert ConversationLog(other, "s", source="test", user="Ines").payloads() == log.payloads()
        assert log.pop() == ITEMS[-1][0]
        assert len(log.payloads()) == 4
        log.clear()
        assert memory.stats()["episodes"] == 0


@pytest.mark.parametrize("value", [{"picture": PICTURE}, {"a": "\ud83d", "b": "\0"}, {}])
def test_an_item_by_path_carries_what_it_carries(value: dict[str, Any]) -> None:
    with Memory(model="none", embedder="fake") as memory:
        items = KeyedEpisodes(memory, "items")
        items.put(
            [KeyedItem(("a", "b"), "A picture of a heron.", value), KeyedItem(("a", "c"), "A picture of a heron.")]
        )
        found = items.get(("a", "b"))
        assert found is not None
        assert (found.text, found.value) == ("A picture of a heron.", value)
        assert {item.path for item in items.search("heron", k=5)} == {("a", "b"), ("a", "c")}
