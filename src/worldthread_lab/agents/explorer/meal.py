"""Preparing a meal as a planning problem: operators over the facts of a memory."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread_lab.agents.explorer.planner import Literal, Operator
from worldthread_lab.agents.worldmap import WorldMap, shown_name
from worldthread_lab.game import vocabulary as v


@dataclass(frozen=True)
class MealProblem:
    """The planning problem of the meal of a recipe.

    Args:
        holds: literals that hold now.
        goal: literals that must hold in the end.
        operators: what can be done.
        missing: names of what is needed and not found yet; while there are any, there is no plan.
        useful: operators that take an ingredient or a tool, to be used when the player comes by.
    """

    holds: frozenset[Literal]
    goal: frozenset[Literal]
    operators: tuple[Operator, ...]
    missing: tuple[str, ...]
    useful: tuple[Operator, ...]


@cache
def _household() -> dict[str, Any]:
    return tomllib.loads(files("worldthread_lab.agents.explorer").joinpath("household.toml").read_text("utf-8"))


def meal_problem(
    view: GraphView, world: WorldMap, room_of: Callable[[str], str | None], *, hands_are_full: bool
) -> MealProblem | None:
    """Build the planning problem of the recipe in a memory.

    Args:
        view: what the memory holds.
        world: the map in it.
        room_of: returns the room in which a thing is; ``None`` when it is not known.
        hands_are_full: whether the world has refused to let more be carried, so that things may have to be put down.

    Returns:
        The problem; ``None`` when no recipe is known.
    """
    ingredients = {fact.key[2]: fact.object for fact in view.facts(v.RECIPE, v.NEEDS)}
    last = next((fact.object for fact in view.facts(v.RECIPE, v.ASKS_TO) if " " in fact.object), None)
    if not ingredients or last is None:
        return None
    dish = last.partition(" ")[2]  # "prepare X": the dish is X
    eaten: Literal = (normalise_name(dish), v.IS, "eaten")
    wanted = {
        (name, fact.key[2])
        for name in ingredients
        for fact in view.facts(name, v.MUST_BE)
        if not view.holds(v.state(name, fact.key[2]))
    }
    carried = {fact.key[0] for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY)}
    holds: set[Literal] = {_carried(name) for name in carried}
    operators: list[Operator] = []
    missing: list[str] = []
    heats = {state for _, state in wanted if state in v.HEAT_STATES}
    cuts = {state for _, state in wanted if state in v.CUT_STATES}
    appliances = {state: _find(view, _household()["heat"].get(state, ())) for state in heats}
    tool = _find(view, _household()["cut"]["tools"]) if cuts else None
    missing += [f"something to have it {state}" for state, found in appliances.items() if found is None]
    missing += ["something to cut with"] if cuts and tool is None else []
    useful: list[Operator] = []
    for name, shown in (*ingredients.items(), *([(tool, tool)] if tool else [])):
        if name in carried:
            continue
        taking = _taking(name, view, room_of)
        if taking is None:
            missing.append(shown)
        else:
            useful.append(taking)
            holds |= taking.needs
    kitchen = _assembly_room(view, world)
    if kitchen is None:
        missing.append("the room in which it is prepared")
        return MealProblem(frozenset(holds), frozenset({eaten}), (), tuple(missing), tuple(useful))
    for name in [*ingredients, *([tool] if tool else [])] if hands_are_full else []:
        operators.append(_putting_down(name, kitchen))
        operators.append(_taking_up(name, kitchen))
    for name in sorted(carried - ingredients.keys() - {tool, normalise_name(dish)}):  # not needed
        here = _carried(name)
        left: Literal = (name, v.IS, "left behind")
        reason = "it is not needed for the dish"
        operators.append(
            Operator(f"drop {name}", None, frozenset({here}), frozenset({left}), frozenset({here}), reason, takes=-1)
        )
    for name, state in sorted(wanted):
        done: Literal = (name, v.IS, state)
        if state in v.HEAT_STATES and (appliance := appliances[state]) is not None:
            place = room_of(appliance)
            if place is not None:
                action = f"cook {ingredients[name]} with {shown_name(appliance, view)}"
                operators.append(_processing(action, place, {_carried(name)}, done))
        elif state in v.CUT_STATES and tool is not None:
            verb = {"sliced": "slice", "diced": "dice", "chopped": "chop"}[state]
            action = f"{verb} {ingredients[name]} with {tool}"
            operators.append(_processing(action, None, {_carried(name), _carried(tool)}, done))
    ready = {_carried(name) for name in ingredients} | {(name, v.IS, state) for name, state in wanted}
    made = frozenset({_carried(normalise_name(dish))})
    prepare = Operator(last, kitchen, frozenset(ready), made, frozenset(), "all is ready")
    eat = Operator(f"eat {dish}", None, made, frozenset({eaten}), frozenset(), "it is prepared")
    operators += [*useful, prepare, eat]
    if made <= holds:
        missing, operators = [], [eat]
    # what is processed and prepared stays so, and what is taken too while nothing has to be put down: as part of the
    # goal it guides the search
    goal = {eaten, *made}
    if not made <= holds:
        goal |= {(name, v.IS, state) for name, state in wanted}
        goal |= set() if hands_are_full else {_carried(name) for name in [*ingredients, *([tool] if tool else [])]}
    return MealProblem(frozenset(holds), frozenset(goal), tuple(operators), tuple(missing), tuple(useful))


def _carried(name: str) -> Literal:
    return (name, v.IS_IN, v.INVENTORY)


def _processing(action: str, room: str | None, needs: set[Literal], done: Literal) -> Operator:
    reason = f"the recipe wants {done[0]} {done[2]}"
    return Operator(action, room, frozenset(needs), frozenset({done}), frozenset(), reason)


def _taking(name: str, view: GraphView, room_of: Callable[[str], str | None]) -> Operator | None:
    """Return the operator that takes a thing from where it is; ``None`` when that is not known."""
    room = room_of(name)
    fact = next(iter(view.facts(name, v.IS_IN) or view.facts(name, v.IS_ON)), None)
    if room is None or fact is None:
        return None
    where = fact.key[2]
    source = "" if where == room else f" from {fact.object}"
    at: Literal = fact.key
    return Operator(
        f"take {fact.subject}{source}",
        room,
        frozenset({at}),
        frozenset({_carried(name)}),
        frozenset({at}),
        f"{fact.subject} is needed for the dish",
        takes=1,
    )


def _putting_down(name: str, kitchen: str) -> Operator:
    down: Literal = (name, v.IS_IN, kitchen)
    here = _carried(name)
    reason = "to have a hand free"
    return Operator(f"drop {name}", kitchen, frozenset({here}), frozenset({down}), frozenset({here}), reason, takes=-1)


def _taking_up(name: str, kitchen: str) -> Operator:
    down: Literal = (name, v.IS_IN, kitchen)
    reason = "it is needed again"
    return Operator(
        f"take {name}", kitchen, frozenset({down}), frozenset({_carried(name)}), frozenset({down}), reason, takes=1
    )


def _find(view: GraphView, names: list[str] | tuple[()]) -> str | None:
    """Return a thing of the memory whose name ends with one of ``names``; earlier names are preferred."""
    placed = {fact.key[0] for relation in (v.IS_IN, v.IS_ON) for fact in view.facts(relation=relation)}
    for name in names:
        found = sorted(thing for thing in placed if thing == name or thing.endswith(f" {name}"))
        if found:
            return found[0]
    return None


def _assembly_room(view: GraphView, world: WorldMap) -> str | None:
    """Return the room in which the meal is prepared: the one that the goal names, else a kitchen."""
    goal = " ".join(normalise_name(thesis.text) for thesis in view.theses(about=v.GOAL))
    named = [room for room in world.rooms if re.search(rf"\bin the {re.escape(room)}\b", goal)]
    if named:
        return min(named)
    return next((room for room in sorted(world.rooms) if room in _household()["cooking"]["rooms"]), None)
