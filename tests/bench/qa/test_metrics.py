"""Scores are those of the official scripts: by hand, by a second way of counting, and by a published log."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldthread.errors import InputError
from worldthread_lab.bench.qa.metrics import SCRIPTS, Script, exact_match, f1, normalise_answer, recall_at, share_among

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

ANSWERS = st.lists(
    st.sampled_from(
        ["the", "A", "an", "cat", "Cat.", "anthem", "rock'n'roll", "50%", "yes", "no", "No!", "_", "’t", "é"]
    ),
    max_size=6,
).map(" ".join)


def normalised_word_by_word(text: str, script: Script) -> list[str]:
    """The tokens of an answer, by walking through its characters."""
    kept = ""
    for character in text.lower():
        if script == "triviaqa" and (character in PUNCTUATION or character in "‘’´`"):
            kept += " "
        elif character not in PUNCTUATION:
            kept += character
    if script == "personalai":
        return kept.split()
    # an article is a whole word: letters, digits and underscores around it make it another one
    words, current = [], ""
    for character in kept + " ":
        if character.isalnum() or character == "_":
            current += character
            continue
        words.append("" if current in ("a", "an", "the") else current)
        words.append(" " if current in ("a", "an", "the") or character.isspace() else character)
        current = ""
    return "".join(words).split()


def counted_f1(prediction: str, answer: str, script: Script) -> float:
    """F1 by crossing out one token after the other."""
    found, wanted = normalised_word_by_word(prediction, script), normalised_word_by_word(answer, script)
    if script == "hotpotqa" and found != wanted:
        for side in (found, wanted):
            if side in (["yes"], ["no"], ["noanswer"]):
                return 0.0
    if script == "squad" and not (found and wanted):
        return 1.0 if found == wanted else 0.0
    left, common = list(wanted), 0
    for token in found:
        if token in left:
            left.remove(token)
            common += 1
    if not common:
        return 0.0
    precision, recall = common / len(found), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


@given(ANSWERS, ANSWERS, st.sampled_from(SCRIPTS))
def test_scores_agree_with_a_second_way_of_counting(prediction: str, answer: str, script: Script) -> None:
    assert normalise_answer(answer, script).split() == normalised_word_by_word(answer, script)
    assert f1(prediction, [answer], script) == pytest.approx(counted_f1(prediction, answer, script))
    if script != "personalai":  # there white space counts
        same = normalised_word_by_word(prediction, script) == normalised_word_by_word(answer, script)
        assert exact_match(prediction, [answer], script) == same


@pytest.mark.parametrize(
    ("text", "script", "expected"),
    [
        ("The  Rock'n'Roll Hall, of\tFame!", "squad", "rocknroll hall of fame"),
        ("The  Rock'n'Roll Hall, of\tFame!", "hotpotqa", "rocknroll hall of fame"),
        ("The_Rock’n'Roll Hall, of\tFame!", "triviaqa", "rock n roll hall of fame"),
        ("The Rock'n'Roll  Hall!", "personalai", "the rocknroll  hall"),
        ("a-Team", "squad", "ateam"),
        ("Theatre", "squad", "theatre"),
        ("“Quoted”", "squad", "“quoted”"),
        ("The", "squad", ""),
    ],
)
def test_normalisation_by_hand(text: str, script: Script, expected: str) -> None:
    assert normalise_answer(text, script) == expected


def test_f1_by_hand() -> None:
    assert f1("Stanley Hall", ["G. Stanley Hall"]) == pytest.approx(0.8)  # 2 of 2 and 2 of 3
    assert f1("the cat the cat", ["cat"]) == pytest.approx(2 / 3)  # repeated tokens count as often as they stand there
    assert f1("dog", ["cat"]) == 0.0


def test_the_best_of_several_right_answers_counts() -> None:
    answers = ("Granville Stanley Hall", "G. Stanley Hall")
    assert exact_match("g stanley hall", answers)
    assert f1("Hall", answers) == pytest.approx(0.5)
    assert f1("G. S. Hall", answers) == pytest.approx(2 / 3)
    assert not exact_match("Stanley", answers)


def test_the_scripts_differ_where_they_are_said_to() -> None:
    assert f1("yes it is", ["yes"], "squad") == pytest.approx(0.5)
    assert f1("yes it is", ["yes"], "hotpotqa") == 0.0
    assert f1("no", ["no comment"], "hotpotqa") == 0.0
    assert f1("no comment", ["no comment please"], "hotpotqa") == pytest.approx(0.8)
    assert (f1("", ["the"], "squad"), f1("", ["the"], "hotpotqa"), f1("", ["the"], "triviaqa")) == (1.0, 0.0, 0.0)
    assert exact_match("the answer", ["Answer"], "squad")
    assert not exact_match("the answer", ["Answer"], "personalai")
    assert exact_match("ANSWER.", ["answer"], "personalai")
    assert exact_match("rock n roll", ["rock'n'roll"], "triviaqa")
    assert not exact_match("rock n roll", ["rock'n'roll"])


def test_exact_match_is_that_of_the_published_log(shared: Path) -> None:
    path = shared / "data" / "musique_logs" / "musique_gpt_mini.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"needs the published log {path}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if not row.get("aborted")]
    matched = [exact_match(row["predicted"], [row["answer"]]) for row in rows]
    assert matched == [bool(row["em"]) for row in rows]
    assert (sum(matched), len(rows)) == (46, 200)


def test_recall_by_hand() -> None:
    ranking = ["b", "x", "a", "y", "c"]
    assert [recall_at(k, ranking, ["a", "b"]) for k in (1, 2, 3, 9)] == [0.5, 0.5, 1.0, 1.0]
    assert recall_at(5, ranking, ("a", "a", "z")) == 0.5  # a gold id counts once
    assert recall_at(5, [], ["a"]) == 0.0


def test_share_of_the_unwanted_by_hand() -> None:
    assert share_among(4, ["s", "a", "t", "b", "u"], {"s", "t", "u"}) == 0.5
    assert share_among(10, ["s", "a"], {"s"}) == 0.5  # of what was returned
    assert share_among(10, [], {"s"}) == 0.0


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(InputError, match="at least one text"):
        exact_match("a", [])
    with pytest.raises(InputError, match="at least one text"):
        f1("a", "answer")
    with pytest.raises(InputError, match="squad, hotpotqa, triviaqa, personalai"):
        f1("a", ["b"], "bleu")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="gold"):
        recall_at(5, ["a"], [])
    with pytest.raises(InputError, match="k must be"):
        recall_at(0, ["a"], ["a"])
    with pytest.raises(InputError, match="k must be"):
        share_among(True, ["a"], ["a"])
