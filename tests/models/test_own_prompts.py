"""Prompts of one's own replace those of the package, are checked when they are read, and leave a trace."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from worldthread.errors import InputError
from worldthread.extract.model import ModelExtractor
from worldthread.models.fake_chat import FakeChat
from worldthread.models.prompts import (
    PromptSet,
    areas,
    decode_prompts,
    load_prompt,
    load_prompts,
    parse_prompt,
    prompt_text,
    set_default_prompts,
    shipped_prompts,
    use_prompts,
)
from worldthread_lab.agents.prompting import prompt

OWN = "# system\nPlay as the paper says.\n\n# user\n$situation\n"


def test_the_prompts_that_ship_are_listed_by_area() -> None:
    known = shipped_prompts()
    assert {key.partition("/")[0] for key in known} == areas().keys()
    assert known["agents/reflact"].version == 3, "the newest"
    assert known["agents/ariadne"].placeholders == {"situation", "planning", "actions"}
    for key, shipped in known.items():
        copy = parse_prompt(shipped.name, shipped.version, prompt_text(shipped))
        assert copy == shipped, key
        assert PromptSet({key: prompt_text(shipped)}).digests.keys() == {key}, "a copy may be used"


def test_a_folder_or_a_file_replaces_prompts_for_a_block(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "ariadne-1.md").write_text(OWN)
    (tmp_path / "statements.md").write_text("# user\n$text and the mark $mark, in this form: $form")
    own = load_prompts(tmp_path)
    assert own.digests.keys() == {"agents/ariadne", "extract/statements"}
    shipped = load_prompt("worldthread_lab.agents", "ariadne", 1)
    with use_prompts(own):
        messages = prompt("ariadne", situation="It is $dark.", planning="-", actions="-")
        assert [message.content for message in messages] == ["Play as the paper says.", "It is $dark."]
        assert load_prompt("worldthread_lab.agents", "ariadne", 1).id == f"ariadne/{own.digests['agents/ariadne']}"
        assert ModelExtractor(FakeChat([])).name == f"model/4+statements/{own.digests['extract/statements']}"
        with use_prompts(PromptSet()):
            assert load_prompt("worldthread_lab.agents", "ariadne", 1) is shipped
    assert load_prompt("worldthread_lab.agents", "ariadne", 1) is shipped
    assert ModelExtractor(FakeChat([])).name == "model/4"
    assert load_prompts(tmp_path / "agents" / "ariadne-1.md").digests.keys() == {"agents/ariadne"}
    assert decode_prompts(own.as_json()) == own


def test_the_default_of_the_process_holds_in_other_threads() -> None:
    seen: list[str] = []
    set_default_prompts(PromptSet({"answer/answer": "# user\n$question"}))
    try:
        thread = threading.Thread(target=lambda: seen.append(load_prompt("worldthread", "answer", 5).digest))
        thread.start()
        thread.join()
    finally:
        set_default_prompts(None)
    assert seen[0]
    assert not load_prompt("worldthread", "answer", 5).digest


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("ariadne.md", "# user\n$weather", r"uses \$weather; the variables that it may use are: \$actions, \$planning"),
        ("ariadne.md", "no section", "has no section"),
        ("ariadne.md", "# user\nfor $5", "does not begin a placeholder"),
        ("ariadne-7.md", OWN, "replaces version 7 of the prompt agents/ariadne, and this release has version 1"),
        ("ariadme.md", OWN, "no prompt is called 'ariadme'; there are: .*ariadne"),
        ("reflect.md", OWN, "agents/reflect and memory_modules/reflect have this name"),
        ("weather/ariadne.md", OWN, "no area of prompts is called 'weather'; there are: agents"),
        ("agents/move.md", OWN, "uses"),
        ("agents/move.md", "# system\n$left\n\n# user\n$actions", "must have one section"),
        ("ariadne.md", "# user\n" + "x" * 300_000, "too long for a prompt"),
    ],
)
def test_mistakes_are_named_when_prompts_are_read(tmp_path: Path, file: str, text: str, says: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        load_prompts(tmp_path)


def test_a_folder_without_prompts_and_a_prompt_that_is_there_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no prompt"):
        load_prompts(tmp_path)
    (tmp_path / "agents").mkdir()
    for name in ("ariadne.md", "agents/ariadne.md"):
        (tmp_path / name).write_text(OWN)
    with pytest.raises(InputError, match="there twice"):
        load_prompts(tmp_path)
