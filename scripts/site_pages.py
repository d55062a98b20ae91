"""Adds pages to the documentation site that are no files of docs/: the start, the examples, the names of the package.

A hook of MkDocs, named in mkdocs.yml. The pages in docs/ link to files outside of the folder, as they must to be read
in the repository; here these links lead to the pages that stand for these files.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "NOTICE": "notice.md",
    "skills/worldthread/SKILL.md": "skill.md",
}
"""Pages of the site by the file of the repository that they show."""

_EXAMPLES = "examples"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=_from_root((ROOT / source).read_text("utf-8"))))
    for example in sorted((ROOT / "examples").glob("*.py")):
        files.append(File.generated(config, f"examples/{example.stem}.md", content=_example(example)))
    files.append(File.generated(config, "api.md", content=_names()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Have links to files outside of docs/ lead to the pages that stand for them."""
    del page
    return re.sub(r"\]\(\.\./([\w./-]+)", lambda match: f"]({_page_of(match[1])}", markdown)


def _page_of(path: str) -> str:
    """Return the page that stands for a file of the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("examples"):
        return path.removesuffix(".py") + ".md" if path.endswith(".py") else f"{_EXAMPLES}/five_lines.md"
    return PAGES.get(path, path)


def _from_root(markdown: str) -> str:
    """Return a text at the root of the repository with links as they are from docs/."""
    return re.sub(r"\]\((?!https?:|#)([\w./-]+)", lambda match: f"]({_page_of(match[1])}", markdown)


def _example(path: Path) -> str:
    code = path.read_text("utf-8")
    summary = (ast.get_docstring(ast.parse(code)) or path.stem).splitlines()[0]
    return f"# {path.stem.replace('_', ' ').capitalize()}\n\n{summary}\n\n```python\n{code}```\n"


def _names() -> str:
    """Return the page of the public names."""
    tree = ast.parse((ROOT / "src" / "worldthread" / "__init__.py").read_text("utf-8"))
    lists = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value is not None
        and any(isinstance(name, ast.Name) and name.id == "__all__" for name in _targets(node))
    )
    names = sorted(name for name in ast.literal_eval(next(lists)) if not name.startswith("_"))
    return "# Python names\n\n" + "\n".join(f"::: worldthread.{name}\n" for name in names)


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]
