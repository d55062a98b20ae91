"""Settings are found with their types, defaults and meanings, and checked."""

from __future__ import annotations

from typing import Any

import pytest

from worldthread.errors import InputError
from worldthread.retrieve import method, method_settings, methods
from worldthread.support.settings import as_arguments, require_settings, settings_of
from worldthread_lab.agents import AGENTS, agent_class, agent_settings
from worldthread_lab.agents.memory_modules import MEMORY_MODULES, memory_module_class
from worldthread_lab.agents.reflact.agent import ReflAct
from worldthread_lab.envs.registry import game_settings, games


def test_every_setting_says_what_it_is() -> None:
    groups = {f"agent {name}": agent_settings(agent_class(name)) for name in AGENTS}
    groups |= {f"memory {name}": settings_of(memory_module_class(name)) for name in MEMORY_MODULES}
    groups |= {f"method {name}": method_settings(name) for name in methods()}
    groups |= {f"game {spec.name}": game_settings(spec.id) for spec in games() if spec.installed}
    silent = [f"{group}: {one.name}" for group, found in groups.items() for one in found.values() if not one.meaning]
    assert not silent
    assert groups["memory arigraph"]["width"].default == 6
    assert groups["memory arigraph"]["width"].types == ("int",)
    assert groups["agent reflact"]["temperature"].meaning == "of the answers that choose an action; 0 or more."
    assert {"calls", "recent", "text_limit"} <= groups["agent ariadne"].keys()
    assert not groups["agent ariadne"].keys() & {"model", "run", "seed", "memory_settings", "truth"}
    assert "max_paths" in groups["method beam"]
    assert groups["game tiny"] == {}
    assert game_settings("textworld:some.z8").keys() == {"rename_cooking"}


def test_tuned_numbers_become_the_dataclass_that_holds_them() -> None:
    known = settings_of(ReflAct)
    given = {"hints": 3, "stuck_moves": [1, 2, 3], "temperature": 0.1}
    require_settings("reflact", known, given)
    arguments = as_arguments(ReflAct, known, given)
    assert arguments["temperature"] == 0.1
    assert (arguments["settings"].hints, arguments["settings"].stuck_moves) == (3, (1, 2, 3))
    assert arguments["settings"].hint_moves == 8


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"hins": 3}, r"reflact has no setting 'hins'; did you mean 'hints'\? \(settings are: version, "),
        ({"hints": "3"}, "'hints' of reflact must be of type int, not '3'"),
        ({"hints": True}, "must be of type int"),
        ({"stuck_moves": [1, 2]}, "must be 3 numbers"),
        ({"stuck_moves": ["a", "b", "c"]}, "must be 3 numbers"),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        require_settings("reflact", settings_of(ReflAct), given)


def test_a_setting_that_is_empty_by_default_takes_any_values() -> None:
    def search(words: tuple[str, ...] = ()) -> None: ...

    known = settings_of(search)
    require_settings("search", known, {"words": ["a", "b"]})
    assert as_arguments(search, known, {"words": ["a"]}) == {"words": ["a"]}


def test_settings_follow_the_name_of_a_retrieval_method() -> None:
    assert method("beam:max_paths=3,mean_alpha=0.5").keywords["settings"].max_paths == 3  # type: ignore[attr-defined]
    for name, says in (
        ("beam:width=3", "the retrieval method 'beam' has no setting 'width'"),
        ("beam:max_paths", "look like"),
        ("thread:k=1", r"has no setting 'k' \(settings are: none\)"),
        ("bean:k=1", "no retrieval method is called 'bean'"),
    ):
        with pytest.raises(InputError, match=says):
            method(name)
