"""The settings of agents, memory modules, games and retrieval methods: names, types, defaults, units and meanings.

They are read from signatures, from the dataclasses of tuned numbers, and from the ``Args`` of docstrings, so that a
setting is described in one place.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from worldthread.errors import InputError

NESTED: Final = "settings"
"""The argument that holds a dataclass of tuned numbers; its fields are settings like the other arguments."""

_JSON_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "bool": (bool,), "float": (float, int), "int": (int,), "None": (type(None),), "str": (str,), "tuple": (list, tuple),
}  # fmt: skip
"""The types of values from JSON or TOML that fit the words of an annotation."""

_ARGUMENT: Final = re.compile(r"^ {4}(?P<name>\*{0,2}\w+): (?P<text>.*)$")
_ROLE: Final = re.compile(r":\w+:`~?([^`]*)`")


@dataclass(frozen=True)
class Setting:
    """A setting.

    Args:
        name: its name.
        types: the words of its type, such as ``("float",)`` or ``("str", "None")``; empty when it states none of
            JSON's.
        default: its default value.
        meaning: what it is, with its unit and its range.
        nested: whether it is a field of the dataclass that the argument :data:`NESTED` holds.
        length: how many values it has; ``None`` for one, or for any number of them.
    """

    name: str
    types: tuple[str, ...]
    default: Any
    meaning: str
    nested: bool = False
    length: int | None = None


@dataclass(frozen=True)
class SettingsPart:
    """A part of worldthread that has settings, such as the retrieval methods.

    Args:
        names: lists what there is of this part.
        settings: returns the settings of one of them by name; of an unknown one it raises InputError.
    """

    names: Callable[[], Sequence[str]]
    settings: Callable[[str], dict[str, Setting]]


def settings_of(kind: Callable[..., Any], *, without: frozenset[str] = frozenset()) -> dict[str, Setting]:
    """Return the settings of a class or a function.

    Args:
        kind: a class, whose settings are the arguments of its initialiser after the first, and those of the classes
            that it passes ``**options`` to; or a function, whose settings are its keyword arguments.
        without: names of arguments that are no settings.

    Returns:
        The settings by name, in the order of the signatures. An argument without a default is none.
    """
    found: dict[str, Setting] = {}
    for name, (parameter, meaning) in _parameters(kind).items():
        if name == NESTED:
            found |= {n: s for n, s in _fields_of(parameter, kind).items() if n not in found}
        elif name not in without and parameter.default is not inspect.Parameter.empty:
            found[name] = Setting(name, _type_words(parameter.annotation), parameter.default, meaning)
    return found


def require_settings(owner: str, known: Mapping[str, Setting], given: Mapping[str, Any]) -> None:
    """Check the names and types of settings.

    Args:
        owner: what has the settings, for the error message, such as ``"the agent 'ariadne'"``.
        known: its settings.
        given: values from JSON or TOML, by name.

    Raises:
        InputError: a name is unknown (the message lists those that are known), or a value has another type.
    """
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(f"{owner} has no setting {name!r}{hint} (settings are: {', '.join(known) or 'none'})")
        words = known[name].types
        if words and type(value) not in [type_ for word in words for type_ in _JSON_TYPES[word]]:
            raise InputError(f"the setting {name!r} of {owner} must be of type {' or '.join(words)}, not {value!r}")
        default, length = known[name].default, known[name].length
        if isinstance(default, tuple) and default and isinstance(value, list | tuple):
            kind = str if isinstance(default[0], str) else (int, float)
            if not value or not all(isinstance(one, kind) for one in value) or len(value) != (length or len(value)):
                what = "texts" if kind is str else "numbers"
                raise InputError(f"the setting {name!r} of {owner} must be {length or 'some'} {what}, not {value!r}")


def as_arguments(kind: Callable[..., Any], known: Mapping[str, Setting], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as the keyword arguments of the class or function that has them.

    Args:
        kind: the class or function.
        known: its settings.
        given: checked values, by name.

    Returns:
        The arguments; nested settings are in the dataclass :data:`NESTED`.
    """
    arguments = {name: value for name, value in given.items() if not known[name].nested}
    nested = {n: tuple(v) if isinstance(v, list) else v for n, v in given.items() if known[n].nested}
    if nested:
        holder = _nested_default(_parameters(kind)[NESTED][0], kind)
        arguments[NESTED] = dataclasses.replace(holder, **nested)
    return arguments


def argument_names(kind: Callable[..., Any]) -> frozenset[str]:
    """Return the names of all arguments that :func:`settings_of` looks at."""
    return frozenset(_parameters(kind))


def argument_meanings(docstring: str | None) -> dict[str, str]:
    """Return what the section ``Args`` of a docstring says of each argument, on one line each."""
    meanings: dict[str, list[str]] = {}
    lines = iter(inspect.cleandoc(docstring or "").splitlines())
    for line in lines:
        if line == "Args:":
            break
    current: list[str] = []
    for line in lines:
        if line and not line.startswith(" "):
            break
        if found := _ARGUMENT.match(line):
            current = meanings.setdefault(found["name"].lstrip("*"), [found["text"]])
        elif line.strip():
            current.append(line.strip())
    return {name: _ROLE.sub(_last_name, " ".join(text)).replace("``", "") for name, text in meanings.items()}


def _last_name(role: re.Match[str]) -> str:
    return role[1].rpartition(".")[2]


def _parameters(kind: Callable[..., Any]) -> dict[str, tuple[inspect.Parameter, str]]:
    """Return the parameters that can be settings, each with its meaning."""
    found: dict[str, tuple[inspect.Parameter, str]] = {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if not inspect.isclass(kind):
        meanings = argument_meanings(kind.__doc__)
        signature = inspect.signature(kind).parameters.values()
        return {p.name: (p, meanings.get(p.name, "")) for p in signature if p.kind in named}
    for base in kind.__mro__:
        if "__init__" not in vars(base):
            continue
        meanings = argument_meanings(base.__doc__)
        parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[2:]
        for parameter in parameters:
            if parameter.kind in named:
                found.setdefault(parameter.name, (parameter, meanings.get(parameter.name, "")))
        if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
            break
    return found


def _nested_default(parameter: inspect.Parameter, kind: Callable[..., Any]) -> Any:
    """Return the dataclass of tuned numbers that an argument has as its default, or makes when it is ``None``."""
    if dataclasses.is_dataclass(parameter.default):
        return parameter.default
    name = str(parameter.annotation).partition("|")[0].strip()
    return inspect.unwrap(kind).__globals__[name]() if hasattr(kind, "__globals__") else None


def _fields_of(parameter: inspect.Parameter, kind: Callable[..., Any]) -> dict[str, Setting]:
    holder = _nested_default(parameter, kind)
    if holder is None:
        return {}
    meanings = argument_meanings(type(holder).__doc__)
    found: dict[str, Setting] = {}
    for field in dataclasses.fields(holder):
        words, value = _type_words(field.type), getattr(holder, field.name)
        plain = isinstance(value, tuple) and bool(value) and all(isinstance(one, int | float | str) for one in value)
        if words not in ((), ("None",)) and ("tuple" not in words or plain):
            length = len(value) if plain and "..." not in str(field.type) else None
            meaning = meanings.get(field.name, "")
            found[field.name] = Setting(field.name, words, value, meaning, nested=True, length=length)
    return found


def _type_words(annotation: Any) -> tuple[str, ...]:
    """Return the words of an annotation that are types of JSON; a tuple of numbers is a "tuple"."""
    stated = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    words = (word.strip() for word in re.sub(r"\[[^\]]*\]", "", stated).split("|"))
    return tuple("str" if word == "Literal" else word for word in words if word in (*_JSON_TYPES, "Literal"))
