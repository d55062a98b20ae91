"""Go-Explore without a model (after Ecoffet et al. 2021): return to any state, and try what was not tried there.

To an archive and random walks it adds three things: distinct rooms in one graph over all branches
(:mod:`worldthread_lab.agents.go_explore.state_graph`), actions ranked by what their words promise and by experience
with their form (:mod:`worldthread_lab.agents.go_explore.commands`), and plans that make on one branch the achievements
of several (:mod:`worldthread_lab.agents.go_explore.achievement_plan`).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import ClassVar, Final

from worldthread.errors import AgentError
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Episode
from worldthread_lab.agents.base import AgentMemory, Decision, PerceivingAgent, Percept
from worldthread_lab.agents.go_explore.achievement_plan import AchievementPlan, AchievementPlanner, AchievementProposal
from worldthread_lab.agents.go_explore.achievements import Achievements
from worldthread_lab.agents.go_explore.commands import FIGHTING, promise
from worldthread_lab.agents.go_explore.promises import Promises
from worldthread_lab.agents.go_explore.settings import DEFAULT_SETTINGS, GoExploreSettings
from worldthread_lab.agents.go_explore.state_graph import StateGraph, StateVisit, best_of_places, dark_title
from worldthread_lab.game import vocabulary as v

_UNLISTED: Final = tuple(f"go {direction}" for direction in v.OPPOSITE)
"""What is tried everywhere in a world that lists no actions."""
_UNLISTED_WITH_THINGS: Final = ("take", "open", "examine")
"""What is tried with every thing in a world that lists no actions."""


class GoExplore(PerceivingAgent):
    """Explores without a model, and returns to earlier states.

    It tries each action in the room where it promises most, from the best state in which it was not tried there;
    repeats a blow that brings news; carries out a plan when that should gain more; and where little is promised, walks
    randomly for some moves, the more often the less is promised.

    Args:
        memory: takes the episodes.
        run: the name of the play, used as the source of its episodes.
        use_valid_actions: whether to use the list of valid actions when the world gives one.
        seed: seeds the random generator.
        settings: the numbers that decide how it explores.
    """

    name = "go_explore"
    returns: ClassVar[bool] = True

    def __init__(
        self,
        memory: AgentMemory,
        *,
        run: str = "play",
        use_valid_actions: bool = True,
        seed: int = 0,
        settings: GoExploreSettings = DEFAULT_SETTINGS,
    ) -> None:
        super().__init__(memory, run=run)
        self.settings = settings
        self._use_valid_actions = use_valid_actions
        self._random = random.Random(seed)
        self._visits: list[StateVisit] = []
        self._here: StateVisit | None = None
        self._graph = StateGraph(settings=settings)
        self._achievements = Achievements(settings=settings)
        self._planner = AchievementPlanner(self._graph, self._achievements, settings)
        self._promises = Promises(self._graph, self._achievements, settings)
        self._plan: AchievementPlan | None = None
        self._trust = 1.0  # in plans, within [min_trust, 1]
        self._decisions = 0
        self._last_plan = 0  # the number of the decision that began it
        self._next: Decision | None = None  # after a return
        self._walked = 0  # moves of the present random walk
        self._times_chosen: Counter[tuple[str, int]] = Counter()  # by StateVisit.place

    def perceive(self, percept: Percept) -> Episode:
        episode = super().perceive(percept)
        if percept.is_new:
            self._arrive(percept)
        elif percept.returned:
            self._here = self._visits[percept.moment]
        if percept.rerouted and self._next is not None:
            assert self._here is not None
            if self._next.action not in self._here.actions:  # it was meant for the state that was not reached
                self._next = None
        return episode

    def decide(self) -> Decision:
        if self._here is None:
            raise AgentError("the agent was asked to decide before it perceived anything")
        decision, self._next = self._next, None
        if decision is not None:
            return decision
        self._decisions += 1
        here = self._here
        if self._plan is not None:
            step = self._plan.next_step(here)
            if step is not None:
                return self._act(step.visit, step.action, step.reason)
            self._end_plan(self._plan)
        if self._is_worth_repeating(here):
            return self._act(here, here.action or "", "it is having an effect: once more")
        candidate, promising = self._promises.most_promising()
        proposal = self._propose(promising)
        if proposal is not None:
            self._planner.begin(proposal)
            self._last_plan = self._decisions
            self._plan = AchievementPlan(self._planner, proposal.hope, proposal.base)
            step = self._plan.next_step(proposal.start)
            if step is not None:
                return self._act(step.visit, step.action, step.reason)
            self._end_plan(self._plan)
        if candidate is None or self._walks_randomly(promising):
            return self._walk_randomly(here)
        visit = self._graph.untried[candidate]
        return self._act(visit, candidate.action, f"never tried there; promise {promising:.2f}")

    # -- perceiving ---------------------------------------------------------------------------------------------------

    def _arrive(self, percept: Percept) -> None:
        visit = self._visit(percept)
        self._visits.append(visit)
        self._here = visit
        if not self._graph.locate(visit):
            self._rebuild_graph()
        self._achievements.appraise(visit, self._graph)
        self._graph.record(visit)
        self._promises.note(visit)

    def _visit(self, percept: Percept) -> StateVisit:
        view = self.memory.view()
        before = None if percept.before is None else self._visits[percept.before]
        title = normalise_name(view.value(v.PLAYER, v.IS_IN) or "") or "?"
        if title == v.DARKNESS and before is not None and percept.step.action is not None:
            title = dark_title(before, percept.step.action)
        carried = frozenset(fact.key[0] for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY))
        offered = percept.valid_actions if self._use_valid_actions else None
        actions = () if percept.ended else _guessed_actions(view) if offered is None else offered
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
            settings=self.settings,
        )

    def _rebuild_graph(self) -> None:
        """Build the graph anew after two rooms were taken for one, until no further such pair is found."""
        is_right = False
        while not is_right:
            self._graph = StateGraph(self._graph.mazes, self._graph.doubted, self.settings)
            for visit in self._visits:
                is_right = self._graph.locate(visit)
                if not is_right:
                    break
                if visit is not self._visits[-1]:
                    self._graph.record(visit)
        self._achievements.relocate()
        self._planner.graph = self._promises.graph = self._graph
        self._promises.note_all()

    # -- deciding -----------------------------------------------------------------------------------------------------

    def _act(self, visit: StateVisit, action: str, reason: str) -> Decision:
        """Act at a visit, after returning to it if it is not here."""
        decision = Decision(action, reason)
        if visit is self._here:
            return decision
        self._next = decision
        return Decision("", f"back to {visit.room}, for {action!r}: {reason}", return_to=visit.moment)

    def _is_worth_repeating(self, here: StateVisit) -> bool:
        """Return whether the last action was a blow, or changed nothing, and was answered with something new."""
        action, before = here.action, here.before
        if before is None or action is None or here.ended or not here.is_news or action not in here.actions:
            return False
        if action.split()[0] not in FIGHTING and here.state != before.state:
            return False
        blows = 0
        for visit in here.path_back():
            if visit.action != action:
                break
            blows += 1
        return blows < self.settings.max_blows

    def _propose(self, promising: float) -> AchievementProposal | None:
        """Return a plan that is better than trying an action of this promise; ``None`` when there is none."""
        settings = self.settings
        if self._decisions - self._last_plan <= settings.decisions_between_plans:
            return None
        proposal = self._planner.plan()
        if proposal is None:
            return None
        hope = proposal.hope * self._trust
        pace = hope / max(proposal.moves, settings.min_plan_moves) * settings.gain_pace
        return proposal if hope > settings.sure_gain or pace > promising else None

    def _end_plan(self, plan: AchievementPlan) -> None:
        self._plan = None
        settings = self.settings
        gained = self._planner.best_merit() - plan.base
        if gained > settings.success_share * plan.hope:
            self._trust = min(1.0, self._trust * settings.trust_growth + settings.trust_gain)
        else:
            self._trust = max(settings.min_trust, self._trust * settings.trust_decay)

    def _walks_randomly(self, promising: float) -> bool:
        """Return whether to walk randomly, in walks of fixed length: the more often the less is promised."""
        settings = self.settings
        if promising >= settings.low_promise:
            self._walked = 0
            return False
        share = settings.max_walk_share * (1 - promising / settings.low_promise)
        return self._walked % settings.walk_moves != 0 or self._random.random() < share

    def _walk_randomly(self, here: StateVisit) -> Decision:
        """Make a random move, first from a promising or seldom chosen state (the exploration of Go-Explore)."""
        states = self._graph.states
        if not self._walked % self.settings.walk_moves or here.ended or not here.actions or here.state not in states:
            places = self._graph.best_visits()
            if not self._graph.all_offer_actions:
                places = best_of_places(visit for visit in states.values() if visit.actions)
            if not places:
                return Decision("look", "nothing else can be done", stuck=True)
            weights = [
                self._promises.score_factor(visit) / math.sqrt(1 + self._times_chosen[place])
                for place, visit in places.items()
            ]
            (place,) = self._random.choices(list(places), weights)
            self._times_chosen[place] += 1
            here = places[place]
            self._walked = 0
        self._walked += 1
        tried = self._graph.tried[here.state]
        actions = [action for action in here.actions if action not in tried] or list(here.actions)
        weights = [promise(action) * self._achievements.usefulness(action) for action in actions]
        (action,) = self._random.choices(actions, weights)
        return self._act(here, action, "nothing seems promising: chance")


def _guessed_actions(view: GraphView) -> tuple[str, ...]:
    """Return what to try in a world that lists no actions: every direction, and to handle the things nearby."""
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
