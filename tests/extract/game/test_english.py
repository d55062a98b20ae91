from __future__ import annotations

from worldthread_lab.game.english import (
    COOKING_STATES,
    MentionedThing,
    is_legible,
    mentioned_thing,
    mentioned_things,
    sentences,
)


def test_sentences_end_at_marks_and_lines() -> None:
    text = 'He said "Stop." Then he left!\nWhat? See No. 5 here.'
    assert sentences(text) == ['He said "Stop.', "Then he left!", "What?", "See No.", "5 here."]


def test_a_phrase_gives_name_and_states() -> None:
    assert mentioned_thing("the Opened  Oak Door") == MentionedThing("Oak Door", ("open",))
    assert mentioned_thing("a chopped roasted leek", COOKING_STATES) == MentionedThing("leek", ("chopped", "roasted"))
    assert mentioned_thing("an empty box") == MentionedThing("box")
    assert mentioned_thing("closed") == MentionedThing("closed"), "an adjective alone is the only name there is"
    assert mentioned_thing("...") is None


def test_enumerations_split_where_an_article_follows() -> None:
    found = mentioned_things("a lamp, a bread and butter plate, and an unlocked chest, which is old")
    assert found == [
        MentionedThing("lamp"),
        MentionedThing("bread and butter plate"),
        MentionedThing("chest", ("closed",)),
    ]
    assert mentioned_things("nothing at all") == []


def test_legible_things() -> None:
    assert is_legible("Note 2")
    assert is_legible("cookbook")
    assert not is_legible("notebooks rack key")
