"""Simulate processes that share one memory on one disk, with faults; everything is drawn from a seed.

    python benchmarks/hardening/simulate.py [--trials 1000] [--first 0] [--seed N]

Three real processes take turns: two that write and one that reads. A seed decides who goes on, with which operation,
and what goes wrong: the process is killed at a chosen system call or source line, the disk is full or fails, a write is
short, Ctrl-C arrives, the process stops in the middle of an operation while others go on, or the power fails, which
loses what was not synchronised. ``--seed N`` replays a trial exactly and says what happens.

The oracle is the list of acknowledged changes. What each process sees is the fold of all of them, with or without the
change that is under way; after a loss of power with durability "normal" it is the fold of some beginning of the list.
No error is raised but ours, nothing is reported as damaged, and what was forgotten is in no file at the end.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import math
import os
import random
import re
import secrets
import select
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from faults import CHANGES, READS, Disk, Fault, Faults, restart_with_library
from material import (
    EMPTY,
    KNOWN,
    NAMESPACES,
    TEXTS,
    VECTOR_TEXTS,
    Result,
    Seen,
    State,
    Violation,
    attack,
    expected_digest,
    export_of,
    faults_found_by_sqlite,
    ids_of,
    look,
    marks_left,
    open_memories,
    options,
    outcome,
    perform,
    require_folds,
)  # fmt: skip

from worldthread import Memory
from worldthread.errors import NotFoundError, WorldthreadError
from worldthread.graph.fold import fold, state_hash
from worldthread.models.fake import FakeEmbedder
from worldthread.stores import database

POOL = 10  # episodes; few, so that they are found again, replaced and forgotten
READINGS = 3
ENTITIES = ("key 1", "locker", "Anna", "straße 5")
QUESTIONS = ("Where is key 1?", "Who lives in Paris?")
STUCK_SECONDS = 240.0
"""Nothing waits for another process in a simulation, so this is only reached by a process that waits for ever."""


# -- one process -------------------------------------------------------------------------------------------------------


class Actor:
    """Runs in a process of its own: takes commands, and answers with what came of them and with what it sees.

    Args:
        link: where commands come from.
        control: where pauses are announced.
        folder: the folder of the trial.
        settings: the durability, the file of the log of changes, and a seed.
    """

    def __init__(self, link: Connection, control: socket.socket, folder: Path, settings: dict[str, Any]) -> None:
        self._link = link
        self._control = control
        self._folder = folder
        self._durability = settings["durability"]
        self._opened: dict[str, Memory] = {}
        self._faults = Faults()
        self._faults.folder(folder / "disk")
        self._faults.no_sleep()
        self._faults.log(os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
        chance = random.Random(settings["seed"])
        # what is random in the library comes from the seed too, and nobody waits for a process that stands still
        secrets.token_bytes = lambda count=32: chance.randbytes(count or 32)  # type: ignore[assignment]
        secrets.token_hex = lambda count=32: chance.randbytes(count or 32).hex()  # type: ignore[assignment]
        database._BUSY_SECONDS = 0.0  # type: ignore[misc]
        self._now: float = 1000.0 + settings["generation"]

    def run(self) -> None:
        """Carry out commands until the other end is closed."""
        while True:
            try:
                name, arguments, fault = self._link.recv()
            except EOFError:
                return
            self._link.send(self._answer(name, arguments, fault))

    def _answer(self, name: str, arguments: dict[str, Any], fault: Fault | None) -> dict[str, Any]:
        answer: dict[str, Any] = {"value": None, "error": None, "calls": 0}
        try:
            if name == "import":
                arguments = {**arguments, "export": export_of(arguments["plan"])}
            own = getattr(self, f"_do_{name}", None)
            if own is not None:
                operation = functools.partial(own, **arguments)
            else:
                operation = functools.partial(perform, self._opened[arguments["where"]], name, arguments)
            value = self._with_fault(operation, fault, answer)
            answer["value"] = _exported(value) if name == "export" else value
        except BaseException as error:
            answer["error"] = (type(error).__name__, isinstance(error, WorldthreadError), str(error))
            answer["trace"] = traceback.format_exc()
        try:
            answer["seen"] = look(self._opened) if self._opened else None
        except BaseException as error:
            answer["blind"] = (type(error).__name__, str(error), traceback.format_exc())
        return answer

    def _with_fault(self, operation: Callable[[], Any], fault: Fault | None, answer: dict[str, Any]) -> Any:
        if fault is None:
            return operation()
        if fault.mode == "line":
            sys.settrace(_killing_trace(fault.number))
            try:
                return operation()
            finally:
                sys.settrace(None)
        self._faults.arm(fault, self._control.fileno())
        try:
            value = operation()
            # a signal that came last is delivered here
            for _ in range(10):
                pass
            return value
        finally:
            answer["calls"] = self._faults.disarm()
            answer["call"] = self._faults.last_call() if answer["calls"] >= fault.number else None

    def _clock(self) -> float:
        self._now += 1.0
        return self._now

    def _do_open(self, readonly: bool) -> None:
        path = self._folder / "disk" / "m"
        self._opened = open_memories(path, readonly=readonly, durability=self._durability, clock=self._clock)

    def _do_close(self, reverse: bool) -> None:
        opened, self._opened = self._opened, {}
        with contextlib.ExitStack() as stack:
            for name in NAMESPACES if reverse else NAMESPACES[::-1]:
                stack.callback(opened[name].close)

    def _do_export(self, where: str, to_file: bool) -> Path | io.BytesIO:
        target: Path | io.BytesIO = self._folder / "disk" / "export" if to_file else io.BytesIO()
        self._opened[where].export(target)
        return target

    def _do_integrity(self) -> list[Any]:
        return faults_found_by_sqlite(self._folder / "disk" / "m")


def _exported(target: Path | io.BytesIO) -> frozenset[tuple[str, str]]:
    """Return what an export holds."""
    content = target.read_bytes() if isinstance(target, Path) else target.getvalue()
    with Memory(None, model="none", embedder=FakeEmbedder()) as other:
        other.import_(io.BytesIO(content))
        return frozenset((e.id, e.extraction.digest) for e in other.episodes())


def _killing_trace(number: int) -> Any:
    left = number

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal left
        if "worldthread" not in frame.f_code.co_filename:
            return None
        if event == "line":
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    return trace


@dataclass
class Process:
    """The other end of an actor.

    Args:
        name: for the trace.
        may_write: whether it ever opens the memory for writing.
    """

    name: str
    may_write: bool
    pid: int = 0
    link: Any = None
    control: Any = None
    is_open: bool = False
    is_writer: bool = False
    generation: int = 0
    paused: dict[str, Any] | None = None
    window: list[State] = field(default_factory=list)


READING = ("recall", "as_of", "export", "state_hash", "find_about")


class Simulation:
    """One trial.

    Args:
        seed: decides everything.
        folder: an empty folder.
        say: takes each line of the trace.
        notes: counts what happened.
    """

    def __init__(self, seed: int, folder: Path, say: Callable[[str], None], notes: Any) -> None:
        self._chance = random.Random(f"simulation {seed}")
        self._seed = seed
        self._folder = folder
        self._say = say
        self._notes = notes
        self._durability = self._chance.choice(("normal", "full"))
        self._processes = [Process("A", True), Process("B", True), Process("R", False)]
        self._possible: list[State] = [EMPTY]
        self._history: list[State] = [EMPTY]
        self._forgettable: set[str] = set()  # ids that were recorded for certain
        self._is_lost = False  # the power failed
        # the log may hold a whole change of a killed writer that those who have the file open do not see: it is seen
        # by whoever opens the file after all of them, unless a writer overwrites it first
        self._is_change_left = False
        self.faults = 0

    def run(self) -> None:
        """Run the trial.

        Raises:
            Violation: a promise is broken.
        """
        for name in ("disk", "out"):
            (self._folder / name).mkdir()
        (self._folder / "log").touch()
        path = self._folder / "disk" / "m"
        with Memory(path, model="none", embedder=FakeEmbedder()):
            pass
        self._disk = Disk(path, self._folder / "log")
        try:
            for process in self._processes:
                self._start(process)
            for _ in range(self._chance.randint(8, 22)):
                if self._is_lost:
                    break
                self._step()
            self._end()
        finally:
            for process in self._processes:
                self._kill(process)

    # -- processes -----------------------------------------------------------------------------------------------------

    def _start(self, process: Process) -> None:
        ours, theirs = Pipe()
        our_control, their_control = socket.socketpair()
        process.generation += 1
        settings = {
            "durability": self._durability,
            "seed": f"{self._seed} {process.name} {process.generation}",
            "generation": 1000.0 * process.generation,
        }
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            try:
                ours.close()
                our_control.close()
                for other in self._processes:  # or the end of a process would not be seen
                    if other.link is not None:
                        other.link.close()
                        other.control.close()
                signal.signal(signal.SIGINT, signal.default_int_handler)
                warnings.simplefilter("ignore")
                Actor(theirs, their_control, self._folder, settings).run()
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        theirs.close()
        their_control.close()
        process.pid, process.link, process.control = pid, ours, our_control
        process.is_open = process.is_writer = False
        process.paused = None

    def _kill(self, process: Process) -> None:
        if process.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            os.waitpid(process.pid, 0)
            process.link.close()
            process.control.close()
        process.pid, process.link, process.control = 0, None, None
        process.is_open = process.is_writer = False
        process.paused = None
        self._is_change_left &= self._is_anybody_open()

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _step(self) -> None:
        chance = self._chance
        process = chance.choice(self._processes)
        if process.paused is not None:
            if chance.random() < 0.25:
                self._notes["killed while it stood still"] += 1
                self._note_fault("kill of a process that stands still")
                self._say(f"{process.name}: killed where it stands")
                self._after_kill(process)
            else:
                self._resume(process)
            return
        if chance.random() < 0.02 and not self._is_anybody_writing():
            self._lose_power("between two operations")
            return
        name, arguments = self._choose(process)
        if self._is_anybody_writing() and not process.is_open and name == "open" and not arguments["readonly"]:
            arguments["readonly"] = chance.random() < 0.5
        fault = self._choose_fault(name, process) if name != "find_about" else None
        self._command(process, name, arguments, fault)

    def _choose(self, process: Process) -> tuple[str, dict[str, Any]]:
        chance = self._chance
        if not process.is_open:
            return "open", {"readonly": not process.may_write or chance.random() < 0.15}
        where = chance.choice(NAMESPACES[:1] * 3 + NAMESPACES[1:])
        number, reading = chance.randrange(POOL), chance.randrange(READINGS)
        plan = [(chance.randrange(POOL), chance.choice((0, 0, 0, 0, 1))) for _ in range(chance.randint(1, 6))]
        choices: dict[str, tuple[int, dict[str, Any]]] = {
            "add": (8, {"where": where, "number": number, "reading": 0}),
            "add_many": (6, {"where": where, "plan": plan}),
            "import": (2, {"where": where, "plan": list(dict(plan).items())}),
            "replace": (3, {"where": where, "number": number, "reading": reading}),
            "forget": (5, {"where": where, "number": number}),
            "forget_about": (2, {"where": where, "entity": chance.choice(ENTITIES)}),
            "clear": (1, {"where": where}),
            "checkpoint": (3, {"where": where}),
            "put_vectors": (
                2,
                {
                    "where": where,
                    "texts": chance.sample(VECTOR_TEXTS, chance.randint(1, 4)),
                    "value": float(chance.randint(1, 99)),
                },
            ),
            "remember": (3, {"where": where, "text": chance.randrange(len(TEXTS))}),
            "recall": (2, {"where": where, "question": chance.choice(QUESTIONS), "method": chance.choice(
                (None, "dense", "lexical"))}),
            "as_of": (1, {"where": where, "at": chance.randint(-1, 5)}),
            "export": (1, {"where": where, "to_file": chance.random() < 0.5}),
            "state_hash": (1, {"where": where}),
            "close": (2, {"reverse": chance.random() < 0.5}),
        }  # fmt: skip
        if not process.is_writer:
            for name, (weight, arguments) in list(choices.items()):
                choices[name] = (weight * 5 if name in READING else 1 if name in ("add", "forget") else 0, arguments)
            choices["close"] = (2, choices["close"][1])
        name = chance.choices(list(choices), [weight for weight, _ in choices.values()])[0]
        return name, choices[name][1]

    def _choose_fault(self, name: str, process: Process) -> Fault | None:
        chance = self._chance
        if chance.random() < 0.55:
            return None
        kinds = chance.choice((CHANGES, CHANGES, CHANGES | READS, READS))
        if not process.is_writer and name != "open":
            kinds = CHANGES | READS
        mode = chance.choice(
            ("kill before", "kill after", "kill halfway", "kill before", "line", "line", "fail once", "fail from here",
             "short write", "pause", "pause", "interrupt", "power")
        )  # fmt: skip
        most = {"add": 25, "put_vectors": 25, "replace": 30, "forget": 60, "close": 40, "open": 30}.get(name, 90)
        number = int(math.exp(chance.uniform(0, math.log(2000 if mode == "line" else most))))
        error = chance.choice(("no space", "no space", "input/output"))
        if kinds & READS and mode.startswith("fail"):
            error = "input/output"
        return Fault(mode, number, kinds, error)

    def _is_anybody_writing(self) -> bool:
        return any(process.is_writer for process in self._processes)

    def _is_anybody_open(self) -> bool:
        return any(process.is_open or process.paused is not None for process in self._processes)

    def _is_anybody_paused(self) -> bool:
        return any(process.paused is not None for process in self._processes)

    def _command(self, process: Process, name: str, arguments: dict[str, Any], fault: Fault | None) -> None:
        if name == "forget_about":
            answer = self._ask(process, "find_about", {k: arguments[k] for k in ("where", "entity")}, None)
            if answer is None or answer["error"]:
                if answer and not self._is_anybody_paused():
                    raise Violation(f"find_about raised {answer['error']}")
                return
            arguments = {**arguments, "ids": answer["value"]}
        assert len(self._possible) == 1 or self._is_anybody_paused() or not self._is_anybody_writing()
        changes: list[State] = []
        error = None
        if process.is_writer and name not in READING:
            if len(self._possible) > 1:
                return  # another writer stands still: nobody else can write
            changes, error = outcome(self._possible[0], name, arguments)
        before = list(self._possible)
        self._possible = before + [state for state in changes if state != before[-1]]
        process.window = list(self._possible)
        self._say(f"{process.name}: {name} {_shown(arguments)}" + (f" with {fault}" if fault else ""))
        context = {"name": name, "arguments": arguments, "fault": fault, "error": error,
                   "after": changes[-1] if changes else None}  # fmt: skip
        sent = fault
        if fault is not None and fault.mode == "power":
            sent = Fault("kill halfway" if fault.number % 2 else "kill before", fault.number, fault.kinds)
        command = {key: value for key, value in arguments.items() if key != "ids"}
        if process.link is not None:
            process.link.send((name, command, sent))
        self._wait(process, context)

    def _resume(self, process: Process) -> None:
        self._say(f"{process.name}: goes on")
        context, process.paused = process.paused, None
        assert context is not None
        process.control.send(b"g")
        self._wait(process, context)

    def _ask(self, process: Process, name: str, arguments: dict[str, Any], fault: Fault | None) -> Any:
        process.link.send((name, arguments, fault))
        ready, _, _ = select.select([process.link], [], [], STUCK_SECONDS)
        if not ready:
            raise Violation(f"{name} never ends")
        return process.link.recv()

    def _wait(self, process: Process, context: dict[str, Any]) -> None:
        """Take what comes of an operation: an answer, a pause, or the end of the process."""
        ready, _, _ = select.select([process.link, process.control], [], [], STUCK_SECONDS)
        if not ready:
            raise Violation(f"{context['name']} never ends")
        if process.link not in ready:
            if process.control.recv(1):
                self._note_fault("pause")
                self._say(f"{process.name}: stands still")
                process.paused = context
                process.window = list(self._possible)
                return
            process.link.poll(STUCK_SECONDS)
        try:
            answer = process.link.recv()
        except (EOFError, ConnectionResetError):
            fault = context["fault"]
            if fault is None or not (fault.mode.startswith("kill") or fault.mode in ("line", "power")):
                raise Violation(f"the process ended during {context['name']}") from None
            self._note_fault("power" if fault.mode == "power" else f"kill in {context['name']}")
            self._notes[f"fault: {fault.mode}"] += 1
            self._say(f"{process.name}: killed")
            if fault.mode == "power":
                self._kill(process)
                self._lose_power(f"in {context['name']}")
            else:
                self._after_kill(process)
            return
        self._take(process, context, answer)

    def _note_fault(self, what: str) -> None:
        self.faults += 1
        self._notes[f"faults: {what.split(' in ')[0]}"] += 1

    def _take(self, process: Process, context: dict[str, Any], answer: dict[str, Any]) -> None:
        name, fault = context["name"], context["fault"]
        is_hurt = fault is not None and answer.get("call") is not None and fault.mode not in ("pause", "short write")
        if fault is not None and answer.get("call") is not None and fault.mode != "pause":
            self._note_fault(fault.mode)
            self._say(f"{process.name}: {fault.mode}: {answer['call']}")
        error = answer["error"]
        self._say(f"{process.name}: {name}: {self._clean(str(error)) if error else 'done'}")
        if error is not None:
            kind, is_ours, _ = error
            is_allowed = (
                (is_ours and is_hurt)
                or (is_hurt and fault.mode == "interrupt" and kind == "KeyboardInterrupt")
                or kind == context["error"]
                or (self._is_anybody_paused() and (kind == "StoreLockedError" or "locking protocol" in error[2]))
                or (kind == "ReadOnlyError" and process.is_open and not process.is_writer)
                or (kind == "NotFoundError" and process.is_open and not process.is_writer)
                or (kind == "InputError" and process.is_open and not process.is_writer and name == "add")
                or (kind == "StoreLockedError" and name == "open" and self._is_anybody_writing())
            )
            # SQLite itself takes a read that fails for damage
            is_unreadable = is_hurt and fault.mode.startswith("fail") and answer["call"].startswith("read ")
            if not is_allowed or (kind == "DamagedFileError" and not is_unreadable):
                self._say(self._clean(answer["trace"]))
                raise Violation(f"{name} raised {kind}: {self._clean(error[2])}")
            if kind == "KeyboardInterrupt" and name == "close":
                # what is left open holds the lock: as when a program ends after Ctrl-C
                self._say(f"{process.name}: ends")
                self._after_kill(process)
                return
        elif context["error"] is not None and process.is_writer:
            raise Violation(f"{name} should have raised {context['error']}")
        if name == "open" and error is None:
            process.is_open, process.is_writer = True, not context["arguments"]["readonly"]
        elif name == "open" and error[0] == "KeyboardInterrupt":
            self._after_kill(process)
            return
        elif name == "close":
            process.is_open = process.is_writer = False
            self._is_change_left &= self._is_anybody_open()
        if "blind" in answer:
            kind, message, trace = answer["blind"]
            if not (kind == "StoreLockedError" and self._is_anybody_paused()):
                self._say(self._clean(trace))
                raise Violation(f"after {name} nothing can be read: {kind}: {self._clean(message)}")
        if error is None:
            self._check_value(process, name, context["arguments"], answer["value"])
            if context["after"] is not None:  # what changes nothing does not say whether another's change has happened
                self._settle([context["after"]])
        if answer.get("seen") is not None:
            self._observe(process, answer["seen"])
        elif error is not None and len(self._possible) > 1 and not self._is_anybody_paused():
            self._find_out()

    def _settle(self, states: list[State]) -> None:
        self._possible = list(states)
        for state in states:
            if self._history[-1] != state:
                self._history.append(state)
        if len(states) == 1:
            self._is_change_left = False
            self._forgettable |= ids_of(states[0])
        for process in self._processes:
            if process.paused is not None:
                process.window += [state for state in states if state not in process.window]

    def _observe(self, process: Process, seen: Seen) -> None:
        """Compare what a process sees with what can be, and learn from it which change has happened."""
        require_folds(seen, process.name)
        found, _ = seen
        if found not in self._possible:
            raise Violation(
                f"{process.name} sees {_differences(found, self._possible)}; {len(self._possible)} states are possible"
            )
        # what was seen once stays; where a writer stands still, or was killed, more may follow
        is_under_way = self._is_change_left or any(p.paused is not None and p.is_writer for p in self._processes)
        is_final = process.is_writer or not is_under_way
        self._settle([found] if is_final else self._possible[self._possible.index(found) :])

    def _check_value(self, process: Process, name: str, arguments: dict[str, Any], value: Any) -> None:
        if name not in READING:
            return
        window = process.window + [state for state in self._possible if state not in process.window]
        contents = [state[NAMESPACES.index(arguments["where"])][0] for state in window]
        if name == "as_of":
            good = any(expected_digest(content, arguments["at"]) == value for content in contents)
        elif name == "export":
            good = value in contents
        elif name == "recall":
            good = any({*value} <= {id_ for id_, _ in content} for content in contents)
        elif name == "state_hash":
            good = any(state_hash(fold(KNOWN[key] for key in content).rows()) == value for content in contents)
        else:
            good = any({*value} <= {id_ for id_, _ in content} for content in contents)
        if not good:
            raise Violation(f"{name} {_shown(arguments)} of {process.name} returns what no state gives: {value}")

    # -- ends ----------------------------------------------------------------------------------------------------------

    def _after_kill(self, process: Process) -> None:
        was_writer = process.is_writer or (process.paused or {}).get("name") == "open"
        self._kill(process)
        self._start(process)
        if was_writer and len(self._possible) > 1:
            self._is_change_left = self._is_anybody_open()
            self._find_out()

    def _find_out(self) -> None:
        """Let a process look at the file that knows nothing yet, or one that has it open."""
        if any(p.paused is not None and p.is_writer for p in self._processes):
            return
        free = [process for process in self._processes if process.paused is None]
        for process in free:
            if process.pid == 0:
                self._start(process)
        chance = self._chance
        chance.shuffle(free)
        for process in free:
            if process.is_open:
                answer = self._ask(process, "state_hash", {"where": "default"}, None)
            else:
                readonly = not process.may_write or self._is_anybody_writing() or chance.random() < 0.3
                answer = self._ask(process, "open", {"readonly": readonly}, None)
                if answer["error"] is None:
                    process.is_open, process.is_writer = True, not readonly
            locked = self._is_anybody_paused() and "StoreLockedError" in (
                (answer["error"] or ("",))[0], answer.get("blind", ("",))[0],
            )  # fmt: skip
            if locked:
                continue
            if answer["error"] is not None or "blind" in answer:
                trace = self._clean(answer.get("trace") or answer["blind"][2])
                self._say(trace)
                raise Violation(f"afterwards {process.name} cannot read the file: {trace.splitlines()[-1]}")
            self._say(f"{process.name}: looks")
            self._observe(process, answer["seen"])
            return
        # all others stand still: they are ended, so that somebody can look
        for process in self._processes:
            if process.paused is not None:
                self._kill(process)
                self._start(process)
        self._find_out()

    def _lose_power(self, when: str) -> None:
        for process in self._processes:
            self._kill(process)
        done = self._disk.lose_power(self._chance)
        self._say(f"the power fails {when} with durability {self._durability}: {done}")
        self._notes[f"power failed, durability {self._durability}"] += 1
        if not when.startswith("in "):
            self._note_fault("power")
        if self._durability == "normal":
            self._possible = [*dict.fromkeys([*self._history, *self._possible])]
        self._is_lost = True
        for process in self._processes:
            self._start(process)
        self._find_out()

    def _end(self) -> None:
        """Close everything in order; the file must be whole, and hold nothing that was forgotten."""
        for process in self._processes:
            if process.paused is not None:
                self._resume(process)
        for process in self._processes:
            if process.paused is not None:  # a kill in between let it stand still again
                self._after_kill(process)
            if process.is_open:
                self._command(process, "close", {"reverse": False}, None)
        last = self._processes[0]
        self._command(last, "open", {"readonly": False}, None)
        if not last.is_writer:
            raise Violation("the memory cannot be opened for writing in the end")
        self._command(last, "add", {"where": "default", "number": POOL - 1, "reading": 0}, None)
        self._command(last, "close", {"reverse": False}, None)
        answer = self._ask(last, "integrity", {}, None)
        if answer["value"] != []:
            raise Violation(f"SQLite finds the file damaged: {answer}")
        if not self._is_lost:
            self._search_forgotten()

    def _search_forgotten(self) -> None:
        kept = ids_of(self._possible[0])
        (self._folder / "disk" / "export").unlink(missing_ok=True)
        for part in (self._folder / "disk").glob(".worldthread-*.part"):
            part.unlink()
        left = marks_left(self._folder / "disk", self._forgettable - kept)
        if left:
            raise Violation(f"forgotten, and still in the files: {left}")

    def _clean(self, text: str) -> str:
        text = text.replace(str(self._folder), "FOLDER")
        return re.sub(r'File ".*?/(\w+/\w+\.py)"', r"\1", text)


def _shown(arguments: dict[str, Any]) -> str:
    return json.dumps({k: v for k, v in arguments.items() if k != "ids"}, ensure_ascii=False) if arguments else ""


def _differences(found: State, possible: list[State]) -> str:
    wanted = possible[-1]
    parts = []
    for where, has, needs in zip(NAMESPACES, found, wanted, strict=True):
        if has == needs:
            continue
        lacks = [KNOWN[key].text[:12] for key in needs[0] - has[0]]
        extra = [KNOWN[key].text[:12] for key in has[0] - needs[0]]
        parts.append(f"in {where} lacks {lacks}, has besides {extra}, vectors {sorted(has[1])} for {sorted(needs[1])}")
    return "; ".join(parts) or "an older state"


def run_trial(seed: int, folder: Path, result: Result, is_shown: bool) -> None:
    """Run one simulation, and put what it finds into the result."""
    trace: list[str] = []

    def say(line: str) -> None:
        trace.append(line)
        if is_shown:
            print(line, flush=True)

    simulation = Simulation(seed, folder, say, result.notes)
    try:
        simulation.run()
    except Violation as violation:
        result.violations.append((f"--seed {seed}", str(violation).strip()))
    result.trials += 1
    result.notes["faults injected"] += simulation.faults
    result.notes["trials with a fault"] += bool(simulation.faults)
    if is_shown:
        print("trace", hashlib.blake2b("\n".join(trace).encode(), digest_size=8).hexdigest())


def main() -> int:
    """Run the simulations."""
    restart_with_library()
    arguments = options(__doc__ or "", 1000).parse_args()
    assert issubclass(NotFoundError, WorldthreadError)
    return attack("processes and a disk with faults", run_trial, arguments)


if __name__ == "__main__":
    sys.exit(main())
