from dataclasses import replace

import pytest

from toy_languages.grammar import (
    MODALS,
    Adverbial,
    Clause,
    english,
    german,
)
from toy_languages.inflection import (
    ACCUSATIVE,
    DATIVE,
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
    prepositional,
    pronoun_phrase,
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


@pytest.mark.parametrize(
    ("determiner", "case", "plural", "expected"),
    [
        (DETERMINERS["the"], ACCUSATIVE, False, ("den kleinen Hund", "the small dog")),
        (DETERMINERS["the"], DATIVE, True, ("den kleinen Hunden", "the small dogs")),
        (DETERMINERS["a"], DATIVE, False, ("einem kleinen Hund", "a small dog")),
        (DETERMINERS["no"], ACCUSATIVE, True, ("keine kleinen Hunde", "any small dogs")),
    ],
)
def test_articles_and_endings(
    determiner: Determiner, case: int, plural: bool, expected: tuple[str, str]
) -> None:
    phrase = noun_phrase(determiner, [SMALL], DOG, case, plural=plural)
    assert (phrase.german, phrase.english) == expected


def test_prepositions_contract_with_articles_and_tell_place_from_direction() -> None:
    assert prepositional(Both("in", "in"), the(FOREST, DATIVE)) == IN_FOREST
    assert prepositional(Both("in", "into"), the(FOREST, ACCUSATIVE)) == (
        "in den Wald",
        "into the forest",
    )
    assert prepositional(Both("zu", "to"), the(CAT, DATIVE)) == ("zur Katze", "to the cat")


SLEEPS = Clause(the(DOG), SLEEP)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tense": "perfect"}, ("der Hund hat geschlafen", "the dog slept")),
        ({"time": TOMORROW}, ("der Hund schläft morgen", "the dog will sleep tomorrow")),
        ({"time": JUST_NOW}, ("der Hund schläft gerade", "the dog is sleeping now")),
        ({"negation": "nicht"}, ("der Hund schläft nicht", "the dog does not sleep")),
        (
            {"modal": MODALS["müssen"], "negation": "nicht"},
            ("der Hund muss nicht schlafen", "the dog does not have to sleep"),
        ),
        (
            {"modal": MODALS["dürfen"], "negation": "nicht"},
            ("der Hund darf nicht schlafen", "the dog must not sleep"),
        ),
    ],
)
def test_tense_negation_manner_and_modal_verbs(
    changes: dict[str, object], expected: tuple[str, str]
) -> None:
    clause = replace(SLEEPS, **changes)
    assert (german(clause), english(clause)) == expected


SEES = Clause(the(DOG), SEE, accusative=the(CAT, ACCUSATIVE))
GETS_UP = Clause(the(DOG), GET_UP, time=TODAY)
GIVES = Clause(
    the(MAN),
    verb("p>t", "geben gibt gab gegeben", "give gave given"),
    dative=the(CHILD, DATIVE),
    accusative=noun_phrase(DETERMINERS["a"], [], APPLE, ACCUSATIVE),
    time=TODAY,
)
GIVES_ME = replace(GIVES, dative=pronoun_phrase(PRONOUNS["ich"], DATIVE))
PLACED = replace(SEES, time=TODAY, place=IN_FOREST)
PICKS_UP = Clause(the(MAN), PICK_UP, accusative=the(APPLE, ACCUSATIVE))
PLEASES = Clause(
    the(APPLE),
    verb("t>p", "gefallen gefällt gefiel gefallen", "like"),
    dative=the(CHILD, DATIVE),
    swapped=True,
    front="dative",
)


@pytest.mark.parametrize(
    ("clause", "in_german", "in_english"),
    [
        (
            replace(PLACED, front="time"),
            "heute sieht der Hund die Katze im Wald",
            "today the dog sees the cat in the forest",
        ),
        (
            Clause(the(CAT), SEE, accusative=the(DOG, ACCUSATIVE), front="accusative"),
            "den Hund sieht die Katze",
            "the cat sees the dog",
        ),
        (
            replace(GETS_UP, tense="perfect"),
            "der Hund ist heute aufgestanden",
            "the dog got up today",
        ),
        (
            replace(PICKS_UP, accusative=pronoun_phrase(SINGULAR[0, "it"], ACCUSATIVE)),
            "der Mann hebt ihn auf",
            "the man picks it up",
        ),
        (
            GIVES,
            "der Mann gibt heute dem Kind einen Apfel",
            "the man gives the child an apple today",
        ),
        (PLEASES, "dem Kind gefällt der Apfel", "the child likes the apple"),
    ],
)
def test_main_clauses(clause: Clause, in_german: str, in_english: str) -> None:
    assert (german(clause), english(clause)) == (in_german, in_english)


def test_questions_subordinate_clauses_and_infinitives() -> None:
    assert german(SEES, "first") == "sieht der Hund die Katze"
    assert english(SEES, "question") == "does the dog see the cat"
    assert english(PLEASES, "question") == "does the child like the apple"
    assert german(replace(SEES, tense="perfect"), "last") == "der Hund die Katze gesehen hat"
    assert german(GETS_UP, "last") == "der Hund heute aufsteht"
    assert german(GETS_UP, "infinitive") == "heute aufzustehen"
    assert english(GETS_UP, "infinitive") == "to get up today"
    no_apple = replace(GIVES_ME, negation="nicht")
    assert english(no_apple, "imperative") == "do not give me an apple today"
