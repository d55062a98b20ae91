"""ReflAct: objective, helpers at their times, the critic that only speaks, and questions to the memory."""

from __future__ import annotations

import json
from typing import Any

import pytest

from worldthread.errors import InputError
from worldthread_lab.agents.reflact.settings import FORMER_SETTINGS, ReflActSettings
from worldthread_lab.envs.base import Environment, Info, Truth
from worldthread_lab.envs.fake import ScriptedWorld, tiny_house
from worldthread_lab.play.fake_player import FakePlayer

HELP: dict[str, Any] = {
    "hint": {"actions": ["take note", "go east"]},
    "summarise": {"summary": "It began."},
    "talk": {"needs": "a beer", "next": "give beer to gnome"},
}


def said(action: str, *, objective: str = "get rich", reflection: str = "so") -> str:
    return json.dumps({"reflection": reflection, "objective": objective, "action": action})


def acts(*answers: str) -> Any:
    left = iter(answers)
    return lambda request: next(left)


def test_the_objective_stays_until_there_is_another(play_with: Any) -> None:
    answers = [
        said("take coin", objective="get the coin"),
        said("look", objective=" "),
        said("go east", objective="out"),
    ]
    played = play_with("reflact", answers=HELP | {"act": acts(*answers, said("look"))}, moves=4)
    first, *others = played.by_purpose["act"]
    assert "Present objective" not in first
    objectives = [prompt.split("Present objective: ")[1].split("\n")[0] for prompt in others]
    assert objectives == ["get the coin", "get the coin", "out"]
    assert played.reasons[0] == "so (objective: get the coin)"
    assert played.returns == []


FORMER = {"settings": FORMER_SETTINGS[1]}
WITH_ALL_SECTIONS = {"settings": FORMER_SETTINGS[2]}


@pytest.mark.parametrize("options", [WITH_ALL_SECTIONS, FORMER])
def test_what_is_told_before_each_decision(play_with: Any, options: dict[str, Any]) -> None:
    played = play_with("reflact", ["take coin", "go east", "go west", "look"], HELP, moves=5, **options)
    prompts = played.by_purpose["act"]
    assert "Task: Get rich." in prompts[0]
    assert "> take coin: You pick up the coin" in prompts[1]
    assert "[+1 points; gained coin]" in prompts[1]
    assert "Tried in this room: take coin\n" in prompts[1]
    assert "Tried in this room: (nothing yet)" in prompts[2]
    assert "Tried in this room: take coin, go east\n" in prompts[3]
    assert "You are in hall. You carry: coin." in prompts[3]
    assert "Ways from hall that are known: east to cave." in prompts[3]
    assert ("Worth trying here: take note, go east" in prompts[3]) == (options == FORMER)
    assert ("Worth trying here, and not tried yet: take note\n" in prompts[3]) == (options != FORMER), "one was tried"
    assert "What happened so far:\nIt began." in prompts[3]
    assert ("(your last choice: +1)" in prompts[1]) == (options != FORMER)
    assert "- drop coin\n" in prompts[1]


def test_what_is_known_before_each_decision_without_empty_sections_and_repetitions(play_with: Any) -> None:
    played = play_with("reflact", ["take coin", "go east", "go west", *["look"] * 12], HELP, moves=15)
    prompts = played.by_purpose["act"]
    assert "Task: Get rich." in prompts[0]
    assert "> take coin: (see below) [+1 points; gained coin]" in prompts[1]
    assert "Tried in this room: take coin\n" in prompts[1]
    assert "Tried in this room" not in prompts[2]
    assert "Tried in this room: take coin, go east\n" in prompts[3]
    assert "You are in hall.\nYou carry: coin.\n" in prompts[3]
    assert "Ways from here that are known: east to cave." in prompts[3]
    assert "Worth trying here, and not tried yet: take note\n" in prompts[3]
    assert "What happened so far:\nIt began." in prompts[3]
    assert "(your last choice: +1)" in prompts[1]
    assert "What came of it" not in prompts[3], "the last moves say it"
    assert any("What came of it before the last moves:\n> go east" in prompt for prompt in prompts)
    for prompt in prompts:
        assert "(nothing yet)" not in prompt
        assert "nothing that is known" not in prompt
        assert "\n\n\n" not in prompt


def test_hints_are_asked_once_a_room_and_expire(play_with: Any) -> None:
    actions = ["look", "take coin", "go east", "look", "go west", *["look"] * 10]
    played = play_with("reflact", actions, HELP, moves=14)
    rooms = [prompt.split("-= ")[1].split(" =-")[0] for prompt in played.by_purpose["hint"]]
    assert rooms == ["Hall", "Cave"]
    in_hall = [prompt for prompt in played.by_purpose["act"] if "You are in hall." in prompt]
    shown = ["not tried yet: take note" in prompt for prompt in in_hall]
    assert shown[:7] == [True] * 7
    assert not any(shown[-4:])
    assert sorted(shown, reverse=True) == shown


def test_the_former_agent_asks_for_hints_whenever_it_enters_a_room(play_with: Any) -> None:
    played = play_with("reflact", ["look", "take coin", "go east", "look", "go west"], HELP, moves=6, **FORMER)
    rooms = [prompt.split("-= ")[1].split(" =-")[0] for prompt in played.by_purpose["hint"]]
    assert rooms == ["Hall", "Cave", "Hall"]
    assert "Tried in this room already: look, take coin, go east" in played.by_purpose["hint"][2]


def test_the_record_grows_by_what_is_new_and_is_written_anew_when_it_is_long(play_with: Any) -> None:
    said_of = iter(["It began.", "", "x" * 1400, "y" * 300, "All in short."])
    answers = HELP | {"summarise": lambda request: {"summary": next(said_of, "")}}
    played = play_with("reflact", ["look"] * 30, answers, moves=28)
    asked = played.by_purpose["summarise"]
    assert "\n> look" in asked[1]
    assert asked[1].count("\n> look") == 5, "the moves since the last time"
    assert "The record until now:\nIt began.\n" in asked[2], "nothing was new"
    assert "Add what is new" in asked[3]
    assert "Write four to six sentences" in asked[4]
    assert played.agent.summary == "All in short."


def test_summaries_come_every_five_moves_and_with_points(play_with: Any) -> None:
    actions = ["go east", "go west", "take coin", "go east", "go west", "examine note", "go east", "go west", "go east"]
    played = play_with("reflact", actions, HELP, moves=9)
    purposes = [request.purpose for request in played.requests if request.purpose in ("act", "summarise")]
    assert "".join({"act": "a", "summarise": "S"}[purpose] for purpose in purposes) == "aaaSaaaaaSa"
    assert "The record until now:\n(nothing yet)" in played.by_purpose["summarise"][0]
    assert "The record until now:\nIt began." in played.by_purpose["summarise"][1]


def test_the_critic_speaks_once_and_the_model_decides(play_with: Any) -> None:
    answers = [
        said("go up"),
        said("go up"),
        said("take coin"),  # after the objection
        said("go up"),
        said("go up"),  # kept
        said("look"),
    ]
    played = play_with("reflact", answers=HELP | {"act": acts(*answers)}, moves=4)
    assert [record.decision.action for record in played.records[1:]] == ["go up", "take coin", "go up", "look"]
    assert played.agent.verdicts == {"rejected": 2, "changed": 1, "kept": 1}
    objection = played.requests[3].messages[-1].content
    assert objection.startswith('Wait: "go up" is unlikely to help, since that way was blocked here before.')
    assert 'What was not tried here is, for example, "take note".' in objection, "the first hint"
    assert played.requests[3].messages[-2].role == "assistant"
    assert "the critic was against 'go up', since that way was blocked here before: changed" in played.reasons[1]
    assert "the critic was against 'go up', since that way was blocked here before: kept" in played.reasons[2]
    assert "critic" not in played.reasons[3]


def test_the_critic_can_replace_an_action_without_a_call(play_with: Any) -> None:
    answers = [said("go up"), said("go up"), said("look")]
    settings = ReflActSettings(critic="replace")
    played = play_with("reflact", answers=HELP | {"act": acts(*answers)}, moves=3, settings=settings)
    assert [record.decision.action for record in played.records[1:]] == ["go up", "take note", "look"], "the first hint"
    assert played.agent.verdicts == {"rejected": 1, "replaced": 1}
    assert len(played.by_purpose["act"]) == 3, "nothing was asked twice"
    assert played.reasons[1].startswith("in place of 'go up': that way was blocked here before")


def test_a_look_breaks_a_hard_loop(play_with: Any) -> None:
    settings = ReflActSettings(hard_loop=3, max_repeats=9)
    answers = [said("examine coin")] * 10
    played = play_with("reflact", answers=HELP | {"act": acts(*answers)}, moves=5, settings=settings)
    actions = [record.decision.action for record in played.records[1:]]
    assert actions == ["examine coin", "examine coin", "examine coin", "look", "examine coin"]
    assert played.agent.verdicts["broken"] == 1


@pytest.mark.parametrize("wrong", [{"critic": "never"}, {"hard_loop": -1}])
def test_settings_that_cannot_be_used_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        ReflActSettings(**wrong)


def test_questions_to_the_memory_cost_no_move(play_with: Any) -> None:
    answers = [said("memory: where is the coin?"), said("Memory: unexplored exits"), said("take coin")]
    played = play_with("reflact", answers=HELP | {"act": acts(*answers)}, moves=1)
    assert played.play.moves == 1
    assert played.agent.questions == 2
    assert played.records[-1].decision.action == "take coin"
    asked = [request for request in played.requests if request.purpose == "act"]
    assert asked[1].messages[-1].content == "Your memory: coin is in Hall.\n\nAsk once more, or give a command."
    assert asked[2].messages[-1].content == "Your memory: Ways never taken: east from hall.\n\nGive a command now."
    assert [message.role for message in asked[2].messages] == ["system", "user", *["assistant", "user"] * 2]


def test_asking_on_and_on_is_no_decision(play_with: Any) -> None:
    played = play_with("reflact", answers=HELP | {"act": said("memory: where am i")}, moves=2)
    assert played.play.unparsable == 2
    assert played.agent.failures == {"act": 2}
    assert "asked its memory 3 times, and gave no command" in played.records[1].decision.problem
    assert "Nothing was done with your last answer: the model asked its memory" in played.by_purpose["act"][3]


def test_helpers_that_give_no_usable_answer_are_done_without(play_with: Any) -> None:
    played = play_with("reflact", ["take coin", "look"], {"hint": "try things", "summarise": "[]"}, moves=2)
    assert played.agent.failures == {"hint": 1, "summarise": 1}
    assert played.play.unparsable == 0
    assert "no use could be made of the answer for 'hint'" in played.reasons[0]
    assert "no use could be made of the answer for 'summarise'" in played.reasons[1]


class Tavern(Environment):
    """Two rooms and a gnome who never says anything new; the state of the world is the room alone."""

    id = "tavern-v1"

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        self.room = "Tavern"
        return self._description(), self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        moved = action in ("go east", "go west")
        if moved:
            self.room = "Yard" if self.room == "Tavern" else "Tavern"
        text = self._description() if moved or action == "look" else "The gnome shrugs. He seems to wait for something."
        return text, 0.0, False, False, self._info()

    def truth(self) -> Truth:
        return Truth(frozenset())

    def _description(self) -> str:
        way = "east" if self.room == "Tavern" else "west"
        return f"-= {self.room} =-\nYou are in the {self.room}. There is an exit to the {way}."

    def _info(self) -> Info:
        return Info(state=self.room)


def test_a_stalled_conversation_is_thought_about(play_with: Any) -> None:
    talk = [f"ask gnome about {topic}" for topic in "abcdefghijklmnopqrstuvw"]
    played = play_with("reflact", talk, HELP, moves=22, world=Tavern())
    before_act = [request.purpose for request in played.requests if request.purpose in ("act", "talk")]
    positions = [
        number - before_act[:number].count("talk") for number, purpose in enumerate(before_act) if purpose == "talk"
    ]
    assert positions == [10, 15, 20], "after ten moves without points, then every five moves"
    assert played.by_purpose["talk"][0].count("The gnome shrugs.") == 10
    assert "About the conversation here: a beer Try: give beer to gnome" in played.by_purpose["act"][10]


def test_leaving_the_room_ends_the_thought(play_with: Any) -> None:
    talk = [f"ask gnome about {topic}" for topic in "abcdefghij"]
    played = play_with("reflact", [*talk, "go east", "go west", "say hello"], HELP, moves=14, world=Tavern())
    prompts = played.by_purpose["act"]
    assert "a beer" in prompts[10]
    assert "a beer" not in prompts[11], "the yard"
    assert "a beer" in prompts[12], "back in the tavern, it is thought about anew"
    assert len(played.by_purpose["talk"]) == 2


def test_a_loop_of_states_is_told_and_the_critic_stricter(play_with: Any) -> None:
    actions = ["sing", "dance", "jump", "sing", "wave", "look"]
    played = play_with("reflact", actions, HELP, moves=5, world=Tavern())
    prompts = played.by_purpose["act"]
    assert "The whole game was in this very state 1 times before." in prompts[1]
    assert "LOOP: the whole game was in this very state 3 times before." in prompts[3]
    assert played.agent.verdicts == {"rejected": 1, "changed": 1}, "once in vain is enough in a loop"
    assert [record.decision.action for record in played.records[1:]] == ["sing", "dance", "jump", "wave", "look"]


class Street(Tavern):
    """Rooms of one name, and a digest of the state for each."""

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        self.number = 0
        return super().reset(seed)

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        self.number += action == "go east"
        return self._description(), 0.0, False, False, self._info()

    def _info(self) -> Info:
        return Info(state=str(self.number))


def test_rooms_of_one_name_are_told_apart_by_the_state_of_the_world(play_with: Any) -> None:
    played = play_with("reflact", ["go east"] * 5 + ["go west"] * 2, HELP, moves=7, world=Street())
    assert played.agent.verdicts == {"rejected": 1, "changed": 1}, "a long street is no loop; a wall is one"
    assert len(played.by_purpose["hint"]) == 1, "once for a name"
    assert "> go east: -= Tavern =-" in played.by_purpose["act"][4]
    assert "[led elsewhere]" in played.by_purpose["act"][4]


@pytest.mark.parametrize("damaged", [0.0, 0.4])
def test_plays_on_and_on_and_the_same_again(damaged: float, play_with: Any) -> None:
    def run() -> Any:
        model = FakePlayer(2, damaged=damaged).complete
        return play_with("reflact", model=model, world=ScriptedWorld(tiny_house, seed=4), moves=45)

    first, second = run(), run()
    assert first.play.moves == 45 or first.play.won
    assert first.play.moves > 30
    assert [r.decision for r in first.records] == [r.decision for r in second.records]
    assert first.requests == second.requests
    assert bool(first.agent.failures) == bool(damaged)
