"""The agents in ``game_players.py`` are imported by their name, also by the processes of a sweep."""

from __future__ import annotations

import sys
from pathlib import Path

if (folder := str(Path(__file__).parent)) not in sys.path:
    sys.path.append(folder)
