"""A person who plays: reads the texts of the world, and types what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Final

from worldthread.errors import AgentError
from worldthread.support.text import count_of
from worldthread.types import Episode
from worldthread_lab.agents.base import AgentMemory, Decision, PerceivingAgent, Percept

HELP: Final = "(? lists the valid actions, undo takes back the last move, Ctrl-D ends)"
PROMPT: Final = "> "


class HumanAgent(PerceivingAgent):
    """Asks a person for every action.

    The world gets what is typed, except for two words: ``?`` lists the valid actions, and ``undo`` takes back the last
    move. The end of the input (Ctrl-D) ends the play.

    Args:
        memory: takes the episodes.
        run: the name of the play, used as the source of its episodes.
        use_valid_actions: whether ``?`` lists the valid actions when the world gives a list.
        read: shows a prompt and returns the line that was typed; raises :class:`EOFError` at the end of the input.
        show: shows a text.
        typed: the decisions so far of a play that is resumed: they come first, and the person is not asked.
    """

    name = "human"
    returns: ClassVar[bool] = True

    def __init__(
        self,
        memory: AgentMemory,
        *,
        run: str = "play",
        use_valid_actions: bool = True,
        read: Callable[[str], str] = input,
        show: Callable[[str], None] = print,
        typed: Iterable[Decision] = (),
    ) -> None:
        super().__init__(memory, run=run)
        self._use_valid_actions = use_valid_actions
        self._read_line = read
        self._show = show
        self._typed = list(typed)[::-1]

    def perceive(self, percept: Percept) -> Episode:
        self._show(self._render(percept))
        return super().perceive(percept)

    def _render(self, percept: Percept) -> str:
        status = f"[score {percept.score:g}"
        if percept.moves_left is not None:
            status += f", {count_of(percept.moves_left, 'move')} left"
        if percept.problem:
            return f"\n{percept.problem}\n{status}]"
        over = "\nThe game is over: undo takes back the last move, Ctrl-D ends." if percept.ended else ""
        start = f"\n{HELP}" if percept.before is None and not percept.returned else ""
        return f"\n{percept.step.text.strip()}\n{status}]{over}{start}"

    def decide(self) -> Decision:
        percept = self.percept
        if percept is None:
            raise AgentError("the agent was asked to decide before it perceived anything")
        if self._typed:
            decision = self._typed.pop()
            self._show(f"{PROMPT}{decision.action or 'undo'}")
            return decision
        while True:
            try:
                line = self._read_line(PROMPT).strip()
            except EOFError:
                return Decision("", "left", finished=True)
            if line == "?":
                self._show(self._offered(percept))
            elif line == "undo":
                if percept.before is not None:
                    return Decision("", "typed", return_to=percept.before)
                self._show("There is nothing to undo.")
            elif line and not percept.ended:
                return Decision(line, "typed")
            elif line:
                self._show("The game is over: undo takes back the last move, Ctrl-D ends.")

    def _offered(self, percept: Percept) -> str:
        if percept.valid_actions is None or not self._use_valid_actions:
            return "No valid actions are listed."
        return "\n".join(percept.valid_actions) or "No action is valid."
