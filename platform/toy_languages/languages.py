"""Statements as sentences: of two NLI languages with the same words in different orders, and of a
German-like and an English-like language, which inflect them.

German has the finite verb second (first in questions, last in subordinate clauses) and the rest of
the verb at the end, and marks number, gender and case by endings. English has the order subject,
verb, object, and uses auxiliaries. A stem has two syllables, each of which stands for one of the
other languages; the table `words.tsv` has them, the endings and the templates of sentences.
"""

from __future__ import annotations

from pathlib import Path

from toy_languages.drawing import StatementDrawer
from toy_languages.lexicon import Lexicon, Zipf
from toy_languages.statements import Concept, Statement

QUANTIFIERS = {"all": "lo", "most": "mi", "some": "su", "no": "ne"}
NOT, AND, SUBJECT = "pa", "ke", "ga"

TABLE: dict[str, list[list[str]]] = {}
for entry in Path(__file__).with_name("words.tsv").read_text(encoding="utf-8").splitlines():
    if not entry.startswith("#"):
        group, *row = entry.split("\t")
        TABLE.setdefault(group, []).append(row)
SYLLABLES = {toy: both for toy, *both in TABLE["syllable"]}
DETERMINERS = {(name, gender): forms for name, gender, *forms in TABLE["determiner"]}
PLURAL = "3"  # articles and adjectives treat it like a gender
PAST = "did"
TEMPLATES = Zipf(TABLE["template"])

Both = tuple[str, str]
"""The same in German and English."""


def realise(statement: Statement, language: str, lexicon: Lexicon) -> str:
    """Return the sentence of a statement in a language.

    The order of `qaa` is quantifier, adjective, noun, negation, verb, object; that of `qab` noun,
    adjective, quantifier, subject particle, object, verb, negation. The particle is the only word
    they do not share.
    """
    head_last = language == "qab"

    def words_of(concept: Concept) -> list[str]:
        words = [lexicon.words["noun"][concept.noun]]
        if concept.adjective is not None:
            words.append(lexicon.words["adjective"][concept.adjective])
        return words if head_last else words[::-1]

    verbs: list[str] = []
    for predicate in statement.predicates:
        kind = "transitive" if predicate.object else "intransitive"
        verb = [lexicon.words[kind][predicate.verb]]
        objects = words_of(predicate.object) if predicate.object else []
        verbs += [AND] * bool(verbs) + (objects + verb if head_last else verb + objects)
    subject, quantifier = words_of(statement.subject), QUANTIFIERS[statement.quantifier]
    negation = [NOT] * statement.negated
    if head_last:
        return " ".join([*subject, quantifier, SUBJECT, *verbs, *negation])
    return " ".join([quantifier, *subject, *negation, *verbs])


def sentence(drawer: StatementDrawer) -> Both:
    """Return a random sentence of one or two statements in German and English."""
    german, english = TEMPLATES.pick(drawer.draw)
    clauses = []
    for _ in range(1 + ("{1" in german)):
        auxiliary = drawer.one_of(TABLE["auxiliary"])
        clauses.append(clause(drawer.statement(), auxiliary, drawer.lexicon))
    german, english = german.format(*clauses), english.format(*clauses)
    return german[0].upper() + german[1:], english[0].upper() + english[1:]


def clause(statement: Statement, auxiliary: list[str], lexicon: Lexicon) -> dict[str, str]:
    """Return a statement by the order of words: German with the finite verb `second`, `first` or
    `last`, and an English `statement` and `question`."""
    singular, plural, modal = auxiliary
    finite = singular if statement.quantifier == "no" else plural
    subject, english_subject = phrase(statement.quantifier, statement.subject, lexicon)
    german, base, past = list[str](), list[str](), list[str]()
    for predicate in statement.predicates:
        if german:
            german, base, past = [*german, "und"], [*base, "and"], [*past, "and"]
        kind = "transitive" if predicate.object else "intransitive"
        stem, english_stem = stems(kind, predicate.verb, lexicon)
        prefix, of_participle, particle = ending("verb", predicate.verb)
        words = [particle] if particle else []
        if predicate.object:
            article = "not a" if statement.negated else "a"
            german_object, english_object = phrase(article, predicate.object, lexicon)
            german.append(german_object)
            words.append(english_object)
        elif statement.negated:
            german.append("nicht")
        german.append(f"{of_participle}{stem}t" if modal == PAST else f"{prefix}{stem}en")
        base += [english_stem, *words]
        past += [f"{english_stem}ed", *words]
    negation = ["not"] if statement.negated else []
    is_plain = modal == PAST and not negation
    forms = {
        "second": [subject, finite, *german],
        "first": [finite, subject, *german],
        "last": [subject, *german, finite],
        "statement": [english_subject, *(past if is_plain else [modal, *negation, *base])],
        "question": [modal, english_subject, *negation, *base],
    }
    return {order: " ".join(words) for order, words in forms.items()}


def phrase(determiner: str, concept: Concept, lexicon: Lexicon) -> Both:
    """Return a noun with its determiner and its adjective, if any: einen kleinen Hund, a small
    dog."""
    gender, *endings = ending("noun", concept.noun)
    is_plural = (determiner, PLURAL) in DETERMINERS
    german, of_adjective, english = DETERMINERS[determiner, PLURAL if is_plural else gender]
    nouns = stems("noun", concept.noun, lexicon)
    german_words = [(nouns[0] + endings[is_plural]).capitalize()]
    english_words = [nouns[1] + endings[2 + is_plural]]
    if concept.adjective is not None:
        adjectives = stems("adjective", concept.adjective, lexicon)
        german_ending, english_ending = ending("adjective", concept.adjective)
        german_words.insert(0, adjectives[0] + german_ending + of_adjective)
        english_words.insert(0, adjectives[1] + english_ending)
    if english == "a" and english_words[0][0] in "aeiou":
        english = "an"
    return " ".join([german, *german_words]), " ".join([english, *english_words])


def stems(kind: str, word: int, lexicon: Lexicon) -> Both:
    """Return the German and the English stem of a word of a kind."""
    toy = lexicon.words[kind][word]
    first, second = SYLLABLES[toy[:2]], SYLLABLES[toy[2:]]
    return first[0] + second[0], first[1] + second[1]


def ending(kind: str, word: int) -> list[str]:
    """Return the endings of a word, which the words of a kind have in turn."""
    return TABLE[kind][word % len(TABLE[kind])]
