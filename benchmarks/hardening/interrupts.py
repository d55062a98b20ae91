"""Press Ctrl-C at random moments: the live object agrees with its file, and goes on working.

    python benchmarks/hardening/interrupts.py [--trials 2000] [--first 0] [--seed N]

Half of the signals come from a timer, at any moment of an operation. The other half come during a chosen system call,
which repeats exactly: Python raises KeyboardInterrupt as soon as that call returns to it. After each, the same object
must show what the file holds; another thread can use it, so no lock is held; no transaction is open; the next change
works. After an interrupted opening or closing, the file can be opened for writing.
"""

from __future__ import annotations

import contextlib
import gc
import math
import random
import signal
import sqlite3
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from faults import CHANGES, READS, Fault, Faults, restart_with_library
from kills import choose as choose_change
from material import (
    EMPTY,
    NAMESPACES,
    Result,
    State,
    Violation,
    attack,
    close_all,
    export_of,
    look,
    make_episode,
    open_memories,
    options,
    outcome,
    perform,
    require_folds,
)  # fmt: skip

from worldthread import Memory

INTERRUPTS = 10
"""Interrupts for each seed, one after another in one memory."""

STUCK_SECONDS = 60.0

_usual: dict[str, float] = {}
"""How long each operation takes without an interrupt, by its name; moments are drawn from that."""


_is_armed = False


def _on_signal(_: int, __: Any) -> None:
    if _is_armed:
        raise KeyboardInterrupt


def interrupted(operation: Callable[[], Any], name: str, chance: random.Random, faults: Faults) -> tuple[bool, str]:
    """Carry out an operation with an interrupt in it.

    Returns:
        Whether it was interrupted, and where in words.

    Raises:
        Violation: another error was raised instead.
    """
    global _is_armed
    by_timer = chance.random() < 0.5
    start = time.perf_counter()
    where = ""
    try:
        _is_armed = True
        if by_timer:
            signal.setitimer(signal.ITIMER_REAL, max(1e-5, chance.uniform(0, 1.2 * _usual.get(name, 0.003))))
        else:
            kinds = chance.choice((CHANGES, CHANGES | READS))
            faults.arm(Fault("interrupt", int(math.exp(chance.uniform(0, math.log(40)))), kinds))
        operation()
        _is_armed = False
        if not by_timer or name not in _usual:
            _usual[name] = 0.7 * _usual.get(name, 0.003) + 0.3 * (time.perf_counter() - start)
        return False, where
    except KeyboardInterrupt as error:
        trace = error.__traceback__
        while trace is not None:
            file = Path(trace.tb_frame.f_code.co_filename)
            if file != Path(__file__):
                where = f"{file.name}:{trace.tb_lineno}"
            trace = trace.tb_next
        return True, where
    except Exception as error:
        _is_armed = False
        raise Violation(f"{name} with an interrupt raised {error!r}") from error
    finally:
        _is_armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        faults.disarm()


class Trial:
    """One memory that is interrupted again and again."""

    def __init__(self, seed: int, folder: Path, result: Result, say: Callable[[str], None]) -> None:
        self._seed = seed
        self._chance = random.Random(f"interrupts {seed}")
        self._folder = folder
        self._path = folder / "m"
        self._result = result
        self._say = say
        self._faults = Faults()
        self._faults.folder(folder)
        self._state: State = EMPTY
        self._memories: dict[str, Memory] = {}

    def run(self) -> None:
        """Interrupt the memory :data:`INTERRUPTS` times; what breaks is noted, and a new memory takes its place."""
        for number in range(40):
            make_episode(number)
        self._memories = open_memories(self._path)
        done = broken = 0
        while done < INTERRUPTS:
            try:
                done += self._step()
            except Violation as violation:
                done += 1
                broken += 1
                self._say(str(violation))
                self._result.violations.append((f"--seed {self._seed}", str(violation)))
                self._close_anyhow()
                self._path = self._folder / f"m{broken}"
                self._state = EMPTY
                self._memories = open_memories(self._path)
        self._close_anyhow()

    def _close_anyhow(self) -> None:
        """Close what may be broken."""
        for memory in self._memories.values():
            with contextlib.suppress(Exception):
                memory.close()

    def _step(self) -> bool:
        chance = self._chance
        name, arguments = self._choose()
        possible = [self._state]
        if name == "import":
            arguments["export"] = export_of(arguments["plan"])
        if name == "close":
            hit, where = interrupted(self._close, name, chance, self._faults)
        elif name == "open":
            hit, where = interrupted(self._reopen, name, chance, self._faults)
        elif name == "read_lock":
            hit, where = interrupted(self._read, name, chance, self._faults)
        else:
            states, error = outcome(self._state, name, arguments)
            if error is not None:
                return False
            possible += states
            memory = self._memories[arguments["where"]]
            hit, where = interrupted(lambda: perform(memory, name, arguments), name, chance, self._faults)
        if not hit:
            self._result.notes["not interrupted, because the operation was quicker"] += 1
            possible = possible[-1:]
        else:
            self._result.trials += 1
            self._result.notes[f"interrupted in {name}"] += 1
            self._say(f"{name} interrupted at {where}")
        try:
            if name in ("close", "open"):
                self._close_again()
            self._check(possible)
        except Violation as violation:
            when = f"interrupted at {where}" if hit else "not interrupted"
            raise Violation(f"{name} {when}: {violation}") from violation
        return hit

    def _choose(self) -> tuple[str, dict[str, Any]]:
        chance = self._chance
        if chance.random() < 0.6:
            name, arguments = choose_change(chance)
            if name == "remember":
                arguments["wait"] = True  # beside a thread that reads it stood still once, not found yet
            return ("close", {}) if name == "reopen" else (name, arguments)
        where = chance.choice(NAMESPACES)
        return chance.choice(
            (
                ("recall", {"where": where, "question": "Where is key 1?", "method": None}),
                ("as_of", {"where": where, "at": 2}),
                ("state_hash", {"where": where}),
                ("read_lock", {}),
                ("close", {}),
                ("open", {}),
            )
        )

    def _read(self) -> None:
        memory = self._memories["default"]
        with memory.record.read_lock() as graph:
            for id_ in graph.episodes():
                memory.episode(id_)
        with memory.record.index():
            memory.stats()

    def _close(self) -> None:
        close_all(self._memories)

    def _reopen(self) -> None:
        global _is_armed
        _is_armed = False
        self._close()
        _is_armed = True
        # nobody can close a memory whose opening was interrupted
        self._memories = open_memories(self._path)

    def _close_again(self) -> None:
        memories, self._memories = self._memories, {}
        try:
            close_all(memories)
        except Exception as error:
            raise Violation(f"it cannot be closed: {error!r}") from error
        del memories
        gc.collect()
        try:
            self._memories = open_memories(self._path)
        except Exception as error:
            raise Violation(f"it cannot be opened again: {error!r}") from error

    def _check(self, possible: list[State]) -> None:
        live = self._in_thread(lambda: look(self._memories), "another thread cannot use it")
        others = open_memories(self._path, readonly=True)
        try:
            held = look(others)
        finally:
            close_all(others)
        if live != held:
            raise Violation("the live object does not show what the file holds")
        state, _ = live
        if state not in possible:
            raise Violation(f"it is in a state that it was never in: {state}")
        require_folds(live, "the live object")
        self._state = state
        self._require_idle()
        # the next change works, and is seen
        number = self._chance.randrange(40)
        id_ = make_episode(number).id
        is_known = id_ in dict(state[0][0])
        name, arguments = "forget" if is_known else "add", {"where": "default", "number": number, "reading": 0}
        self._in_thread(lambda: perform(self._memories["default"], name, arguments), "the next change does not work")
        self._state = outcome(state, name, arguments)[0][-1]
        if look(self._memories)[0] != self._state:
            raise Violation("the next change is not seen")

    @staticmethod
    def _in_thread(work: Callable[[], Any], what: str) -> Any:
        """Work in another thread, so that a lock that the interrupted one holds stops it."""
        found: list[Any] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                found.append(work())
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(STUCK_SECONDS)
        if thread.is_alive():
            raise Violation(f"{what}: a lock is held")
        if errors:
            raise Violation(f"{what}: {errors[0]!r}") from errors[0]
        return found[0]

    def _require_idle(self) -> None:
        """Raise when the memory holds a transaction: then another connection can neither write nor empty the log."""
        connection = sqlite3.connect(self._path, timeout=0, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError as error:
            raise Violation(f"a transaction is open: {error}") from error
        finally:
            connection.close()
        if busy:
            raise Violation("a transaction that reads is open")


def run_trial(seed: int, folder: Path, result: Result, is_shown: bool) -> None:
    """Interrupt one memory, and put what was found into the result."""
    Trial(seed, folder, result, print if is_shown else lambda _: None).run()


def main() -> int:
    """Run the interrupts."""
    restart_with_library()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _on_signal)
    signal.signal(signal.SIGINT, _on_signal)
    arguments = options(__doc__ or "", 2000).parse_args()
    arguments.trials = -(-arguments.trials // INTERRUPTS)
    return attack("Ctrl-C at random moments", run_trial, arguments)


if __name__ == "__main__":
    sys.exit(main())
