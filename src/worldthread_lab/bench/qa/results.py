"""The file of question-answering results: one line of JSON for each question, with its configuration."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import orjson

from worldthread.files.decoding import convert
from worldthread.files.json_lines import JsonLinesReader, JsonLinesWriter
from worldthread.support.closeable import Closeable
from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec

FORMAT: Final = 1
"""Version of the lines; raised when the meaning of a field changes."""


@dataclass(frozen=True)
class Configuration:
    """Everything that decides the answers to the questions of a data set.

    Args:
        dataset: name of the data set.
        version: version of the data.
        passages: digest of the passages that are remembered, see
            :func:`worldthread_lab.bench.qa.dataset_memory.digest_of`.
        triples: where facts come from.
        reader: name of the chat model that extracts facts from the passages; empty without one.
        embedder: name and version of the embedder.
        way: the retrieval method with its options.
        entities: how entities of the question are found: ``"none"`` (by the method), ``"rule"`` or ``"model"``.
        nearest: whether an entity whose name is not in the graph is matched by its vector.
        k: the most results of each kind that are retrieved.
        top: how many of these the filter keeps; ``None`` for all.
        only_current: whether statements that do not hold any more are left out.
        max_tokens: the most tokens that the statements may take in the prompt.
        model: name of the model that answers; empty without one.
        judge: name of the judge; empty without one.
        prompts: names and versions of the prompts.
        release: version of worldthread.
    """

    dataset: str
    version: str
    passages: str
    triples: str
    reader: str
    embedder: str
    way: RetrievalSpec
    entities: str
    nearest: bool
    k: int
    top: int | None
    only_current: bool
    max_tokens: int
    model: str
    judge: str
    prompts: tuple[str, ...]
    release: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return {**fields, "way": self.way.to_dict()}

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Self:
        """Make a configuration from the fields that :meth:`to_dict` returns.

        Args:
            fields: the fields.

        Returns:
            The configuration.

        Raises:
            msgspec.ValidationError: they are not the fields of a configuration.
        """
        return convert(fields, cls)

    @property
    def key(self) -> str:
        """16 hexadecimal digits, the same for the same configuration."""
        return hashlib.blake2b(orjson.dumps(self.to_dict(), option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()


class QuestionResults(Closeable):
    """Records of questions, and figures of memories, in a JSON Lines file; each is on the disk when ``add`` returns.

    Use as a context manager, or call :meth:`close`: until then nobody else can write the file. Thread-safe.

    Args:
        path: the file; made with the first record. A torn last line is dropped.

    Attributes:
        path: the file.
        configurations: configurations by key, in the order of the file.
        memories: figures of memories, by data set, triples and reader.

    Raises:
        FormatError: a line is damaged, or a newer release wrote it.
        StoreLockedError: another process writes the file.
        StoreError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.configurations: dict[str, Configuration] = {}
        self.memories: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._records: dict[str, dict[str, dict[str, Any]]] = {}
        self._writing = threading.Lock()
        busy = "another process is writing this file: wait for it, or name another folder"
        self._log = JsonLinesWriter(path, busy=busy)
        with self._log.opening() as reader:
            for line in reader:
                self._load(line.value, reader)
            self._log.repair()

    def _load(self, entry: Any, reader: JsonLinesReader) -> None:
        try:
            reader.require_version(entry["format"], FORMAT)
            if "memory" in entry:
                self._take_memory(entry["memory"])
            else:
                self._take(Configuration.of(entry["configuration"]), entry["question"], entry["record"])
        except (KeyError, TypeError, msgspec.ValidationError) as error:
            raise reader.error(f"not a record of a question: {error}") from error

    def _take(self, configuration: Configuration, question: str, record: dict[str, Any]) -> None:
        key = configuration.key
        self.configurations.setdefault(key, configuration)
        self._records.setdefault(key, {})[question] = record

    def _take_memory(self, figures: dict[str, Any]) -> None:
        self.memories[figures["dataset"], figures["triples"], figures["reader"]] = figures

    def records(self, configuration: Configuration) -> dict[str, dict[str, Any]]:
        """Return the records of a configuration by id of the question."""
        return dict(self._records.get(configuration.key, {}))

    def __iter__(self) -> Iterator[tuple[Configuration, dict[str, dict[str, Any]]]]:
        """Iterate over every configuration with its records."""
        return iter([(configuration, self.records(configuration)) for configuration in self.configurations.values()])

    def add(self, configuration: Configuration, question: str, record: dict[str, Any]) -> None:
        """Record the outcome of a question.

        Args:
            configuration: how it was asked.
            question: id of the question.
            record: the outcome.

        Raises:
            StoreError: the file cannot be written.
        """
        self._write({"configuration": configuration.to_dict(), "question": question, "record": record})
        with self._writing:
            self._take(configuration, question, record)

    def add_memory(self, figures: dict[str, Any]) -> None:
        """Record figures of a memory.

        Args:
            figures: among them ``dataset``, ``triples`` and ``reader``.

        Raises:
            StoreError: the file cannot be written.
        """
        self._write({"memory": figures})
        with self._writing:
            self._take_memory(figures)

    def _write(self, fields: dict[str, Any]) -> None:
        self._log.append(orjson.dumps({"format": FORMAT, **fields}), fsync=True)

    def close(self) -> None:
        """Close the file and let others write it. May be called again."""
        self._log.close()
