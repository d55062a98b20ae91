"""The questions made from DiaASQ have the answers that the fold of their statements gives at their time."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from worldthread.errors import FormatError
from worldthread.graph import GraphView, TemporalGraph
from worldthread.types import Fact
from worldthread_lab.bench.datasets import Dataset, load
from worldthread_lab.bench.datasets.diaasq import CONTRADICTED
from worldthread_lab.bench.datasets.diaasq_files import detokenised
from worldthread_lab.bench.qa.metrics import exact_match

DAY = 86400.0


def dialogue(id_: str, sentences: list[str], speakers: list[int], *quadruples: tuple[Any, ...]) -> dict[str, Any]:
    """A dialogue in the official form; a quadruple is target, aspect, opinion, polarity and the opinion's token."""
    triplets = [
        [0, 1, 0, 1, token, token + 1, polarity, target, aspect, opinion]
        for target, aspect, opinion, polarity, token in quadruples
    ]
    replies = [-1, *range(len(sentences) - 1)]
    return {"doc_id": id_, "sentences": sentences, "speakers": speakers, "replies": replies, "triplets": triplets}


SMALL = [
    dialogue(
        "0001",
        ["The Vega X has a great screen .", "I do n't agree , mine is dull ( and the battery is weak ) ."],
        [0, 1],
        ("Vega X", "screen", "great", "pos", 5),
        ("Vega X", "screen", "dull", "neg", 15),
        ("vega x", "the battery", "weak", "neg", 21),
        ("Vega X", "", "weak", "neg", 21),
        ("Vega X", "price", "perhaps", "doubt", 0),
    ),
    dialogue("0002", ["My Orion has a good battery ."], [4], ("Orion", "battery", "good", "pos", 4)),
]


class Said(NamedTuple):
    """A fact of the data set, taken apart."""

    speaker: str
    polarity: str
    subject: str


def parsed(fact: Fact) -> Said:
    found = re.fullmatch(r'has a (positive|negative|neutral) opinion \("(.+)"\) of', fact.relation)
    assert found is not None
    return Said(fact.subject, found[1], fact.object)


def held(view: GraphView) -> dict[tuple[str, str], set[str]]:
    """The polarities that hold, by speaker and subject."""
    polarities: dict[tuple[str, str], set[str]] = defaultdict(set)
    for fact in view.facts():
        said = parsed(fact)
        polarities[said.speaker, said.subject].add(said.polarity)
    return polarities


@pytest.fixture(scope="module")
def path(shared: Path) -> Path:
    path = shared / "data" / "diaasq" / "valid.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"needs the dialogues of DiaASQ in {path}")
    return path


@pytest.fixture(scope="module")
def dataset(path: Path) -> Dataset:
    return load("diaasq", path)


@pytest.fixture(scope="module")
def graph(dataset: Dataset) -> TemporalGraph:
    return TemporalGraph(passage.episode(given=True) for passage in dataset.passages)


def test_a_small_file_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "valid.json"
    path.write_text(json.dumps(SMALL), encoding="utf-8")
    dataset = load("diaasq", path, seed=3)
    first, second = (dataset.by_id[id_] for id_ in ("0001", "0002"))
    names = [line.partition(":")[0] for line in first.text.splitlines()]
    assert len(set(names)) == 2
    assert first.text.splitlines() == [
        f"{names[0]}: The Vega X has a great screen.",
        f"{names[1]}: I don't agree, mine is dull (and the battery is weak).",
    ]
    assert first.title == "Forum dialogue of 1 January 2021"
    assert set(first.facts) == {
        Fact(names[0], 'has a positive opinion ("great") of', "screen of Vega X"),
        Fact(names[1], 'has a negative opinion ("dull") of', "screen of Vega X"),
        Fact(names[1], 'has a negative opinion ("weak") of', "battery of Vega X"),
    }
    assert {thesis.objects for thesis in first.theses} == {
        (names[0], "screen", "Vega X"),
        (names[1], "screen", "Vega X"),
        (names[1], "battery", "Vega X"),
    }
    assert len({statement.aspect for statement in first.statements}) == 3  # a fact and its thesis share one
    assert first.at is not None
    assert second.at is not None
    assert 1 <= (second.at - first.at) / DAY <= 3
    assert dataset.counts == {
        "quadruples left out: incomplete": 1,
        "quadruples left out: polarity unclear": 1,
    }
    assert sum(len(passage.facts) for passage in dataset.passages if passage.id.startswith("later-")) == 1


def test_both_forms_of_the_file_give_the_same(path: Path, dataset: Dataset, tmp_path: Path) -> None:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    official = [
        {
            "doc_id": row["id"],
            "sentences": row["sentences"],
            "speakers": row["speakers"],
            "triplets": [
                [*(o for part in ("target", "aspect", "opinion") for o in q["spans"][part])]
                + [q[part] for part in ("polarity", "target", "aspect", "opinion")]
                for q in row["quadruples"]
            ],
        }
        for row in rows
    ]
    (tmp_path / "valid.json").write_text(json.dumps(official), encoding="utf-8")
    assert load("diaasq", tmp_path / "valid.json") == dataset


def test_the_fold_ends_exactly_what_is_called_stale(dataset: Dataset, graph: TemporalGraph) -> None:
    everything = {statement.id for passage in dataset.passages for statement in passage.statements}
    moments = {question.as_of: question for question in dataset.questions}
    assert len(moments) > 10
    for moment, question in moments.items():
        view = graph.view(moment)
        holding = {statement.id for statement in (*view.facts(), *view.theses())}
        assert question.stale_ids.isdisjoint(holding)
        assert question.future_ids.isdisjoint(holding | question.stale_ids)
        assert holding | question.stale_ids | question.future_ids == everything
    assert len(moments[None].stale_ids) > 100
    assert not moments[None].future_ids


@pytest.mark.slow
def test_questions_have_the_answers_of_the_fold(dataset: Dataset, graph: TemporalGraph) -> None:
    asked: dict[str, int] = defaultdict(int)
    views: dict[float | None, dict[tuple[str, str], set[str]]] = {}
    subjects = {parsed(fact).subject for passage in dataset.passages for fact in passage.facts}
    for question in dataset.questions:
        polarities = views.setdefault(question.as_of, held(graph.view(question.as_of)))
        kind = question.type.removesuffix("_as_of")
        named = max((s for s in subjects if s in question.text), key=len, default="")
        about = {speaker: found for (speaker, subject), found in polarities.items() if subject == named}
        if kind == "opinion":
            (speaker,) = (s for s in about if re.search(rf"\b{s}\b", question.text) and {*question.answers} == about[s])
            assert exact_match(about[speaker].copy().pop(), question.answers)
        elif kind == "people":
            polarity = re.search("positive|negative|neutral", question.text)
            assert polarity is not None
            people = sorted(speaker for speaker, found in about.items() if found == {polarity[0]})
            assert exact_match(", ".join(people), question.answers)
            assert exact_match(" and ".join(people), question.answers) == (len(people) < 3)
        elif kind == "majority":
            votes = [polarity for found in about.values() for polarity in found]
            assert votes.count(question.answers[0]) > max(
                votes.count(other) for other in ("positive", "negative", "neutral") if other != question.answers[0]
            )
        else:
            scores = compared(question.text, polarities)
            assert max(scores, key=lambda target: scores[target]) == question.answers[0]
            assert len(set(scores.values())) == 2
        asked[question.type] += 1
    assert set(asked) == {k + s for k in ("opinion", "people", "majority", "better") for s in ("", "_as_of")}
    assert min(asked.values()) >= 10


def compared(text: str, polarities: dict[tuple[str, str], set[str]]) -> dict[str, float]:
    """The mean of +1, 0 and -1 for each of the two targets that a question compares."""
    pair = re.search(
        r"(?:in (?P<a>.+): |comes to (?P<b>.+), do people prefer |prefer )(?P<one>.+) or (?P<other>.+)\?", text
    )
    assert pair is not None
    one, other = pair["one"], pair["other"]
    aspect = pair["a"] or pair["b"]
    if aspect is None:
        late = re.search(r"prefer (.+) or (.+) when it came to (.+)\?", text)
        assert late is not None
        one, other, aspect = late.groups()
    value = {"positive": 1, "negative": -1, "neutral": 0}
    scores = {}
    for target in (one, other):
        found = [value[p] for (_, s), ps in polarities.items() if s == f"{aspect} of {target}" for p in ps]
        scores[target] = sum(found) / len(found)
    return scores


def test_as_of_questions_have_an_older_answer(dataset: Dataset) -> None:
    now = {question.id: question for question in dataset.questions if question.as_of is None}
    pairs = [
        (question, now[question.id.replace("_as_of", "")])
        for question in dataset.questions
        if question.as_of is not None and question.id.replace("_as_of", "") in now
    ]
    assert len(pairs) > 150
    for then, today in pairs:
        assert then.answers != today.answers
        assert set(then.gold_ids) <= {*today.gold_ids, *today.stale_passage_ids}
        assert then.future_passage_ids  # what changed the answer


def test_passages_are_gold_stale_or_still_to_come(dataset: Dataset) -> None:
    for question in dataset.questions:
        assert 1 <= len(question.gold_ids) <= 5
        groups = (question.gold_ids, question.stale_passage_ids, question.future_passage_ids)
        assert len({id_ for group in groups for id_ in group}) == sum(map(len, groups))
        last = float("inf") if question.as_of is None else question.as_of
        times = [[dataset.by_id[id_].at or 0.0 for id_ in group] for group in groups]
        assert all(time <= last for time in (*times[0], *times[1]))
        assert all(time > last for time in times[2])


def test_minds_change_later_and_to_another_polarity(dataset: Dataset) -> None:
    first: dict[str, tuple[float, set[str]]] = {}
    changed = 0
    for passage in sorted(dataset.passages, key=lambda passage: passage.id.startswith("later-")):
        assert passage.at is not None
        for fact in passage.facts:
            assert fact.aspect is not None
            if passage.id.startswith("later-"):
                at, polarities = first[fact.aspect]
                assert passage.at - at >= 40 * DAY
                assert parsed(fact).polarity not in polarities
                assert parsed(fact).speaker in passage.text
                changed += 1
            else:
                at, polarities = first.get(fact.aspect, (passage.at, set()))
                first[fact.aspect] = max(at, passage.at), polarities | {parsed(fact).polarity}
    clear = sum(len(polarities) == 1 for _, polarities in first.values())
    assert changed == round(CONTRADICTED * clear)


def test_the_same_seed_gives_the_same_in_every_process(path: Path, dataset: Dataset) -> None:
    assert load("diaasq", path) == dataset
    other = load("diaasq", path, seed=1)
    assert other.passages != dataset.passages
    parts = [repr((p.id, p.full_text, p.at, [str(statement) for statement in p.statements])) for p in dataset.passages]
    parts += [repr((q.id, q.text, q.answers, q.gold_ids, q.as_of, sorted(q.stale_ids))) for q in dataset.questions]
    # a change of this digest makes old scores incomparable: raise the version as well
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    assert (dataset.version, digest) == ("diaasq-temporal/1", "427cd05f09819339")


def test_a_limit_keeps_all_passages_and_a_mix_of_questions(path: Path, dataset: Dataset) -> None:
    few = load("diaasq", path, limit=100)
    assert few.questions == dataset.questions[:100]
    assert few.passages == dataset.passages
    assert {"opinion", "people", "opinion_as_of", "better"} <= {question.type for question in few.questions}


@pytest.mark.parametrize(
    ("written", "tokens"),
    [
        ("I don't know, but it's high-end.", "I do n't know , but it 's high - end ."),
        ("Really? [doge] (well...) 50%!", "Really ? [ doge ] ( well ... ) 50 % !"),
        ('He said "no way" and left.', 'He said " no way " and left .'),
        ("Mi 11/12 pro", "Mi  11 /  12 pro"),
    ],
)
def test_tokens_are_joined_as_one_writes(written: str, tokens: str) -> None:
    assert detokenised(tokens) == written


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (dialogue("0001", ["a b", "c"], [0], ("t", "a", "o", "pos", 0)), "2 sentences and 1 speakers"),
        (dialogue("0001", ["a b"], [0], ("t", "a", "o", "bad", 0)), "polarity 'bad'.*expected one of pos, neg, neu"),
        (dialogue("0001", ["a b"], [0], ("t", "a", "o", "pos", 2)), r"in utterance 1; .* 0\.\.0"),
        (dialogue("0001", ["a b"], [0]), "no dialogue has a complete quadruple"),
        ({"doc_id": "0001"}, "entry 1: .*sentences"),
    ],
)
def test_files_of_another_form_are_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    path = tmp_path / "valid.json"
    path.write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(FormatError, match=message) as caught:
        load("diaasq", path)
    assert str(path) in str(caught.value)
    path.write_text('{"id": "x"}', encoding="utf-8")
    with pytest.raises(FormatError, match=r"line 1: .*expected a dialogue with id"):
        load("diaasq", path)


def test_the_kinds_of_question_of_personalai(path: Path, dataset: Dataset) -> None:
    whole = load("diaasq_personalai", path)
    kinds = {question.type.removesuffix("_as_of") for question in whole.questions}
    assert kinds == {"opinion", "people", "majority", "better", "similar"}
    assert whole.version == "diaasq-personalai/1"
    assert len(whole.questions) > len(dataset.questions)
    folded = TemporalGraph(passage.episode(given=True) for passage in whole.passages)
    views: dict[float | None, dict[tuple[str, str], set[str]]] = {}
    asked = 0
    for question in whole.questions:
        if not question.type.startswith("similar"):
            continue
        said = views.setdefault(question.as_of, held(folded.view(question.as_of)))
        names = [name for name in re.findall(r"[A-Z][a-z]+", question.text) if any(name == s for s, _ in said)]
        third = re.search(r"(?:to |like )([A-Z][a-z]+)(?:'s)?: ", question.text)
        assert third is not None
        pair = [name for name in dict.fromkeys(names) if name != third[1]]
        assert len(pair) == 2, question.text
        scores = []
        for name in pair:
            both = [subject for speaker, subject in said if speaker == name and (third[1], subject) in said]
            clear = [(said[name, s], said[third[1], s]) for s in both]
            clear = [(a, b) for a, b in clear if len(a) == len(b) == 1]
            assert clear
            scores.append(sum(1 if a == b else -1 for a, b in clear))
        assert scores[0] != scores[1]
        assert question.answers == (pair[scores.index(max(scores))],)
        asked += 1
    assert asked >= 20


def test_questions_about_the_past_name_a_day_on_which_somebody_spoke(path: Path) -> None:
    whole = load("diaasq_personalai", path)
    spoken = {int((passage.at or 0) // DAY) for passage in whole.passages}
    dated = [question for question in whole.questions if question.as_of is not None]
    assert len(dated) > 100
    assert {int((question.as_of or 0) // DAY) for question in dated} <= spoken
    assert {(question.as_of or 0) % DAY for question in dated} == {DAY - 1}


def test_the_files_beside_are_read_too(tmp_path: Path) -> None:
    for part in ("valid", "test"):
        (tmp_path / f"{part}.json").write_text(json.dumps(SMALL), encoding="utf-8")
    dataset = load("diaasq_personalai", tmp_path / "valid.json", seed=3)
    assert {id_ for id_ in dataset.by_id if not id_.startswith("later-")} == {
        f"{part}-000{n}" for part in ("valid", "test") for n in (1, 2)
    }
    assert (dataset.counts["dialogues of valid"], dataset.counts["dialogues of test"]) == (2, 2)
    assert "dialogues of train" not in dataset.counts
    alone = load("diaasq", tmp_path / "valid.json", seed=3)
    assert {"0001", "0002"} <= set(alone.by_id), "the other data set is as it was"


def test_at_most_as_many_questions_as_in_the_paper(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread_lab.bench.datasets.diaasq.PERSONALAI_QUESTIONS", 50)
    assert len(load("diaasq_personalai", path).questions) == 50
    assert len(load("diaasq_personalai", path, limit=20).questions) == 20
