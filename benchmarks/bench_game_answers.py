"""Measure whether what a client of the game server is told is so, along the walkthroughs of Z-machine games.

Plays the first moves of jericho's own walkthrough through the tools of the game server, in this process. After every
move it asks `room_state`, and "where is X" for every thing that was in view and named, by every noun that the game or
the command used for it, and compares the answers with the engine's tree of objects. An agent never sees a walkthrough.

carried, moved, seen   "where is X" of what can be taken: carried; elsewhere than at the beginning; where it always was
fixture                the same of what cannot be taken: scenery, doors, people
room                   "where is X" of the room in which the player is, and of every known room
here, inventory        what `room_state` lists here and as carried; asked: what was in view and named
scenery                the part of "here" that cannot be taken
ways, blocked          the ways that `room_state` knows, offers or denies; asked: the ways walked from here
state                  open or closed, on or off, of what `room_state` lists; asked: what was switched or opened in view
deed                   a command that failed and then worked: the search names the success first
clean                  no answer has the digest of a room's description

A question is *right* when an answer says so and nothing in it is false, *silent* when nothing is said of it, *false*
when anything in it is not so.

    python benchmarks/bench_game_answers.py GAME... [--moves 60] [--list none] [--mistakes 20] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final

from mcp import Client

from worldthread.names import normalise_name
from worldthread_lab.envs.jericho import open_jericho
from worldthread_lab.envs.zmachine_objects import StoryObjects, TrueTree
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of
from worldthread_lab.mcp.game import ListOfActions, SharedGame
from worldthread_lab.mcp.game_tools import create_game_server
from worldthread_lab.play.audit_story import StoryAuditor, opening_flips, own_open_mark, play_walkthrough
from worldthread_lab.play.true_step import TrueStep

KINDS: Final = (
    "carried", "moved", "seen", "fixture", "room", "here", "scenery", "inventory", "ways", "blocked", "state", "deed",
    "clean",
)  # fmt: skip
VERDICTS: Final = ("right", "silent", "false")
_WORD: Final = re.compile(r"[a-z0-9'-]+")
_DIGEST: Final = re.compile(r"\b[0-9a-f]{8}\b(?:-[0-9a-f]{8})?")
_CLAIM: Final = re.compile(r"(?P<thing>[^.\n]+?) is (?P<seen>seen )?(?P<chain>(?:in|on) [^\n]+?)\.(?= |$)", re.M)
_ROOM: Final = re.compile(r"(?P<room>[^.\n]+?) is a room; (?:from here: )?(?P<way>[^.\n]+)\.")
_NAMED_IN: Final = re.compile(r"^(?:- )?named in (?P<room>.+?): ", re.M)
_STEP: Final = re.compile(r", (?=(?:in|on) )")
_STATES: Final[dict[str, tuple[str, bool]]] = {
    "open": ("open", True), "closed": ("open", False), "locked": ("open", False),
    "on": ("lit", True), "lit": ("lit", True), "burning": ("lit", True), "providing light": ("lit", True),
    "off": ("lit", False), "out": ("lit", False), "unlit": ("lit", False),
}  # fmt: skip
_LIGHTS: Final = re.compile(r"(?:turn|switch) (?:on|off)|(?:light|extinguish|douse|ignite)\b|burn\b", re.I)
_BEFORE: Final = r"(?:the|an?|your|some|this|that|my|his|her|its|their|two|three)"
_AFTER: Final = re.compile(
    r"is|are|was|were|has|have|can|and|or|but|of|on|in|into|onto|with|to|from|at|by|for|here|there|that|which|who|as|"
    r"you|it|lies?|sits?|stands?|hangs?|contains?|leads?|now|seems?|under|over|behind|beside|near|through|up|down|off|out"
)
"""What may follow a noun."""
Answer = tuple[str, str]
"""A verdict and what was wrong."""


class AnswerAuditor(StoryAuditor):
    """Asks a client of the game server after every move, and judges its answers.

    Args:
        story: the story file.
        played: the walkthrough, as played without the server.
        ask: calls a tool with its argument, and returns the text.
    """

    def __init__(self, story: bytes, played: list[TrueStep], ask: Callable[..., str]) -> None:
        super().__init__(story, played, open_mark=own_open_mark(opening_flips(story, played)))
        self._ask = ask
        self._first = played[0].tree
        self._lit_mark = _lit_mark(story, played)
        self._lit: dict[int, bool] = {}
        self._taken: set[int] = set()
        self._used: dict[int, dict[str, None]] = {}  # object -> what the game and the commands called it
        self._things: dict[int, str] = {}  # the answers to "where is X" of this move
        self.counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        self.wrong: Counter[tuple[str, str, str]] = Counter()
        self.first: dict[tuple[str, str, str], int] = {}
        self._turn = 0

    def ask_all(self) -> None:
        """Play and ask."""
        for number, true in enumerate(self._played):
            if true.step.action is not None:
                said = self._ask("play_action", true.step.action)
                opening = " ".join(true.step.text.split())[:60]
                assert opening in " ".join(said.split()), (true.step.action, said, true.step.text)
            self._turn = number
            self._observe(number, true)
            self._observe_lights(number, true)
            self._taken |= {n for n in self._objects if true.tree.player in true.tree.holders(n)}
            self._observe_words(number, true)
            text = self._ask("room_state")
            self._learn_name(number, text)
            self._judge_room(number, true, text)
            self._judge_things(true.tree, self._rooms[number])
        self._judge_deeds()

    # -- what the game used --------------------------------------------------------------------------------------------

    def _observe_lights(self, number: int, true: TrueStep) -> None:
        if not number or self._lit_mark is None:
            return
        before, now = self._played[number - 1].tree, true.tree
        text = f" {' '.join(_WORD.findall(true.step.text.casefold()))} {true.step.action or ''} "
        for n in self._seen & self._movable:
            was, is_lit = (self._lit_mark in tree.attributes[n] for tree in (before, now))
            if was != is_lit:
                self._lit.pop(n, None)
                if self._is_named(n, text, Counter()) or _LIGHTS.match(true.step.action or ""):
                    self._lit[n] = is_lit

    def _observe_words(self, number: int, true: TrueStep) -> None:
        """Take in by which nouns the texts and the commands call what is in view."""
        room, tree = self._rooms[number], true.tree
        here = [n for n in self._seen if self._room_of(tree, n) == room and n != tree.player]
        counts = Counter(word for n in here for word in self._objects[n].words)
        text = re.sub(r"\s+", " ", f"{true.step.text} . {true.step.inventory or ''}".casefold())
        command = true.step.action or ""
        for n in here:
            words = self._objects[n].words
            name = self._objects[n].name.casefold()
            adjectives = set(_WORD.findall(name.split(" of ")[0])[:-1])
            used = self._used.setdefault(n, {})
            if re.search(rf"\b{re.escape(name)}\b", text):
                used[name] = None
            for token in set(_WORD.findall(f"{text} {command}")):
                key = token[: self._story.word_length]
                if key not in words or counts[key] != 1 or token in {*v.OPPOSITE, *adjectives}:
                    continue
                noun = rf"(?P<phrase>(?:[\w'-]+ ){{0,3}}?){re.escape(token)}(?![\w'-])"
                in_text = any(self._is_phrase(n, found) for found in re.finditer(rf"\b{_BEFORE} {noun}", text))
                in_command = any(self._is_phrase(n, found) for found in re.finditer(rf"^\w+ {noun}", command))
                if in_text or in_command:
                    used[token] = None

    def _is_phrase(self, n: int, found: re.Match[str]) -> bool:
        """Whether a phrase consists of words of the object and ends with its noun."""
        length, words = self._story.word_length, self._objects[n].words
        before = [word for word in found["phrase"].split() if not re.fullmatch(_BEFORE, word)]
        after = re.match(r" ([\w'-]+)", found.string[found.end() :])
        ends = after is None or _AFTER.fullmatch(after[1]) is not None
        head = self._objects[n].name.casefold().split()[-1:]  # "the bottle contains": the noun is over already
        return ends and head != before[-1:] and all(word[:length] in words for word in before)

    # -- judging -------------------------------------------------------------------------------------------------------

    def _count(self, kind: str, answer: Answer) -> None:
        verdict, words = answer
        self.counts[kind][verdict] += 1
        if verdict != "right":
            key = (kind, verdict, words)
            self.wrong[key] += 1
            self.first.setdefault(key, self._turn)

    def _learn_name(self, number: int, text: str) -> None:
        name = normalise_name(text.split(";")[0]) if ";" in text.splitlines()[0] else ""
        room = self._rooms[number]
        if name and name != v.DARKNESS and room and self._shown_now:
            self._meaning.setdefault(name, room)

    def _judge_things(self, tree: TrueTree, room: int) -> None:
        self._things.clear()
        for n, parent in self._named.items():
            for word in self._used.get(n, {}):
                if word in self._meaning and word not in self._objects[n].name.casefold().split()[-1:]:
                    continue  # the room is meant
                kind = self._kind_of(n, parent, tree)
                answer = self._answer(word)
                self._count(kind, self._verdict_of(n, word, answer, tree))
        for name, number in list(self._meaning.items()):
            if any(set(self._story.words_of(name)) <= self._objects[n].words for n in self._seen):
                continue  # it may be the name of a thing, too
            answer = self._answer(name)
            told = [claim for claim in _ROOM.finditer(answer) if normalise_name(claim["room"]) == name]
            wrong = next(self._false_ways(answer, room), "")
            verdict = "false" if wrong else "right" if told else "silent"
            self._count("room", (verdict, f"{name} ({number}): {wrong or answer[:90]}"))

    def _answer(self, word: str) -> str:
        if word not in self._things:
            self._things[word] = self._search(f"where is the {word}")
        return self._things[word]

    def _search(self, question: str) -> str:
        text = self._ask("memory_search", question)
        found = _DIGEST.search(text)
        self._count("clean", ("right", "") if found is None else ("false", f"{question}: {found[0]}"))
        return text

    def _kind_of(self, n: int, parent: int, tree: TrueTree) -> str:
        if n not in self._movable:
            return "fixture"
        if tree.player in tree.holders(n):
            return "carried"
        return "seen" if self._first.parents[n] == parent else "moved"

    def _verdict_of(self, n: int, word: str, answer: str, tree: TrueTree) -> Answer:
        told, where = False, self._name(tree.parents[n])
        for claim in _CLAIM.finditer(answer):
            things = self._all_called(normalise_name(claim["thing"])) or self._all_called(word)
            steps = [(step.split(" ", 1)[0], _place_in(step)) for step in _STEP.split(claim["chain"])]
            for relation, place in steps:
                is_so = self._is_so(things, relation, place, tree)
                if claim["seen"] and self._may_be_seen(things, tree):
                    continue
                if is_so is False:
                    return "false", f"where is {word} ({self._name(n)} in {where}): {claim[0]}"
                if self._all_called(place) & self._room_numbers:
                    break  # a car that the engine takes for a room
            told |= n in things and self._is_told(n, [place for _, place in steps], tree)
        for mention in _NAMED_IN.finditer(answer):
            told |= self._meaning.get(normalise_name(mention["room"])) == self._room_of(tree, n)
        wrong = next(self._false_ways(answer, self._room_of(tree, tree.player)), "")
        if wrong:
            return "false", f"where is {word}: {wrong}"
        return ("right" if told else "silent"), f"where is {word} ({self._name(n)} in {where}): {answer[:110]!r}"

    def _is_so(self, things: frozenset[int], relation: str, place: str, tree: TrueTree) -> bool | None:
        """Whether one of the things is in or on a place; what the game calls on a thing it may keep beside it."""
        at = self._is_at(things, place, tree)
        if at is False and relation == "on":
            rooms = {self._room_of(tree, n) for n in self._all_called(place)}
            return None if any(self._room_of(tree, n) in rooms for n in things) else False
        return at

    def _may_be_seen(self, things: frozenset[int], tree: TrueTree) -> bool:
        """Whether things may be seen from the rooms whose texts speak of them: nobody took them, and none is gone."""
        return all(n not in self._taken and (tree.parents[n] or not self._first.parents[n]) for n in things)

    def _is_told(self, n: int, places: list[str], tree: TrueTree) -> bool:
        """Whether the first place is where an object is, or a later one the room in which it is."""
        if self._is_place(places[0], tree.parents[n], tree):
            return True
        return any(self._meaning.get(place) == self._room_of(tree, n) for place in places if place in self._meaning)

    def _false_ways(self, answer: str, here: int) -> Iterator[str]:
        """Yield what an answer says falsely of the way to a room."""
        for claim in _ROOM.finditer(answer):
            goal, way = self._meaning.get(normalise_name(claim["room"])), claim["way"].strip()
            at: int | None = here
            if "no way is known" in way:
                shown = self._ask("map")
                away = re.compile(rf"- {re.escape(claim['room'])} \(\d+ moves?\)", re.I)
                line = next(filter(away.match, shown.splitlines()), "")
                if line:
                    yield f"{claim[0]} but the map: {line[:60]}"
                continue
            for direction in re.findall(r"\b(?:" + "|".join(v.OPPOSITE) + r")\b", way.split("perhaps")[0]):
                at = self._leads.get((at, direction)) if at is not None else None
            if "perhaps" not in way and at is not None and goal is not None and at != goal:
                yield claim[0]

    def _judge_room(self, number: int, true: TrueStep, text: str) -> None:
        room, tree = self._rooms[number], true.tree
        self._count("clean", ("right", "") if _DIGEST.search(text) is None else ("false", "room_state"))
        lines = {line.split(":")[0]: line.partition(":")[2] for line in text.splitlines() if ":" in line}
        here = normalise_name(text.split(";")[0]) if ";" in text.splitlines()[0] else ""
        here = "" if here.startswith("score ") else here  # it is not known where the player is
        if not here or here == v.DARKNESS or not room:
            return
        self._count("room", ("right" if self._meaning.get(here) == room else "false", f"you are in {here}"))
        listed = lines.get("Here", "") + "," + lines.get("Scenery", "")
        found: set[int] = set()
        for thing, holder, states in _things(lines.get("Here", ""), here):
            self._judge_listed(thing, holder, states, tree, found, "here")
        for thing in filter(None, (one.strip(" .") for one in lines.get("Scenery", "").split(","))):
            self._judge_listed(thing, here, [], tree, found, "scenery")
        for thing, holder, states in _things(lines.get("You carry", ""), v.INVENTORY):
            self._judge_listed(thing, holder, states, tree, found, "inventory")
        for n, _ in self._named.items():
            carried = tree.player in tree.holders(n)
            if self._room_of(tree, n) == room and n not in found:
                kind = "scenery" if n not in self._movable else "inventory" if carried else "here"
                if not (kind != "inventory" and " more" in listed):
                    self._count(kind, ("silent", f"{self._name(n)} in {self._name(tree.parents[n])}: {listed[:120]}"))
        self._judge_ways(room, text)

    def _judge_listed(
        self, thing: str, holder: str, states: list[str], tree: TrueTree, found: set[int], kind: str
    ) -> None:
        things = self._all_called(normalise_name(thing))
        if not things:
            return  # nothing that the engine keeps
        at = self._is_so(things, "on", holder, tree)
        if kind == "scenery" and at is False and self._may_be_seen(things, tree):
            at = None
        if at is not None:
            if kind == "here" and not things & self._movable:
                kind = "scenery"
            self._count(kind, ("right" if at else "false", f"{thing} in {holder}"))
        room = self._room_of(tree, tree.player)
        found |= {n for n in things if tree.parents[n] and self._room_of(tree, n) == room}
        told: dict[str, bool] = {}
        for state in states:
            named = _STATES.get(state)
            if named is None:
                continue
            told[named[0]] = named[1]
        for family, mark, expected in (("open", self._open_mark, self._opened), ("lit", self._lit_mark, self._lit)):
            if mark is None or len(things) != 1:
                continue
            (n,) = things
            if family in told:
                is_so = (mark in tree.attributes[n]) == told[family]
                self._count("state", ("right" if is_so else "false", f"{thing} ({', '.join(states)})"))
            elif n in expected:
                self._count("state", ("silent", f"{thing}: {family} {expected[n]}"))

    def _judge_ways(self, room: int, text: str) -> None:
        line = next((line for line in text.splitlines() if line.startswith("Ways: ")), "")
        parts = {
            kind: found[1]
            for kind in ("Ways", "Never taken", "Blocked")
            if (found := re.search(rf"{kind}: (.*?)\.(?= [A-Z]|$)", line))
        }
        told: set[str] = set()
        for way in re.split(r", (?=[a-z]+ to )", parts.get("Ways", "")):
            known = re.match(r"(?P<way>\w+) to (?P<room>[^()]+(?: \(\d+\))?)", way)
            if known is None or known["way"] not in v.OPPOSITE:
                continue
            told.add(known["way"])
            goal = self._meaning.get(normalise_name(known["room"]))
            leads = self._leads.get((room, known["way"]))
            if goal is not None and leads is not None and (room, known["way"]) not in self._barred:
                self._count("ways", ("right" if leads == goal else "false", f"{self._name(room)}: {way}"))
        for kind, exists in (("Never taken", True), ("Blocked", False)):
            for way in re.split(r", ", parts.get(kind, "")):
                direction = way.split(" ")[0]
                leads = self._leads.get((room, direction))
                if direction not in v.OPPOSITE or leads is None:
                    continue
                is_so = (leads != room) == exists or (exists and (room, direction) in self._special)
                words = f"{self._name(room)}: {kind} {way}"
                self._count("ways" if exists else "blocked", ("right" if is_so else "false", words))
        for (start, direction), end in self._walked.items():
            if start == room and self._leads.get((start, direction)) == end and direction not in told:
                self._count("ways", ("silent", f"{self._name(room)}: {direction} to {self._name(end)}"))

    def _judge_deeds(self) -> None:
        """Ask for each command that failed in a room, and then worked there."""
        tried: dict[tuple[int, str], list[bool]] = {}
        for (before, now), room in zip(pairwise(self._played), self._rooms, strict=False):
            done = before.tree != now.tree
            if now.step.action and direction_of(now.step.action) is None:
                tried.setdefault((room, now.step.action), []).append(done)
        for (_, action), outcomes in tried.items():
            if len(outcomes) < 2 or all(outcomes) or not any(outcomes):
                continue
            text = self._search(action)
            at = text.casefold().find(f"> {action.casefold()}:")
            numbers = [n for n, true in enumerate(self._played) if true.step.action == action]
            worked = {n for n in numbers if self._played[n - 1].tree != self._played[n].tree}
            line = text[text.rfind("\n", 0, at) + 1 : at]
            told = re.search(r"move (\d+)", line)
            if at < 0 or told is None:
                self._count("deed", ("silent", f"{action}: {text[:90]!r}"))
            else:
                self._count("deed", ("right" if int(told[1]) in worked else "false", f"{action}: {line}"))


def _lit_mark(story: bytes, played: list[TrueStep]) -> int | None:
    """Return the attribute that commands to light and to switch set on what they name."""
    reader, flips = StoryObjects(story), Counter[int]()
    for before, after in pairwise(played):
        if not _LIGHTS.match(after.step.action or ""):
            continue
        named = set(reader.words_of(after.step.action or "")[1:])
        for n, thing in reader.objects().items():
            if n < len(after.tree.attributes) and thing.words & named:
                flips.update(before.tree.attributes[n] ^ after.tree.attributes[n])
    return flips.most_common(1)[0][0] if flips else None


def _things(listed: str, holder: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the things of an enumeration with asides for states and brackets for contents, with what holds each."""
    depth, start, parts = 0, 0, []
    for at, mark in enumerate(listed):
        depth += (mark in "[(") - (mark in "])")
        if mark == "," and not depth:
            parts.append(listed[start:at])
            start = at + 1
    for part in (*parts, listed[start:]):
        found = re.match(r"\s*(?P<name>[^\[(]+?)\s*(?:\((?P<states>[^()]*)\))?\s*(?:\[(?P<inside>.*)\])?\.?\s*$", part)
        if found is None or found["name"] in ("nothing", "none known") or " more" in found["name"]:
            continue
        yield found["name"].rstrip("."), holder, (found["states"] or "").split(", ")
        if found["inside"]:
            yield from _things(found["inside"], normalise_name(found["name"]))


def _place_in(step: str) -> str:
    """Return the place of "in the Attic (it leads down)", normalised."""
    place = normalise_name(step.split(" ", 1)[1].split(" (")[0].removeprefix("the "))
    return v.INVENTORY if place == "your hands" else place


async def measure(game: str, moves: int, valid_actions: ListOfActions) -> AnswerAuditor:
    """Play a game through a client, and ask."""
    with open_jericho(game, id=f"jericho:{game}", valid_actions=False) as env:
        story, played = env.story, play_walkthrough(env, moves)
    async with Client(create_game_server(SharedGame(f"jericho:{game}", valid_actions=valid_actions))) as client:
        loop = asyncio.get_running_loop()
        names = {"play_action": "action", "memory_search": "query"}

        def ask(tool: str, argument: str | None = None) -> str:
            arguments: dict[str, Any] = {} if argument is None else {names[tool]: argument}
            result: Any = asyncio.run_coroutine_threadsafe(client.call_tool(tool, arguments), loop).result(120)
            return str(result.content[0].text)

        auditor = AnswerAuditor(story, played, ask)
        await asyncio.to_thread(auditor.ask_all)
        return auditor


def main() -> None:
    """Measure the games named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--moves", type=int, default=60)
    parser.add_argument("--list", choices=("ours", "jericho", "none"), default="ours", help="whose valid actions")
    parser.add_argument("--mistakes", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    os.environ.setdefault("WORLDTHREAD_EMBEDDER", "fake")  # "where is" needs none
    together: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for game in arguments.games:
        auditor = asyncio.run(measure(game, arguments.moves, arguments.list))
        for kind, counts in auditor.counts.items():
            together[kind] += counts
        _print(game, auditor.counts, arguments.json)
        for (kind, verdict, words), count in auditor.wrong.most_common(arguments.mistakes):
            print(f"  {count:4} from move {auditor.first[kind, verdict, words]:3}: {kind}, {verdict}: {words}")
    if len(arguments.games) > 1:
        _print("together", together, arguments.json)


def _print(game: str, counts: dict[str, Counter[str]], as_json: bool) -> None:
    rows = {kind: {"asked": found.total(), **{one: found[one] for one in VERDICTS}} for kind, found in counts.items()}
    if as_json:
        print(json.dumps({"game": game, **rows}))
        return
    print(f"{game:12} {'asked':>6} {'right':>6} {'silent':>6} {'false':>6}")
    for kind, row in rows.items():
        if row["asked"]:
            share = f"{row['right'] / row['asked']:.3f}"
            print(f"  {kind:10} {row['asked']:6} {share:>6} {row['silent']:6} {row['false']:6}")


if __name__ == "__main__":
    main()
