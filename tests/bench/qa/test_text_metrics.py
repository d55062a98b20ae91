"""Metrics of wording against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from worldthread.errors import InputError
from worldthread_lab.bench.qa.text_metrics import TEXT_METRICS, bertscore, bleu, meteor, rouge, text_metric


def test_bleu_is_the_geometric_mean_of_the_precisions() -> None:
    pytest.importorskip("sacrebleu")
    # 3 of 4 words, 2 of 3 pairs, 1 of 2 triples; the only run of four words is smoothed to 1 / 2
    expected = math.exp(sum(map(math.log, (3 / 4, 2 / 3, 1 / 2, 1 / 2))) / 4)
    assert bleu("the cat sat down", ["the cat sat there"]) == pytest.approx(expected)


def test_bleu_knows_several_answers_and_no_case() -> None:
    pytest.importorskip("sacrebleu")
    assert bleu("paris", ["London", "Paris"]) == pytest.approx(1)
    assert bleu("", ["Paris"]) == 0


def test_rouge_is_the_f_measure_of_the_longest_common_subsequence() -> None:
    pytest.importorskip("rouge_score")
    # "cat ... mat" with stems: 2 of 3 predicted words, 2 of 4 wanted ones
    assert rouge("cats chase mats", ["a cat on mat"]) == pytest.approx(2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4))
    assert rouge("Rome", ["Oslo", "Rome"]) == 1


def test_meteor_weighs_recall_and_breaks() -> None:
    pytest.importorskip("nltk")
    # all three words match, one by its stem, in one chunk: 1 - 0.5 * (1 / 3) ** 3
    assert meteor("the cat sat", ["the cats sat"]) == pytest.approx(1 - 0.5 / 27)
    assert meteor("nothing", ["else"]) == 0


def test_bertscore_prefers_what_means_the_same() -> None:
    assert bertscore("Paris", ["Paris"]) == pytest.approx(1, abs=1e-5)
    assert bertscore("a physician", ["a doctor"]) > bertscore("a physician", ["a bridge"])
    assert bertscore("", ["Paris"]) == 0
    assert bertscore("Rome", ["Oslo in Norway", "Rome"]) == pytest.approx(1, abs=1e-5)


def test_bertscore_takes_the_best_partner_of_each_token() -> None:
    whole, part = bertscore("Anna lives in Rome", ["Anna lives in Rome"]), bertscore("Rome", ["Anna lives in Rome"])
    assert 0 < part < whole


def test_unknown_metrics_and_missing_answers_are_refused() -> None:
    with pytest.raises(InputError, match="bleu, rouge, meteor, bertscore"):
        text_metric("chrf")
    for metric in TEXT_METRICS.values():
        with pytest.raises(InputError, match="at least one"):
            metric("Paris", [])
