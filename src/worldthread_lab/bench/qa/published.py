"""The tables of the PersonalAI paper, for comparison with ours, read from ``published.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from worldthread_lab.bench.qa.tables import Table


@cache
def published_tables() -> Mapping[str, Table]:
    """Return the tables of the paper by name, such as ``"table-2"``; their captions say that they are published."""
    read = tomllib.loads(files("worldthread_lab.bench.qa").joinpath("published.toml").read_text("utf-8"))
    tables = {
        each["name"]: Table(each["name"], each["caption"], each["header"], each["rows"]) for each in read["tables"]
    }
    return {
        name: replace(table, name=f"{name}, published", caption=f"PersonalAI: {table.caption}")
        for name, table in tables.items()
    }
