"""What documentation says through its markup: links, emphasis, brackets, names with capitals inside."""

from __future__ import annotations

import pytest

from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.extract.parsed.markup import without_asides, without_markup
from worldthread.types import Fact

pytestmark = pytest.mark.language


def facts(text: str) -> list[str]:
    """Return the facts of a page."""
    found = ParsedExtractor().extract(text, "", 1715767200.0).statements
    return [f"{f.subject} | {f.relation} | {f.object}" for f in found if isinstance(f, Fact)]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It reads [TOML](https://toml.io) **files**.", "It reads TOML files."),
        ("It uses `Rowan <https://rowan.org>`_ and ash_.", "It uses Rowan and ash."),
        ("See ![logo](logo.png)the *fast* path <https://x.org>.", "See the fast path."),
        ("It multiplies 2 * 3 * 4 and a_b.", "It multiplies 2 * 3 * 4 and a_b."),
    ],
)
def test_markup_is_taken_out(text: str, plain: str) -> None:
    assert without_markup(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It speaks TLS (Transport Layer Security) well.", "It speaks TLS well."),
        ("It speaks TLS (if enabled) well.", "It speaks TLS (if enabled) well."),
        ("The Rowan Trust (RT) pays.", "The Rowan Trust (RT) pays."),
        ("It takes 5 (at most 9) files.", "It takes 5 (at most 9) files."),
    ],
)
def test_only_brackets_that_explain_are_taken_out(text: str, plain: str) -> None:
    assert without_asides(text) == plain


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "# larder\n\nlarder is a [small](https://x.org) library to store recipes.",
            "larder | is a | small library to store recipes",
        ),
        ("# larder\n\nThis library is written in **Rust**.", "larder | is written in | Rust"),
        (
            "# larder\n\nlarder allows you to export recipes to PDF files.",
            "larder | allows you to export | recipes to PDF files",
        ),
        ("# larder\n\nlarder can be used with Postgres.", "larder | can be used with | Postgres"),
        (
            "larder - a pantry for recipes\n\nlarder is free software. It needs Python 3.11.",
            "larder | is | free software",
        ),
    ],
)
def test_what_a_page_says_of_its_thing(text: str, fact: str) -> None:
    assert fact in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "# larder\n\nlarder can be slow if the disk is full.",
        "# larder\n\nThe shelf can be used with Postgres.",
        "# larder\n\nlarder does not allow you to export recipes.",
        "# Instructions\n\nThe check prints some results.",
        "# larder\n\n- larder generated wheel",
        "# larder\n\n``(\\s+)`` is group 1.",
    ],
)
def test_what_is_limited_or_of_nothing_named_is_not_stated(text: str) -> None:
    assert facts(text) == []
