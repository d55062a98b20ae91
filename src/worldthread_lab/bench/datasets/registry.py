"""Names of data sets, and the places where their files are searched."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from worldthread.errors import InputError
from worldthread_lab.bench.datasets.base import Dataset

DATA_VARIABLE: Final = "WORLDTHREAD_DATA"
"""Environment variable: folders with data set files, separated as in ``PATH``."""

SHARED_VARIABLE: Final = "WORLDTHREAD_SHARED"
"""Environment variable: a folder whose ``data`` is searched after those of :data:`DATA_VARIABLE`."""


@dataclass(frozen=True)
class DatasetSpec:
    """A data set that can be loaded by name.

    Args:
        name: name of the data set.
        loader: ``"module:function"`` in this package, imported when the data set is loaded.
        description: one line of text.
        files: possible paths of its main file below a folder, the most likely first; each also with ``.gz`` appended.
        options: further arguments of the loader.
        generated: whether its content depends on a seed.
    """

    name: str
    loader: str
    description: str
    files: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    generated: bool = False


def _spec(name: str, loader: str, description: str, *files: str, generated: bool = False, **options: Any) -> None:
    _SPECS[name] = DatasetSpec(name, loader, description, files, options, generated)


_SPECS: Final[dict[str, DatasetSpec]] = {}
_DISTRACTOR: Final = ("hotpot_dev_distractor_v1.json", "hotpotqa/hotpot_dev_distractor_v1.json")
_TRIVIA: Final = tuple(f"{folder}qa/wikipedia-dev.json" for folder in ("", "triviaqa-rc/", "triviaqa/"))

_spec(
    "musique_train",
    "multihop:load",
    "100 questions of MuSiQue with a corpus and the triples of a model",
    *("musique_train.jsonl", "multihop/musique_train.jsonl"),
    script="squad",
)
_spec(
    "hotpotqa_train",
    "multihop:load",
    "100 questions of HotpotQA with a corpus",
    *("hotpotqa_train.jsonl", "multihop/hotpotqa_train.jsonl"),
    script="hotpotqa",
)
_spec("hotpotqa", "hotpotqa:load", "HotpotQA, development set, distractor setting", *_DISTRACTOR)
_spec(
    "hotpotqa_fullwiki",
    "hotpotqa:load",
    "HotpotQA, development set, full-wiki setting",
    *("hotpot_dev_fullwiki_v1.json", "hotpotqa/hotpot_dev_fullwiki_v1.json"),
)
_spec(
    "hotpotqa_personalai",
    "hotpotqa:load_appendix_d",
    "HotpotQA as PersonalAI's Appendix D prepares it: 2,000 questions, gold passages only",
    *_DISTRACTOR,
)
_spec(
    "musique",
    "musique:load",
    "MuSiQue-Ans, development set",
    *("musique_ans_v1.0_dev.jsonl", "musique/musique_ans_v1.0_dev.jsonl", "data/musique_ans_v1.0_dev.jsonl"),
)
_spec(
    "2wikimultihopqa",
    "two_wiki:load",
    "2WikiMultiHopQA, development set, with evidence triples and aliases",
    *(f"{folder}dev.json" for folder in ("2wikimultihopqa/", "data_ids/", "data_ids_april7/", "2wikimultihop/", "")),
)
_spec("triviaqa", "trivia_qa:load", "TriviaQA (rc.wikipedia), development set, pages in passages", *_TRIVIA)
_spec(
    "triviaqa_personalai",
    "trivia_qa:load_appendix_d",
    "TriviaQA (rc.wikipedia) as PersonalAI's Appendix D prepares it: 500 questions",
    *_TRIVIA,
)
_spec(
    "diaasq",
    "diaasq:load",
    "DiaASQ with dates and contradicting later statements; questions about now and as of a date",
    *("diaasq/valid.jsonl", "diaasq/valid.json", "data/dataset/jsons_en/valid.json", "jsons_en/valid.json"),
    generated=True,
)
_spec(
    "diaasq_personalai",
    "diaasq:load_personalai",
    "DiaASQ with all kinds of question of PersonalAI, also from the files train and test beside",
    *("diaasq/valid.jsonl", "diaasq/valid.json", "data/dataset/jsons_en/valid.json", "jsons_en/valid.json"),
    generated=True,
)


def datasets() -> list[DatasetSpec]:
    """Return all known data sets, sorted by name."""
    return sorted(_SPECS.values(), key=lambda spec: spec.name)


def load(name: str, path: str | os.PathLike[str] | None = None, limit: int | None = None, seed: int = 0) -> Dataset:
    """Load a data set by name.

    Args:
        name: name of the data set, see :func:`datasets`.
        path: its main file, or a folder that contains it at the path of the data set's archive or of our own data.
            ``None`` searches the folders of ``$WORLDTHREAD_DATA``, then ``data`` of ``$WORLDTHREAD_SHARED``.
        limit: keep only the first questions and, where each question comes with its own passages, only theirs;
            ``None``: keep all.
        seed: seeds the random generator of generated data sets (``diaasq``); other data sets do not depend on it.

    Returns:
        The data set.

    Raises:
        InputError: there is no data set of that name, its files cannot be found or read, or ``limit`` is below 1.
        FormatError: a file does not have the expected form; the message says which file, where, and what was expected.
    """
    spec = _SPECS.get(name)
    if spec is None:
        near = difflib.get_close_matches(name, _SPECS, n=3, cutoff=0.4) or sorted(_SPECS)
        raise InputError(f"unknown data set {name!r}; choose one of {', '.join(near)}")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise InputError(f"limit must be a whole number of at least 1, not {limit!r}")
    loader = resolve_name(f"{__package__}.{spec.loader}")
    options = spec.options | ({"seed": seed} if spec.generated else {})
    dataset: Dataset = loader(find_file(spec.name, spec.files, path), name=name, limit=limit, **options)
    return dataset


def find_file(dataset: str, files: Sequence[str], path: str | os.PathLike[str] | None = None) -> Path:
    """Find the main file of a data set.

    Args:
        dataset: name of the data set, for error messages.
        files: possible paths below a folder, the most likely first; each also with ``.gz`` appended.
        path: the file itself, or a folder to search; ``None`` searches the folders that :func:`load` names.

    Returns:
        The path of the file.

    Raises:
        InputError: the file cannot be found.
    """
    if path is not None and Path(path).is_file():
        return Path(path)
    if path is not None and not Path(path).is_dir():
        raise InputError(f"{path} is neither a file nor a folder; expected the files of {dataset}")
    folders = [Path(path)] if path is not None else list(_folders())
    if not folders:
        raise InputError(
            f"the files of {dataset} were not found: give a path, or set {DATA_VARIABLE} to a folder that contains "
            f"{' or '.join(files)}"
        )
    for folder in folders:
        for name in files:
            for candidate in (folder / name, folder / f"{name}.gz"):
                if candidate.is_file():
                    return candidate
    raise InputError(
        f"no file of {dataset} in {', '.join(map(str, folders))}; expected {' or '.join(files)}, with or without .gz"
    )


def _folders() -> Iterator[Path]:
    yield from (Path(entry).expanduser() for entry in os.environ.get(DATA_VARIABLE, "").split(os.pathsep) if entry)
    if shared := os.environ.get(SHARED_VARIABLE):
        yield Path(shared).expanduser() / "data"
