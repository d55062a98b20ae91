"""The form of the figures of a finished run, which files and pages rely on."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from worldthread.errors import InputError
from worldthread.files.decoding import convert
from worldthread_lab.play.audit import AuditResult

_LARGEST: Final = 1e15
"""No figure of a run comes near it, and no sum of squares of such figures overflows."""

_Count = Annotated[int, msgspec.Meta(ge=-(10**15), le=10**15)]
_Number = Annotated[float, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)]


class _MemoryFigures(msgspec.Struct, kw_only=True):
    episodes: _Count = 0
    facts: _Count = 0
    ended: _Count = 0


class _AuditFigures(msgspec.Struct, kw_only=True):
    precision: _Number = 0.0
    recall: _Number = 0.0
    stale_steps: _Count = 0
    wrong_steps: _Count = 0
    mapped: _Number = 0.0
    steps: _Count = 0


class _Figures(msgspec.Struct, kw_only=True):
    """What :meth:`worldthread_lab.play.loop.Play.summary` and ``costs`` return. Older releases wrote less."""

    game: str = ""
    agent: str = ""
    seed: _Count | None = None
    score: _Number = 0
    best_score: _Number = 0
    max_score: _Number | None = None
    normalized: _Number | None = None
    best_normalized: _Number | None = None
    won: bool = False
    ended_by: str | None = None
    moves: _Count = 0
    decisions: _Count = 0
    stuck: _Count = 0
    probes: _Count = 0
    returns: _Count = 0
    replayed_moves: _Count = 0
    unparsable: _Count = 0
    invalid: _Count = 0
    valid_share: _Number | None = None
    model: str | None = None
    model_calls: _Count = 0
    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0
    by_purpose: dict[str, dict[str, _Count]] = {}
    failures: dict[str, _Count] = {}
    curve: list[tuple[_Count, _Number]] = []
    memory: _MemoryFigures = msgspec.field(default_factory=_MemoryFigures)
    audit: _AuditFigures | None = None
    optimal_moves: _Count | None = None
    module_memory: _MemoryFigures | None = None
    module_audit: _AuditFigures | None = None
    cost_usd: _Number | None = None
    seconds: _Number | None = None


class _Overhead(msgspec.Struct):
    p50: _Number
    p95: _Number


class _AllFigures(_Figures, kw_only=True):
    """What the results of a sweep hold: nothing may be missing, so that every table finds its figures."""

    seed: _Count
    ended_by: str
    memory_module: str | None
    attempt: _Count
    seconds: _Number
    seconds_without_model: _Number
    overhead_ms: _Overhead
    curve_seconds: list[_Number]
    audit_figures: AuditResult | None


_OF_MODULES: Final = frozenset({"module_memory", "module_audit"})
"""The figures that only plays with a memory module that builds a graph have."""
_AUDITED: Final = frozenset({"precision", "recall", "stale_steps"})
"""The figures of an audit that no result of a sweep may lack."""


def require_figures(summary: object) -> dict[str, Any]:
    """Check the figures of a run that come from a file.

    Args:
        summary: the figures, from JSON.

    Returns:
        The same figures.

    Raises:
        InputError: a figure has another type, or is too large for any run.
    """
    return _checked(summary, _Figures)


def require_all_figures(summary: object) -> dict[str, Any]:
    """Check the figures of a finished run that come from a file, and that none is missing.

    Args:
        summary: the figures, from JSON.

    Returns:
        The same figures.

    Raises:
        InputError: a figure is missing, has another type, or is too large for any run.
    """
    figures = _checked(summary, _AllFigures)
    missing = {*_AllFigures.__struct_fields__} - figures.keys() - _OF_MODULES
    missing |= {*_MemoryFigures.__struct_fields__} - figures.get("memory", {}).keys()
    if figures.get("audit") is not None:
        missing |= _AUDITED - figures["audit"].keys()
    if missing:
        raise InputError(f"not the figures of a finished run: {min(missing)!r} is missing")
    return figures


def has_all_figures(summary: object) -> bool:
    """Return whether :func:`require_all_figures` accepts the figures."""
    try:
        require_all_figures(summary)
    except InputError:
        return False
    return True


def _checked(summary: object, form: type[_Figures]) -> dict[str, Any]:
    try:
        convert(summary, form)
    except msgspec.ValidationError as error:
        raise InputError(f"not the figures of a run: {error}") from None
    assert isinstance(summary, dict)
    return summary
