"""The language of a text is told by its words, and a text in another language than English states nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from worldthread import Memory
from worldthread.extract.language_detection import detect_language, is_foreign
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.models.fake import FakeEmbedder
from worldthread.types import Fact, Thesis

SENTENCES = Path(__file__).parents[2] / "benchmarks" / "language" / "detection.toml"


def test_languages_are_told_apart() -> None:
    with SENTENCES.open("rb") as data:
        rows = [(text, name) for name, texts in tomllib.load(data).items() for text in texts]
    wrong = [(text, name, found) for text, name in rows if (found := detect_language(text)) != name]
    assert wrong == []


@pytest.mark.parametrize(
    "text", ["Bob divorced Anna.", "Anna studied at MIT.", "Golden key.", "He died in La Paz.", ""]
)
def test_names_of_other_languages_do_not_make_an_english_text_foreign(text: str) -> None:
    assert not is_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ich wohne in Bonn und arbeite bei Bosch.",
        "J'habite à Bonn et ma femme s'appelle Inès.",
        "Vivo en Bonn y trabajo para Bosch.",
        "Anna is een dokter in het ziekenhuis. Zij heeft twee katten.",
        "O meu nome é Ana e moro no Porto.",
        "Mieszkam w Krakowie i mam psa.",
        "Ben İzmir'de oturuyorum ve bir kedim var.",
        "Main Delhi mein rehta hoon aur mere paas ek kutta hai.",
        "Die Frau is nice, aber der Mann ist alt.",
        "Paris est is Rom in Paris est.",
    ],
)
def test_another_language_makes_no_fact_and_is_still_found(text: str) -> None:
    extraction = ProseExtractor().extract(f"user: {text}", "user")
    assert not any(isinstance(statement, Fact) for statement in extraction.statements)
    assert extraction.endings == ()
    assert any(isinstance(statement, Thesis) for statement in extraction.statements)
    with Memory(embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": text}])
        assert text in memory.recall(text).text
