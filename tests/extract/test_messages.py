"""Messages in the forms in which programs send them: what is said is remembered, and all else is counted."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from worldthread import Memory
from worldthread.errors import InputError
from worldthread.extract.documents import load
from worldthread.extract.records import documents_of, metadata_of, said_in
from worldthread.provenance import LONGEST_VALUE

SAID = {"role": "user", "content": "My piano is a Blüthner."}
WITHOUT_TEXT: dict[str, dict[str, Any]] = {
    "a call of a tool": {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "tune"}}]},
    "a call beside null": {"role": "assistant", "content": None, "function_call": {"name": "tune", "arguments": "{}"}},
    "a function call": {"type": "function_call", "call_id": "1", "name": "tune", "arguments": '{"key": "a"}'},
    "its output": {"type": "function_call_output", "call_id": "1", "output": "440"},
    "a computer call": {"type": "computer_call", "call_id": "2", "action": {"type": "type", "text": "hello"}},
    "a screenshot": {"type": "computer_call_output", "call_id": "2", "output": {"image_url": "data:,AA"}},
    "a thought": {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "They like it."}]},
    "a thought in parts": {"role": "assistant", "content": [{"type": "thinking", "thinking": "They like music."}]},
    "a thought of Gemini": {"role": "model", "parts": [{"text": "They like music.", "thought": True}]},
    "a picture": {"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA"}]},
    "a file": {"role": "user", "content": [{"type": "input_file", "filename": "a.pdf", "file_data": "JVBE"}]},
    "a result": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "440"}]},
    "null": {"role": "user", "content": None},
    "nothing": {"role": "assistant", "content": ""},
}  # fmt: skip
FORMS: dict[str, Any] = {
    "one part": [{"type": "text", "text": "My piano is old."}],
    "a value": [{"type": "text", "text": {"value": "My piano is old.", "annotations": []}}],
    "input_text": [{"type": "input_text", "text": "My piano is old."}, {"type": "input_image", "file_id": "f"}],
    "output_text": [{"type": "output_text", "text": "My piano is old.", "annotations": [], "logprobs": []}],
    "refusal": [{"type": "refusal", "refusal": "My piano is old."}],
    "speech": [{"type": "input_audio", "transcript": "My piano is old."}],
    "a mapping": {"type": "text", "text": "My piano is old."},
    "a thought before": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "My piano is old."}],
    "a string in a list": ["My piano is old."],
}


@pytest.mark.parametrize("kind", WITHOUT_TEXT)
def test_a_turn_without_text_is_skipped_and_counted(kind: str) -> None:
    with Memory(model="none", embedder="fake") as memory:
        done = memory.remember([SAID, WITHOUT_TEXT[kind], {"role": "assistant", "content": "A fine one."}], at=1)
        assert (done.added, done.skipped) == (2, 1)
        assert [e.text for e in memory.episodes()] == ["user: My piano is a Blüthner.", "assistant: A fine one."]
        alone = memory.remember([WITHOUT_TEXT[kind]], at=2)
        assert (alone.added, alone.skipped, alone.episodes) == (0, 1, ())
        assert "skipped=1" in repr(alone)


@pytest.mark.parametrize("kind", FORMS)
def test_the_text_of_a_message_in_its_forms(kind: str) -> None:
    assert said_in(FORMS[kind]) == "My piano is old."
    with Memory(model="none", embedder="fake") as memory:
        memory.remember([{"role": "user", "content": FORMS[kind]}], at=1)
        assert [e.text for e in memory.episodes()] == ["user: My piano is old."]


def test_parts_do_not_fuse_but_the_pieces_of_one_line_do() -> None:
    parts = [{"type": "text", "text": "I play the oboe"}, {"type": "text", "text": "My teacher is Ines"}]
    assert said_in(parts) == "I play the oboe\nMy teacher is Ines"
    assert said_in(["I play the oboe", "My teacher is Ines"]) == "I play the oboe\nMy teacher is Ines"
    assert said_in(["see ", {"type": "link", "text": "this"}, "!"]) == "see this!"
    assert said_in([None, {"type": "text", "text": "I play the oboe"}, None]) == "I play the oboe"


@pytest.mark.parametrize("content", [5, True, [5], object()])
def test_content_of_no_known_form_is_refused_in_our_words(content: Any) -> None:
    with pytest.raises(InputError, match="content"):
        said_in(content)


def test_messages_of_other_makers_and_objects_of_their_packages() -> None:
    class Message(SimpleNamespace):
        def model_dump(self) -> dict[str, Any]:
            return dict(self.__dict__)

    messages = [
        {"type": "human", "content": "I play the oboe."},
        {"type": "ai", "data": {"content": "Since when?"}},
        {"role": "user", "parts": [{"type": "text", "text": "Since May."}]},
        Message(role="assistant", content=None, tool_calls=[{"id": "1"}]),
        Message(role="assistant", content="I see."),
    ]
    with Memory(model="none", embedder="fake") as memory:
        assert memory.remember(messages, at=1).skipped == 1
        said = [e.text for e in memory.episodes()]
    assert said == ["user: I play the oboe.", "assistant: Since when?", "user: Since May.", "assistant: I see."]


def test_what_metadata_cannot_hold_is_kept_in_the_payload() -> None:
    picture = "A" * (LONGEST_VALUE + 1)
    message = {**SAID, "id": "m1", "pictures": [picture], **{f"field {n}": n for n in range(100)}}
    with Memory(model="none", embedder="fake") as memory:
        memory.remember([message, {"role": "user", "content": "Hello."}], at=1, metadata={"topic": "music"})
        first, last = memory.episodes()
    assert (first.metadata["id"], first.metadata["topic"], last.payload) == ("m1", "music", "")
    kept = json.loads(first.payload)
    assert kept.pop("pictures") == [picture]
    assert {**{key: value for key, value in first.metadata.items() if key.startswith("field")}, **kept} == {
        f"field {n}": n for n in range(100)
    }
    assert metadata_of({"a" * 300: 1, "b": [1], "c": "\ud83d"})[1] == {"a" * 300: 1}


def test_turns_without_text_in_a_file_are_skipped_and_half_a_character_is_read(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    lines = [SAID, *WITHOUT_TEXT.values(), {"role": "user", "content": "cut \ud83d"}, {"role": "user", "content": "😀"}]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert [one.text for one in load(path)] == ["My piano is a Blüthner.", "cut \ufffd", "😀"]
    path.write_text('{"text": "a backslash \\\\ud83d, and half \\ude00 of one"}')
    assert [one.text for one in load(path)] == ["a backslash \\ud83d, and half \ufffd of one"]
    with pytest.raises(InputError, match="no text found"):
        list(documents_of({"title": "Piano", "year": 1911}, ""))


HISTORY = [
    {"role": role, "content": text}
    for text in ("I live in Lima.", "I moved to Quito.", "yes", "yes", "Thanks.")
    for role, text in (("user", text), ("assistant", f"So: {text}"))
]


def test_the_whole_history_with_each_turn_is_stored_once() -> None:
    with Memory(model="none", embedder="fake") as memory:
        for end in range(2, len(HISTORY) + 1, 2):
            done = memory.remember(HISTORY[:end], user="ana", session="s1")
            assert (done.added, done.known) == (2, end - 2)
        assert memory.remember(HISTORY, user="ana", session="s1").added == 0
        episodes = list(memory.episodes())
        assert [e.text.partition(": ")[2] for e in episodes] == [message["content"] for message in HISTORY]
        assert done.episodes == tuple(e.id for e in episodes)
        assert memory.remember(HISTORY[:2], user="ana", session="s2").added == 2, "another session"
        assert memory.remember(HISTORY[:2], user="ben", session="s1").added == 2, "another user"
        assert memory.remember(HISTORY[4:6], user="ana", session="s1").added == 2, "said once more, by itself"


def test_a_history_in_one_list_of_contents_or_with_a_forgotten_message() -> None:
    with Memory(model="none", embedder="fake") as memory:
        done = memory.remember_many([HISTORY[:2], HISTORY[:4]], session="s", progress=False)
        assert done.added == 4
        memory.forget(done.episodes[1])
        assert memory.remember(HISTORY[:6], session="s").added == 3, "the forgotten one is sent again"
        assert memory.stats()["episodes"] == 6


def test_one_message_said_twice_is_two_and_a_history_after_it_is_known() -> None:
    with Memory(model="none", embedder="fake") as memory:
        for _ in range(2):
            memory.remember(HISTORY[:1], session="s")
        assert memory.stats()["episodes"] == 2
        assert memory.remember(HISTORY[:4], session="s").added == 3


def test_the_same_exchange_at_another_named_time_is_said_again() -> None:
    with Memory(model="none", embedder="fake") as memory:
        for at in (1, 2, 2):
            memory.remember(HISTORY[:2], at=at, session="game")
        assert memory.stats()["episodes"] == 4
        assert memory.remember(HISTORY[:2], session="").added == 2
        assert memory.remember(HISTORY[:2], session="").added == 2, "without a session nothing says what was said"
