"""What the tests of times share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from worldthread.extract.parsed import repaired_facts
from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.types import Fact

AT = datetime(2024, 5, 15, 10, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def unjudged(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all facts stand that the rules take, whatever the trained judge would keep of them."""
    if request.path.stem != "test_fact_judge":
        monkeypatch.setattr(repaired_facts, "is_judged_right", lambda *_: True)


@pytest.fixture
def stated() -> Callable[..., list[tuple[str, str, str]]]:
    """Return what makes of a message of Ana, on 2024-05-15, its facts with the days on which they begin and end."""

    def day(time: float | None) -> str:
        return "" if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d")

    def stated(message: str, at: float | None = AT) -> list[tuple[str, str, str]]:
        found = ParsedExtractor().extract(f"Ana: {message}", "Ana", at).statements
        return [
            (f"{f.subject} | {f.relation} | {f.object}", day(f.valid_from), day(f.valid_to))
            for f in found
            if isinstance(f, Fact)
        ]

    return stated
