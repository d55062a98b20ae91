"""The OpenAPI description is true: schemathesis reads it, and tries the service with what it allows and forbids."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory

pytestmark = pytest.mark.serve


def test_the_description_is_whole() -> None:
    from typer.testing import CliRunner

    from worldthread.cli.main import app
    from worldthread.service.app import description

    printed = CliRunner().invoke(app, ["serve", "--openapi"])
    document = json.loads(printed.stdout)
    assert document == json.loads(json.dumps(description()))
    names = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names)) == 24
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert operation["summary"]
            assert operation["description"]
            assert ("security" in operation) is (path not in ("/health", "/ready"))
            for status, answer in operation["responses"].items():
                assert status < "400" or list(answer["content"]) == ["application/problem+json"]
    used = set(json.dumps(document).split('"#/components/schemas/'))
    for name in document["components"]["schemas"]:
        assert any(part.startswith(f'{name}"') for part in used), f"nothing uses {name}"


@pytest.mark.slow
def test_schemathesis_finds_nothing(start: Callable[..., Any], tmp_path: Path) -> None:
    """All its checks and phases, as they are set by default, with the cases of one seed."""
    program = Path(sys.executable).with_name("schemathesis")
    if importlib.util.find_spec("schemathesis") is None or not program.exists():
        pytest.skip("needs schemathesis")
    with Memory(tmp_path / "m", namespace="anna", model="none", embedder="fake") as memory:
        memory.remember("Anna lives in Rome. Bob works for Acme.", at="2024-01-01", user="anna")
    service = start("--namespace", "anna", "--memory", "m", "--rate", "1e9", "--jobs", "1000000")
    refusals = ", ".join(f'"{status}"' for status in (400, 401, 403, 404, 405, 409, 413, 415, 422, 429))
    (tmp_path / "schemathesis.toml").write_text(
        # a body that the schema forbids may be too long as well
        f'[parameters]\nnamespace = "anna"\n[checks.negative_data_rejection]\nexpected-statuses = [{refusals}]\n'
    )
    done = subprocess.run(
        [program, "run", f"{service.url}openapi.json", "-H", f"Authorization: {service.headers()['authorization']}",
         "--max-examples", "25" if os.environ.get("WORLDTHREAD_THOROUGH") else "10", "--continue-on-failure",
         "--seed", os.environ.get("WORLDTHREAD_SEED", "1")],
        cwd=tmp_path, capture_output=True, text=True, timeout=3000,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-20_000:]
