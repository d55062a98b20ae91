"""Texts in German, French and Spanish: their facts, what they end, and that other languages make none."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from worldthread import Memory
from worldthread.extract.languages.detection import detect_language, is_foreign
from worldthread.extract.languages.tables import LANGUAGES, Holds, language
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.models.fake import FakeEmbedder
from worldthread.names import normalise_name
from worldthread.types import Extraction, Fact, Thesis

SETS = Path(__file__).parents[2] / "benchmarks" / "language"
FILES = ["others_own_development.toml", "others_own_unseen.toml"]
WORK = {"works at", "works for", "works in"}


def read(text: str, speaker: str = "user") -> Extraction:
    return ProseExtractor().extract(f"{speaker}: {text}", speaker)


def stated(extraction: Extraction) -> list[Fact]:
    return [s for s in extraction.statements if isinstance(s, Fact)]


def ended(extraction: Extraction) -> list[Fact]:
    return [e.statement for e in extraction.endings if isinstance(e.statement, Fact)]


def facts(text: str) -> dict[str, str | None]:
    """Aspects of the facts of a message by the facts, as text."""
    return {str(fact): fact.aspect for fact in stated(read(text))}


def sentences(file: str) -> list[tuple[str, list[str]]]:
    with (SETS / file).open("rb") as data:
        return [(row[0], row[1:]) for rows in tomllib.load(data).values() for row in rows]


def fits(expected: str, fact: Fact) -> bool:
    """Whether ``fact`` is ``expected``; its object may be longer."""
    parts = [[normalise_name(a) for a in part.split("/")] for part in expected.split(" | ")]
    subject, relation, value = fact.key
    return (
        subject in parts[0] and relation in parts[1] and any(value == v or value.startswith(f"{v} ") for v in parts[2])
    )


@pytest.mark.parametrize("file", FILES)
def test_nothing_is_stated_that_a_sentence_does_not_say(file: str) -> None:
    for text, expected in sentences(file):
        may_be = [e.removeprefix("? ") for e in expected if not e.removeprefix("? ").startswith("- ")]
        wrong = [str(f) for f in stated(read(text)) if not any(fits(e, f) for e in may_be)]
        assert wrong == [], text


def test_what_the_rules_were_written_for_is_read() -> None:
    for text, expected in sentences(FILES[0]):
        extraction = read(text)
        for entry in expected:
            if entry.startswith("- "):
                assert any(fits(entry.removeprefix("- "), f) for f in ended(extraction)), text
            elif not entry.startswith("? "):
                assert any(fits(entry, f) for f in stated(extraction)), text


def test_languages_are_told_apart() -> None:
    with (SETS / "detection.toml").open("rb") as data:
        rows = [(text, name) for name, texts in tomllib.load(data).items() for text in texts]
    wrong = [(text, name, found) for text, name in rows if (found := detect_language(text)) != name]
    assert wrong == []


@pytest.mark.parametrize(
    "text", ["Bob divorced Anna.", "Anna studied at MIT.", "Golden key.", "He died in La Paz.", ""]
)
def test_names_of_other_languages_do_not_make_an_english_text_foreign(text: str) -> None:
    assert not is_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "Anna is een dokter in het ziekenhuis. Zij heeft twee katten.",
        "O meu nome é Ana e moro no Porto.",
        "Mieszkam w Krakowie i mam psa.",
        "Ben İzmir'de oturuyorum ve bir kedim var.",
        "Main Delhi mein rehta hoon aur mere paas ek kutta hai.",
    ],
)
def test_a_language_without_rules_makes_no_fact_and_is_still_found(text: str) -> None:
    extraction = read(text)
    assert stated(extraction) == []
    assert extraction.endings == ()
    assert any(isinstance(s, Thesis) for s in extraction.statements)
    with Memory(embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": text}])
        assert text in memory.recall(text).text


@pytest.mark.parametrize("text", ["Die Frau is nice, aber der Mann ist alt.", "Paris est is Rom in Paris est."])
def test_a_foreign_passage_is_not_read_by_the_rules_for_english(text: str) -> None:
    assert facts(text) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ich wohne in Bonn.", {"user, lives in, Bonn": "residence of user"}),
        ("J'habite à Bonn.", {"user, lives in, Bonn": "residence of user"}),
        ("Vivo en Bonn.", {"user, lives in, Bonn": "residence of user"}),
        ("Ich arbeite für Bosch.", {"user, works for, Bosch": "employer of user"}),
        ("Je travaille pour Bosch.", {"user, works for, Bosch": "employer of user"}),
        ("Trabajo para Bosch.", {"user, works for, Bosch": "employer of user"}),
        ("Ich bin ledig.", {"user, is, ledig": "marital state of user"}),
        ("Je suis célibataire.", {"user, is, célibataire": "marital state of user"}),
        ("Estoy soltera.", {"user, is, soltera": "marital state of user"}),
        ("Die Karte kostet 20 Euro.", {"Karte, costs, 20 Euro": "price of karte"}),
        ("Meine Frau heißt Ines.", {"Ines, is wife of, user": "wife of user"}),
        ("Ma femme s'appelle Inès.", {"Inès, is wife of, user": "wife of user"}),
        ("Mi mujer se llama Inés.", {"Inés, is wife of, user": "wife of user"}),
        ("La réunion est reportée à mardi.", {"réunion, is on, mardi": "day of réunion"}),
    ],
)
def test_aspects_are_those_of_english(text: str, expected: dict[str, str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    "later",
    ["Ich wohne nicht mehr in Bonn.", "Je n'habite plus à Bonn.", "Ya no vivo en Bonn.", "J'ai quitté Bonn."],
)
def test_a_fact_ends_in_whatever_language_its_end_is_told(later: str) -> None:
    with Memory(embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": "I live in Bonn."}], at=1)
        assert [str(h.item) for h in memory.recall("Where does the user live?").facts] == ["user, lives in, Bonn"]
        memory.remember([{"role": "user", "content": later}], at=2)
        assert memory.recall("Where does the user live?").facts == ()


@pytest.mark.parametrize("later", ["Ich wohne in Kiel.", "J'habite à Kiel.", "Me mudé a Kiel."])
def test_a_new_value_replaces_the_old_one_across_languages(later: str) -> None:
    with Memory(embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": "I live in Bonn."}], at=1)
        memory.remember([{"role": "user", "content": later}], at=2)
        assert [str(h.item) for h in memory.recall("Where does the user live?").facts] == ["user, lives in, Kiel"]


@pytest.mark.parametrize(
    "text",
    [
        # German
        "Ich bin 30 Minuten gelaufen.", "Ich habe einen Hund gesehen.", "Ich habe eine Katze im Garten gefunden.",
        "Ich komme aus dem Urlaub.", "Ich arbeite an einem Buch.", "Ich wohne in Bonn oder so.",
        "Ich wohne in Bonn und Köln.", "Peter sagt: „Ich wohne in Rom.“", "Mein Mann und ich wohnen in Jena.",
        "Ich war Lehrer.", "Ich wohne fast in Bonn.", "Stell dir vor, ich wohne in Rom.", "Anna soll in Rom wohnen.",
        # French
        "J'ai mangé une pomme.", "Je viens de manger.", "je viens de manger", "J'ai 30 minutes.",
        "Je suis arrivé à Paris.",
        "Paul dit qu'il habite à Rome.", "Paul dit : « J'habite à Rome. »", "Je vis dans la peur.",
        "J'habite au troisième étage.",
        "J'habiterais à Rome.", "J'espère que tu habites à Rome.",
        # Spanish
        "Tengo que irme.", "Tengo 30 minutos.", "Trabajo en casa.", "Pablo dice: \"Vivo en Roma.\"", "Es de Lima.",
        "Vivo en el tercer piso.", "Vive en Roma.", "Toco la puerta.", "Me gustaría vivir en Roma.",
        "He llegado a Madrid.",
    ],
)  # fmt: skip
def test_sentences_that_look_like_statements_make_no_fact(text: str) -> None:
    assert facts(text) == {}


def test_pronouns_mean_the_one_person_before_them() -> None:
    assert "Anna, is a, Ärztin" in facts("Anna wohnt in Rom. Sie ist Ärztin.")
    assert "Peter, lives in, Kassel" in facts("Peter ist mein Bruder. Er wohnt in Kassel.")
    assert facts("Mi hermana vive en Vigo. Él trabaja en Iberia.") == {
        "user's sister, lives in, Vigo": "residence of user's sister"
    }


def test_the_thesis_has_the_noun_phrases_as_objects() -> None:
    theses = [s for s in read("Gestern hat in Kiel eine kleine Bäckerei eröffnet.").statements if isinstance(s, Thesis)]
    assert theses == [
        Thesis("user: Gestern hat in Kiel eine kleine Bäckerei eröffnet.", ("Kiel", "kleine Bäckerei", "user"))
    ]
    (thesis,) = ProseExtractor().extract("La vieja librería de la plaza cierra el 3 de mayo.").statements
    assert isinstance(thesis, Thesis)
    assert thesis.objects[0].startswith("vieja librería")
    assert "--05-03" in thesis.objects
    (thesis,) = ProseExtractor().extract("Une petite boulangerie a ouvert à Dijon.").statements
    assert isinstance(thesis, Thesis)
    assert thesis.objects == ("petite boulangerie", "Dijon")


def test_a_date_does_not_end_a_sentence() -> None:
    extraction = read("Mein Geburtstag ist am 3. Mai. Ich wohne z.B. gern in Bonn.")
    assert (
        next(s.text for s in extraction.statements if isinstance(s, Thesis)) == "user: Mein Geburtstag ist am 3. Mai."
    )
    assert facts("Das Konzert ist am 24.12.2025 um 20 Uhr.") == {
        "Konzert, is on, 2025-12-24": "day of konzert",
        "Konzert, is at, 20 Uhr": "time of konzert",
    }


def test_questions_and_greetings_make_no_thesis() -> None:
    for text in (
        "Wo wohnst du?",
        "Hallo, wie geht's dir?",
        "Danke, sehr gern!",
        "Merci beaucoup !",
        "¡Muchas gracias!",
    ):
        assert read(text).statements == (), text


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_form_names_verbs_and_objects_that_exist(code: str) -> None:
    table = language(code)
    for form in table.forms:
        for element in form.elements:
            assert element.kind != "verb" or element.value in table.verbs
        names = {e.value.upper() for e in form.elements if e.kind == "object"} | {"S", "O", "P", "LAST"}
        for parts in (*form.facts, *form.ends):
            named = {part for part in (parts[0], parts[-1] if len(parts) < 3 else parts[2]) if not part.startswith('"')}
            assert parts == ("NAMED",) or named <= names
        assert form.holds in get_args(Holds)


@pytest.mark.parametrize(
    "piece", ["Ich wohne in ", "1. Mai ", "J'ai un chien et ", "no vivo más en y ", "ß" * 50, "ich nicht kein "]
)
def test_hostile_texts_take_linear_time_and_do_not_fail(piece: str) -> None:
    short, long = (read("Ich und die Frau: " + piece * n) for n in (20, 2000))
    assert short.failures == long.failures == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Seit drei Jahren arbeite ich bei Lenz.", [("works at", "2021-05-15", "")]),
        ("Ich bin gestern nach Gera gezogen.", [("lives in", "2024-05-14", "")]),
        ("Von 2010 bis 2014 habe ich in Gera gewohnt.", [("lived in", "2010-01-01", "2015-01-01")]),
        ("Ich bin noch bis Sonntag in Gera.", [("is in", "", "2024-05-20")]),
        ("Heute wohne ich in Gera.", [("lives in", "", "")]),
        ("Seit 2020 arbeite ich bei Lenz und wohne in Gera.", [("works at", "2020-01-01", ""), ("lives in", "", "")]),
        ("Ich war letzte Woche in Gera.", [("was in", "2024-05-06", "2024-05-13")]),
        ("Ich war in Gera.", []),
        ("Ich war noch nie in Gera.", []),
        ("Je travaille chez Lenz depuis trois ans.", [("works at", "2021-05-15", "")]),
        ("J'ai travaillé chez Lenz jusqu'en mars.", [("worked at", "2024-03-31", "2024-04-01")]),
        ("Je me suis mariée avec Luc en 2015.", [("married to", "2015-01-01", "")]),
        ("Demain, je pars à Nice.", [("leaves for", "2024-05-16", "2024-05-17")]),
        ("Trabajo en Lenz desde hace tres años.", [("works at", "2021-05-15", "")]),
        ("Viví en Soria de 2010 a 2014.", [("lived in", "2010-01-01", "2015-01-01")]),
        ("El próximo lunes vuelo a Soria.", [("travels to", "2024-05-20", "2024-05-21")]),
    ],
)
def test_facts_hold_when_their_sentence_says(text: str, expected: list[tuple[str, str, str]]) -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("dateutil")
    from worldthread.extract.parsed.extractor import ParsedExtractor

    def day(time: float | None) -> str:
        return "" if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d")

    at = datetime(2024, 5, 15, 10, tzinfo=UTC).timestamp()
    found = stated(ParsedExtractor().extract(f"user: {text}", "user", at))
    assert [(f.relation, day(f.valid_from), day(f.valid_to)) for f in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ich habe Asthma.", ["user, has, Asthma"]),
        ("Ich rauche nicht.", ["user, does not, smoke"]),
        ("Meine Tochter geht in die erste Klasse.", ["user's daughter, goes to, erste Klasse"]),
        ("Ich brauche Hilfe.", []),
        ("J'ai besoin d'aide.", []),
        ("J'ai besoin de dormir.", []),
        ("Necesito ayuda.", []),
        ("Necesito gafas.", ["user, needs, gafas"]),
        ("Me interesa la botánica.", ["user, is interested in, botánica"]),
        ("Je m'intéresse à la botanique.", ["user, is interested in, botanique"]),
        ("Mi hijo está en segundo de primaria.", ["user's son, is in, segundo de primaria"]),
    ],
)
def test_common_statements_of_an_assistant_s_user(text: str, expected: list[str]) -> None:
    assert [f"{f.subject}, {f.relation}, {f.object}" for f in stated(read(text))] == expected
