"""Tell whether a text is in its language, by script and by the most common words, and whether tools
have left their marks in it.

This notices a wrong code, a wrong file and swapped sides of thousands of words; of a single
sentence, only that it is clearly of another language. Languages that resemble each other (Danish
and Norwegian) are not told apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pyarrow.compute as pc

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

_ALPHABETS = """
ARABIC ar fa ps ug ur pa; ARMENIAN hy; BENGALI bn; BOPOMOFO zh; CJK ja ko zh; ETHIOPIC am;
CYRILLIC be bg kk ky mk mn ru tg uk sr az uz; DEVANAGARI hi mr ne; GEORGIAN ka; GREEK el;
GUJARATI gu; GURMUKHI pa; HANGUL ko; HEBREW he yi; HIRAGANA ja; KANNADA kn; KATAKANA ja; KHMER km;
LAO lo; LATIN sr az uz; MALAYALAM ml; MYANMAR my; SINHALA si; TAMIL ta; TELUGU te; THAI th"""
WRITTEN = {script: codes for script, *codes in map(str.split, _ALPHABETS.split(";"))}
"""The languages that are written in a script, by its name in Unicode; other languages with common
words are written in Latin letters."""
_SCRIPT_SUBTAG = re.compile(r"[-_][A-Za-z]{4}\b")


MARKS = (
    (
        r"&(quot|apos|amp|lt|gt|nbsp|#[0-9]+|#x[0-9a-fA-F]+);",
        0.01,
        "has escaped characters (&quot;): replace them, corpus.filter.unescape: true",
    ),
    (
        r" [.,\x{3002}\x{FF0C}]( |$)|@-@| 's |[A-Za-z] n't ",
        0.1,
        "looks tokenised (' .', ' ,', '@-@'): give it as it was written, since metrics and models "
        "tokenise it themselves",
    ),
)
"""A pattern, the share of sentences from which it is said, and what."""


def doubts(name: str, corpus: Corpus) -> list[str]:
    """Return why a text is not in the languages that its records state; usually empty."""
    kind = KINDS[corpus.kind]
    sides = {"text" if kind.name != "parallel" else "source": (kind.inputs[0], kind.language)}
    if kind.name == "parallel":
        sides["target"] = (kind.target, kind.target_language)
    if not corpus.shards:
        return []
    block = corpus.shard(corpus.shards[0]).slice(0, ROWS)
    found, other = [], {}
    for side, (column, language) in sides.items():
        for code in block.column(language).unique().to_pylist():
            of_code = block.filter(pc.equal(block.column(language), code))
            read_as, reason = _judge(of_code.column(column).to_pylist(), code)
            other[side] = (base_language(code), read_as)
            if reason:
                found.append(
                    f"{name}: the language of its {side} is '{code}', and {reason}: correct the "
                    "language or the text"
                )
    if "target" in other:
        (source, like_source), (target, like_target) = other["source"], other["target"]
        if source == like_target and target == like_source and source != target:
            return [
                f"{name}: its sides seem to be swapped: the source reads like {like_source} and "
                f"the target like {like_target}; swap the files or columns, or the languages"
            ]
    return found


def marks_of_tools(name: str, corpus: Corpus) -> list[str]:
    """Return cautions on the sides of a text whose sentences have the marks of tokenisers or of
    markup."""
    cautions = []
    for side in KINDS[corpus.kind].sentences if corpus.shards else ():
        texts = corpus.shard(corpus.shards[0], [side]).column(side).slice(0, ROWS)
        for pattern, share, what in MARKS:
            count = pc.sum(pc.match_substring_regex(texts, pattern)).as_py() or 0
            if count >= max(1, share * len(texts)):
                cautions.append(f"{name}: its {side} {what}")
    return cautions


def _judge(texts: Sequence[str], code: str) -> tuple[str | None, str]:
    """Return the language that texts are in, if it is not `code`, and the reason; None, "" if they
    may be in it."""
    language, scripts = _known(code), _scripts(texts)
    if not language or scripts.total() < MIN_LETTERS:
        return None, ""
    script, count = scripts.most_common(1)[0]
    by_script = _by_script(scripts)
    if {language, by_script} == {"zh", "ja"}:
        kana = {"ja": "a twentieth of its letters and more are", "zh": "almost none of them is"}
        return by_script, f"{kana[str(by_script)]} Japanese kana"
    shares = word_shares(texts)
    best = max(shares, key=lambda known: shares[known], default=language)
    recognised = shares.get(best, 0.0) >= MIN_SHARE
    if script not in scripts_of(language) and not _SCRIPT_SUBTAG.search(code):
        alphabets = " or ".join(name.title() for name in scripts_of(language))
        guess = best if recognised else by_script
        reads = f" and reads like '{guess}'" if guess else ""
        return guess, (
            f"it is written in {script.title()} letters ({count / scripts.total():.0%}), not in "
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
    ranked = sorted(word_shares(texts).items(), key=lambda item: -item[1])
    if (by_script := _by_script(scripts)) or not ranked:
        return by_script
    (best, share), (_, next_share) = ranked[:2]
    clear = share >= MIN_SHARE and share - next_share >= MARGIN
    return best if clear and scripts.most_common(1)[0][0] in scripts_of(best) else None


def is_foreign(sentence: str, code: str) -> bool:
    """Return whether a single sentence is clearly in another language than `code`.

    Most of its letters are of another script, or it has at least FOREIGN_WORDS of the most common
    words of another language, and of its own less than half as many. False where little is known of
    a language or sentence.
    """
    if not (language := _known(code)):
        return False
    scripts = _scripts([sentence])
    own_script = sum(scripts[script] for script in scripts_of(language))
    if 2 * own_script < scripts.total() and not _SCRIPT_SUBTAG.search(code):
        return True
    words = set(_words(sentence))
    counts = {known: len(words & common) for known, common in common_words().items()}
    most = max(counts.values())
    return language in counts and most >= FOREIGN_WORDS and 2 * counts[language] < most


def _known(code: str) -> str:
    """Return the language of a code; empty where nothing is known of it."""
    language = base_language(code)
    language = {"nb": "no", "nn": "no"}.get(language, language)
    return language if scripts_of(language) != ("LATIN",) or language in common_words() else ""


def _by_script(scripts: Counter[str]) -> str | None:
    """Return the only language that is written in the most frequent script."""
    script = scripts.most_common(1)[0][0]
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if script == "CJK" or kana > scripts.total() / 10:
        return "ja" if kana > scripts.total() / 20 else "zh"
    written = WRITTEN.get(script, ())
    return written[0] if len(written) == 1 else None


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
    return tuple(script for script in WRITTEN if language in WRITTEN[script]) or ("LATIN",)


@cache
def common_words() -> dict[str, frozenset[str]]:
    """Return the most common words of languages, from `common_words.tsv`."""
    table = Path(__file__).with_name("common_words.tsv")
    rows = [line for line in table.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    return {code: frozenset(words.split()) for code, words in (row.split("\t") for row in rows)}


def _scripts(texts: Iterable[str]) -> Counter[str]:
    """Count the letters of every script: LATIN, CJK (Chinese characters), ..., the first word of
    their names in Unicode."""
    scripts = Counter[str]()
    for character, count in Counter("".join(texts)).items():
        if character.isalpha():
            name = unicodedata.name(character, "UNKNOWN")
            scripts[name.split()[0].split("-")[0]] += count
    return scripts
