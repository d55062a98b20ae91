"""The hint that installs an extra fits how worldthread was installed."""

from __future__ import annotations

import json
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from worldthread import installation
from worldthread.errors import MissingExtraError


class Installed(Distribution):
    """A distribution that pip installed from somewhere."""

    def __init__(self, origin: dict[str, Any] | None) -> None:
        self.origin = origin

    def read_text(self, filename: str) -> str | None:
        return None if self.origin is None else json.dumps(self.origin)

    def locate_file(self, path: Any) -> Any:
        raise NotImplementedError


def hint(monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None) -> str:
    monkeypatch.setattr(Distribution, "from_name", lambda _: Installed(origin))
    return installation.install_command("web")


def test_from_the_package_index_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hint(monkeypatch, None) == "pip install 'worldthread[web]'"


@pytest.mark.parametrize(("editable", "option"), [(True, "-e "), (False, "")])
def test_from_a_checkout_by_its_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, editable: bool, option: str
) -> None:
    checkout = tmp_path / "my checkout"
    checkout.mkdir()
    origin = {"url": checkout.as_uri(), "dir_info": {"editable": editable}}
    assert hint(monkeypatch, origin) == f"pip install {option}'{checkout}[web]'"
    monkeypatch.chdir(checkout)
    assert hint(monkeypatch, origin) == f"pip install {option}'.[web]'"


def test_from_a_wheel_by_its_file_or_by_name_once_that_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = tmp_path / "worldthread-1.0-py3-none-any.whl"
    wheel.touch()
    origin = {"url": wheel.as_uri(), "archive_info": {}}
    assert hint(monkeypatch, origin) == f"pip install '{wheel}[web]'"
    wheel.unlink()
    assert hint(monkeypatch, origin) == "pip install 'worldthread[web]'"


def test_from_a_repository_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    origin = {"url": "https://example.org/w.git", "vcs_info": {"vcs": "git", "commit_id": "1"}}
    assert hint(monkeypatch, origin) == "pip install 'worldthread[web] @ git+https://example.org/w.git'"


def test_without_an_installation_by_the_folder_of_the_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(_: str) -> Distribution:
        raise PackageNotFoundError

    monkeypatch.setattr(Distribution, "from_name", missing)
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "src" / "worldthread" / "installation.py"))
    assert installation.install_command(["web", "games", "web"]) == "pip install 'worldthread[web,games]'"
    (tmp_path / "pyproject.toml").touch()
    assert installation.install_command("web") == f"pip install -e '{tmp_path}[web]'"


def test_an_error_has_the_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Distribution, "from_name", lambda _: Installed(None))
    assert str(MissingExtraError("the page", extra="web", package="starlette")).endswith(
        "    pip install 'worldthread[web]'"
    )
