"""worldthread: a memory for agents that knows what holds now, what held before, and why it ended.

:class:`Memory` is the place to begin, :class:`AsyncMemory` its twin for asynchronous programs. Everything that their
methods take, return and raise can be imported from here; the other parts are in the subpackages, such as
:mod:`worldthread.models`, :mod:`worldthread.extract` and :mod:`worldthread.retrieve`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldthread.answering.answer import Answer
    from worldthread.errors import (
        AgentError,
        AnswerError,
        BudgetError,
        ClosedError,
        ClusterError,
        ConflictError,
        ContractError,
        DamagedFileError,
        DamagedModelError,
        EpisodeOverError,
        ExtensionError,
        FileVersionError,
        ForeignFileError,
        FormatError,
        GameError,
        GameFileError,
        GenerationError,
        InputError,
        MissingExtraError,
        ModelCallError,
        ModelConfigError,
        ModelError,
        NotFoundError,
        ReadOnlyError,
        ReplayError,
        StoreError,
        StoreLockedError,
        StoreUnavailableError,
        UnknownGameError,
        WorldthreadError,
    )
    from worldthread.extract.base import Extractor
    from worldthread.extract.records import Document
    from worldthread.graph import GraphView
    from worldthread.memory.async_memory import AsyncMemory
    from worldthread.memory.bulk.readers import BatchReaders
    from worldthread.memory.filters import Filter
    from worldthread.memory.ingestion import Remembered
    from worldthread.memory.memory import Memory
    from worldthread.memory.merging import MergeSuggestion
    from worldthread.memory.record import Record
    from worldthread.models.base import Embedder
    from worldthread.models.chat import ChatModel
    from worldthread.retrieve.rerank import Reranker
    from worldthread.stores import ImportCounts, NamespaceSize
    from worldthread.types import (
        Ending,
        Episode,
        Extraction,
        Fact,
        Hit,
        Interval,
        Page,
        Recall,
        Thesis,
        TimeLike,
        Version,
    )

__version__ = "0.1.0"

_MODULES = {
    "worldthread.answering.answer": ["Answer"],
    "worldthread.memory.async_memory": ["AsyncMemory"],
    "worldthread.memory.bulk.readers": ["BatchReaders"],
    "worldthread.errors": [
        "AgentError", "AnswerError", "BudgetError", "ClosedError", "ClusterError", "ConflictError",
        "ContractError", "DamagedFileError", "DamagedModelError", "EpisodeOverError", "ExtensionError",
        "FileVersionError", "ForeignFileError", "FormatError", "GameError", "GameFileError", "GenerationError",
        "InputError", "MissingExtraError", "ModelCallError", "ModelConfigError", "ModelError", "NotFoundError",
        "ReadOnlyError", "ReplayError", "StoreError", "StoreLockedError", "StoreUnavailableError",
        "UnknownGameError", "WorldthreadError",
    ],
    "worldthread.extract.base": ["Extractor"],
    "worldthread.extract.records": ["Document"],
    "worldthread.memory.filters": ["Filter"],
    "worldthread.graph.view": ["GraphView"],
    "worldthread.memory.ingestion": ["Remembered"],
    "worldthread.memory.memory": ["Memory"],
    "worldthread.memory.merging": ["MergeSuggestion"],
    "worldthread.models.base": ["Embedder"],
    "worldthread.models.chat": ["ChatModel"],
    "worldthread.memory.record": ["Record"],
    "worldthread.retrieve.rerank": ["Reranker"],
    "worldthread.stores.base": ["ImportCounts", "NamespaceSize"],
    "worldthread.types": [
        "Ending", "Episode", "Extraction", "Fact", "Hit", "Interval", "Page", "Recall", "Thesis", "TimeLike", "Version",
    ],
}  # fmt: skip
# each module is imported when one of its names is first used, so that `import worldthread` stays fast

_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "AgentError",
    "Answer",
    "AnswerError",
    "AsyncMemory",
    "BatchReaders",
    "BudgetError",
    "ChatModel",
    "ClosedError",
    "ClusterError",
    "ConflictError",
    "ContractError",
    "DamagedFileError",
    "DamagedModelError",
    "Document",
    "Embedder",
    "Ending",
    "Episode",
    "EpisodeOverError",
    "ExtensionError",
    "Extraction",
    "Extractor",
    "Fact",
    "FileVersionError",
    "Filter",
    "ForeignFileError",
    "FormatError",
    "GameError",
    "GameFileError",
    "GenerationError",
    "GraphView",
    "Hit",
    "ImportCounts",
    "InputError",
    "Interval",
    "Memory",
    "MergeSuggestion",
    "MissingExtraError",
    "ModelCallError",
    "ModelConfigError",
    "ModelError",
    "NamespaceSize",
    "NotFoundError",
    "Page",
    "ReadOnlyError",
    "Recall",
    "Record",
    "Remembered",
    "ReplayError",
    "Reranker",
    "StoreError",
    "StoreLockedError",
    "StoreUnavailableError",
    "Thesis",
    "TimeLike",
    "UnknownGameError",
    "Version",
    "WorldthreadError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
