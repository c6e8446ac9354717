"""The German-like language: forms, phrases and clauses against hand-written ones, and the lexicon's
promises."""

from dataclasses import replace
from itertools import islice

import pytest

from toy_languages.grammar import (
    DETERMINERS,
    MODALS,
    PRONOUNS,
    SINGULAR,
    Adverbial,
    Clause,
    Phrase,
    noun_phrase,
    prepositional,
    pronoun_phrase,
)
from toy_languages.words import (
    ACCUSATIVE,
    DATIVE,
    FEMININE,
    GENITIVE,
    NOMINATIVE,
    Both,
    Lexicon,
    Noun,
    Verb,
    Word,
    adjective,
    compound,
    english_verb,
    grouped,
    inflect,
    invented,
    noun,
    verb,
)


def thing(columns: str, kind: str = "t") -> Noun:
    return noun(kind, *columns.split())


def test_nouns() -> None:
    dog, boy = thing("der Hund+e Hunde dog"), thing("der Junge* Jungen boy")
    assert [" ".join(forms) for forms in (*dog.german, *boy.german)] == [
        "Hund Hund Hund Hundes",
        "Hunde Hunde Hunden Hunde",
        "Junge Jungen Jungen Jungen",
        "Jungen Jungen Jungen Jungen",
    ]
    words = "dog fox boy cherry bench go"
    assert " ".join(inflect("s", word) for word in words.split()) == (
        "dogs foxes boys cherries benches goes"
    )
    persons = "der Mann Männer man men", "das/she Mädchen Mädchen girl", "das Kind Kinder child"
    people = [thing(columns, "p").pronoun for columns in persons]
    assert [*people, thing("die Katze Katzen cat", "a").pronoun] == ["he", "she", "it", "it"]


def test_compounds_are_one_word_in_german_and_two_in_english() -> None:
    door = compound(thing("das Haus Häuser house"), thing("die Tür Türen door"))
    assert (door.german[1][DATIVE], door.gender) == ("Haustüren", FEMININE)
    assert door.english == ("house door", "house doors")
    hat = compound(thing("die Sonne+n Sonnen sun"), thing("der Hut Hüte hat"))
    den = compound(thing("der Bär* Bären bear"), thing("die Höhle+n Höhlen cave"))
    assert (hat.german[0][GENITIVE], den.german[0][ACCUSATIVE]) == ("Sonnenhutes", "Bärenhöhle")


def test_verbs() -> None:
    smile = verb("", "p", "lächeln", "smile")
    assert " ".join((*smile.present, *smile.preterite, smile.participle)) == (
        "lächle lächelst lächelt lächeln lächelt lächeln "
        "lächelte lächeltest lächelte lächelten lächeltet lächelten gelächelt"
    )
    hungry = verb("", "p", "Hunger_haben hat hatte gehabt", "be +hungry !")
    assert (hungry.present[1], hungry.participle, hungry.ongoing) == ("hast", "Hunger gehabt", 0)
    assert [verb("", "p", word, "be").participle for word in ("besuchen", "reparieren")] == [
        "besucht",
        "repariert",
    ]
    for entry, forms in (
        ("look +for", "look looks looked looked looking for"),
        ("carry", "carry carries carried carried carrying "),
        ("run ran run", "run runs ran run running "),
        ("lie lay lain", "lie lies lay lain lying "),
        ("fetch", "fetch fetches fetched fetched fetching "),
    ):
        assert " ".join(english_verb(entry)) == forms


def lemmas(word: Word) -> tuple[str, str]:
    if isinstance(word, Noun):
        return word.german[0][0], word.english[0]
    if isinstance(word, Verb):
        return word.prefix + word.infinitive, f"{word.english.base} {word.english.rest}".rstrip()
    return word.german, word.english


def test_invented_words_are_unique_and_translated_syllable_by_syllable() -> None:
    words = list(islice(invented(), 5_000))
    german, english = zip(*map(lemmas, words), strict=True)
    assert len(set(german)) == len(set(english)) == 5_000
    translation = dict(grouped("rare")["syllable"])
    assert len(translation) == len(set(translation.values())) == 124

    def translations(stem: str) -> list[str]:
        found = [] if stem else [""]
        for syllable in translation:
            if stem.startswith(syllable):
                rests = translations(stem.removeprefix(syllable))
                found += [translation[syllable] + rest for rest in rests]
        return found

    for word in words[:300]:
        if isinstance(word, Noun):
            in_german, in_english = lemmas(word)
            readings = {
                translated + other
                for _, _, ending, _, _, other in grouped("rare")["noun"]
                if in_german.endswith(ending)
                for translated in translations(in_german.removesuffix(ending).lower())
            }
            assert in_english in readings


def test_a_smaller_lexicon_is_part_of_a_larger_one() -> None:
    small, large = Lexicon(500), Lexicon(1_234)
    adjectives = {word for kind in large.adjectives.values() for word in kind.items}
    nouns = sum(len(large.nouns(kind).items) for kind in "patfis")
    verbs = sum(len(of_frame.items) for of_frame in large.verbs.values())
    assert len(adjectives) + nouns + verbs == 1_234
    for kind in "patfis":
        known = small.nouns(kind).items
        assert large.nouns(kind).items[: len(known)] == known
    for frame, of_frame in small.verbs.items():
        assert large.verbs[frame].items[: len(of_frame.items)] == of_frame.items


def test_context_decides_between_two_translations() -> None:
    lexicon = Lexicon(500)
    for kind, translation in (("t", "lock"), ("i", "castle")):
        (word,) = [one for one in lexicon.nouns(kind).items if one.german[0][0] == "Schloss"]
        assert word.english[0] == translation


DOG, CAT = thing("der Hund+e Hunde dog", "a"), thing("die Katze+n Katzen cat", "a")
CHILD, MAN = thing("das Kind Kinder child children", "p"), thing("der Mann Männer man men", "p")
APPLE, FOREST = thing("der Apfel Äpfel apple", "f"), thing("der Wald Wälder forest", "i")
SMALL = adjective("klein", "kleiner", "small", "a")
TOMORROW, NOW = Adverbial("morgen", "tomorrow", "future"), Adverbial("gerade", "now", "ongoing")
TODAY, OFTEN = Adverbial("heute", "today"), Adverbial("oft", "often", middle="middle")
IN_FOREST = Both("im Wald", "in the forest")


def the(word: Noun, case: int = NOMINATIVE) -> Phrase:
    return noun_phrase(DETERMINERS["the"], [], word, case)


@pytest.mark.parametrize(
    ("determiner", "case", "plural", "german", "english"),
    [
        ("the", ACCUSATIVE, False, "den kleinen Hund", "the small dog"),
        ("the", DATIVE, True, "den kleinen Hunden", "the small dogs"),
        ("a", DATIVE, False, "einem kleinen Hund", "a small dog"),
        ("no", ACCUSATIVE, True, "keine kleinen Hunde", "any small dogs"),
    ],
)
def test_articles_and_endings(
    determiner: str, case: int, plural: bool, german: str, english: str
) -> None:
    phrase = noun_phrase(DETERMINERS[determiner], [SMALL], DOG, case, plural=plural)
    assert (phrase.german, phrase.english) == (german, english)


def test_prepositions_contract_with_articles_and_tell_place_from_direction() -> None:
    into = prepositional(Both("in4", "into"), the(FOREST, ACCUSATIVE))
    assert prepositional(Both("in3", "in"), the(FOREST, DATIVE)) == IN_FOREST
    assert into == ("in den Wald", "into the forest")
    assert prepositional(Both("zu3", "to"), the(CAT, DATIVE)) == ("zur Katze", "to the cat")


SLEEPS = Clause(
    the(DOG), verb("", "pa", "schlafen schläft schlief geschlafen", "sleep slept slept")
)
SEES = Clause(
    the(DOG),
    verb("", "pa>pa", "sehen sieht sah gesehen", "see saw seen !"),
    accusative=the(CAT, ACCUSATIVE),
)
UP = "ist auf-stehen steht stand gestanden"
GETS_UP = Clause(the(DOG), verb("", "pa", UP, "get got got +up"), time=TODAY)
GIVES = Clause(
    the(MAN),
    verb("", "p>t", "geben gibt gab gegeben", "give gave given"),
    dative=the(CHILD, DATIVE),
    accusative=noun_phrase(DETERMINERS["a"], [], APPLE, ACCUSATIVE),
    time=TODAY,
)
NO_APPLE = replace(GIVES, dative=pronoun_phrase(PRONOUNS["ich"], DATIVE), negation="nicht")
PICKS_UP = Clause(
    the(MAN),
    verb("", "p>t", "auf-heben hebt hob gehoben", "pick +up"),
    accusative=pronoun_phrase(SINGULAR[0, "it"], ACCUSATIVE),
)
PLEASES = Clause(
    the(APPLE),
    verb("", "t>p", "gefallen gefällt gefiel gefallen", "like"),
    dative=the(CHILD, DATIVE),
    swapped=True,
    front="dative",
)
MUST_NOT = replace(SLEEPS, modal=MODALS["dürfen"], negation="nicht")
NEED_NOT = replace(SLEEPS, modal=MODALS["müssen"], negation="nicht")


@pytest.mark.parametrize(
    ("clause", "form", "text"),
    [
        (replace(SLEEPS, tense="perfect"), "second", "der Hund hat geschlafen"),
        (replace(SLEEPS, tense="perfect"), "statement", "the dog slept"),
        (replace(SLEEPS, time=TOMORROW), "statement", "the dog will sleep tomorrow"),
        (replace(SLEEPS, time=NOW), "statement", "the dog is sleeping now"),
        (replace(SLEEPS, time=OFTEN), "statement", "the dog often sleeps"),
        (replace(SLEEPS, negation="nicht"), "second", "der Hund schläft nicht"),
        (replace(SLEEPS, negation="nicht"), "statement", "the dog does not sleep"),
        (NEED_NOT, "second", "der Hund muss nicht schlafen"),
        (NEED_NOT, "statement", "the dog does not have to sleep"),
        (MUST_NOT, "statement", "the dog must not sleep"),
        (
            replace(SEES, time=TODAY, place=IN_FOREST, front="time"),
            "second",
            "heute sieht der Hund die Katze im Wald",
        ),
        (
            replace(SEES, time=TODAY, place=IN_FOREST, front="time"),
            "statement",
            "today the dog sees the cat in the forest",
        ),
        (replace(SEES, front="accusative"), "second", "die Katze sieht der Hund"),
        (SEES, "first", "sieht der Hund die Katze"),
        (SEES, "question", "does the dog see the cat"),
        (replace(SEES, tense="perfect"), "last", "der Hund die Katze gesehen hat"),
        (replace(GETS_UP, tense="perfect"), "second", "der Hund ist heute aufgestanden"),
        (GETS_UP, "last", "der Hund heute aufsteht"),
        (GETS_UP, "zu", "heute aufzustehen"),
        (GETS_UP, "to", "to get up today"),
        (PICKS_UP, "second", "der Mann hebt ihn auf"),
        (PICKS_UP, "statement", "the man picks it up"),
        (GIVES, "second", "der Mann gibt heute dem Kind einen Apfel"),
        (GIVES, "statement", "the man gives the child an apple today"),
        (NO_APPLE, "imperative", "do not give me an apple today"),
        (PLEASES, "second", "dem Kind gefällt der Apfel"),
        (PLEASES, "statement", "the child likes the apple"),
        (PLEASES, "question", "does the child like the apple"),
    ],
)
def test_clauses(clause: Clause, form: str, text: str) -> None:
    assert f"{clause:{form}}" == text
