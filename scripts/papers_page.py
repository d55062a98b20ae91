"""Makes docs/papers.md, what of the papers can be repeated and how, from docs/papers.toml.

python scripts/papers_page.py
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
TABLE, PAGE = DOCS / "papers.toml", DOCS / "papers.md"
HEADER = ["| item | what it is | command | word | difference or reason |", "|---|---|---|---|---|"]


def page() -> str:
    """Return the page."""
    table: dict[str, Any] = tomllib.loads(TABLE.read_text("utf-8"))
    parts = [table["introduction"]]
    for paper in table["papers"]:
        lines = [f"## {paper['name']}", "", *HEADER]
        for row in paper["rows"]:
            command = f"`{row['command']}`" if "command" in row else ""
            cells = [row["item"], row["what"], command, row["word"], row.get("note", "")]
            lines.append("|" + "".join(f" {cell} |" if cell else " |" for cell in cells))
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
