"""The checks: each attacks one promise, and says what it found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, TypeAlias

from worldthread_lab.bench.adversarial.system import System
from worldthread_lab.bench.adversarial.systems import SYSTEMS

Verdict: TypeAlias = Literal["kept", "broken", "not claimed"]
_USERS: Final = ("anna", "Anna", "anna2", "ann", "a_na", "anna%", "anna.b", "anna/b", "änna", "bob")
_ODD_USERS: Final = ("anna", "anna ", " anna", "anna\n", "*", "anna*", "", "' OR 1=1 --", '{"user": "anna"}', "null")
_THREADS: Final = 8
_EACH: Final = 12
_KILLS: Final = 3


@dataclass(frozen=True)
class Result:
    """What a check found.

    Args:
        check: the promise.
        verdict: whether it was kept; ``"not claimed"`` where the system does not give it and does not keep it.
        found: numbers behind the verdict, or what the system says instead.
    """

    check: str
    verdict: Verdict
    found: str


Open: TypeAlias = Callable[[], System]
Check: TypeAlias = Callable[[str, Path], "tuple[bool, str]"]


@contextmanager
def _opened(name: str, folder: Path) -> Iterator[System]:
    system = SYSTEMS[name](folder)
    try:
        yield system
    finally:
        system.close()


def _secret(number: int) -> str:
    return f"zq{number * 7919:06d}xv"


def _write_and_delete(name: str, folder: Path) -> list[str]:
    """Write 20 texts, delete half of them, and return the words that only the deleted ones hold."""
    with _opened(name, folder) as system:
        ids = [system.write("anna", f"The code of locker {n} is {_secret(n)}.", float(n)) for n in range(20)]
        for id_ in ids[::2]:
            system.delete("anna", id_)
    return [_secret(number) for number in range(0, 20, 2)]


def _deleted_is_not_found(name: str, folder: Path) -> tuple[bool, str]:
    gone = _write_and_delete(name, folder)
    with _opened(name, folder) as system:  # opened anew: a cache shows nothing
        listed = " ".join(system.texts("anna"))
        found = " ".join(text for n in range(20) for text in system.found("anna", f"What is the code of locker {n}?"))
        kept = sum(_secret(number) in listed for number in range(1, 20, 2))
    left = sum(word in listed or word in found for word in gone)
    return left == 0 and kept == 10, f"{left} of 10 deleted texts are found, {kept} of 10 others are there"


def _deleted_is_not_in_the_files(name: str, folder: Path) -> tuple[bool, str]:
    gone = _write_and_delete(name, folder)
    data = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    left = sum(word.encode() in data or word.encode("utf-16-le") in data for word in gone)
    return left == 0, f"{left} of 10 deleted texts are in the files after closing"


def _acknowledged_survives(name: str, folder: Path) -> tuple[bool, str]:
    acknowledged: list[str] = []
    for number in range(_KILLS):
        writer = subprocess.Popen(
            [sys.executable, "-m", "worldthread_lab.bench.adversarial.writer", name, str(folder), str(number)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ,
        )  # fmt: skip
        assert writer.stdout is not None
        for count, line in enumerate(writer.stdout):
            acknowledged.append(line.strip())
            if count == 5 + 6 * number:
                writer.send_signal(signal.SIGKILL)
        writer.wait()
    with _opened(name, folder) as system:
        present = set(system.texts("anna"))
    lost = [text for text in acknowledged if text not in present]
    return bool(acknowledged) and not lost, (
        f"{len(lost)} of {len(acknowledged)} acknowledged texts lost over {_KILLS} kill -9"
    )


def _users_mix(name: str, folder: Path, users: Sequence[str]) -> tuple[bool, str]:
    problems: list[str] = []
    ids: dict[int, str] = {}
    with _opened(name, folder) as system:
        for number, user in enumerate(users):
            try:
                ids[number] = system.write(user, f"My secret is {_secret(number)}.", 1.0)
            except Exception:  # a name that a system does not take, it cannot mix up either
                continue
        system.delete(users[0], ids[0])
        for number in ids:
            user = users[number]
            seen = " ".join([*system.texts(user), *system.found(user, "What is the secret?")])
            others = [other for other in range(len(users)) if other != number and _secret(other) in seen]
            if others or (_secret(number) in seen) != (number > 0):
                problems.append(repr(user))
    return not problems and len(ids) > 1, (
        f"{len(problems)} of {len(ids)} users see too much or too little{': ' * bool(problems)}{', '.join(problems)}; "
        f"{len(users) - len(ids)} names refused"
    )


def _plain_users_never_mix(name: str, folder: Path) -> tuple[bool, str]:
    return _users_mix(name, folder, _USERS)


def _odd_users_never_mix(name: str, folder: Path) -> tuple[bool, str]:
    return _users_mix(name, folder, _ODD_USERS)


_STAYS: Final = (
    "Anna lives in Rome.", "Bob lives in Oslo.", "Anna's sister lives in Paris.", "Anna likes tea.",
    "Anna likes coffee.", "Bob likes tea.", "Anna has a dog.", "Anna has a cat.", "Bob works for Acme.",
    "Anna speaks Spanish.", "Anna speaks Greek.", "Carl knows Anna.",
)  # fmt: skip


def _true_facts_stay(name: str, folder: Path) -> tuple[bool, str]:
    with _opened(name, folder) as system:
        for number, text in enumerate([*_STAYS, *(text for text in _STAYS[:6])]):
            system.write("anna", text, float(number))
        missing = [text for text in _STAYS if text not in system.found("anna", text)]
    return not missing, f"{len(missing)} of {len(_STAYS)} true sentences are not found any more"


_MOVES: Final = (("Rome", 10.0), ("Paris", 20.0), ("Oslo", 30.0))
_WHERE: Final = "Where does Anna live?"


def _moved(system: System, order: Sequence[int]) -> None:
    for index in order:
        place, at = _MOVES[index]
        system.write("anna", f"Anna lives in {place}.", at)


def _what_ended_is_not_found(name: str, folder: Path) -> tuple[bool, str]:
    with _opened(name, folder) as system:
        _moved(system, (0, 1, 2))
        found = " ".join(system.found("anna", _WHERE))
    old = sum(place in found for place, _ in _MOVES[:-1])
    return old == 0 and "Oslo" in found, f"{old} of 2 former places are found as present"


def _time_travel(name: str, folder: Path) -> tuple[bool, str]:
    wrong = asked = 0
    with _opened(name, folder) as system:
        _moved(system, (1, 2, 0))
        for at in (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0):
            held = [place for place, start in _MOVES if start <= at][-1:]
            try:
                found = " ".join(system.found_at("anna", _WHERE, at))
            except NotImplementedError:
                return False, "it cannot be asked about the past"
            asked += 1
            wrong += [place for place, _ in _MOVES if place in found] != held
    return wrong == 0, f"{wrong} of {asked} answers about the past are wrong"


def _order_does_not_matter(name: str, folder: Path) -> tuple[bool, str]:
    seen = set()
    for number, order in enumerate(permutations(range(len(_MOVES)))):
        own = folder / str(number)
        own.mkdir()
        with _opened(name, own) as system:
            _moved(system, order)
            seen.add((tuple(sorted(system.texts("anna"))), tuple(sorted(system.found("anna", _WHERE)))))
    return len(seen) == 1, f"{len(seen)} different memories from 6 orders of the same 3 texts"


def _concurrency(name: str, folder: Path) -> tuple[bool, str]:
    texts = [[f"Thread {t} wrote note {n}." for n in range(_EACH)] for t in range(_THREADS)]
    with _opened(name, folder) as system:

        def write(own: list[str]) -> list[str]:
            failed = []
            for number, text in enumerate(own):
                try:
                    system.write("anna", text, float(number))
                    system.found("anna", text)
                except Exception as error:
                    failed.append(type(error).__name__)
            return failed

        with ThreadPoolExecutor(_THREADS) as pool:
            errors = [error for failed in pool.map(write, texts) for error in failed]
    with _opened(name, folder) as system:
        present = system.texts("anna")
    wanted = sorted(text for own in texts for text in own)
    lost, twice = len(set(wanted) - set(present)), len(present) - len(set(present))
    return sorted(present) == wanted and not errors, (
        f"{_THREADS} threads, {len(wanted)} texts: {len(errors)} errors"
        f"{' (' * bool(errors)}{', '.join(sorted(set(errors)))}{')' * bool(errors)}, {lost} lost, {twice} twice"
    )


CHECKS: Final[Mapping[str, Check]] = {
    "deleted texts are not found": _deleted_is_not_found,
    "deleted texts are not in the files": _deleted_is_not_in_the_files,
    "what was acknowledged survives a kill": _acknowledged_survives,
    "users never see each other's texts": _plain_users_never_mix,
    "nor do users with odd names": _odd_users_never_mix,
    "what is true stays": _true_facts_stay,
    "what no longer holds is not found": _what_ended_is_not_found,
    "a question about the past gets what held then": _time_travel,
    "the order of arrival does not matter": _order_does_not_matter,
    "threads write at one time": _concurrency,
}
"""The checks by the promise that they attack."""


def run(name: str, only: Sequence[str] = ()) -> Iterator[Result]:
    """Attack a system, each check in a new folder.

    Args:
        name: a key of :data:`~worldthread_lab.bench.adversarial.systems.SYSTEMS`.
        only: the checks to run; empty for all.

    Yields:
        What each check found.
    """
    for check, attack in CHECKS.items():
        if only and check not in only:
            continue
        with TemporaryDirectory(prefix="worldthread-adversarial-") as folder:
            try:
                with redirect_stdout(sys.stderr):  # systems print too
                    kept, found = attack(name, Path(folder))
            except Exception as error:  # of the system: a broken promise too
                kept, found = False, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        reason = SYSTEMS[name].not_claimed.get(check)
        known = SYSTEMS[name].known.get(check)
        if kept:
            yield Result(check, "kept", found)
        elif reason is not None:
            yield Result(check, "not claimed", f"{found}; {reason}")
        else:
            yield Result(check, "broken", f"{found}; known: {known}" if known else found)
