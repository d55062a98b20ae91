"""A serialisable description of a retrieval method: its name with settings, or a union of several methods."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import Any, Final, get_args, get_type_hints

from worldthread.errors import InputError
from worldthread.retrieve import DEFAULT_METHOD, Method
from worldthread.retrieve import method as method_named

UNION: Final = "mixture"

NEEDED: Final[Mapping[str, str]] = {"synonym_edges": "embed", "fact_filter": "keep"}
"""Settings that are true or false in a description, and the field that a function of the caller then fills."""


@dataclass(frozen=True)
class RetrievalSpec:
    """A retrieval method with settings.

    Args:
        method: one of :func:`worldthread.retrieve.methods`; checked by :meth:`bound`.
        settings: fields of the method's settings, by name; other fields keep their defaults. The method ``pagerank``
            also takes ``synonym_edges`` and ``fact_filter``, each true or false: see :meth:`bound`.
        parts: methods that ``mixture`` unites, instead of its default.

    Raises:
        InputError: a method other than ``mixture`` has parts.
    """

    method: str = DEFAULT_METHOD
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    parts: tuple[RetrievalSpec, ...] = ()

    def __post_init__(self) -> None:
        if self.parts and self.method != UNION:
            raise InputError(f"only {UNION!r} has parts, not {self.method!r}")

    @classmethod
    def parse(cls, text: str, settings: Mapping[str, Any] | None = None) -> RetrievalSpec:
        """Parse ``"beam"``, or ``"beam+water_circles"`` for the union of several methods.

        Args:
            text: names of methods, separated by ``+``.
            settings: settings of every method.

        Returns:
            The description.

        Raises:
            InputError: a name is missing.
        """
        names = [name.strip() for name in text.split("+")]
        if not all(names):
            raise InputError(f"a method must have a form such as beam or beam+water_circles, not {text!r}")
        specs = tuple(cls(name, settings or {}) for name in names)
        return specs[0] if len(specs) == 1 else cls(UNION, parts=specs)

    @property
    def name(self) -> str:
        """The names of the methods, with their settings if there are any."""
        if self.parts:
            return "+".join(part.name for part in self.parts)
        return self.method + (json.dumps(self.settings, sort_keys=True) if self.settings else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return {
            "method": self.method,
            "settings": dict(self.settings),
            "parts": [part.to_dict() for part in self.parts],
        }

    def bound(
        self, entities: tuple[str, ...] | None = None, functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> Method:
        """Return the retrieval function with its settings bound.

        Args:
            entities: names of objects of the graph at which a traversal starts; ``None``: the method finds them.
            functions: what embeds names (``embed``), for ``synonym_edges``, and what keeps the facts that matter
                (``keep``), for ``fact_filter``. ``None``: only the names and kinds of settings are checked.

        Returns:
            The function; methods that do not start at objects ignore ``entities``.

        Raises:
            InputError: there is no such method, it has no such setting, or a function that it needs is missing.
        """
        function = method_named(self.method)
        options: dict[str, Any] = {}
        if self.settings or self.parts:
            values = dict(self.settings)
            if self.parts:
                values["methods"] = tuple(part.bound(entities, functions) for part in self.parts)
            options["settings"] = _made(self.method, function, values, functions)
        if entities is not None and "entities" in inspect.signature(function).parameters:
            options["entities"] = entities
        return partial(function, **options) if options else function


def _made(
    name: str, function: Method, values: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] | None
) -> Any:
    """Create the settings object of a method from its fields."""
    hint = get_type_hints(function).get("settings")
    kind = next((arg for arg in (hint, *get_args(hint)) if isinstance(arg, type) and is_dataclass(arg)), None)
    fillable = {each.name for each in fields(kind)} if kind is not None else set()
    needed = {setting: into for setting, into in NEEDED.items() if into in fillable}
    known = sorted((fillable - set(needed.values())) | needed.keys())
    unknown = [key for key in values if key not in known]
    if kind is None or unknown:
        raise InputError(
            f"the method {name!r} has no setting {', '.join(map(repr, unknown))}; it has: {', '.join(known) or 'none'}"
        )
    options = {key: value for key, value in values.items() if key not in needed}
    for setting, into in needed.items():
        wanted = values.get(setting, False)
        if not isinstance(wanted, bool):
            raise InputError(f"the setting {setting!r} must be true or false, not {wanted!r}")
        if wanted and functions is not None:
            if into not in functions:
                raise InputError(f"the setting {setting!r} needs a chat model: give one with --model")
            options[into] = functions[into]
    return kind(**options)
