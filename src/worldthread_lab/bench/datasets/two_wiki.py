"""Loader of 2WikiMultiHopQA's ``dev.json``, which has HotpotQA's form with evidence triples, and ``id_aliases.json``.

``id_aliases.json``, beside ``dev.json`` or in the folder above, has a line for each Wikidata id: ``Q_id``, ``aliases``
and ``demonyms``, which the official script (version 1.1) also accepts as right answers.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from worldthread_lab.bench.datasets import hotpotqa
from worldthread_lab.bench.datasets.base import Dataset
from worldthread_lab.bench.datasets.files import read_lines

_ALIASES: Final = ("id_aliases.json", "id_aliases.json.gz")


class _Aliases(msgspec.Struct):
    aliases: list[str]
    demonyms: list[str]
    id: str = msgspec.field(name="Q_id")


def load(path: Path, *, name: str, limit: int | None) -> Dataset:
    """Load the questions with their evidence.

    Args:
        path: the file ``dev.json``.
        name: name of the data set.
        limit: read only the first questions; ``None``: read all.

    Returns:
        The data set; without the file of aliases it has no aliases, and ``counts`` says so.

    Raises:
        InputError: a file cannot be read.
        FormatError: a file does not have the expected form.
    """
    candidates = (folder / name for folder in (path.parent, path.parent.parent) for name in _ALIASES)
    file = next((candidate for candidate in candidates if candidate.is_file()), None)
    aliases: dict[str, list[str]] = {}
    if file is not None:
        for row in read_lines(file, _Aliases, "a line with Q_id, aliases and demonyms"):
            aliases[row.id] = row.aliases + row.demonyms
    dataset = hotpotqa.read(path, name=name, limit=limit, joint=" ", aliases=aliases)
    if file is None:
        return replace(dataset, counts={**dataset.counts, "files of aliases missing": 1})
    return dataset
