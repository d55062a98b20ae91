"""What was asked how, and what came of it: one line of JSON for every question, on the disk before it counts."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec
import orjson

from worldthread.bench.qa.retrieval_spec import RetrievalSpec
from worldthread.errors import FormatError
from worldthread.play.file_lock import hold

FORMAT: Final = 1
"""Version of the lines; raised when what a line says changes its meaning."""


@dataclass(frozen=True)
class Configuration:
    """All that decides about the answers to the questions of a data set.

    Args:
        dataset, version: of the data.
        passages: digest of what is remembered, see :func:`worldthread.bench.qa.dataset_memory.digest_of`.
        triples: where facts come from.
        reader: name of the chat model that read the passages; empty without one.
        embedder: its name, with its version.
        way: how it is retrieved.
        entities: how entities of the question are found: ``"none"`` (by the method), ``"rule"`` or ``"model"``.
        nearest: whether an entity that nothing is called like is matched by its vector.
        k: how many of each kind are retrieved at most.
        top: how many of these the filter keeps; ``None`` for all.
        only_current: whether what does not hold is left out.
        max_tokens: what the statements may take of the prompt.
        model: name of the model that answers; empty without one.
        judge: name of the judge; empty without one.
        prompts: names and versions of the prompts.
        release: of worldthread.
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
        """For JSON."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return {**fields, "way": self.way.to_dict()}

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Self:
        """From :meth:`to_dict`.

        Raises:
            msgspec.ValidationError: they are not the fields of a configuration.
        """
        return msgspec.convert(fields, cls)

    @property
    def key(self) -> str:
        """16 hexadecimal digits, the same for the same configuration."""
        return hashlib.blake2b(orjson.dumps(self.to_dict(), option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()


class QuestionResults:
    """Records of questions, and figures of memories, in a JSON Lines file; each is on the disk when ``add`` returns.

    Use as a context manager, or call :meth:`close`: until then nobody else can write the file. May be used from several
    threads.

    Args:
        path: the file; made when it does not exist. A last line that was cut off is dropped.

    Raises:
        FormatError: a line other than the last is damaged, or of another version.
        InputError: another process writes the file, or the folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.configurations: dict[str, Configuration] = {}
        """By key, in the order of the file."""
        self.memories: dict[tuple[str, str, str], dict[str, Any]] = {}
        """Figures of memories, by data set, triples and reader."""
        self._records: dict[str, dict[str, dict[str, Any]]] = {}
        self._writing = threading.Lock()
        self._lock = hold(path, taken=f"another process is writing {path}: wait for it, or name another folder")
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    def _load(self) -> None:
        data = self.path.read_bytes() if self.path.exists() else b""
        complete = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(complete.splitlines(), 1):
            try:
                entry = orjson.loads(line)
                if entry["format"] != FORMAT:
                    raise FormatError(f"a line of version {entry['format']!r}", path=self.path, line=number)
                if "memory" in entry:
                    self._take_memory(entry["memory"])
                else:
                    self._take(Configuration.of(entry["configuration"]), entry["question"], entry["record"])
            except (orjson.JSONDecodeError, KeyError, TypeError, msgspec.ValidationError) as error:
                raise FormatError(f"not a record of a question: {error}", path=self.path, line=number) from error
        if len(complete) != len(data):
            with self.path.open("r+b") as file:
                file.truncate(len(complete))

    def _take(self, configuration: Configuration, question: str, record: dict[str, Any]) -> None:
        key = configuration.key
        self.configurations.setdefault(key, configuration)
        self._records.setdefault(key, {})[question] = record

    def _take_memory(self, figures: dict[str, Any]) -> None:
        self.memories[figures["dataset"], figures["triples"], figures["reader"]] = figures

    def records(self, configuration: Configuration) -> dict[str, dict[str, Any]]:
        """Records by id of the question."""
        return dict(self._records.get(configuration.key, {}))

    def __iter__(self) -> Iterator[tuple[Configuration, dict[str, dict[str, Any]]]]:
        """Every configuration with its records."""
        return iter([(configuration, self.records(configuration)) for configuration in self.configurations.values()])

    def add(self, configuration: Configuration, question: str, record: dict[str, Any]) -> None:
        """Keep what came of a question."""
        self._write({"configuration": configuration.to_dict(), "question": question, "record": record})
        with self._writing:
            self._take(configuration, question, record)

    def add_memory(self, figures: dict[str, Any]) -> None:
        """Keep figures of a memory."""
        self._write({"memory": figures})
        with self._writing:
            self._take_memory(figures)

    def _write(self, fields: dict[str, Any]) -> None:
        line = orjson.dumps({"format": FORMAT, **fields}) + b"\n"
        with self._writing, self.path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        """Let others write. May be called again."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
