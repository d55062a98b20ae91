from __future__ import annotations

from worldthread.extract.game.english import COOKING_STATES, MentionedThing, sentences, thing, things


def test_sentences_end_at_marks_and_lines() -> None:
    text = 'He said "Stop." Then he left!\nWhat? See No. 5 here.'
    assert sentences(text) == ['He said "Stop.', "Then he left!", "What?", "See No.", "5 here."]


def test_a_phrase_gives_name_and_states() -> None:
    assert thing("the Opened  Oak Door") == MentionedThing("Oak Door", ("open",))
    assert thing("a chopped roasted leek", COOKING_STATES) == MentionedThing("leek", ("chopped", "roasted"))
    assert thing("an empty box") == MentionedThing("box")
    assert thing("closed") == MentionedThing("closed"), "an adjective alone is the only name there is"
    assert thing("...") is None


def test_enumerations_split_where_an_article_follows() -> None:
    found = things("a lamp, a bread and butter plate, and an unlocked chest, which is old")
    assert found == [
        MentionedThing("lamp"),
        MentionedThing("bread and butter plate"),
        MentionedThing("chest", ("closed",)),
    ]
    assert things("nothing at all") == []
