from dataclasses import replace

import pytest

from toy_languages.grammar import (
    COPULA,
    GERN,
    MODALS,
    Adverbial,
    Clause,
    english,
    german,
)
from toy_languages.inflection import (
    ACCUSATIVE,
    DATIVE,
    GENITIVE,
    NOMINATIVE,
    Noun,
    adjective,
    noun,
    verb,
)
from toy_languages.phrases import (
    DETERMINERS,
    PRONOUNS,
    SINGULAR,
    Determiner,
    Phrase,
    noun_phrase,
    number,
    possessive,
    prepositional,
    pronoun_phrase,
    relative_pronoun,
    uninflected,
)
from toy_languages.tables import Both

DOG = noun("a", *["der", "Hund+e", "Hunde", "dog"])
CAT = noun("a", *["die", "Katze+n", "Katzen", "cat"])
CHILD = noun("p", *["das", "Kind+er", "Kinder", "child", "children"])
MAN = noun("p", *["der", "Mann", "Männer", "man", "men"])
APPLE = noun("f", *["der", "Apfel", "Äpfel", "apple"])
FOREST = noun("i", *["der", "Wald", "Wälder", "forest"])
SMALL, OLD = (
    adjective(*["klein", "kleiner", "small", "a"]),
    adjective(*["alt", "älter", "old", "a"]),
)
SEE = verb("pa>pa", "sehen sieht sah gesehen", "see saw seen !")
GET_UP = verb("pa", "ist auf-stehen steht stand gestanden", "get got got +up")
PICK_UP = verb("p>t", "auf-heben hebt hob gehoben", "pick +up")
SLEEP = verb("pa", "schlafen schläft schlief geschlafen", "sleep slept slept")
TOMORROW, JUST_NOW = (
    Adverbial("morgen", "tomorrow", "future"),
    Adverbial("gerade", "now", "ongoing"),
)
TODAY, OFTEN = Adverbial("heute", "today"), Adverbial("oft", "often", middle=True)
IN_FOREST = Both("im Wald", "in the forest")


def the(word: Noun, case: int = NOMINATIVE, *, plural: bool = False) -> Phrase:
    return noun_phrase(DETERMINERS["the"], [], word, case, plural=plural)


def dog_sees_cat() -> Clause:
    return Clause(the(DOG), SEE, accusative=the(CAT, ACCUSATIVE))


@pytest.mark.parametrize(
    ("determiner", "case", "plural", "expected"),
    [
        (DETERMINERS["the"], NOMINATIVE, False, ("der kleine Hund", "the small dog")),
        (DETERMINERS["the"], ACCUSATIVE, False, ("den kleinen Hund", "the small dog")),
        (DETERMINERS["the"], DATIVE, True, ("den kleinen Hunden", "the small dogs")),
        (DETERMINERS["a"], NOMINATIVE, False, ("ein kleiner Hund", "a small dog")),
        (DETERMINERS["a"], DATIVE, False, ("einem kleinen Hund", "a small dog")),
        (DETERMINERS["bare"], ACCUSATIVE, True, ("kleine Hunde", "small dogs")),
        (DETERMINERS["no"], ACCUSATIVE, True, ("keine kleinen Hunde", "any small dogs")),
        (
            possessive("euer", "your"),
            ACCUSATIVE,
            False,
            ("euren kleinen Hund", "your small dog"),
        ),
        (
            uninflected("Annas", "Anna's"),
            NOMINATIVE,
            False,
            ("Annas kleiner Hund", "Anna's small dog"),
        ),
    ],
)
def test_articles_and_endings(
    determiner: Determiner, case: int, plural: bool, expected: tuple[str, str]
) -> None:
    phrase = noun_phrase(determiner, [SMALL], DOG, case, plural=plural)
    assert (phrase.german, phrase.english) == expected


def test_an_before_a_vowel() -> None:
    assert noun_phrase(DETERMINERS["a"], [], APPLE, NOMINATIVE).english == "an apple"
    assert noun_phrase(DETERMINERS["a"], [OLD], DOG, NOMINATIVE).english == "an old dog"
    assert noun_phrase(DETERMINERS["a"], [SMALL], APPLE, NOMINATIVE).english == "a small apple"


def test_the_genitive_follows_in_german_and_precedes_in_english() -> None:
    phrase = noun_phrase(DETERMINERS["the"], [SMALL], CAT, NOMINATIVE, of=the(MAN, GENITIVE))
    assert (phrase.german, phrase.english) == ("die kleine Katze des Mannes", "the man's small cat")


def test_prepositions_contract_with_articles_and_tell_place_from_direction() -> None:
    assert prepositional(Both("in", "in"), the(FOREST, DATIVE)) == IN_FOREST
    assert prepositional(Both("in", "into"), the(FOREST, ACCUSATIVE)) == (
        "in den Wald",
        "into the forest",
    )
    assert prepositional(Both("zu", "to"), the(CAT, DATIVE)) == ("zur Katze", "to the cat")


def test_numbers() -> None:
    assert [number(value) for value in (2, 12, 17, 30, 23)] == [
        ("zwei", "two"),
        ("zwölf", "twelve"),
        ("siebzehn", "seventeen"),
        ("dreißig", "thirty"),
        ("dreiundzwanzig", "twenty-three"),
    ]


def test_the_verb_stands_second_whatever_stands_first() -> None:
    clause = replace(dog_sees_cat(), time=TODAY, place=IN_FOREST)
    assert german(clause) == "der Hund sieht heute die Katze im Wald"
    assert english(clause) == "the dog sees the cat in the forest today"
    assert german(replace(clause, front="time")) == "heute sieht der Hund die Katze im Wald"
    assert english(replace(clause, front="time")) == "today the dog sees the cat in the forest"
    assert german(replace(clause, front="place")) == "im Wald sieht der Hund heute die Katze"


def test_case_tells_the_object_that_stands_first() -> None:
    clause = Clause(the(CAT), SEE, accusative=the(DOG, ACCUSATIVE), front="accusative")
    assert (german(clause), english(clause)) == ("den Hund sieht die Katze", "the cat sees the dog")


def test_the_verb_stands_first_in_questions_and_last_in_subordinate_clauses() -> None:
    clause = dog_sees_cat()
    assert german(clause, "first") == "sieht der Hund die Katze"
    assert english(clause, "question") == "does the dog see the cat"
    assert german(clause, "last") == "der Hund die Katze sieht"
    assert german(replace(clause, tense="perfect"), "last") == "der Hund die Katze gesehen hat"


def test_separable_verbs() -> None:
    clause = Clause(the(DOG), GET_UP, time=TODAY)
    assert german(clause) == "der Hund steht heute auf"
    assert german(clause, "last") == "der Hund heute aufsteht"
    assert german(clause, "infinitive") == "heute aufzustehen"
    assert german(replace(clause, tense="perfect")) == "der Hund ist heute aufgestanden"
    assert german(replace(clause, tense="future")) == "der Hund wird heute aufstehen"
    assert english(clause) == "the dog gets up today"
    assert english(clause, "infinitive") == "to get up today"


def test_an_english_particle_follows_a_pronoun() -> None:
    clause = Clause(the(MAN), PICK_UP, accusative=the(APPLE, ACCUSATIVE))
    assert english(clause) == "the man picks up the apple"
    it = pronoun_phrase(SINGULAR[0, "it"], ACCUSATIVE)
    assert (german(replace(clause, accusative=it)), english(replace(clause, accusative=it))) == (
        "der Mann hebt ihn auf",
        "the man picks it up",
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tense": "preterite"}, ("der Hund schlief", "the dog slept")),
        ({"tense": "perfect"}, ("der Hund hat geschlafen", "the dog slept")),
        ({"tense": "future"}, ("der Hund wird schlafen", "the dog will sleep")),
        ({"time": TOMORROW}, ("der Hund schläft morgen", "the dog will sleep tomorrow")),
        ({"time": JUST_NOW}, ("der Hund schläft gerade", "the dog is sleeping now")),
        ({"time": OFTEN}, ("der Hund schläft oft", "the dog often sleeps")),
        ({"negation": "nicht"}, ("der Hund schläft nicht", "the dog does not sleep")),
        (
            {"negation": "nicht", "tense": "perfect"},
            ("der Hund hat nicht geschlafen", "the dog did not sleep"),
        ),
        ({"manner": GERN}, ("der Hund schläft gern", "the dog likes to sleep")),
        (
            {"manner": GERN, "negation": "nicht"},
            ("der Hund schläft nicht gern", "the dog does not like to sleep"),
        ),
    ],
)
def test_tense_negation_and_manner(changes: dict[str, object], expected: tuple[str, str]) -> None:
    clause = replace(Clause(the(DOG), SLEEP), **changes)
    assert (german(clause), english(clause)) == expected


@pytest.mark.parametrize(
    ("modal", "negation", "tense", "expected"),
    [
        ("können", "", "present", ("der Hund kann schlafen", "the dog can sleep")),
        ("können", "nicht", "present", ("der Hund kann nicht schlafen", "the dog cannot sleep")),
        (
            "müssen",
            "nicht",
            "present",
            ("der Hund muss nicht schlafen", "the dog does not have to sleep"),
        ),
        ("müssen", "", "preterite", ("der Hund musste schlafen", "the dog had to sleep")),
        ("dürfen", "nicht", "present", ("der Hund darf nicht schlafen", "the dog must not sleep")),
        ("wollen", "", "present", ("der Hund will schlafen", "the dog wants to sleep")),
    ],
)
def test_modal_verbs(modal: str, negation: str, tense: str, expected: tuple[str, str]) -> None:
    clause = replace(Clause(the(DOG), SLEEP), modal=MODALS[modal], negation=negation, tense=tense)
    assert (german(clause), english(clause)) == expected


def test_objects() -> None:
    give = verb("p>t", "geben gibt gab gegeben", "give gave given")
    apple = noun_phrase(DETERMINERS["a"], [], APPLE, ACCUSATIVE)
    clause = Clause(the(MAN), give, dative=the(CHILD, DATIVE), accusative=apple, time=TODAY)
    assert german(clause) == "der Mann gibt heute dem Kind einen Apfel"
    assert english(clause) == "the man gives the child an apple today"
    me = replace(clause, dative=pronoun_phrase(PRONOUNS["ich"], DATIVE))
    assert (german(me), english(me)) == (
        "der Mann gibt mir heute einen Apfel",
        "the man gives me an apple today",
    )
    assert german(me, "first") == "gibt der Mann mir heute einen Apfel"
    assert english(replace(me, negation="nicht"), "imperative") == "do not give me an apple today"


def test_the_person_whom_something_pleases_is_the_english_subject() -> None:
    please = verb("t>p", "gefallen gefällt gefiel gefallen", "like")
    clause = Clause(the(APPLE), please, dative=the(CHILD, DATIVE), swapped=True, front="dative")
    assert (german(clause), english(clause)) == (
        "dem Kind gefällt der Apfel",
        "the child likes the apple",
    )
    assert english(clause, "question") == "does the child like the apple"


def test_passive() -> None:
    agent = prepositional(Both("von", "by"), the(CHILD, DATIVE))
    clause = Clause(the(APPLE, plural=True), SEE, "preterite", passive=True, complement=agent)
    assert german(clause) == "die Äpfel wurden vom Kind gesehen"
    assert english(clause) == "the apples were seen by the child"


def test_copula() -> None:
    clause = Clause(the(CAT), COPULA, complement=Both("klein", "small"))
    assert (german(clause), english(clause)) == ("die Katze ist klein", "the cat is small")
    assert english(replace(clause, negation="nicht"), "question") == "is the cat not small"


def test_relative_pronouns() -> None:
    assert relative_pronoun(the(DOG), ACCUSATIVE).german == "den"
    assert relative_pronoun(the(CAT), DATIVE).german == "der"
    assert relative_pronoun(the(DOG, plural=True), DATIVE).german == "denen"
    assert [relative_pronoun(the(word), NOMINATIVE).english for word in (MAN, DOG)] == [
        "who",
        "that",
    ]


def test_reflexive_verbs() -> None:
    hide = verb("p", "sich verstecken", "hide hid hidden")
    clause = Clause(pronoun_phrase(PRONOUNS["ich"], NOMINATIVE), hide, place=IN_FOREST)
    assert (german(clause), english(clause)) == (
        "ich verstecke mich im Wald",
        "I hide in the forest",
    )
