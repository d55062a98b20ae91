"""What every extractor that needs no chat model must do, whatever it reads with."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from worldthread import InputError, Memory
from worldthread.extract.base import Extractor, settles_locally
from worldthread.extract.registry import EXTRACTORS, extractor
from worldthread.graph import GraphView, TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.types import Episode, Extraction, Fact, Thesis

AT = 1715767200.0
TEXTS = (
    "I live in Lyon. I work at Orbis.",
    "My sister Anna has two cats. She moved to Rome in March.",
    "Could you translate this: my brother is a doctor?",
    "Subject: Friday\n\nDear Tom,\n\nthe meeting is at 10:30 in room 4.\n\nBest wishes,\nAnna Rossi",
)
HOSTILE = (
    "",
    " \n\t\x00",
    "?!.,;:-'\"()[]{}",
    "'; DROP TABLE episodes; --",
    "\u202eanna\u0301\u0301\u200b 🗝️ lives in \ud800 Rome",
    "my " * 200,
    "I live in " + "Rome and " * 60,
    "My name is %s {0} \\d+ (.*)* [ \\1 \\g<0>.",
    "a" * 5000,
    "\n".join(f"{number}. I have {number} cats" for number in range(30)),
)
SPEAKERS = ("", "Ida", r"\1 \g<0>", "I my me", "Ana: Maria")


@pytest.fixture(params=sorted(EXTRACTORS), scope="module")
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def reads(name: str) -> Extractor:
    made = extractor(name)
    assert made is not None
    return made


def message(text: str, speaker: str) -> str:
    return f"{speaker}: {text}" if speaker else text


def view_of(*extractions: Extraction) -> GraphView:
    graph = TemporalGraph()
    for number, extraction in enumerate(extractions):
        graph.add(Episode(f"text {number}", AT - 1000 + number, extraction=extraction))
    return graph.view()


def test_it_keeps_the_contract_and_names_its_version(reads: Extractor) -> None:
    assert isinstance(reads, Extractor)
    assert reads.name.rpartition("/")[2].isdecimal()
    assert reads.concurrency >= 1
    assert settles_locally(reads)
    assert reads.extract(TEXTS[0], "", AT).extractor == reads.name


def test_what_is_told_is_a_fact(reads: Extractor) -> None:
    statements = reads.extract(message(TEXTS[0], "Ida"), "Ida", AT).statements
    stated = {str(one) for one in statements if isinstance(one, Fact)}
    assert "Ida, lives in, Lyon" in stated
    assert any(one.startswith("Ida, works ") and one.endswith(", Orbis") for one in stated)


def test_a_question_and_a_text_to_work_on_are_none(reads: Extractor) -> None:
    for text in (TEXTS[2], "Where does Anna live?"):
        assert not [one for one in reads.extract(message(text, "Ida"), "Ida", AT).statements if isinstance(one, Fact)]


def test_every_sentence_that_is_no_question_can_be_found_again(reads: Extractor) -> None:
    statements = reads.extract(message(TEXTS[1], "Ida"), "Ida", AT).statements
    theses = [one.text for one in statements if isinstance(one, Thesis)]
    assert any("two cats" in text for text in theses)
    assert any("moved to Rome" in text for text in theses)


@pytest.mark.parametrize("speaker", SPEAKERS)
@pytest.mark.parametrize("text", [*TEXTS, *HOSTILE], ids=range(len(TEXTS) + len(HOSTILE)))
def test_any_text_is_read_alike_each_time(reads: Extractor, name: str, text: str, speaker: str) -> None:
    said = message(text, speaker)
    first = reads.extract(said, speaker, AT)
    assert not first.failures
    assert pickle.dumps(reads.extract(said, speaker, AT)) == pickle.dumps(first)
    outdated = reads.outdate(said, first, view_of(), speaker, AT)
    assert outdated.statements == first.statements


def test_another_one_reads_the_same(reads: Extractor, name: str) -> None:
    other = extractor(name)
    assert other is not None
    for text in TEXTS:
        assert other.extract(text, "", AT) == reads.extract(text, "", AT)
    assert pickle.loads(pickle.dumps(reads)).extract(TEXTS[1], "", AT) == reads.extract(TEXTS[1], "", AT)


def test_threads_do_not_disturb_each_other(reads: Extractor) -> None:
    texts = [f"My sister Anna has {number} cats and lives in Rome." for number in range(24)]
    expected = [reads.extract(text, "", AT) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: reads.extract(text, "", AT), texts * 2)) == expected * 2


def test_outdating_keeps_what_was_stated_and_ends_only_what_is_known(reads: Extractor) -> None:
    before = reads.extract(message(TEXTS[0], "Ida"), "Ida", AT - 1000)
    view = view_of(before)
    later = message("I quit Orbis yesterday.", "Ida")
    found = reads.extract(later, "Ida", AT)
    outdated = reads.outdate(later, found, view, "Ida", AT)
    assert set(found.statements) <= set(outdated.statements)
    known = {*before.statements, *found.statements, *(ending.statement for ending in found.endings)}
    assert {ending.statement for ending in outdated.endings} <= known


def test_a_memory_takes_it_by_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(extractor=name, embedder=FakeEmbedder()) as memory:
        memory.remember("I live in Lyon.", at="2024-05-15")
        statements = [version.statement for version in memory.about("user")]
        assert [str(one) for one in statements if isinstance(one, Fact)] == ["user, lives in, Lyon"]
        named = memory.extractor.name
    monkeypatch.setenv("WORLDTHREAD_EXTRACTOR", name)
    with Memory(embedder=FakeEmbedder()) as memory:
        assert memory.extractor.name == named


@pytest.mark.parametrize("make", [lambda: Memory(extractor="bogus"), lambda: extractor("")])
def test_an_unknown_name_is_an_error_that_lists_them(make: Callable[[], object]) -> None:
    with pytest.raises(InputError, match="extractors are: prose, reader, reader-precise"):
        make()
