"""Tell whether a text is in its language, by script and by the most common words.

This notices a wrong code, a wrong file and swapped sides of thousands of words; of a single
sentence, only that it is clearly of another language. Languages that resemble each other (Danish
and Norwegian) are not told apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from augury.core.words import spelt_words
from augury.corpora.corpus import KINDS, Corpus
from augury.corpora.languages import base_language

ROWS = 1_000
"""How many rows of a text are read."""
MIN_LETTERS, MIN_WORDS = 300, 100
"""A shorter text is not judged."""
MIN_SHARE = 0.1
"""The minimum share of a language's common words in text of this language; it is typically a third,
and less in languages with long words."""
MAX_OWN = 0.5
"""The share of the words of a text's stated language above which it is not doubted, as a part of
the share of another language's."""
MARGIN = 0.07
"""By how much the share of the common words of a language exceeds that of any other in text that is
clearly in this language."""

FOREIGN_WORDS = 3
"""The common words of another language from which a single sentence is doubted."""

SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "am": ("ETHIOPIC",),
    **dict.fromkeys(("ar", "fa", "ps", "ug", "ur"), ("ARABIC",)),
    **dict.fromkeys(("be", "bg", "kk", "ky", "mk", "mn", "ru", "tg", "uk"), ("CYRILLIC",)),
    "bn": ("BENGALI",),
    "el": ("GREEK",),
    "gu": ("GUJARATI",),
    **dict.fromkeys(("he", "yi"), ("HEBREW",)),
    **dict.fromkeys(("hi", "mr", "ne"), ("DEVANAGARI",)),
    "hy": ("ARMENIAN",),
    "ja": ("HIRAGANA", "KATAKANA", "CJK"),
    "ka": ("GEORGIAN",),
    "km": ("KHMER",),
    "kn": ("KANNADA",),
    "ko": ("HANGUL", "CJK"),
    "lo": ("LAO",),
    "ml": ("MALAYALAM",),
    "my": ("MYANMAR",),
    "pa": ("GURMUKHI", "ARABIC"),
    "si": ("SINHALA",),
    "sr": ("CYRILLIC", "LATIN"),
    "ta": ("TAMIL",),
    "te": ("TELUGU",),
    "th": ("THAI",),
    **dict.fromkeys(("az", "uz"), ("LATIN", "CYRILLIC")),
    "zh": ("CJK", "BOPOMOFO"),
}
"""Scripts of languages, as in Unicode's names of letters; others with common words are written in
Latin letters."""
_SCRIPT_SUBTAG = re.compile(r"[-_][A-Za-z]{4}\b")


def doubts(name: str, corpus: Corpus) -> list[str]:
    """Return why a text is not in the languages that its records state; usually empty."""
    judgements = _judgements(corpus)
    other = {side: (base_language(code), read_as) for side, code, read_as, _ in judgements}
    if {"source", "target"} <= other.keys():
        (source, like_source), (target, like_target) = other["source"], other["target"]
        if source == like_target and target == like_source and source != target:
            return [
                f"{name}: its sides seem to be swapped: the source reads like {like_source} and "
                f"the target like {like_target}; swap the files or columns, or the languages"
            ]
    return [
        f"{name}: the language of its {side} is '{code}', and {reason}: correct the language or "
        "the text"
        for side, code, _, reason in judgements
        if reason
    ]


def _judgements(corpus: Corpus) -> list[tuple[str, str, str | None, str]]:
    """Return what is known of every side of a text and language that its records state: side, code,
    the language that it is in otherwise, and the reason."""
    kind = KINDS[corpus.kind]
    sides = {"text" if kind.name != "parallel" else "source": (kind.inputs[0], kind.language)}
    if kind.name == "parallel":
        sides["target"] = (kind.target, kind.target_language)
    columns = list(dict.fromkeys(column for pair in sides.values() for column in pair))
    block = corpus.shard(corpus.shards[0], columns).slice(0, ROWS) if corpus.shards else None
    if block is None:
        return []
    judgements = []
    for side, (column, language) in sides.items():
        texts: dict[str, list[str]] = {}
        pairs = zip(*(block.column(name).to_pylist() for name in (column, language)), strict=True)
        for text, code in pairs:
            texts.setdefault(code, []).append(text)
        judgements += [(side, code, *_judge(of_code, code)) for code, of_code in texts.items()]
    return judgements


def _judge(texts: Sequence[str], code: str) -> tuple[str | None, str]:
    """Return the language that texts are in, if it is not `code`, and the reason; None, "" if they
    may be in it."""
    language = base_language(code)
    language = {"nb": "no", "nn": "no"}.get(language, language)
    if language not in SCRIPTS and language not in common_words():
        return None, ""
    scripts = _scripts(texts)
    letters = scripts.total()
    if letters < MIN_LETTERS:
        return None, ""
    allowed = scripts_of(language)
    script, count = scripts.most_common(1)[0]
    wrong_script = script not in allowed and not _SCRIPT_SUBTAG.search(code)
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if language == "zh" and kana > letters / 10:
        return "ja", "a tenth of its letters and more are Japanese kana"
    if language == "ja" and script == "CJK" and kana < letters / 20:
        return "zh", "it has almost no kana, as Chinese"
    shares = word_shares(texts)
    best = max(shares, key=lambda known: shares[known], default=language)
    recognised = shares.get(best, 0.0) >= MIN_SHARE
    if wrong_script:
        alphabets = " or ".join(name.title() for name in allowed)
        written = [known for known in SCRIPTS if script in SCRIPTS[known]]
        guess = best if recognised else written[0] if len(written) == 1 else None
        reads = f" and reads like '{guess}'" if guess else ""
        return guess, (
            f"it is written in {script.title()} letters ({count / letters:.0%}), not in "
            f"{alphabets} ones{reads}"
        )
    own = shares.get(language)
    if own is None or not recognised or own >= MAX_OWN * shares[best]:
        return None, ""
    return best, (
        f"it reads like '{best}': {shares[best]:.0%} of its words are among the most common ones "
        f"of '{best}', {own:.0%} among those of '{language}'"
    )


def language_of(texts: Sequence[str]) -> str | None:
    """Return the language that texts are clearly in; None where it may be another one, or where
    little is known of it or of the texts."""
    scripts = _scripts(texts)
    if scripts.total() < MIN_LETTERS:
        return None
    script = scripts.most_common(1)[0][0]
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if script == "CJK" or kana > scripts.total() / 10:
        return "ja" if kana > scripts.total() / 20 else "zh"
    written = [known for known in SCRIPTS if script in SCRIPTS[known]]
    if len(written) == 1:
        return written[0]
    ranked = sorted(word_shares(texts).items(), key=lambda item: -item[1])
    if not ranked:
        return None
    (best, share), (_, next_share) = ranked[:2]
    clear = share >= MIN_SHARE and share - next_share >= MARGIN
    return best if clear and script in scripts_of(best) else None


def is_foreign(sentence: str, code: str) -> bool:
    """Return whether a single sentence is clearly in another language than `code`.

    Most of its letters are of another script, or it has at least FOREIGN_WORDS of the most common
    words of another language, and of its own less than half as many. False where little is known of
    a language or sentence.
    """
    language = base_language(code)
    language = {"nb": "no", "nn": "no"}.get(language, language)
    if language not in SCRIPTS and language not in common_words():
        return False
    scripts = _scripts([sentence])
    own_script = sum(scripts[script] for script in scripts_of(language))
    if 2 * own_script < scripts.total() and not _SCRIPT_SUBTAG.search(code):
        return True
    words = set(_words(sentence))
    counts = {known: len(words & common) for known, common in common_words().items()}
    most = max(counts.values())
    return language in counts and most >= FOREIGN_WORDS and 2 * counts[language] < most


def word_shares(texts: Iterable[str]) -> dict[str, float]:
    """Return the share of each language's common words in the words of texts; empty for too few
    words."""
    # At once: neither normalisation nor lower-casing looks across the end of a line.
    words = Counter(_words("\n".join(texts)))
    total, seen = words.total(), frozenset(words)
    if total < MIN_WORDS:
        return {}
    return {
        language: sum(words[word] for word in common & seen) / total
        for language, common in common_words().items()
    }


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return spelt_words(unicodedata.normalize("NFC", text).lower())


def scripts_of(language: str) -> tuple[str, ...]:
    """Return the scripts of a language as in Unicode's names of letters."""
    return SCRIPTS.get(language, ("LATIN",))


@cache
def common_words() -> dict[str, frozenset[str]]:
    """Return the most common words of languages, from `common_words.tsv`."""
    table = Path(__file__).with_name("common_words.tsv")
    rows = [line for line in table.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    return {code: frozenset(words.split()) for code, words in (row.split("\t") for row in rows)}


def _scripts(texts: Iterable[str]) -> Counter[str]:
    """Count the letters of every script, the first word of their names in Unicode, in the order in
    which the scripts appear."""
    scripts = Counter[str]()
    for character, count in Counter("".join(texts)).items():
        if character.isalpha():
            scripts[script_of(character)] += count
    return scripts


@cache
def script_of(character: str) -> str:
    """Return the script of a character: LATIN, CJK (Chinese characters), ..."""
    return unicodedata.name(character, "UNKNOWN").split()[0].split("-")[0]
