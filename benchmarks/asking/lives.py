"""Asks questions about lives without a model, through every front door, and counts right, refused and wrong answers.

    python benchmarks/asking/lives.py LIFE.jsonl [LIFE.jsonl ...] --reader prose --door api --show-wrong

A life has one message a line (``role``, ``content``, ``at``). Beside it lies ``LIFE.tsv`` or ``LIFE_questions.tsv``:
a question, the time that it is about (may be empty) and what is right: alternatives separated by ";", or "-" where the
life does not tell it. An answer is right when it has an alternative as whole words (or in the plural), and "yes" or
"no" when it states so much. A refusal is right for "-", and otherwise refused; every other answer is wrong.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

os.environ["WORLDTHREAD_MODEL"] = "none"

from worldthread import Memory

Outcome: TypeAlias = Literal["right", "refused", "wrong"]
Door: TypeAlias = Callable[[str, str | None], str | None]
"""Takes a question and the time that it is about, and returns the answer; ``None`` for a refusal."""

OUTCOMES: Final = ("right", "refused", "wrong")
READERS: Final = ("prose", "reader", "reader-precise")
_NEGATIVE: Final = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|without|cannot|stopped|quit|gave up|hates?|dislikes?)\b|n['’]t\b",
    re.IGNORECASE,
)


class LifeQuestion(NamedTuple):
    """A question about a life.

    Args:
        text: the question.
        as_of: the time that it is about; ``None`` for now.
        expected: what is right, any of; empty where the life does not tell it.
    """

    text: str
    as_of: str | None
    expected: tuple[str, ...]


def questions_of(path: Path) -> list[LifeQuestion]:
    """Return the questions of a file with a header, or without one."""
    found = []
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            if not row or row[0].strip().casefold() in ("", "question"):
                continue
            text, as_of, expected = (*(cell.strip() for cell in row), "", "")[:3]
            alternatives = tuple(part.strip() for part in expected.split(";") if part.strip())
            found.append(LifeQuestion(text, as_of or None, () if alternatives == ("-",) else alternatives))
    return found


def outcome(answer: str | None, expected: Sequence[str]) -> Outcome:
    """Return how an answer counts.

    Args:
        answer: the answer; ``None`` for a refusal.
        expected: what is right, any of; empty where only a refusal is right.
    """
    if answer is None:
        return "refused" if expected else "right"
    text = " ".join(answer.split()).casefold()
    for one in expected:
        words = " ".join(one.split()).casefold()
        if re.search(rf"(?<!\w){re.escape(words)}s?(?!\w)", text):
            return "right"
        is_said = words in ("yes", "no") and re.match(r"\W*(?:yes|no)\b", text) is None
        if is_said and (words == "no") == bool(_NEGATIVE.search(text)):
            return "right"
    return "wrong"


def remember_life(path: Path, memory: Memory) -> None:
    """Remember each message of a life, one after the other."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            row = json.loads(line)
            memory.remember([{"role": row["role"], "content": row["content"]}], at=row["at"])


@contextmanager
def front_doors(file: Path, chosen: Sequence[str]) -> Iterator[dict[str, Door]]:
    """Open the front doors to one memory.

    Args:
        file: the memory's file.
        chosen: names of the doors.

    Yields:
        A door by each name.
    """
    with ExitStack() as stack:
        doors: dict[str, Door] = {"command": _command(file)}
        if "api" in chosen:
            memory = stack.enter_context(Memory(file, model="none", readonly=True))
            doors["api"] = lambda question, as_of: memory.ask(question, as_of=as_of).text
        if "mcp" in chosen:
            doors["mcp"] = _tool(file, stack)
        if "http" in chosen:
            doors["http"] = _service(file, stack)
        if "page" in chosen:
            doors["page"] = _page(file, stack)
        yield {name: doors[name] for name in chosen}


def _command(file: Path) -> Door:
    def ask(question: str, as_of: str | None) -> str | None:
        from worldthread.cli.main import app

        out = io.StringIO()
        times = [] if as_of is None else ["--as-of", as_of]
        with redirect_stdout(out), redirect_stderr(io.StringIO()), suppress(SystemExit):
            app(["ask", question, *times, "--memory", str(file), "--json"])
        answer: str | None = json.loads(out.getvalue())["answer"]
        return answer

    return ask


def _tool(file: Path, stack: ExitStack) -> Door:
    from worldthread.mcp.reading import ReadingTools
    from worldthread.mcp.shared import SharedMemory

    served = SharedMemory(file)
    stack.callback(served.close)
    tools = ReadingTools(served)

    def ask(question: str, as_of: str | None) -> str | None:
        content: Any = tools.ask(question, as_of=as_of).structured_content
        answer: str | None = content["answer"]
        return answer

    return ask


def _service(file: Path, stack: ExitStack) -> Door:
    from starlette.testclient import TestClient

    from worldthread.service.app import create_app
    from worldthread.service.clients import ClientDirectory
    from worldthread.service.limits import ServiceLimits
    from worldthread.service.memories import ServiceMemories
    from worldthread.service.state import Service
    from worldthread.support.server_access import Client, token_digest

    token = "a-token-for-the-measurement"
    memories = ServiceMemories(file, model="none", readonly=True, first="default")
    clients = ClientDirectory([Client("one", token_digest(token), ("default",))])
    client: Any = stack.enter_context(TestClient(create_app(Service(memories, clients, ServiceLimits()), mcp=False)))
    client.headers["authorization"] = f"Bearer {token}"

    def ask(question: str, as_of: str | None) -> str | None:
        body = {"question": question} | ({} if as_of is None else {"as_of": as_of})
        answer: str | None = client.post("/v1/namespaces/default/ask", json=body).json()["answer"]
        return answer

    return ask


def _page(file: Path, stack: ExitStack) -> Door:
    from starlette.testclient import TestClient

    from worldthread.support.server_access import Access
    from worldthread.web.app import create_app
    from worldthread.web.app_state import AppState

    state = stack.enter_context(AppState(file))
    client: Any = TestClient(create_app(state, {}, Access.for_web("127.0.0.1", 8766)), base_url="http://127.0.0.1:8766")
    key = client.get("/api/memories").json()["memories"][0]["key"]

    def ask(question: str, as_of: str | None) -> str | None:
        times = {} if as_of is None else {"at": as_of}
        answer: str | None = client.get(f"/api/memories/{key}/ask", params={"q": question, **times}).json()["answer"]
        return answer

    return ask


DOORS: Final = ("api", "command", "mcp", "http", "page")


@contextmanager
def opened_life(life: Path, reader: str, folder: Path) -> Iterator[Memory]:
    """Open the memory of a life, in which it is remembered once.

    Args:
        life: the life.
        reader: the name of an extractor.
        folder: where the memory lies.

    Yields:
        The memory.
    """
    with Memory(folder / f"{life.stem}.{reader}.worldthread", model="none", extractor=reader) as memory:
        if not memory.stats()["episodes"]:
            remember_life(life, memory)
        yield memory


def questions_beside(life: Path) -> list[LifeQuestion]:
    """Return the questions of a life, from the file beside it."""
    return questions_of(
        next(path for path in (life.with_suffix(".tsv"), life.with_name(f"{life.stem}_questions.tsv")) if path.exists())
    )


def measured(
    life: Path, reader: str, chosen: Sequence[str], folder: Path, shown: Sequence[Outcome]
) -> dict[str, dict[str, int]]:
    """Return how often each door answered right, refused and answered wrong about one life."""
    counts = {name: dict.fromkeys(OUTCOMES, 0) for name in chosen}
    with opened_life(life, reader, folder):
        pass  # remembered, and closed, since the servers write
    with front_doors(folder / f"{life.stem}.{reader}.worldthread", chosen) as doors:
        for question in questions_beside(life):
            for name, door in doors.items():
                said = door(question.text, question.as_of)
                how = outcome(said, question.expected)
                counts[name][how] += 1
                if how in shown:
                    when = f" ({question.as_of})" if question.as_of else ""
                    wanted = "; ".join(question.expected) or "-"
                    print(f"{how} {life.stem} {name}: {question.text}{when} -> {said!r}, right: {wanted}")
    return counts


def main() -> None:
    """Print one table for the lives together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lives", type=Path, nargs="+")
    parser.add_argument("--reader", choices=READERS, default="reader")
    parser.add_argument("--door", choices=DOORS, action="append", help="may be repeated; default: all")
    parser.add_argument("--show-wrong", action="store_true")
    parser.add_argument("--show-refused", action="store_true")
    parser.add_argument("--keep", type=Path, default=None, help="folder that keeps the memories for later runs")
    options = parser.parse_args()
    chosen = options.door or DOORS
    total = {name: dict.fromkeys(OUTCOMES, 0) for name in chosen}
    with tempfile.TemporaryDirectory() as folder:
        for life in options.lives:
            shown = [*(["wrong"] if options.show_wrong else []), *(["refused"] if options.show_refused else [])]
            found = measured(life, options.reader, chosen, options.keep or Path(folder), shown)
            for name, counts in found.items():
                for how, count in counts.items():
                    total[name][how] += count
    print(f"{'door':<10}{'right':>8}{'refused':>9}{'wrong':>7}")
    for name, counts in total.items():
        print(f"{name:<10}{counts['right']:>8}{counts['refused']:>9}{counts['wrong']:>7}")


if __name__ == "__main__":
    main()
