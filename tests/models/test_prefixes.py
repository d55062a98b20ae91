from __future__ import annotations

import pytest

from worldthread.models.prefixes import prefixes_of


@pytest.mark.parametrize(
    ("model", "prefixes"),
    [
        ("intfloat/multilingual-e5-small", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", ("", "")),
        ("intfloat/E5-base-v2", ("query: ", "passage: ")),
        ("nomic-embed-text:v1.5", ("search_query: ", "search_document: ")),
        ("text-embedding-3-small", ("", "")),
        ("all-minilm", ("", "")),
    ],
)
def test_prefixes_by_the_name_of_the_model(model: str, prefixes: tuple[str, str]) -> None:
    assert prefixes_of(model) == prefixes
