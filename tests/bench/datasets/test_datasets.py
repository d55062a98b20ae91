"""Official files are read as their authors describe them, and made smaller as Appendix D of PersonalAI does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import FormatError, InputError
from worldthread.types import Fact
from worldthread_lab.bench.datasets import Dataset, Passage, Question, load
from worldthread_lab.bench.datasets.preparation import first, gold_only, split_paragraphs, within_length

HARBOUR = ["Port Lind is a harbour town.", " It lies on the river Arn."]
RIVER = ["The Arn is a river.", " It rises in the Tarn hills and ends in Lake Moor."]
LAKE = ["Lake Moor is a lake of ninety square kilometres."]

HOTPOT: list[dict[str, Any]] = [
    {
        "_id": "q1",
        "question": "Where does the river of Port Lind rise?",
        "answer": "the Tarn hills",
        "type": "bridge",
        "level": "easy",
        "supporting_facts": [["Port Lind", 1], ["Arn", 1], ["Arn", 0]],
        "context": [["Lake Moor", LAKE], ["Arn", RIVER], ["Port Lind", HARBOUR]],
    },
    {
        "_id": "q2",
        "question": "Is Lake Moor a river?",
        "answer": "no",
        "type": "comparison",
        "level": "easy",
        "supporting_facts": [["Lake Moor", 0], ["Elsewhere", 0]],
        "context": [["Lake Moor", LAKE], ["Tiny", ["Small."]]],
    },
]

MUSIQUE: list[dict[str, Any]] = [
    {
        "id": "2hop__1_2",
        "question": "Where does the river of Port Lind rise?",
        "answer": "Tarn hills",
        "answer_aliases": ["the hills of Tarn", "Tarn hills"],
        "answerable": True,
        "question_decomposition": [],
        "paragraphs": [
            {"idx": 0, "title": "Arn", "paragraph_text": "It rises in the Tarn hills.", "is_supporting": True},
            {"idx": 1, "title": "Moor", "paragraph_text": "A lake.", "is_supporting": False},
            {"idx": 2, "title": "Port Lind", "paragraph_text": "It lies on the Arn.", "is_supporting": True},
        ],
    },
    {
        "id": "3hop1__1_2_3",
        "question": "Who owns the lake?",
        "answer": "nobody",
        "answer_aliases": [],
        "answerable": False,
        "question_decomposition": [],
        "paragraphs": [{"idx": 0, "title": "Moor", "paragraph_text": "A lake.", "is_supporting": True}],
    },
]


def write_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def trivia_archive(root: Path, pages: dict[str, str], entries: list[dict[str, Any]]) -> Path:
    for name, text in pages.items():
        page = root / "evidence" / "wikipedia" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    content = {"Data": entries, "Domain": "Wikipedia", "Split": "dev", "VerifiedEval": False, "Version": 1.0}
    return write_json(root / "qa" / "wikipedia-dev.json", content)


def trivia_entry(id_: str, value: str, *pages: str) -> dict[str, Any]:
    aliases = [value, value.upper()]
    return {
        "QuestionId": id_,
        "Question": f"What is asked by {id_}?",
        "QuestionSource": "our own",
        "Answer": {
            "Value": value,
            "Aliases": aliases,
            "NormalizedAliases": [value.lower()],
            "NormalizedValue": value.lower(),
            "Type": "WikipediaEntity",
        },
        "EntityPages": [{"DocSource": "TagMe", "Filename": name, "Title": name.removesuffix(".txt")} for name in pages],
        "SearchResults": [],
    }


def test_hotpotqa(tmp_path: Path) -> None:
    dataset = load("hotpotqa", write_json(tmp_path / "hotpot_dev_distractor_v1.json", HOTPOT))
    assert [passage.title for passage in dataset.passages] == ["Lake Moor", "Arn", "Port Lind", "Tiny"]
    arn = dataset.passages[1]
    assert arn.text == "The Arn is a river. It rises in the Tarn hills and ends in Lake Moor."
    assert arn.full_text == f"Arn\n{arn.text}"
    one, two = dataset.questions
    assert (one.answers, one.type, one.as_of) == (("the Tarn hills",), "bridge", None)
    assert [dataset.by_id[id_].title for id_ in one.gold_ids] == ["Port Lind", "Arn"]
    assert one.context_ids == ("0", "1", "2")
    assert two.context_ids == ("0", "3")  # the lake is one passage of both
    assert dataset.counts == {"gold passages not in the context": 1}
    assert (dataset.script, dataset.version) == ("hotpotqa", "hotpotqa/1")


def test_limit_keeps_the_first_questions_and_their_passages(tmp_path: Path) -> None:
    path = write_json(tmp_path / "hotpot.json", HOTPOT)
    assert [passage.title for passage in load("hotpotqa", path, limit=1).passages] == ["Lake Moor", "Arn", "Port Lind"]
    # what stands behind the last question that is wanted is not even read
    path.write_text(path.read_text("utf-8")[:-20] + "broken", encoding="utf-8")
    assert len(load("hotpotqa", path, limit=1).questions) == 1
    with pytest.raises(FormatError, match=r"hotpot\.json: not JSON"):
        load("hotpotqa", path)


def test_two_wiki_has_evidence_and_aliases(tmp_path: Path) -> None:
    entry = HOTPOT[0] | {
        "entity_ids": "Q1_Q2",
        "evidences": [["Port Lind", "river", "Arn"], ["Arn", "source", "Tarn hills"], ["Arn", "", "nothing"]],
        "evidences_id": [],
        "answer_id": "Q7",
    }
    path = write_json(tmp_path / "data_ids" / "dev.json", [entry])
    assert load("2wikimultihopqa", path).counts["files of aliases missing"] == 1
    rows = [
        {"Q_id": "Q7", "aliases": ["Tarns"], "demonyms": ["Tarnish"]},
        {"Q_id": "Q8", "aliases": [], "demonyms": []},
    ]
    write_lines(tmp_path / "id_aliases.json", rows)
    dataset = load("2wikimultihopqa", tmp_path)
    (question,) = dataset.questions
    assert question.answers == ("the Tarn hills", "Tarns", "Tarnish")
    assert question.evidence == (Fact("Port Lind", "river", "Arn"), Fact("Arn", "source", "Tarn hills"))
    assert dataset.counts == {"evidences that are no facts": 1}
    assert not dataset.has_statements  # evidence belongs to the question: given with passages it would tell the answer


def test_musique(tmp_path: Path) -> None:
    dataset = load("musique", write_lines(tmp_path / "musique_ans_v1.0_dev.jsonl", MUSIQUE))
    (question,) = dataset.questions
    assert question.answers == ("Tarn hills", "the hills of Tarn")
    assert (question.type, question.gold_ids, question.context_ids) == ("2hop", ("0", "2"), ("0", "1", "2"))
    assert dataset.counts == {"questions left out: not answerable": 1}


def test_trivia_qa(tmp_path: Path) -> None:
    pages = {
        "Arn_(river).txt": "The Arn rises in the hills.\n\nIt ends in Lake Moor, a big lake.",
        "Lac_Léman.txt": " ".join(f"Sentence {number} is about another lake." for number in range(60)),
    }
    entries = [
        trivia_entry("tc_1", "Lake Moor", "Arn_(river).txt"),
        trivia_entry("tc_2", "nothing", "Lac_Le\u0301man.txt", "Missing.txt"),  # decomposed, unlike the file's name
        trivia_entry("tc_3", "Moo", "Arn_(river).txt"),
        trivia_entry("tc_4", "x", "Missing.txt"),
    ]
    trivia_archive(tmp_path, pages, entries)
    dataset = load("triviaqa", tmp_path)
    one, two, three = dataset.questions
    assert one.answers == ("Lake Moor", "LAKE MOOR", "lake moor")
    assert [dataset.by_id[id_].text for id_ in one.gold_ids] == [pages["Arn_(river).txt"]]
    assert len(two.context_ids) > 2
    assert all(len(dataset.by_id[id_].text.split()) <= 120 for id_ in two.context_ids)
    assert three.gold_ids == ()  # "Moo" is no word of the page
    assert dataset.counts == {
        "pages missing": 1,
        "questions left out: no page": 1,
        "questions without gold passages": 2,
    }
    assert dataset.script == "triviaqa"


def test_trivia_qa_reads_nothing_outside_its_folder(tmp_path: Path) -> None:
    path = trivia_archive(tmp_path, {"A.txt": "A."}, [trivia_entry("tc_1", "A", "../../qa/wikipedia-dev.json")])
    with pytest.raises(FormatError, match="not the name of a file"):
        load("triviaqa", path)
    with pytest.raises(InputError, match="evidence"):
        load("triviaqa", write_json(tmp_path / "elsewhere" / "qa" / "wikipedia-dev.json", {"Data": []}))


def test_appendix_d_of_hotpotqa(tmp_path: Path) -> None:
    def entry(number: int, length: int) -> dict[str, Any]:
        gold, other = f"gold {number}", f"other {number}"
        return {
            "_id": str(number),
            "question": "What?",
            "answer": "That",
            "supporting_facts": [[gold, 0]],
            "context": [[other, ["y" * 100]], [gold, [f"{number:09d}", "x" * (length - 10)]]],
        }

    lengths = [63, 64, 1024, 1025, *[100] * 2005]
    path = write_json(tmp_path / "hotpot.json", [entry(n, length) for n, length in enumerate(lengths)])
    dataset = load("hotpotqa_personalai", path)
    assert [question.id for question in dataset.questions[:3]] == ["1", "2", "4"]
    assert (len(dataset.questions), len(dataset.passages)) == (2000, 2000)  # no distracting ones
    assert dataset.passages[0].text == "000000001 " + "x" * 54
    assert dataset.counts["questions left out: a passage outside 64..1024 characters"] == 2
    assert len(load("hotpotqa_personalai", path, limit=5).passages) == 5


def test_appendix_d_of_trivia_qa(tmp_path: Path) -> None:
    pages = {
        "Good.txt": "\n\n".join(["g" * 600, "h" * 600]),
        "Long.txt": "\n\n".join(["l" * 600, "m" * 1100]),
        "Short.txt": "s" * 63,
    }
    entries = [
        trivia_entry("tc_1", "x", "Good.txt", "Long.txt"),  # one chunk of one page too long: the question goes
        trivia_entry("tc_2", "x", "Good.txt"),
        trivia_entry("tc_3", "x", "Short.txt"),
    ]
    dataset = load("triviaqa_personalai", trivia_archive(tmp_path, pages, entries))
    assert [question.id for question in dataset.questions] == ["tc_2"]
    assert [passage.text for passage in dataset.passages] == ["g" * 600, "h" * 600]


def test_paragraphs_are_cut_as_langchain_cuts_them() -> None:
    # all results as langchain-text-splitters 1.1 gives them: RecursiveCharacterTextSplitter(separators=["\n\n"], ...)
    text = "\n\n".join(["aaa", "b" * 30, "cc", "d" * 50, "e"])
    assert split_paragraphs(text, 40, 12) == ["aaa\n\n" + "b" * 30 + "\n\ncc", "\n\n" + "d" * 50, "e"]
    overlapping = "\n\n".join(["a" * 20, "b" * 8, "c" * 20, "d" * 4, "e" * 30])
    assert split_paragraphs(overlapping, 40, 12) == [
        "a" * 20 + "\n\n" + "b" * 8,
        "b" * 8 + "\n\n" + "c" * 20 + "\n\n" + "d" * 4,
        "d" * 4 + "\n\n" + "e" * 30,
    ]
    assert split_paragraphs("", 40, 12) == []


def test_steps_of_preparation_are_pure() -> None:
    passages = tuple(Passage(str(n), "", "x" * n) for n in range(1, 5))
    questions = (
        Question("a", "?", ("x",), ("1",), context_ids=("1", "2")),
        Question("b", "?", ("x",), ("3",), context_ids=("3", "4")),
        Question("c", "?", ("x",), (), context_ids=("2",)),
    )
    dataset = Dataset("ours", "ours/1", passages, questions)
    small = gold_only(dataset)
    assert [passage.id for passage in small.passages] == ["1", "3"]
    assert [question.context_ids for question in small.questions] == [("1",), ("3",)]
    assert small.counts == {"questions left out: no gold": 1}
    assert [question.id for question in within_length(dataset, 2, 4).questions] == ["b", "c"]
    assert [passage.id for passage in first(dataset, 1).passages] == ["1", "2"]
    assert len(dataset.passages) == 4


def test_an_episode_brings_what_is_given_or_waits_to_be_read() -> None:
    passage = Passage("p", "Arn", "A river.", 86400.0, (Fact("Arn", "is", "river"),))
    given, unread = passage.episode(given=True), passage.episode(given=False)
    assert (given.text, given.at, given.source) == ("Arn\nA river.", 86400.0, "p")
    assert given.extraction.statements == passage.facts
    assert given.extraction.is_complete
    assert not unread.extraction.extractor
    assert given.id == unread.id


def test_a_data_set_is_consistent() -> None:
    passage, question = Passage("p", "", "text"), Question("q", "?", ("a",), ("p",))
    with pytest.raises(InputError, match="two passages have the id 'p'"):
        Dataset("ours", "ours/1", (passage, passage), ())
    with pytest.raises(InputError, match="two questions"):
        Dataset("ours", "ours/1", (passage,), (question, question))
    with pytest.raises(InputError, match="unknown passage 'p'"):
        Dataset("ours", "ours/1", (), (question,))
    with pytest.raises(InputError, match="no answer"):
        Question("q", "?", ())


@pytest.mark.parametrize(("name", "passages", "facts"), [("musique_train", 1890, 17234), ("hotpotqa_train", 994, 0)])
def test_the_shared_questions(shared: Path, name: str, passages: int, facts: int) -> None:
    dataset = load(name, shared / "data")
    assert (len(dataset.questions), len(dataset.passages)) == (100, passages)
    assert sum(len(passage.facts) for passage in dataset.passages) == facts
    assert all(
        question.gold_ids and set(question.gold_ids) <= set(question.context_ids) for question in dataset.questions
    )
    assert dataset.has_statements == bool(facts)
    if name == "musique_train":
        assert dataset.counts == {"triples that are no facts": 185}
        assert dataset.questions[0].answers == ("G. Stanley Hall", "Stanley Hall")
        assert "American Institute of Physics" in dataset.passages[0].entities
