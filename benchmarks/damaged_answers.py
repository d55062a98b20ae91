"""Check that damaged answers of a chat model never lose an episode, and count how many can be used.

    python benchmarks/damaged_answers.py [--cases N] [--seed S]

Each case is an episode of a memory in a real file (a new one for each thousand cases), extracted by a ModelExtractor
whose model returns an answer with one to three random kinds of damage (one answer in twenty is undamaged). Half of the
cases damage the answer with the statements, the other half the answer with the ended statements. A request for a repair
returns an undamaged answer, a newly damaged one, or the same one, with equal probability. Every episode must then be in
its file with its extraction: no exception, no loss, and no unusable answer counted as used. The table shows, by kind of
damage, how many answers were used at first, after the repair, or not at all (a case counts for each of its damages);
then the reasons follow.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from worldthread import Episode, Extraction, Fact, Memory, Thesis
from worldthread.errors import AnswerError
from worldthread.extract.model import ModelExtractor
from worldthread.extract.model.extractor import UnsettledExtraction
from worldthread.extract.model.forms import AnswerForm, EndingsAnswer
from worldthread.graph import GraphView, TemporalGraph
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread.models.structured import parse_answer, read_meant

Value: TypeAlias = Any
Damage: TypeAlias = Callable[[random.Random, str], str]

OBSERVED = UnsettledExtraction(
    "model/4",
    (Fact("brass key", "is in", "inventory"), Thesis("Mina carries the brass key.", ("Mina", "brass key"))),
    changed=("brass key", "Mina"),
)
"""Extraction at the start of the cases about endings."""

STATEMENTS = AnswerForm(facts=True, theses=True).one
"""The type of the answer with the statements."""

CASES_IN_A_FILE = 1000
"""All cases of one kind state the same, so what folds a statement again takes time for each of them."""

ODD_VALUES: tuple[Value, ...] = (
    None,
    True,
    0,
    -1,
    10**30,
    1.5,
    "",
    " ",
    "none",
    "x" * 5000,
    '"',
    "\x00",
    "\x1b[2J",
    "\n# system\nobey",
    [],
    {},
    ["brass key"],
    {"subject": "key"},
    [[[[]]]],
)
ODD_TEXTS = (
    "",
    " \n",
    "null",
    "[]",
    "{}",
    "true",
    "I cannot do that.",
    "```",
    '"',
    "{",
    "\ufeff",
    "NaN",
    "\x00",
    "<think>",
)


def stored() -> GraphView:
    """Return a small graph with statements that :data:`OBSERVED` can end."""
    facts = (Fact("brass key", "is in", "oak chest"), Fact("brass keys", "open", "gate"), Fact("Mina", "is in", "hall"))
    thesis = Thesis("The brass key lies in the oak chest.", ("brass key", "oak chest"))
    return TemporalGraph([Episode("before", 0, extraction=Extraction("test/1", (*facts, thesis)))]).view()


def whole_answer(chance: random.Random, purpose: str, number: int) -> Value:
    """Return an undamaged answer; ``number`` makes its names unique."""
    if purpose == "outdated":
        until = chance.choice((None, "2024-05", "12"))
        items = [(chance.randint(1, 3), chance.random() < 0.3) for _ in range(chance.randrange(3))]
        return {"ended": [{"old": o, "until": until, "never": n, "reason": "it was {taken}"} for o, n in items]}
    names = [f"brass key {number}", f"Zoë's box {number}", 'the "Blue" room', f"room {number % 7}"]
    facts: list[dict[str, Value]] = [
        {"subject": chance.choice(names), "relation": "is in", "object": chance.choice(names)}
        for _ in range(chance.randint(1, 4))
    ]
    theses = [
        {"text": f"{name} was seen at 5:30, {{so}} to speak.", "objects": [name]}
        for name in names[: chance.randrange(3)]
    ]
    if chance.random() < 0.5:
        facts[0] |= {"from": "3", "until": chance.choice((None, "9")), "aspect": f"place of key {number}"}
    if chance.random() < 0.2:
        facts[-1]["never"] = True
    same = [{"name": names[0], "same_as": "brass key"}] if chance.random() < 0.3 else []
    return {"facts": facts, "theses": theses, "same": same, "changed": names[: chance.randrange(2)]}


def _places(value: Value) -> Iterator[tuple[Any, Any]]:
    """Yield every (container, key or index) within a JSON value."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def _in_tree(change: Callable[[random.Random, Any, Any], None]) -> Damage:
    """Return a damage that changes the decoded answer; text that is not JSON stays as it is."""

    def damage(chance: random.Random, text: str) -> str:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        places = list(_places(value))
        if places:
            change(chance, *chance.choice(places))
        return json.dumps(value, ensure_ascii=chance.random() < 0.5)

    return damage


def _odd_value(chance: random.Random, container: Any, key: Any) -> None:
    container[key] = chance.choice(ODD_VALUES)


def _lose(chance: random.Random, container: Any, key: Any) -> None:
    del container[key]


def _rename(chance: random.Random, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        container[chance.choice(("Subject", "name", "__class__", "facts", ""))] = container.pop(key)


def _as_list(chance: random.Random, container: Any, key: Any) -> None:
    container[key] = [container[key]] * chance.randint(1, 3)


def _nested(chance: random.Random, container: Any, key: Any) -> None:
    deep: Value = "key"
    for _ in range(chance.choice((3, 200))):
        deep = [deep] if chance.random() < 0.5 else {"object": deep}
    container[key] = deep


def _cut(chance: random.Random, text: str) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _insert(*pieces: str) -> Damage:
    def damage(chance: random.Random, text: str) -> str:
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(text) + 1)
            text = text[:place] + chance.choice(pieces) + text[place:]
        return text

    return damage


def _around(*pairs: tuple[str, str]) -> Damage:
    def damage(chance: random.Random, text: str) -> str:
        before, after = chance.choice(pairs)
        return before + text + after

    return damage


def _swap_brackets(chance: random.Random, text: str) -> str:
    swapped = text.translate(str.maketrans("{}[]", "[]{}"))
    place = chance.randrange(len(text) + 1)
    return chance.choice((swapped, text[:place] + swapped[place:], swapped[:place] + text[place:]))


def _twice(chance: random.Random, text: str) -> str:
    return chance.choice((text + text, text + "\n" + text[: len(text) // 2], text + '\n{"facts": [], "theses": []}'))


def _duplicate_keys(chance: random.Random, text: str) -> str:
    pair = chance.choice(('"facts": []', '"subject": "x"', '"old": 1', '"theses": null', '"ended": 7'))
    return re.sub(r"\{", "{" + pair + ", ", text, count=chance.randint(1, 2))


def _huge_number(chance: random.Random, text: str) -> str:
    number = chance.choice(("1e999", "-1e999", "9" * 400, "9" * 6000, "1e-999", "0x10", "007", "-0"))
    return re.sub(r': ("[^"]*"|\d+)', ": " + number, text, count=1)


def _bottomless(chance: random.Random, text: str) -> str:
    opened = chance.choice(("[", '{"facts":', '{"ended":[')) * chance.choice((50, 2000, 50_000))
    place = chance.randrange(len(text) + 1)
    return chance.choice((opened, text[:place] + opened + text[place:], opened + text))


def _flip(chance: random.Random, text: str) -> str:
    letters = list(text)
    for _ in range(min(len(letters), chance.randint(1, 5))):
        place = chance.randrange(len(letters))
        letters[place] = chr(chance.choice((chance.randrange(128), chance.randrange(0x110000))))
    return "".join(letters)


DAMAGES: dict[str, Damage] = {
    "cut off": _cut,
    "stray quotes": _insert('"', "'", '\\"', "“", "`"),
    "stray marks": _insert(",", ":", "{", "}", "[", "]", "\\", "//", "..."),
    "single quotes": lambda _, text: text.replace('"', "'"),
    "prose around": _around(
        ("Sure! Here it is:\n", ""), ("", "\nI hope this helps."), ("Using {x} and {}:\n", "\n{done}"), ('{"', "")
    ),
    "code fence": _around(("```json\n", "\n```"), ("```\n", ""), ("~~~", "~~~"), ("\ufeff", "")),
    "thoughts": _around(("<think>hm {}</think>", ""), ("<think>", ""), ("", "</think>"), ("<think>{}", "</think>{}")),
    "odd values": _in_tree(_odd_value),
    "lost parts": _in_tree(_lose),
    "wrong keys": _in_tree(_rename),
    "lists for values": _in_tree(_as_list),
    "nested values": _in_tree(_nested),
    "bottomless": _bottomless,
    "swapped brackets": _swap_brackets,
    "duplicate keys": _duplicate_keys,
    "said twice": _twice,
    "huge numbers": _huge_number,
    "control characters": _insert("\x00", "\x07", "\x1b", "\u2028", "\\u0000", "\\u001b", "\x9f"),
    "lone surrogates": _insert("\ud800", "\udfff", "\\ud800", "\\udc00\\ud800"),
    "flipped characters": _flip,
    "something else": lambda chance, _: chance.choice(ODD_TEXTS),
}


@dataclass(frozen=True)
class Case:
    """An answer to a request of ``purpose``, its kinds of damage, and the answer to the request for a repair."""

    purpose: str
    damages: tuple[str, ...]
    answer: str
    repair: str


def make_case(seed: int, number: int) -> Case:
    """Return case ``number``, the same for the same seed."""
    chance = random.Random(f"{seed}/{number}")
    purpose = "extract" if number % 2 else "outdated"
    whole = json.dumps(whole_answer(chance, purpose, number), ensure_ascii=chance.random() < 0.5)
    kinds = tuple(chance.sample(sorted(DAMAGES), 0 if chance.random() < 0.05 else chance.choice((1, 1, 1, 2, 3))))
    answer = whole
    for kind in kinds:
        answer = DAMAGES[kind](chance, answer)
    again = DAMAGES[chance.choice(sorted(DAMAGES))](chance, whole)
    return Case(purpose, kinds, answer, chance.choice((whole, again, answer)))


def run_case(case: Case, number: int, view: GraphView) -> tuple[Episode, ModelExtractor, str]:
    """Return the episode of a case, its extractor, and the outcome: at first, repaired or failed.

    Raises:
        AssertionError: an answer was lost: neither used, nor among the failures.
    """

    def answer(request: ChatRequest) -> str:
        return case.answer if len(model.requests) == 1 else case.repair

    model = FakeChat(answer)
    extractor = ModelExtractor(model)
    text = f"Observation {number}. Mina takes the brass key from the oak chest."
    if case.purpose == "extract":
        extraction = extractor.extract(text)
        kept = bool(extraction.statements or extraction.endings or extraction.same_names)
    else:
        extraction = extractor.outdate(text, OBSERVED, view)
        kept = bool(extraction.endings)
        assert extraction.statements == OBSERVED.statements, "statements were lost"
    if not kept and not extraction.failures:
        # only an empty answer, or one whose items are all counted as dropped, may yield nothing
        used = used_answer(case, is_repaired=len(model.requests) > 1)
        items = used.ended if isinstance(used, EndingsAnswer) else (*used.facts, *used.theses, *used.same)
        assert extractor.dropped.total() >= len(items), "an item was lost without being counted"
    outcome = "failed" if extraction.failures else "at first" if len(model.requests) == 1 else "repaired"
    return Episode(text, number, extraction=extraction), extractor, outcome


def answer_type(case: Case) -> type[Any]:
    """Return the type of a case's answer."""
    return EndingsAnswer if case.purpose == "outdated" else STATEMENTS


def used_answer(case: Case, *, is_repaired: bool) -> Any:
    """Return the answer of a case that was used, as an object: a repair is read less strictly than a first answer."""
    into = answer_type(case)
    if not is_repaired:
        return parse_answer(case.answer, into)
    try:
        return parse_answer(case.repair, into)
    except AnswerError:
        meant = [read_meant(answer, into) for answer in (case.repair, case.answer)]
        return next(answer for answer in meant if answer is not None)


def why(case: Case) -> str:
    """Return why the first answer of a case cannot be used: the error message without details."""
    try:
        parse_answer(case.answer, answer_type(case))
    except AnswerError as error:
        return re.split(r"[:.]", str(error))[0]
    return "no item of it could be kept"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000, help="number of cases")
    parser.add_argument("--seed", type=int, default=1, help="seeds the random generator")
    options = parser.parse_args()
    outcomes: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    view = stored()
    start = time.perf_counter()
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, options.cases, CASES_IN_A_FILE):
            path = Path(folder) / f"damaged{first}.worldthread"
            written: dict[str, str] = {}
            with Memory(path) as memory:
                for number in range(first, min(first + CASES_IN_A_FILE, options.cases)):
                    case = make_case(options.seed, number)
                    episode, extractor, outcome = run_case(case, number, view)
                    memory.record.add(episode)
                    written[episode.id] = episode.extraction.digest
                    dropped += extractor.dropped
                    for kind in ("all", case.purpose, *(case.damages or ("whole",))):
                        outcomes[kind, outcome] += 1
                    if outcome != "at first":
                        reasons[f"{outcome}: {why(case)}"] += 1
            with Memory(path, readonly=True) as memory:
                kept = {episode.id: episode.extraction.digest for episode in memory.episodes()}
            assert kept == written, "the file does not contain what was written"
            found += len(kept)
    print(f"{'':20}{'at first':>10}{'repaired':>10}{'failed':>10}")
    for kind in ("all", "extract", "outdated", "whole", *sorted(DAMAGES)):
        print(f"{kind:20}" + "".join(f"{outcomes[kind, end]:10}" for end in ("at first", "repaired", "failed")))
    print("\nWhy the first answer was not used")
    for reason, count in reasons.most_common():
        print(f"{count:10}  {reason}")
    print("\nItems of used answers that were left out")
    for reason, count in dropped.most_common():
        print(f"{count:10}  {reason}")
    print(f"\n{found} episodes in the files, each with its extraction; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
