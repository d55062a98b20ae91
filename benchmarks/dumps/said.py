"""What the dumps of this folder hold: plain sentences about twelve people, some of which end earlier ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

BEGIN = datetime(2024, 1, 1, 9, tzinfo=UTC)
_PEOPLE = ("Anna", "Bob", "Carl", "Dora", "Emil", "Frida", "Gustav", "Hanna", "Ivan", "Jana", "Karl", "Lena")
_TOWNS = ("Rome", "Paris", "Oslo", "Bern", "Kyiv", "Lima", "Riga")
_LIKED = ("tea", "coffee", "cheese", "chess", "opera")
_FIRMS = ("Acme", "Initech", "Globex")
_LANGUAGES = ("Spanish", "Greek", "Welsh", "Hindi")


def said() -> list[tuple[str, datetime]]:
    """Return 60 sentences with their times, one a day: everybody lives somewhere, likes, works, speaks, and moves."""
    texts = []
    for turn in range(5):
        for number, name in enumerate(_PEOPLE):
            texts.append(
                (
                    f"{name} lives in {_TOWNS[number % 7]}.",
                    f"{name} likes {_LIKED[number % 5]}.",
                    f"{name} works for {_FIRMS[number % 3]}.",
                    f"{name} speaks {_LANGUAGES[number % 4]}.",
                    f"{name} lives in {_TOWNS[(number + 3) % 7]}.",
                )[turn]
            )
    return [(text, BEGIN + timedelta(days=day)) for day, text in enumerate(texts)]


def written(folder: Path, name: str, dump: Any, package: str, held: int) -> None:
    """Write a dump, and beside it which package made it.

    Args:
        folder: where to write.
        name: the file without its suffix; it begins with the name of the format.
        dump: values of JSON; ``None`` when the package wrote the file itself.
        package: the distribution.
        held: how many memories the package counts, by other means than the dump.
    """
    folder.mkdir(exist_ok=True)
    if dump is not None:
        (folder / f"{name}.json").write_text(json.dumps(dump), "utf-8")
    (folder / f"{name}.made.json").write_text(json.dumps({"by": f"{package} {version(package)}", "held": held}))
