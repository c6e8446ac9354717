import pytest

from toy_languages.inflection import (
    ACCUSATIVE,
    DATIVE,
    FEMININE,
    GENITIVE,
    Noun,
    compound,
    noun,
    verb,
)
from toy_languages.tables import inflect


@pytest.mark.parametrize(
    ("entry", "singular", "plural", "english"),
    [
        (
            "der Hund+e Hunde dog",
            "Hund Hund Hund Hundes",
            "Hunde Hunde Hunden Hunde",
            ("dog", "dogs"),
        ),
        (
            "der Junge* Jungen boy",
            "Junge Jungen Jungen Jungen",
            "Jungen Jungen Jungen Jungen",
            ("boy", "boys"),
        ),
    ],
)
def test_nouns(entry: str, singular: str, plural: str, english: tuple[str, str]) -> None:
    word = noun("t", *entry.split())
    assert word.german == (tuple(singular.split()), tuple(plural.split()))
    assert word.english == english


def test_the_english_pronoun_follows_nature() -> None:
    entries = {
        "p": (
            "der Mann Männer man men",
            "das/she Mädchen Mädchen girl",
            "das Kind Kinder child children",
        ),
        "a": ("die Katze Katzen cat",),
    }
    pronouns = {
        row.split()[3]: noun(kind, *row.split()).pronoun
        for kind, table in entries.items()
        for row in table
    }
    assert pronouns == {"man": "he", "girl": "she", "child": "it", "cat": "it"}


def test_compounds_are_one_word_in_german_and_two_in_english() -> None:
    def of(modifier: str, head: str) -> Noun:
        return compound(noun("t", *modifier.split()), noun("t", *head.split()))

    door = of("das Haus Häuser house", "die Tür Türen door")
    assert (door.german[0][0], door.german[1][DATIVE], door.gender) == (
        "Haustür",
        "Haustüren",
        FEMININE,
    )
    assert door.english == ("house door", "house doors")
    assert of("die Sonne+n Sonnen sun", "der Hut Hüte hat").german[0][GENITIVE] == "Sonnenhutes"
    assert (
        of("der Bär* Bären bear", "die Höhle+n Höhlen cave").german[0][ACCUSATIVE] == "Bärenhöhle"
    )


@pytest.mark.parametrize(
    ("entry", "present", "preterite", "participle", "zu"),
    [
        (
            "p lächeln = smile",
            "lächle lächelst lächelt lächeln lächelt lächeln",
            "lächelte lächeltest lächelte lächelten lächeltet lächelten",
            "gelächelt",
            "zu lächeln",
        ),
        (
            "p Hunger_haben hat hatte gehabt = be +hungry",
            "habe hast hat haben habt haben",
            "hatte hattest hatte hatten hattet hatten",
            "Hunger gehabt",
            "Hunger zu haben",
        ),
    ],
)
def test_verbs(entry: str, present: str, preterite: str, participle: str, zu: str) -> None:
    kinds, _, both = entry.partition(" ")
    word = verb(kinds, *both.split(" = "))
    assert word.present == tuple(present.split())
    assert word.preterite == tuple(preterite.split())
    assert (word.participle, word.zu_infinitive) == (participle, zu)


@pytest.mark.parametrize(
    ("entry", "forms"),
    [
        ("look +for", "look looks looked looked looking for"),
        ("carry", "carry carries carried carried carrying"),
        ("run ran run", "run runs ran run running"),
        ("lie lay lain", "lie lies lay lain lying"),
        ("fetch", "fetch fetches fetched fetched fetching"),
    ],
)
def test_english_verbs(entry: str, forms: str) -> None:
    words = verb("p", "suchen", entry).english
    inflected = (
        words.base,
        words.third,
        words.past,
        words.participle,
        words.progressive,
        words.rest,
    )
    assert " ".join(inflected).strip() == forms


def test_english_s() -> None:
    assert [inflect("s", word) for word in ("dog", "fox", "boy", "cherry", "bench", "go")] == [
        "dogs",
        "foxes",
        "boys",
        "cherries",
        "benches",
        "goes",
    ]
