"""The German-like language: forms and clauses against hand-written ones, and the lexicon's
promises."""

from dataclasses import replace
from itertools import islice

import pytest

from toy_languages.randomness import generator
from toy_languages.sentences import (
    MODALS,
    PRONOUNS,
    SINGULAR,
    Clause,
    Phrase,
    SentenceDrawer,
    ending,
    pronoun,
)
from toy_languages.words import (
    ACCUSATIVE,
    DATIVE,
    FEMININE,
    MASCULINE,
    NEUTER,
    NOMINATIVE,
    PLURAL,
    Both,
    Lexicon,
    Noun,
    Verb,
    Word,
    compound,
    grouped,
    inflect,
    invented,
    lexicon_of,
    noun,
    verb,
)


def thing(columns: str, kind: str = "t") -> Noun:
    return noun(kind, *columns.split())


def test_nouns() -> None:
    dog, boy = thing("der Hund+e Hunde dog"), thing("der Junge* Jungen boy")
    assert [" ".join(forms) for forms in (*dog.german, *boy.german)] == [
        "Hund Hund Hund",
        "Hunde Hunde Hunden",
        "Junge Jungen Jungen",
        "Jungen Jungen Jungen",
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
    den = compound(thing("der Bär* Bären bear"), thing("die Höhle+n Höhlen cave"))
    hat = compound(thing("die Sonne+n Sonnen sun"), thing("der Hut Hüte hat"))
    assert (den.german[0][ACCUSATIVE], hat.german[1][DATIVE]) == ("Bärenhöhle", "Sonnenhüten")


def test_verbs() -> None:
    smile, rise = verb("", "p", "lächeln", "smile"), verb("", "p", "auf-wachen", "wake woke +up")
    assert " ".join((*smile.present, *smile.preterite, smile.participle)) == (
        "lächle lächelt lächeln lächelte lächelte lächelten gelächelt"
    )
    assert (rise.present[1], rise.prefix, rise.participle) == ("wacht", "auf", "aufgewacht")
    assert (rise.english, rise.particle) == (("wake", "wakes", "woke"), "up")
    for entry, participle, past in (
        ("besuchen visit", "besucht", "visited"),
        ("reparieren repair", "repariert", "repaired"),
        ("zeigen carry", "gezeigt", "carried"),
        ("stoppen stop", "gestoppt", "stopped"),
    ):
        one = verb("", "p", *entry.split())
        assert (one.participle, one.english[2]) == (participle, past)


def lemmas(word: Word) -> tuple[str, str]:
    if isinstance(word, Noun):
        return word.german[0][0], word.english[0]
    if isinstance(word, Verb):
        return word.prefix + word.infinitive, f"{word.english[0]} {word.particle}".rstrip()
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


def test_articles_and_endings() -> None:
    cells = (MASCULINE, ACCUSATIVE), (FEMININE, DATIVE), (NEUTER, NOMINATIVE), (PLURAL, DATIVE)
    forms = [[ending(name, case, gender) for gender, case in cells] for name in ("definite", "ein")]
    assert forms == [["den", "der", "das", "den"], ["en", "er", "", "en"]]
    forms = [[ending(name, case, gender) for gender, case in cells] for name in ("weak", "mixed")]
    assert forms == [["en", "en", "e", "en"], ["en", "en", "es", "en"]]


def test_prepositions_contract_and_adjectives_agree() -> None:
    drawer = SentenceDrawer(lexicon_of(500), generator("test").random)
    places = {drawer.place(name) for name in ("location", "direction") for _ in range(4_000)}
    assert {
        ("im Wald", "in the forest"),
        ("in den Wald", "into the forest"),
        ("zur Schule", "to the school"),
        ("in Wien", "in Vienna"),
        ("nach Wien", "to Vienna"),
        ("im kleinen Wald", "in the small forest"),
        ("in einem alten Haus", "in an old house"),
    } <= places
    assert not any(german.startswith(("in dem ", "zu der ", "von dem ")) for german, _ in places)


def the(german: str, english: str, name: str, kind: str = "a") -> Phrase:
    return Phrase(german, english, english, PRONOUNS[name], kind=kind)


DOG, CAT = the("der Hund", "the dog", "er/it"), the("die Katze", "the cat", "sie/it")
MAN, CHILD = the("der Mann", "the man", "he", "p"), the("dem Kind", "the child", "it", "p")
APPLE, TODAY = the("einen Apfel", "an apple", "er/it", "f"), Both("heute", "today")
SLEEP = verb("", "pa", "schlafen schläft schlief geschlafen", "sleep slept")
SLEEPS = Clause(DOG, SLEEP, "present")
SEES = Clause(DOG, verb("", "pa>pa", "sehen sieht sah gesehen", "see saw"), "present")
SEES = replace(SEES, accusative=CAT, time=TODAY, place=Both("im Wald", "in the forest"))
UP = verb("", "pa", "ist auf-stehen steht stand gestanden", "get got +up")
GETS_UP = Clause(DOG, UP, "present", time=TODAY)
GIVE = verb("", "p>t", "geben gibt gab gegeben", "give gave")
GIVES = Clause(MAN, GIVE, "present", dative=CHILD, accusative=APPLE, time=TODAY)
LIFT = verb("", "p>t", "auf-heben hebt hob gehoben", "pick +up")
PICKS_UP = Clause(MAN, LIFT, "present", accusative=pronoun(SINGULAR[0, "it"], ACCUSATIVE))
OBJECT_FIRST = replace(SEES, front="accusative")
CAN = replace(SLEEPS, modal=MODALS[0], negated=True)


@pytest.mark.parametrize(
    ("clause", "form", "text"),
    [
        (replace(SLEEPS, tense="perfect"), "second", "der Hund hat geschlafen"),
        (replace(SLEEPS, tense="perfect"), "statement", "the dog slept"),
        (replace(SLEEPS, negated=True), "second", "der Hund schläft nicht"),
        (replace(SLEEPS, negated=True), "statement", "the dog does not sleep"),
        (CAN, "second", "der Hund kann nicht schlafen"),
        (CAN, "statement", "the dog cannot sleep"),
        (replace(SEES, front="time"), "second", "heute sieht der Hund die Katze im Wald"),
        (replace(SEES, front="time"), "statement", "today the dog sees the cat in the forest"),
        (OBJECT_FIRST, "second", "die Katze sieht der Hund heute im Wald"),
        (
            replace(SEES, front="accusative"),
            "statement",
            "the dog sees the cat in the forest today",
        ),
        (SEES, "first", "sieht der Hund heute die Katze im Wald"),
        (SEES, "question", "does the dog see the cat in the forest today"),
        (replace(SEES, tense="perfect"), "last", "der Hund heute die Katze im Wald gesehen hat"),
        (replace(GETS_UP, tense="perfect"), "second", "der Hund ist heute aufgestanden"),
        (replace(GETS_UP, tense="preterite"), "question", "did the dog get up today"),
        (GETS_UP, "last", "der Hund heute aufsteht"),
        (PICKS_UP, "second", "der Mann hebt ihn auf"),
        (PICKS_UP, "statement", "the man picks it up"),
        (GIVES, "second", "der Mann gibt heute dem Kind einen Apfel"),
        (GIVES, "statement", "the man gives the child an apple today"),
        (
            replace(GIVES, dative=pronoun(PRONOUNS["ich"], DATIVE)),
            "second",
            "der Mann gibt mir heute einen Apfel",
        ),
    ],
)
def test_clauses(clause: Clause, form: str, text: str) -> None:
    assert f"{clause:{form}}" == text
