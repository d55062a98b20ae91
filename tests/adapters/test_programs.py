"""The programs of docs/adapters.md run as written; nothing is imported before it is needed; errors name the extra."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from worldthread.installation import install_command

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "adapters"

ADAPTER, SUITE = "all", "own: programs, late imports, errors that name the extra"

PROGRAMS = {
    "langgraph_store": ("langgraph", "Nice to meet you.\nI remember: I like green tea.\n"),
    "langchain_retriever": ("langchain_core", "Anna, lives in, Paris\nAnna, lives in, Rome\nbread\n"),
    "claude_memory": (
        "anthropic",
        """File created successfully at: /memories/anna.txt
Here's the content of /memories/anna.txt with line numbers:
     1\tAnna likes coffee.
before: Anna likes green tea.
""",
    ),
    "agents_session": ("agents", "[]\nAnna, lives in, Rome\nrecall\n"),
    "llamaindex_block": ("llama_index", "True\n"),
    "pydanticai_tools": ("pydantic_ai", "['recall', 'timeline']\n"),
    "crewai_tools": ("crewai", "She lives in Paris.\n"),
    "autogen_memory": ("autogen_core", "True\n"),
    "entity_graph": ("worldthread", "['Anna']\nAcme\n"),
    "opentelemetry_spans": ("opentelemetry.sdk", "upsert_memory\n" + "retrieval\nsearch_memory\n" * 2 + "ask\n"),
}
ADAPTERS = {  # module: (the package that it imports, the extra or the package to install)
    "langgraph": ("langgraph", "langgraph"),
    "langchain": ("langchain_core", "langchain"),
    "claude": ("anthropic", "claude"),
    "agents_sdk": ("agents", "openai-agents"),
    "llamaindex": ("llama_index", "llama-index"),
    "pydanticai": ("pydantic_ai", "pydantic-ai"),
    "crewai": ("crewai", "crewai"),
    "autogen": ("autogen_core", "autogen-core"),
}
WITHOUT_EXTRA = {"crewai", "autogen-core"}
SHARED = {"__init__", "conversation_log", "entity_graph", "keyed", "memory_files", "memory_tools"}


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("WORLDTHREAD_")}
    apart = {"WORLDTHREAD_EMBEDDER": "fake", "WORLDTHREAD_MODEL": "none", "WORLDTHREAD_CACHE": str(folder / "cache")}
    if "crewai" in code:  # the last of these switches off the spans of others too
        apart |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=folder, env=kept | apart, input="", capture_output=True, text=True, timeout=600,
    )  # fmt: skip


def test_every_adapter_and_program_is_tried_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(PROGRAMS)
    modules = {path.stem for path in (ROOT / "src/worldthread/adapters").glob("*.py")}
    assert modules == set(ADAPTERS) | SHARED


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_short_and_in_the_documentation(name: str) -> None:
    program = (EXAMPLES / f"{name}.py").read_text("utf-8")
    assert len([line for line in program.splitlines() if line.strip()]) <= 20
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/adapters.md").read_text("utf-8"), re.M | re.S)
    assert program in blocks


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_it_promises(name: str, tmp_path: Path) -> None:
    package, shown = PROGRAMS[name]
    pytest.importorskip(package)
    done = python((EXAMPLES / f"{name}.py").read_text("utf-8"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown
    assert f"```\n{shown}```" in (ROOT / "docs/adapters.md").read_text("utf-8")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_neither_the_package_nor_the_shared_modules_import_a_framework(tmp_path: Path) -> None:
    code = (
        "import json, sys, worldthread, worldthread.adapters, worldthread.adapters.memory_files, "
        "worldthread.adapters.conversation_log, worldthread.adapters.entity_graph, "
        "worldthread.adapters.memory_tools; from worldthread import Memory\n"
        "with Memory() as memory: memory.remember('Anna lives in Rome.')\n"
        "print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    )
    loaded = set(json.loads(python(code, tmp_path).stdout))
    assert not loaded & {package for package, _ in ADAPTERS.values()}
    code = "import json, sys, worldthread; print(json.dumps([name for name in sys.modules]))"
    assert "worldthread.adapters" not in json.loads(python(code, tmp_path).stdout)


@pytest.mark.parametrize("name", ADAPTERS)
def test_without_its_package_an_adapter_says_what_to_install(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, wanted = ADAPTERS[name]
    monkeypatch.chdir(tmp_path)  # where the program runs: the command depends on it
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"try: import worldthread.adapters.{name}\n"
        "except ImportError as error: print(type(error).__name__, error)"
    )
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("MissingExtraError ")
    command = f"pip install {wanted}" if wanted in WITHOUT_EXTRA else install_command(wanted)
    assert done.stdout.endswith(f":\n    {command}\n"), done.stdout


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_imports_no_other_framework(name: str, tmp_path: Path) -> None:
    package, _ = ADAPTERS[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    code = (
        f"import json, sys, worldthread.adapters.{name}; print(json.dumps([n.partition('.')[0] for n in sys.modules]))"
    )
    loaded = set(json.loads(python(code, tmp_path).stdout))
    others = {other for other, _ in ADAPTERS.values()} - {package}
    if name == "langgraph":
        others -= {"langchain_core"}  # langgraph stands on it
    assert not loaded & others
