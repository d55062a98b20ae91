"""Answers to questions of LoCoMo and BEAM from what a model is shown, and how much of the evidence that holds.

    python benchmarks/conversation_answers.py FOLDER [--conversations conv-26,conv-42] [--seed 7] [--plain]

Without a model the prompts are written to FOLDER/prompts.jsonl, each with an id. Whoever answers them, a model or a
careful reader who sees nothing else, writes lines {"id", "reply"} to any FOLDER/*answers*.jsonl; the next call takes
them, writes the prompts of look-ups, and in the end FOLDER/answers.json with question, key, answer and tokens (a token
for each four characters, replies counted). ``--evidence`` counts over all questions how many evidence turns the first
prompt shows. ``--plain`` shows the ten nearest messages by embedding alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import statistics
from pathlib import Path
from typing import Any

from worldthread import Memory
from worldthread.answering import quotations as quoting
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread.types import Episode
from worldthread_lab.bench.datasets.conversations import (
    Conversation,
    ConversationQuestion,
    load_beam,
    load_locomo,
)

SAMPLE = {"single-hop": 16, "temporal": 14, "multi-hop": 12, "open-domain": 10, "adversarial": 8}
NOW = 1704067200.0  # after all conversations of LoCoMo
DAY = 86_400.0


class NotAnsweredError(Exception):
    """A prompt has no answer yet."""


class AnsweredElsewhere:
    """Replies with what was answered before, and keeps the other prompts."""

    def __init__(self, folder: Path) -> None:
        self._answers: dict[str, str] = {}
        for path in folder.glob("*answers*.jsonl"):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self._answers[row["id"]] = row["reply"] if isinstance(row["reply"], str) else json.dumps(row["reply"])
        self.missing: dict[str, str] = {}
        self.tokens = 0

    def __call__(self, request: ChatRequest) -> str:
        text = "\n\n".join(f"[{message.role}]\n{message.content}" for message in request.messages)
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.tokens += len(text) // 4
        if key not in self._answers:
            self.missing[key] = text
            raise NotAnsweredError
        self.tokens += len(self._answers[key]) // 4
        return self._answers[key]


def remembered(conversation: Conversation, path: Path) -> None:
    """Remember a conversation by rules, once."""
    if not path.exists():
        with Memory(path, model="none", extractor="prose") as memory:
            for session in conversation.sessions:
                talk = [{"speaker": turn.speaker, "content": turn.text} for turn in session.turns]
                memory.remember(talk, at=session.at, session=session.name)


def nearest(question: str, hits: Any, **_: Any) -> list[quoting.Quotation]:
    """The ten nearest messages, each with its time, in order of relevance."""
    chosen = [hit for hit in hits if isinstance(hit.item, Episode)][:10]
    return [
        quoting.Quotation(hit, f"({quoting.shown_local_time(hit.item.at, {})}) {hit.item.text}", hit.item.at)
        for hit in chosen
    ]


def evidence_shown(conversation: Conversation, path: Path) -> None:
    """Print the share of the evidence turns that the first prompt shows, and its tokens."""
    import worldthread.answering.answer as answering

    ids = {f"{turn.speaker}: {turn.text}".strip(): turn.id for one in conversation.sessions for turn in one.turns}
    listed: list[tuple[list[quoting.Quotation], str]] = []
    original = quoting.listed_quotations

    def spy(shown: Any) -> tuple[list[quoting.Quotation], str]:
        listed.append(original(shown))
        return listed[-1]

    answering.listed_quotations = spy  # type: ignore[attr-defined]
    refusal = {"reasoning": "", "answer": None, "support": "none", "sources": [], "compute": None, "look_up": []}
    found: dict[str, list[float]] = {}
    tokens: list[float] = []
    with Memory(path, model=FakeChat(lambda _: json.dumps(refusal)), readonly=True, clock=lambda: NOW) as memory:
        for question in conversation.questions:
            if question.evidence and question.category != "adversarial":
                listed.clear()
                memory.ask(question.text)
                shown, text = listed[0] if listed else ([], "")
                turns = {ids.get(one.hit.item.text.strip()) for one in shown if isinstance(one.hit.item, Episode)}
                share = len(turns & question.evidence) / len(question.evidence)
                found.setdefault(question.category, []).append(share)
                tokens.append(len(text) / 4)
    shares = {category: f"{statistics.mean(values):.3f}" for category, values in found.items()}
    everything = [value for values in found.values() for value in values]
    print(
        conversation.id, len(everything), f"{statistics.mean(everything):.3f}", shares, f"{statistics.mean(tokens):.0f}"
    )


def sampled(questions: list[tuple[str, ConversationQuestion]], seed: int) -> list[tuple[str, ConversationQuestion]]:
    """Return questions of every kind, drawn at random."""
    chance, sample = random.Random(seed), list[tuple[str, ConversationQuestion]]()
    for category, count in SAMPLE.items():
        pool = [one for one in questions if one[1].category == category]
        sample += chance.sample(pool, min(count, len(pool)))
    return sample


def main() -> None:
    shared = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared") / "data"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="keeps the memories, the prompts and the answers")
    parser.add_argument(
        "--dataset", choices=["locomo", "beam"], default="locomo", help="of BEAM all questions are asked"
    )
    parser.add_argument("--data", type=Path, help="its file")
    parser.add_argument("--conversations", default="conv-26,conv-42")
    parser.add_argument("--seed", type=int, default=7, help="of the sample of 60 questions")
    parser.add_argument("--plain", action="store_true", help="show the ten nearest messages and nothing else")
    parser.add_argument("--evidence", action="store_true", help="only count the evidence that is shown")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    chosen = options.conversations.split(",")
    load = load_beam if options.dataset == "beam" else load_locomo
    conversations = [one for one in load(options.data or shared / options.dataset / "dev.jsonl.gz") if one.id in chosen]
    for conversation in conversations:
        remembered(conversation, options.folder / f"{conversation.id}.worldthread")
        if options.evidence:
            evidence_shown(conversation, options.folder / f"{conversation.id}.worldthread")
    if options.evidence:
        return
    questions = [(one.id, question) for one in conversations for question in one.questions]
    sample = questions if options.dataset == "beam" else sampled(questions, options.seed)
    model = AnsweredElsewhere(options.folder)
    if options.plain:
        import worldthread.answering.answer as answering

        answering.quotations = nearest  # type: ignore[assignment]
    how: dict[str, Any] = {"method": "dense", "look_ups": 0, "k": 10} if options.plain else {}
    answered = []
    for conversation in conversations:
        id_, path = conversation.id, options.folder / f"{conversation.id}.worldthread"
        now = max(NOW, conversation.sessions[-1].at + DAY)
        with Memory(path, model=FakeChat(model), readonly=True, clock=lambda at=now: at) as memory:
            for of, question in sample:
                if of != id_:
                    continue
                model.tokens = 0
                try:
                    found = memory.ask(question.text, **how)
                except NotAnsweredError:
                    continue
                answered.append(
                    {
                        "question": question.text,
                        "category": question.category,
                        "key": question.answer,
                        "answer": found.text,
                        "support": found.support,
                        "evidence": [hit.item.text for hit in found.sources if isinstance(hit.item, Episode)],
                        "tokens": model.tokens,
                    }
                )
    prompts = (json.dumps({"id": key, "prompt": text}, ensure_ascii=False) for key, text in model.missing.items())
    (options.folder / "prompts.jsonl").write_text("".join(f"{line}\n" for line in prompts), encoding="utf-8")
    (options.folder / "answers.json").write_text(json.dumps(answered, ensure_ascii=False, indent=1), encoding="utf-8")
    mean = statistics.mean(one["tokens"] for one in answered) if answered else 0
    print(f"{len(answered)} answered, {mean:.0f} tokens a question; {len(model.missing)} prompts wait for an answer")


if __name__ == "__main__":
    main()
