"""Random histories with labels: ``filter_histories.py`` is imported by its name."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
