"""A German-like language and its translation into an English-like one: sentences with a long tail
of invented words.

German has the finite verb second, first in questions and last in subordinate clauses, the rest of
the verb at the end, time before objects and place, often another part than the subject in front,
and inflects articles, adjectives and nouns by case; English has the order subject, verb, objects,
place, time, and uses auxiliaries. The table `words.tsv` has the words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from toy_languages.randomness import Draw, Drawer, Zipf, generator

LARGEST = 50_000  # words of a lexicon
NOMINATIVE, ACCUSATIVE, DATIVE = range(3)
MASCULINE, FEMININE, NEUTER, PLURAL = range(4)  # the plural has articles like a fourth gender
GENDERS = {"der": MASCULINE, "die": FEMININE, "das": NEUTER}
I, ONE, SEVERAL = range(3)  # persons of verbs: ich, er, wir and sie

Forms = tuple[tuple[str, ...], ...]  # by case and gender


class Both(NamedTuple):
    """The same words in both languages."""

    german: str
    english: str


def forms(stem: str, endings: str) -> Forms:
    """Return a stem with the endings of each case and gender."""
    cases = (case.split() for case in endings.split("|"))
    return tuple(tuple(stem + ending.strip("-") for ending in case) for case in cases)


STRONG, EIN = "er e es e|en e es e|em er em en", "- e - e|en e - e|em er em en"
WEAK, MIXED = "e e e en|en e e en|en en en en", "er e es en|en e es en|en en en en"
THE = forms("", "der die das die|den die das die|dem der dem den")
NONE = forms("", "- - - -|- - - -|- - - -")


class Determiner(NamedTuple):
    """The first word of a noun phrase, and the endings that it leaves to adjectives."""

    german: Forms
    endings: Forms
    english: tuple[str, str]
    """In the singular and in the plural."""


def numeral(german: str, english: str) -> Determiner:
    """Return a determiner of plurals, without endings."""
    return Determiner(forms(german, "- - - -|- - - -|- - - -"), forms("", STRONG), ("", english))


THE_ONE = Determiner(THE, forms("", WEAK), ("the", "the"))
A = Determiner(forms("ein", EIN), forms("", MIXED), ("a", ""))
MY = Determiner(forms("mein", EIN), forms("", MIXED), ("my", "my"))
THIS = Determiner(forms("dies", STRONG), forms("", WEAK), ("this", "these"))
DETERMINERS = (*[THE_ONE] * 6, *[A] * 4, MY, THIS)
_NUMBERS = "viele/many zwei/two drei/three vier/four fünf/five sechs/six zehn/ten zwölf/twelve"
PLURALS = (numeral("", ""), *(numeral(*word.split("/")) for word in _NUMBERS.split()))

PERSONS = {"ich": ("ich mich mir", "I me", I), "wir": ("wir uns uns", "we us", SEVERAL)}
THEY = ("sie sie ihnen", "they them", SEVERAL)
THIRD = ("er ihn ihm", "sie sie ihr", "es es ihm")  # German by gender, English by nature
ENGLISH = {"he": "he him", "she": "she her", "it": "it it"}

HABEN, SEIN, WAR = ("habe", "hat", "haben"), ("bin", "ist", "sind"), ("war", "war", "waren")
WERDEN = ("werde", "wird", "werden")
MODALS = (
    (("kann", "kann", "können"), "can"),
    (("muss", "muss", "müssen"), "must"),
    (("soll", "soll", "sollen"), "should"),
)

TIMES = [Both(*pair.split("/")) for pair in (
    "heute/today|jetzt/now|am Abend/in the evening|am Morgen/in the morning|oft/often|wieder/again|"
    "in der Nacht/at night|jeden Tag/every day|am Montag/on Monday|im Winter/in winter|"
    "im Sommer/in summer|nach dem Essen/after the meal|manchmal/sometimes|am Sonntag/on Sunday"
).split("|")]
PLACES = {
    ("rest", "i"): "in/in in/in in/in vor/in_front_of hinter/behind neben/next_to",
    ("rest", "s"): "auf/on auf/on unter/under hinter/behind neben/next_to",
    ("motion", "i"): "in/into in/into durch/through",
    ("motion", "s"): "auf/onto auf/onto über/over hinter/behind",
}
"""Prepositions of location, with the dative, and of direction, with the accusative."""
CONTRACTIONS = {"in dem": "im", "in das": "ins", "auf das": "aufs", "durch das": "durchs"}
NAMES = "Otto/he Klara/she Emil/he Frieda/she Anton/he Ida/she Oskar/he Lotte/she".split()
SUBORDINATORS = ("weil/because", "weil/because", "obwohl/although", "während/while", "wenn/when")
COORDINATORS = ("und/and", "und/and", ", aber/, but", "oder/or")
PATTERNS = (*["statement"] * 9, *["question"] * 2, *["subordinate"] * 4, *["compound"] * 2, "report")


class Noun(NamedTuple):
    """A noun; `first` is its form as the first part of a compound."""

    kind: str
    gender: int
    singular: tuple[str, str]
    """In the nominative and in other cases."""
    plural: str
    english: tuple[str, str]
    first: str
    pronoun: str


class Verb(NamedTuple):
    """A verb with its forms by person; `prefix` is separable."""

    frame: str
    subjects: str
    objects: str
    infinitive: str
    prefix: str
    present: tuple[str, str, str]
    past: tuple[str, str, str]
    participle: str
    perfect: tuple[str, str, str]
    """The auxiliary of the perfect: haben or sein."""
    english: tuple[str, str, str]
    """Base, third person and past."""
    particle: str


class Adjective(NamedTuple):
    """An adjective; `stem` takes endings."""

    german: str
    stem: str
    english: str
    kinds: str


BE = Verb("", "patfis", "", "sein", "", SEIN, WAR, "gewesen", SEIN, ("be", "is", "was"), "")


def noun(kind: str, article: str, singular: str, plural: str, english: str, *irregular: str) -> Noun:
    """Return a noun from its columns in the table."""
    article, _, pronoun = article.partition("/")
    singular, _, link = singular.partition("+")
    bare, gender = singular.rstrip("*"), GENDERS[article]
    weak = bare != singular
    pronoun = pronoun or (("he", "she", "it")[gender] if kind == "p" else "it")
    both = (english, *(irregular or (with_s(english),)))
    first = plural if weak else bare + link
    return Noun(kind, gender, (bare, plural if weak else bare), plural, both[:2], first, pronoun)


def verb(frame: str, kinds: str, german: str, english: str) -> Verb:
    """Return a verb from its columns in the table."""
    subjects, _, objects = kinds.partition(">")
    with_sein, (lemma, *strong) = german.startswith("ist "), german.removeprefix("ist ").split()
    prefix, _, infinitive = lemma.rpartition("-")
    stem = re.sub("e?n$", "", infinitive)
    weak = re.sub(r"([td]|(ch|[bfgkp])n)$", r"\1e", stem) + "t"
    inseparable = not prefix and re.match("be|er|ge|ver|zer", stem) or stem.endswith("ier")
    regular = (weak, f"{weak}e", weak if inseparable else f"ge{weak}")
    third, past, participle = strong or regular
    words = [word for word in english.split() if word[0] != "+"]
    return Verb(
        frame,
        subjects,
        objects,
        infinitive,
        prefix,
        (f"{stem}e", third, infinitive),
        (past, past, f"{past}n" if past.endswith("e") else f"{past}en"),
        prefix + participle,
        SEIN if with_sein else HABEN,
        (words[0], with_s(words[0]), words[1] if words[1:] else with_ed(words[0])),
        english.partition(" +")[2],
    )


def adjective(german: str, english: str, kinds: str = "patfis") -> Adjective:
    """Return an adjective from its columns in the table."""
    german, _, stem = german.partition("~")
    return Adjective(german, stem or german, english, kinds)


def with_s(word: str) -> str:
    """Return the plural of a noun, or the third person of a verb."""
    if word == "have":
        return "has"
    word = re.sub("([^aeiou])y$", r"\1ie", word)
    return re.sub("(s|x|z|o|ch|sh)$", r"\1e", word) + "s"


def with_ed(word: str) -> str:
    """Return the past of a regular verb."""
    word = re.sub("([^aeiou])y$", r"\1ie", word)
    word = re.sub("^([^aeiou]*[aeiou])([^aeiouwxy])$", r"\1\2\2", word)
    return re.sub("e?$", "ed", word, count=1)


@cache
def table() -> dict[str, list[list[str]]]:
    """Return the rows of the table of words by part of speech."""
    rows: dict[str, list[list[str]]] = {}
    for line in Path(__file__).with_name("words.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            part, *row = line.split("\t")
            rows.setdefault(part, []).append(row)
    return rows


class Lexicon:
    """A lexicon of `size` words, the beginning of any larger one; those that are not written are
    invented.

    Raises ValueError for an unsupported size.
    """

    def __init__(self, size: int):
        rows = table()
        words: list[Noun | Verb | Adjective] = [noun(*row) for row in rows["noun"]]
        words += [verb(*row) for row in rows["verb"]]
        words += [adjective(*row) for row in rows["adjective"]]
        if not len(words) <= size <= LARGEST:
            raise ValueError(
                f"the built-in corpus has no lexicon of {size} words: {len(words)} are "
                f"hand-written, more are invented; give a number from {len(words)} to {LARGEST}"
            )
        drawer, seen = Drawer(generator("builtin", "lexicon").random), set[str]()
        while len(words) < size:
            german, english = _stem(drawer)
            if not {german, english} & seen:
                seen |= {german, english}
                words.append(_invented(drawer, german, english))
        self.size = size
        adjectives = [word for word in words if isinstance(word, Adjective)]
        self.adjectives = {
            kind: Zipf([word for word in adjectives if kind in word.kinds]) for kind in "patfis"
        }
        verbs = [word for word in words if isinstance(word, Verb)]
        self.verbs = {
            frame: Zipf([word for word in verbs if word.frame == frame])
            for frame in {word.frame for word in verbs}
        }
        nouns = [word for word in words if isinstance(word, Noun)]
        self._nouns = {kind: [word for word in nouns if word.kind == kind] for kind in "patfis"}
        self._ranked: dict[str, Zipf[Noun]] = {}

    def nouns(self, kinds: str) -> Zipf[Noun]:
        """Return the nouns of all `kinds`, interleaved by rank."""
        if kinds not in self._ranked:
            ranks = zip_longest(*(self._nouns[kind] for kind in kinds))
            self._ranked[kinds] = Zipf([word for rank in ranks for word in rank if word])
        return self._ranked[kinds]


def _stem(drawer: Drawer) -> Both:
    """Return one to three syllables in both languages."""
    count = drawer.one_of((1, 2, 2, 2, 3))
    syllables = [drawer.one_of(table()["syllable"]) for _ in range(count)]
    return Both(*map("".join, zip(*syllables, strict=True)))


def _invented(drawer: Drawer, german: str, english: str) -> Noun | Verb | Adjective:
    """Return a word with a stem: of ten words, six are nouns, two verbs and two adjectives."""
    rows, chance = table(), drawer.draw()
    if chance < 0.6:
        kind, article, singular, plural, ending = drawer.one_of(rows["noun ending"])
        stem = german.capitalize()
        return noun(kind, article, stem + singular, stem + plural, english + ending)
    if chance < 0.8:
        ending, english_ending = drawer.one_of(rows["adjective ending"])
        return adjective(german + ending, english + english_ending)
    frame, kinds = drawer.one_of(rows["frame"])
    german += "hen" if german[-1] in "aeiouäöü" else "en"
    if drawer.chance(0.3):
        prefix, particle = drawer.one_of(rows["separable"])
        german, english = f"{prefix}-{german}", f"{english} +{particle}"
    return verb(frame, kinds, f"ist {german}" if frame == "motion" else german, english)


@cache
def lexicon_of(size: int) -> Lexicon:
    """Return the lexicon of a size, created once per process."""
    return Lexicon(size)


class Phrase(NamedTuple):
    """A noun phrase or pronoun in its case."""

    german: str
    english: str
    as_object: str
    """In English."""
    person: int
    pronoun: tuple[str, str, int]
    """The pronoun that refers to it: German by case, English, and its person."""
    light: bool = False
    """Whether it is a pronoun itself, which precedes other objects."""


def pronoun(entry: tuple[str, str, int], case: int) -> Phrase:
    """Return a pronoun as a phrase."""
    german, english, person = entry
    subject, other = english.split()
    return Phrase(german.split()[case], subject, other, person, entry, light=True)


@dataclass(slots=True)
class Clause:
    """The structure of a clause; `front` is the part that comes first in German statements."""

    subject: Phrase
    verb: Verb
    tense: str
    modal: tuple[tuple[str, ...], str] | None = None
    dative: Phrase | None = None
    accusative: Phrase | None = None
    complement: Both | None = None
    place: Both | None = None
    time: Both | None = None
    negated: bool = False
    front: str = "subject"


def german(clause: Clause, order: Literal["second", "first", "last"] = "second") -> str:
    """Return the clause in German, without punctuation."""
    verb, person = clause.verb, clause.subject.person
    closing = verb.prefix
    if clause.modal:
        finite, closing = clause.modal[0][person], verb.prefix + verb.infinitive
    elif clause.tense == "future":
        finite, closing = WERDEN[person], verb.prefix + verb.infinitive
    elif clause.tense == "perfect":
        finite, closing = verb.perfect[person], verb.participle
    else:
        finite = (verb.past if clause.tense == "past" else verb.present)[person]
    objects = [clause.accusative, clause.dative]
    parts = {"subject": clause.subject.german}
    parts |= {f"light {at}": one.german for at, one in enumerate(objects) if one and one.light}
    parts["time"] = clause.time.german if clause.time else ""
    parts |= {f"{-at}": one.german for at, one in enumerate(objects) if one and not one.light}
    parts["negation"] = "nicht" if clause.negated else ""
    parts["place"] = clause.place.german if clause.place else ""
    parts["complement"] = clause.complement.german if clause.complement else ""
    front = parts.pop(clause.front) if order == "second" else ""
    if order == "last":
        joined = closing == verb.prefix  # a separable prefix and its verb are one word
        ending = [closing + finite] if joined else [closing, finite]
        words = [*parts.values(), *ending]
    else:
        words = [front, finite, *parts.values(), closing]
    return " ".join(word for word in words if word)


def english(clause: Clause, is_question: bool = False) -> str:
    """Return the clause in English, without punctuation."""
    subject, (base, third, past) = clause.subject, clause.verb.english
    is_past = clause.tense in ("past", "perfect")
    auxiliary, main = "", base
    if clause.modal or clause.tense == "future":
        auxiliary = clause.modal[1] if clause.modal else "will"
    elif base == "be":
        present = ("am", "is", "are")[subject.person]
        auxiliary, main = ("were" if subject.person == SEVERAL else "was") if is_past else present, ""
    elif clause.negated or is_question:
        auxiliary = "did" if is_past else "does" if subject.person == ONE else "do"
    else:
        main = past if is_past else third if subject.person == ONE else base
    opening = [auxiliary, subject.english] if is_question else [subject.english, auxiliary]
    time, place = (part.english if part else "" for part in (clause.time, clause.place))
    words = [
        time if clause.front == "time" else "",
        *opening,
        "not" if clause.negated else "",
        main,
        clause.verb.particle,
        *(phrase.as_object for phrase in (clause.dative, clause.accusative) if phrase),
        clause.complement.english if clause.complement else "",
        place,
        "" if clause.front == "time" else time,
    ]
    return " ".join(word for word in words if word).replace("can not", "cannot")


class SentenceDrawer(Drawer):
    """Draws sentences with the words of a lexicon by frequency."""

    def __init__(self, lexicon: Lexicon, draw: Draw):
        super().__init__(draw)
        self.lexicon = lexicon

    def sentence(self) -> Both:
        """Return a random sentence in both languages."""
        pattern, past = self.one_of(PATTERNS), self.chance(0.5)
        first = self.clause(past)
        if pattern == "statement":
            both = Both(f"{german(first)}.", f"{english(first)}.")
        elif pattern == "question":
            word = self.one_of((Both("", ""), Both("", ""), Both("warum ", "why ")))
            both = Both(
                f"{word.german}{german(first, 'first')}?", f"{word.english}{english(first, True)}?"
            )
        elif pattern == "report":
            tense, verb = "past" if past else "present", self.lexicon.verbs["clause"]
            main = Clause(self.phrase("p", NOMINATIVE), verb.pick(self.draw), tense)
            first.front = "subject"
            both = Both(
                f"{german(main)}, dass {german(first, 'last')}.",
                f"{english(main)} that {english(first)}.",
            )
        else:
            referring = pronoun(first.subject.pronoun, NOMINATIVE) if self.chance(0.5) else None
            second = self.clause(past, referring)
            word = Both(*self.one_of(CONJUNCTIONS[pattern]).split("/"))
            both = joined(word, first, second, pattern, begins=self.chance(0.4))
        return Both(*(text[0].upper() + text[1:] for text in both))

    def clause(self, past: bool, subject: Phrase | None = None) -> Clause:
        """Return a random clause, with a subject that acts if given."""
        frame = self.one_of(FRAMES)
        tense = self.one_of(("past", "perfect") if past else ("present",) * 4 + ("future",))
        if frame == "copula":
            kind = self.one_of("ppppaatfis")
            clause = Clause(subject or self.phrase(kind, NOMINATIVE), BE, tense)
            word = self.lexicon.adjectives[kind].pick(self.draw)
            very = self.chance(0.3)
            clause.complement = Both("sehr " * very + word.german, "very " * very + word.english)
        else:
            verb = self.lexicon.verbs[frame].pick(self.draw)
            clause = Clause(subject or self.phrase(verb.subjects, NOMINATIVE), verb, tense)
            if frame in ("dative", "ditransitive"):
                kinds = verb.objects if frame == "dative" else "p"
                clause.dative = self.phrase(kinds, DATIVE)
            if frame in ("accusative", "ditransitive"):
                clause.accusative = self.phrase(verb.objects, ACCUSATIVE)
            if frame in ("motion", "rest"):
                clause.place = self.place(frame)
            elif self.chance(0.15):
                clause.place = self.place("rest")
            if tense == "present" and self.chance(0.15):
                clause.modal = self.one_of(MODALS)
        clause.negated = self.chance(0.12)
        clause.time = self.one_of(TIMES) if self.chance(0.35) else None
        fronts = [name for name in ("time", "place", "accusative") if getattr(clause, name)]
        if fronts and self.chance(0.3):
            clause.front = self.one_of(fronts)
        return clause

    def phrase(self, kinds: str, case: int) -> Phrase:
        """Return a noun phrase with a noun of some kinds, a name or a pronoun."""
        chance = self.draw()
        if chance < 0.06 and "p" in kinds:
            return pronoun(self.one_of(PERSONS), case)
        if chance < 0.12 and "p" in kinds:
            name, of = self.one_of(NAMES).split("/")
            refers = (THIRD["er" if of == "he" else "sie"], ENGLISH[of], ONE)
            return Phrase(name, name, name, ONE, refers)
        noun = self.lexicon.nouns(kinds).pick(self.draw)
        prefix = Both("", "")
        if self.chance(0.05):  # a compound, of two words in English
            first = self.lexicon.nouns("tafs").pick(self.draw)
            prefix = Both(first.first, f"{first.english[0]} ")
        plural, determiner = self.chance(0.25), self.one_of(DETERMINERS)
        if plural and (determiner is A or self.chance(0.2)):
            determiner = self.one_of(PLURALS)
        column = PLURAL if plural else noun.gender
        words, translated = [determiner.german[case][column]], [determiner.english[plural]]
        if self.chance(0.3):
            adjective = self.lexicon.adjectives[noun.kind].pick(self.draw)
            words.append(adjective.stem + determiner.endings[case][column])
            translated.append(adjective.english)
        form = noun.singular[case != NOMINATIVE]
        if plural:
            form = noun.plural + "n" * (case == DATIVE and noun.plural[-1] not in "ns")
        words.append(prefix.german + (form.lower() if prefix.german else form))
        translated.append(prefix.english + noun.english[plural])
        if translated[0] == "a" and translated[1][0] in "aeiou":
            translated[0] = "an"
        text, translation = (" ".join(filter(None, part)) for part in (words, translated))
        refers = THEY if plural else (list(THIRD.values())[noun.gender], ENGLISH[noun.pronoun], ONE)
        return Phrase(text, translation, translation, refers[2], refers)

    def place(self, frame: str) -> Both:
        """Return a location, or a direction for verbs of motion."""
        kind = self.one_of("iis")
        preposition = Both(*self.one_of(PLACES[frame, kind].split()).split("/"))
        phrase = self.phrase(kind, ACCUSATIVE if frame == "motion" else DATIVE)
        article, space, rest = phrase.german.partition(" ")
        start = f"{preposition.german} {article}"
        translation = preposition.english.replace("_", " ")
        return Both(CONTRACTIONS.get(start, start) + space + rest, f"{translation} {phrase.english}")


def joined(word: Both, first: Clause, second: Clause, pattern: str, begins: bool) -> Both:
    """Return two clauses with a conjunction, which may begin a sentence if it is subordinating."""
    if pattern == "compound":
        return Both(
            f"{german(first)} {word.german} {german(second)}.",
            f"{english(first)} {word.english} {english(second)}.",
        ).without_spaces()
    if begins:
        first.front = "subject"
        return Both(
            f"{word.german} {german(first, 'last')}, {german(second, 'first')}.",
            f"{word.english} {english(first)}, {english(second)}.",
        )
    second.front = "subject"
    return Both(
        f"{german(first)}, {word.german} {german(second, 'last')}.",
        f"{english(first)} {word.english} {english(second)}.",
    )
