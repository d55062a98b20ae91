"""Data sets for benchmarks: loaders of the official files, and questions generated from them.

::

    from worldthread_lab.bench.datasets import load

    dataset = load("musique_train", "data")
    dataset.questions[0].gold_ids
"""

from __future__ import annotations

from worldthread_lab.bench.datasets.base import Dataset, Passage, Question
from worldthread_lab.bench.datasets.registry import DatasetSpec, datasets, load

__all__ = ["Dataset", "DatasetSpec", "Passage", "Question", "datasets", "load"]
