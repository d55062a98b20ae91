"""A diary with dated headings: what stands below a heading was written on its day."""

from __future__ import annotations

import pytest

from worldthread import Document, Memory
from worldthread.extract.diary import day_of, with_headings
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.extract.when import shown_time

DIARY = """# My year

Written by Anna Rossi.

## 2024-03-01

Anna lives in Rome.

## Tuesday, March 5, 2024

Anna moved to Oslo yesterday.

```
2024-03-09
```

1.4.2024

Anna moved to Paris.

## 2031-05-01

A party is planned.
"""


@pytest.mark.parametrize(
    ("heading", "day"),
    [
        ("2024-03-01", "2024-03-01"),
        ("March 1, 2024", "2024-03-01"),
        ("Monday, 3 June 2024", "2024-06-03"),
        ("3. Juni 2024", "2024-06-03"),
        ("lundi 3 juin 2024", "2024-06-03"),
        ("3 de junio de 2024", "2024-06-03"),
        ("1.3.2024", "2024-03-01"),
        ("13/03/2024", "2024-03-13"),
        ("3/4/2024", None),
        ("June 2024", None),
        ("2024", None),
        ("Release 2024-03-01", None),
        ("1 March 2024 and 2 March 2024", None),
        ("2024-13-45", None),
        ("+1 555 2024 1234", None),
    ],
)
def test_a_heading_that_is_nothing_but_a_date(heading: str, day: str | None) -> None:
    found = day_of(heading)
    assert (None if found is None else f"{found:%Y-%m-%d}") == day


def test_entries_are_of_their_days() -> None:
    for content in (DIARY, Document(DIARY, source="diary.md")):
        with Memory(model="none", embedder="fake", extractor=ProseExtractor()) as memory:
            memory.remember(content, at="2024-06-01")
            days = {shown_time(e.at)[:10]: e.text.split("\n")[1] for e in memory.episodes()}
            assert days["2024-03-01"] == "Anna lives in Rome."
            assert days["2024-03-05"] == "Anna moved to Oslo yesterday."
            assert days["2024-04-01"] == "Anna moved to Paris."
            assert {e.text.split("\n")[1] for e in memory.episodes() if shown_time(e.at)[:7] > "2024-04"} == {
                "Written by Anna Rossi.", "A party is planned.",
            }, "what has no day, and what is to come"  # fmt: skip
            assert [memory.view(at).value("Anna", "lives in") for at in ("2024-03-02", "2024-03-04", "2024-05")] == [
                "Rome", "Oslo", "Paris",
            ]  # fmt: skip


def test_days_of_the_person() -> None:
    with Memory(model="none", embedder="fake", extractor=ProseExtractor(), timezone="+13:00") as memory:
        [episode] = memory.remember("## 2024-03-01\n\nAnna lives in Rome.", at="2024-06-01").episodes
        assert shown_time(memory.episode(episode).at) == "2024-02-29T11:00:00Z"


def test_dates_in_running_text_are_no_headings() -> None:
    for text in ("Paid on\n2024-03-01\nby card.", "```\n2024-03-01\n```", "2024-03-01: Anna lives in Rome."):
        assert with_headings(text) == text
    with Memory(model="none", embedder="fake", extractor=ProseExtractor()) as memory:
        for at in (7, 8):
            [episode] = memory.remember("## 2024-03-01\n\nAnna lives in Rome.", at=at).episodes
            assert memory.episode(episode).at == at, "turns have no days"
