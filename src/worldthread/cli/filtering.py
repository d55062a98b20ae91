"""The option ``--where``, which looks at a part of a memory, and the labels of what is remembered."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread.filters import Filter
    from worldthread.provenance import MetadataValue

_SEVERAL: Final = ("user", "agent", "session", "source", "speaker", "kind", "relation")
_TIMES: Final = ("since", "until", "recorded-since", "recorded-until")
_METADATA: Final = "metadata."

WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=VALUE",
        help=f"Look only at this part of the memory. Fields: {', '.join((*_SEVERAL, *_TIMES))}, and metadata.KEY. "
        "Repeatable: all fields must fit; of one field that is repeated, any value.",
        show_default=False,
    ),
]
WhoseOption = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME", help="In whose talk, where several users speak of it.", show_default=False),
]
UserOption = Annotated[str, typer.Option(metavar="NAME", help="The user whose texts these are, and who says I.")]
AgentOption = Annotated[str, typer.Option(metavar="NAME", help="The agent that remembers them.")]
SessionOption = Annotated[str, typer.Option(metavar="NAME", help="The session in which they came up.")]
MetadataOption = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Anything else to find them by. Repeatable.", show_default=False),
]


def filter_of(where: list[str] | None) -> Filter | None:
    """Return the filter of the options ``--where``; ``None`` without any.

    Args:
        where: fields with values.

    Returns:
        The filter.

    Raises:
        InputError: an option has no such form.
    """
    from worldthread.filters import Filter

    if not where:
        return None
    given: dict[str, Any] = {}
    several: defaultdict[str, list[str]] = defaultdict(list)
    metadata: defaultdict[str, list[MetadataValue]] = defaultdict(list)
    for field, value in _pairs(where, "--where"):
        if field.startswith(_METADATA):
            metadata[field.removeprefix(_METADATA)] += {value, plain_value(value)}
        elif field in _SEVERAL:
            several[field].append(value)
        elif field in _TIMES and field.replace("-", "_") not in given:
            given[field.replace("-", "_")] = value
        else:
            known = ", ".join((*_SEVERAL, *_TIMES, "metadata.KEY"))
            raise InputError(f"--where {field}=... is not known or comes twice; fields are {known}")
    return Filter(**given | several | ({"metadata": metadata} if metadata else {}))


def metadata_of(options: list[str] | None) -> dict[str, MetadataValue]:
    """Return the metadata of the options ``--metadata``: numbers and truth values where they are written so.

    Args:
        options: keys with values.

    Returns:
        Values by key.

    Raises:
        InputError: an option has no such form, or a key comes twice.
    """
    found: dict[str, MetadataValue] = {}
    for key, value in _pairs(options or (), "--metadata"):
        if key in found:
            raise InputError(f"--metadata {key}=... comes twice")
        found[key] = plain_value(value)
    return found


def plain_value(text: str) -> MetadataValue:
    """Return what is written as a whole number, a number or a truth value as such; everything else as it is."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text and math.isfinite(value):  # "007" and "1e3" are names as likely as numbers
            return value
    return text


def _pairs(options: Iterable[str], name: str) -> Iterable[tuple[str, str]]:
    for option in options:
        field, sign, value = option.partition("=")
        if not sign or not field:
            raise InputError(f"{name} takes FIELD=VALUE, not {option!r}")
        yield field, value
