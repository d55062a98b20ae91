"""Go-Explore without a model (after Ecoffet et al. 2021): come back to any state, and try what was not tried there.

What it adds to an archive and chance: rooms told apart on one map over all branches
(:mod:`worldthread.agents.go_explore.state_graph`), actions ranked by what their words promise and by what experience
tells of their form (:mod:`worldthread.agents.go_explore.commands`), and expeditions that do on one branch what was
achieved on several (:mod:`worldthread.agents.go_explore.achievement_plan`).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import ClassVar, Final

from worldthread.agents.base import AgentMemory, Decision, PerceivingAgent, Percept
from worldthread.agents.go_explore.achievement_plan import AchievementPlan, AchievementPlanner, AchievementProposal
from worldthread.agents.go_explore.achievements import Achievements
from worldthread.agents.go_explore.commands import FIGHTING, form, gives_light, promise, things_of
from worldthread.agents.go_explore.state_graph import StateAction, StateGraph, StateVisit, best_of_places, dark_title
from worldthread.errors import AgentError
from worldthread.extract.game import vocabulary as v
from worldthread.extract.game.commands import direction_of
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Episode

_UNLISTED: Final = tuple(f"go {direction}" for direction in v.OPPOSITE)
_UNLISTED_WITH_THINGS: Final = ("take", "open", "examine")
"""What is tried in a world that lists no actions."""
_BLOWS: Final = 8
"""Times that an action which has news each time is repeated, at most."""
_BETWEEN_EXPEDITIONS: Final = 10
"""Decisions from one expedition to the next, at least."""
_SURE: Final = 1.5
"""Hope from which on an expedition sets out at once."""
_SHORT: Final = 3
_PACE: Final = 8.0
"""An expedition that brings 1 in so many moves is as good as trying an action of promise 1."""
_SEEN_ANEW: Final = 0.04
_MOST_ANEW: Final = 6
_RETRY: Final = 0.1
_MOST_FRESH: Final = 5
_WAY_BACK: Final = 0.2
_LITTLE: Final = 0.1
"""Promise below which chance may do as well."""
_MOST_WANDERING: Final = 0.2
"""Share of such decisions that begin a stride by chance, when nothing is promised: two strides in three moves."""
_DEADLY: Final = 0.3
_ALIKE: Final = 3.0
"""After so many other actions of one form in a room, the next is half as promising."""
_LIGHT_IN_THE_DARK: Final = 8.0
_STEP_IN_THE_DARK: Final = 0.6
_STRIDE: Final = 10
"""Moves by chance from one state, at most."""
_LEAST_TRUST: Final = 0.1
_WON: Final = 0.3
"""Share of its hope that an expedition must bring to be counted as a success."""


class GoExplore(PerceivingAgent):
    """Explores without a model, and comes back to states.

    It tries each action in the room where it seems the most promising, from the best state in which it was not tried
    there; repeats a blow that brings news; sets out on an expedition when that should bring more; and where little is
    promised, lets chance decide for a stride of moves, the more often the less is promised.

    Args:
        memory: where percepts go and knowledge comes from.
        run: name of the play, the source of its episodes.
        use_valid_actions: whether to look at the list of valid actions when the world gives one.
        seed: of chance.
    """

    name = "go_explore"
    returns: ClassVar[bool] = True

    def __init__(
        self, memory: AgentMemory, *, run: str = "play", use_valid_actions: bool = True, seed: int = 0
    ) -> None:
        super().__init__(memory, run=run)
        self._use_valid_actions = use_valid_actions
        self._chance = random.Random(seed)
        self._visits: list[StateVisit] = []
        self._here: StateVisit | None = None
        self._highest = 0.0  # score
        self._chart = StateGraph()
        self._feats = Achievements()
        self._planner = AchievementPlanner(self._chart, self._feats)
        self._expedition: AchievementPlan | None = None
        self._trust = 1.0  # in expeditions
        self._decisions = 0
        self._last_expedition = 0
        self._next: Decision | None = None  # after a return
        self._wandered = 0  # moves since a state was chosen by chance
        self._chosen: Counter[tuple[str, int]] = Counter()  # rooms with what was achieved

    def perceive(self, percept: Percept) -> Episode:
        episode = super().perceive(percept)
        if percept.returned:
            self._here = self._visits[percept.moment]
        elif not percept.problem:
            self._arrive(percept)
        return episode

    def decide(self) -> Decision:
        if self._here is None:
            raise AgentError("the agent was asked to decide before it perceived anything")
        decision, self._next = self._next, None
        if decision is not None:
            return decision
        self._decisions += 1
        here = self._here
        if self._expedition is not None:
            step = self._expedition.next_step(here)
            if step is not None:
                return self._act(step.visit, step.action, step.reason)
            self._end_expedition(self._expedition)
        if self._is_worth_repeating(here):
            return self._act(here, here.action or "", "it is having an effect: once more")
        trial, promising = self._most_promising()
        plan = self._plan(promising)
        if plan is not None:
            self._planner.set_out(plan)
            self._last_expedition = self._decisions
            self._expedition = AchievementPlan(self._planner, plan.hope, plan.base)
            step = self._expedition.next_step(plan.start)
            if step is not None:
                return self._act(step.visit, step.action, step.reason)
            self._end_expedition(self._expedition)
        if trial is None or self._wanders_rather(promising):
            return self._wander(here)
        return self._act(self._chart.untested[trial], trial.action, f"never tried there; promise {promising:.2f}")

    # -- perceiving ---------------------------------------------------------------------------------------------------

    def _arrive(self, percept: Percept) -> None:
        visit = self._visit(percept)
        self._visits.append(visit)
        self._here = visit
        self._highest = max(self._highest, visit.score)
        if not self._chart.locate(visit):
            self._redraw()
        self._feats.appraise(visit, self._chart)
        self._chart.record(visit)

    def _visit(self, percept: Percept) -> StateVisit:
        view = self.memory.view()
        before = None if percept.before is None else self._visits[percept.before]
        title = normalise_name(view.value(v.PLAYER, v.IS_IN) or "") or "?"
        if title == v.DARKNESS and before is not None and percept.step.action is not None:
            title = dark_title(before, percept.step.action)
        carried = frozenset(fact.key[0] for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY))
        offered = percept.valid_actions if self._use_valid_actions else None
        actions = () if percept.ended else _guesses(view) if offered is None else offered
        return StateVisit(
            percept.moment,
            before,
            percept.step.action,
            title,
            actions,
            percept.score,
            percept.ended,
            carried,
            percept.step.text.strip(),
            percept.state if percept.state is not None else (title, actions, carried, percept.score),
        )

    def _redraw(self) -> None:
        """Draw the chart anew, now that rooms are known to be several; that may show others to be several too."""
        is_right = False
        while not is_right:
            self._chart = self._planner.chart = StateGraph(self._chart.mazes, self._chart.doubted)
            for visit in self._visits:
                is_right = self._chart.locate(visit)
                if not is_right:
                    break
                if visit is not self._visits[-1]:
                    self._chart.record(visit)
        self._feats.relocate()

    # -- deciding -----------------------------------------------------------------------------------------------------

    def _act(self, visit: StateVisit, action: str, reason: str) -> Decision:
        """Act at a visit, and go back there before, if that is elsewhere."""
        decision = Decision(action, reason)
        if visit is self._here:
            return decision
        self._next = decision
        return Decision("", f"back to {visit.room}, for {action!r}: {reason}", return_to=visit.moment)

    def _is_worth_repeating(self, here: StateVisit) -> bool:
        """Whether the last action was a blow, or changed nothing, and was answered with something new."""
        action, before = here.action, here.before
        if before is None or action is None or here.ended or not here.is_news or action not in here.actions:
            return False
        if action.split()[0] not in FIGHTING and here.state != before.state:
            return False
        blows = 0
        for visit in here.way():
            if visit.action != action:
                break
            blows += 1
        return blows < _BLOWS

    def _most_promising(self) -> tuple[StateAction | None, float]:
        best, most = None, 0.0
        for trial, visit in self._chart.untested.items():
            promising = self._promise(trial, visit)
            if promising > most:
                best, most = trial, promising
        return best, most

    def _promise(self, trial: StateAction, visit: StateVisit) -> float:
        """How promising it is to try an action at a visit, in whose state it was not tried."""
        chart, feats = self._chart, self._feats
        room, action = trial
        is_move = direction_of(action) is not None
        tests = chart.tests[trial]
        known = chart.leads(room, action) if tests else None
        if known is not None:
            # to see a known room with more achieved than it was ever seen with
            anew = (visit.achieved & ~chart.achieved[known]).bit_count()
            worth = _SEEN_ANEW * min(anew, _MOST_ANEW)
        else:
            worth = promise(action)
            if visit.is_dark and is_move:
                worth = _STEP_IN_THE_DARK
            elif visit.is_dark and gives_light(action):
                worth = _LIGHT_IN_THE_DARK
            worth *= feats.usefulness(action)
            if not is_move:
                worth /= 1 + chart.forms[StateAction(room, form(action))] / _ALIKE
                # words without a thing are few, and may be of use in another room
                worth /= (1 + feats.in_vain(action)) ** (2 if things_of(action) else 1)
            elif chart.is_way_back(room, action):
                worth *= _WAY_BACK
            if tests:
                fresh = (visit.achieved & ~chart.tested_with[trial]).bit_count()
                worth *= _RETRY * min(fresh, _MOST_FRESH) / tests
        worth *= _DEADLY ** chart.deaths[trial]
        return worth * self._standing(visit)

    def _plan(self, promising: float) -> AchievementProposal | None:
        """An expedition, when it is better than to try an action of this promise."""
        if self._decisions - self._last_expedition <= _BETWEEN_EXPEDITIONS:
            return None
        plan = self._planner.plan()
        if plan is None:
            return None
        hope = plan.hope * self._trust
        return plan if hope > _SURE or hope / max(plan.moves, _SHORT) * _PACE > promising else None

    def _end_expedition(self, expedition: AchievementPlan) -> None:
        self._expedition = None
        won = self._planner.best_merit() - expedition.base
        self._trust = (
            min(1.0, self._trust * 1.5 + 0.1) if won > _WON * expedition.hope else max(_LEAST_TRUST, self._trust * 0.7)
        )

    def _wanders_rather(self, promising: float) -> bool:
        """Whether chance decides, for a whole stride: more and more often as what was not tried promises less."""
        if promising >= _LITTLE:
            self._wandered = 0
            return False
        return self._wandered % _STRIDE != 0 or self._chance.random() < _MOST_WANDERING * (1 - promising / _LITTLE)

    def _wander(self, here: StateVisit) -> Decision:
        """Some moves by chance from a state that is promising, or was seldom chosen (Go-Explore's exploration)."""
        states = self._chart.states
        if not self._wandered % _STRIDE or here.ended or not here.actions or here.state not in states:
            places = best_of_places(visit for visit in states.values() if visit.actions)
            if not places:
                return Decision("look", "nothing else can be done", stuck=True)
            weights = [self._standing(visit) / math.sqrt(1 + self._chosen[place]) for place, visit in places.items()]
            (place,) = self._chance.choices(list(places), weights)
            self._chosen[place] += 1
            here = places[place]
            self._wandered = 0
        self._wandered += 1
        tried = self._chart.tried[here.state]
        actions = [action for action in here.actions if action not in tried] or list(here.actions)
        weights = [promise(action) * self._feats.usefulness(action) for action in actions]
        (action,) = self._chance.choices(actions, weights)
        return self._act(here, action, "nothing seems promising: chance")

    def _standing(self, visit: StateVisit) -> float:
        """Rather from where much was achieved."""
        return 0.3 + 0.7 * max(0.0, min(1.0, (visit.score + 1) / (self._highest + 1)))


def _guesses(view: GraphView) -> tuple[str, ...]:
    """What can be tried in a world that lists no actions: every direction, and to handle the things that are near."""
    places = {normalise_name(view.value(v.PLAYER, v.IS_IN) or "")}
    things: dict[str, str] = {}
    while places:
        near = [
            fact
            for place in sorted(places)
            for relation in (v.IS_IN, v.IS_ON)
            for fact in view.facts(relation=relation, object=place)
            if fact.key[0] != v.PLAYER and fact.key[0] not in things
        ]
        things |= {fact.key[0]: fact.subject for fact in near}
        places = {fact.key[0] for fact in near}
    return (*_UNLISTED, *(f"{verb} {thing}" for verb in _UNLISTED_WITH_THINGS for thing in things.values()))
