"""The public surface and the contracts say what they take, return and raise."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest

import worldthread

CONTRACTS = [
    "worldthread.stores.base:Store",
    "worldthread.models.base:Embedder",
    "worldthread.models.cached:VectorCache",
    "worldthread.models.chat:ChatModel",
    "worldthread.extract.base:Extractor",
    "worldthread.graph:GraphView",
    "worldthread.graph:TemporalGraph",
    "worldthread_lab.agents.base:Agent",
    "worldthread_lab.agents.base:AgentMemory",
    "worldthread_lab.agents.base:PerceivingAgent",
    "worldthread_lab.agents.memory_modules.base:MemoryModule",
    "worldthread_lab.agents.memory_modules.base:ModelCaller",
    "worldthread_lab.envs.base:Environment",
    "worldthread_lab.envs.base:RestorableEnvironment",
]
"""What people implement or call; beside everything that ``from worldthread import`` gives."""

FUNCTIONS = [
    "worldthread_lab.agents:agent_class",
    "worldthread_lab.agents:make_agent",
    "worldthread_lab.agents.memory_modules:make_memory_module",
    "worldthread_lab.envs.check:check_env",
    "worldthread_lab.envs:make",
    "worldthread.graph:fold",
    "worldthread.graph:state_hash",
    "worldthread.models:chat_model",
    "worldthread.models:embedder",
    "worldthread.retrieve:method",
]


def found(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def is_protocol(kind: type) -> bool:
    return getattr(kind, "_is_protocol", False)


def documented() -> Iterator[tuple[str, Any]]:
    """Every function and method of the public surface and of the contracts, by name."""
    public = [(name, getattr(worldthread, name)) for name in worldthread.__all__]
    for name, value in [*public, *((name, found(name)) for name in (*CONTRACTS, *FUNCTIONS))]:
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            for attribute, member in vars(value).items():
                plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
                if not attribute.startswith("_") and inspect.isfunction(plain):
                    yield f"{name}.{attribute}", plain


DOCUMENTED = dict(documented())


@pytest.mark.parametrize("name", DOCUMENTED)
def test_arguments_and_what_comes_back_are_documented(name: str) -> None:
    function = DOCUMENTED[name]
    text = inspect.getdoc(function) or ""
    assert text, "it has no docstring"
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
    for parameter in parameters:
        assert f"{parameter.name}:" in text or f"{parameter.name}," in text, f"{parameter.name} is not in its Args"
    if parameters:
        assert "Args:" in text
    returned = inspect.signature(function).return_annotation
    if returned not in (None, "None", inspect.Signature.empty):
        assert "Returns:" in text or "Yields:" in text, f"it returns {returned} and does not say what that is"


def test_public_classes_have_docstrings_and_useful_representations() -> None:
    for name in worldthread.__all__:
        value = getattr(worldthread, name)
        if inspect.isclass(value):
            assert inspect.getdoc(value), name
            if not issubclass(value, BaseException) and not is_protocol(value):
                assert value.__repr__ is not object.__repr__, f"{name} has no repr of its own"
    assert get_type_hints(worldthread.Episode)
