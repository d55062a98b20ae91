"""Writes messages, nodes and edges as Zep's SDK returns them; the service itself cannot be run here.

Run it where `zep-cloud` is installed: ``python zep_dump.py FOLDER``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from said import said, written
from zep_cloud.types.edge import Edge
from zep_cloud.types.message import Message
from zep_cloud.types.node import Node

SENTENCE = re.compile(r"(\w+) (lives in|likes|works for|speaks) (\w+)\.")


def main(folder: str) -> None:
    """Make the objects and write them."""
    texts = [(text, at.isoformat().replace("+00:00", "Z")) for text, at in said()]
    messages = [
        Message(uuid=f"m{number}", role="user", name="Anna", content=text, thread_uuid="t", created_at=at,
                reference_time=at, processed=True)
        for number, (text, at) in enumerate(texts)
    ]  # fmt: skip
    parts = [(*SENTENCE.fullmatch(text).groups(), text, at) for text, at in texts]  # type: ignore[union-attr]
    names = dict.fromkeys(name for subject, _, object_, *_ in parts for name in (subject, object_))
    nodes = [
        Node(uuid=f"n-{name}", name=name, labels=["Entity"], summary="", graph_uuid="g", created_at=texts[0][1],
             episode_uuids=[], episode_uuids_truncated=False)
        for name in names
    ]  # fmt: skip
    last = {(subject, relation): number for number, (subject, relation, *_) in enumerate(parts)}
    edges = [
        Edge(uuid=f"e{number}", name=relation.upper().replace(" ", "_"), fact=text, graph_uuid="g", created_at=at,
             source_node_uuid=f"n-{subject}", target_node_uuid=f"n-{object_}", valid_at=at,
             invalid_at=None if last[subject, relation] == number else parts[last[subject, relation]][-1])
        for number, (subject, relation, object_, text, at) in enumerate(parts)
    ]  # fmt: skip
    shown = {
        name: [one.model_dump(mode="json", by_alias=True) for one in many]
        for name, many in (("messages", messages), ("nodes", nodes), ("edges", edges))
    }
    written(Path(folder), "zep", shown, "zep-cloud", len(messages) + len(edges))


if __name__ == "__main__":
    main(sys.argv[1])
