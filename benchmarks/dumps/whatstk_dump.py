"""Writes WhatsApp chats of random words as whatstk makes them, in ways in which WhatsApp writes dates and names.

Run it where `whatstk[generate]` is installed: ``python whatstk_dump.py FOLDER``.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

from said import written
from whatstk.whatsapp.generation import ChatGenerator

HEADERS = (
    "[%d.%m.%y, %H:%M:%S] %name:",
    "%d/%m/%Y, %H:%M - %name:",
    "%m/%d/%y, %I:%M %p - %name:",
    "[%d/%m/%y, %I:%M:%S %p] %name:",
)


def main(name: str) -> None:
    """Write a chat in each way."""
    folder = Path(name)
    for number, header in enumerate(HEADERS, 1):
        chat = ChatGenerator(size=200, seed=number).generate(last_timestamp=datetime(2024, 6, 1), hformat=header)
        written(folder, f"whatsapp-{number}", None, "whatstk", len(chat.df))
        chat.to_txt(str(folder / f"whatsapp-{number}.txt"), hformat=header)


if __name__ == "__main__":
    main(sys.argv[1])
