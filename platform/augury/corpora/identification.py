"""Tell whether a text is in its language, by `py3langid` (139 languages), and whether tools have
left their marks in it.

This notices a wrong code, a wrong file and swapped sides; of a single sentence, only that it is
clearly of another language. Languages that resemble each other (Danish and Norwegian) are not told
apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import pyarrow.compute as pc

from augury.corpora.corpus import Corpus
from augury.corpora.languages import base_language

ROWS, JUDGED = 1_000, 200
"""How many rows of a text are read, and of how many of one language it is told."""
MIN_LETTERS = 300
"""A shorter text is not judged."""
CLEAR, WRONG = 0.6, 0.05
"""The least share of the rows that read like a language where a text is in it, and the largest of
those that read like the stated one where it is probably wrong."""
MARGIN = 12.0
"""How much more likely a single sentence that is clearly foreign is in another language, as the
logarithm of a ratio. Of 12,000 captions in German, English, French and Czech, none has more than
7.3."""
MACRO = {"nb": "no", "cmn": "zh"}
"""Codes of languages that the library knows by another one."""
SAME = {"hbo": "he"}
"""Languages that the library tells apart by little, with the one that is meant."""
UNSURE = ("dz",)
"""What the library calls all text of a script: Tibetan, too."""
SCRIPT_SUBTAG = re.compile(r"[-_][A-Za-z]{4}\b")

MARKS = (
    (
        r"&([A-Za-z][A-Za-z0-9]{1,7}|#[0-9]+|#x[0-9a-fA-F]+);",
        0.01,
        "has escaped characters ({}): replace them, corpus.filter.unescape: true",
    ),
    (
        " [.,\u3002\uff0c]( |$)|@-@| 's |[A-Za-z] n't ",
        0.1,
        "looks tokenised ('{}'): give it as it was written, since metrics and models tokenise it "
        "themselves",
    ),
    (
        "@@ |\u2581",
        0.1,
        "is cut into subwords ('{}'): join them, as vocabularies are learned from words",
    ),
    (
        r"</?(br|i|b|u|p|s|em|strong|span|div|font|a href)\b[^<>]*>",
        0.01,
        "has markup ({}): remove it, as models would learn to write it",
    ),
)
"""A pattern, the share of sentences from which it is said, and what, with what was found."""


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # half a second

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _known(code: str) -> str | None:
    """Return the language of a code as the library knows it; None where it does not, or where the
    code names a script, which may be another one than in the library's texts."""
    language = base_language(code)
    language = MACRO.get(language, language)
    known = language in _identifier().labels and not SCRIPT_SUBTAG.search(code)
    return language if known else None


def _rows_by_language(texts: Sequence[str]) -> Counter[str]:
    """Count the rows that read like each language; empty for a text that is too short."""
    rows = texts[:JUDGED]
    if sum(map(str.isalpha, "".join(rows))) < MIN_LETTERS:
        return Counter()
    languages = (_identifier().classify(row)[0] for row in rows if row.strip())
    return Counter(SAME.get(language, language) for language in languages)


def language_of(texts: Sequence[str]) -> str | None:
    """Return the language that texts are clearly in; None where it may be another one."""
    rows = _rows_by_language(texts)
    for language, count in rows.most_common(1):
        if count >= CLEAR * rows.total() and language not in UNSURE:
            return language
    return None


def is_foreign(sentence: str, code: str) -> bool:
    """Return whether a single sentence is clearly in another language than `code`; False where
    that is not known."""
    language = _known(code)
    if language is None:
        return False
    likely: dict[str, float] = dict(_identifier().rank(sentence))
    return max(likely.values()) - likely[language] > MARGIN


def language_warnings(name: str, corpus: Corpus) -> list[str]:
    """Return why a text is not in the languages that its records state; usually empty."""
    kind = corpus.kind
    sides = {kind.inputs[0]: kind.language}
    if len(kind.languages) > 1:
        sides[kind.target] = kind.target_language
    # Built-in text has no files, is in its languages, and would wait for the library to load.
    if not corpus.shards or corpus.manifest.get("files") == []:
        return []
    block = corpus.shard(corpus.shards[0]).slice(0, ROWS)
    found = []
    for side, language in sides.items():
        for code in block.column(language).unique().to_pylist():
            texts = block.filter(pc.equal(block.column(language), code)).column(side).to_pylist()
            stated, rows = _known(code), _rows_by_language(texts)
            if stated is None or not rows or rows[stated] > WRONG * rows.total():
                continue
            best, count = rows.most_common(1)[0]
            found.append(
                f"{name}: the language of its {side} is '{code}', and {count / rows.total():.0%} "
                f"of its rows read like '{best}', {rows[stated] / rows.total():.0%} like "
                f"'{stated}': correct the language or the text"
            )
    return found


def marks_of_tools(name: str, corpus: Corpus) -> list[str]:
    """Return warnings of the sides of a text whose sentences have the marks of tokenisers or of
    markup."""
    warnings = []
    for side in corpus.kind.sentences if corpus.shards else ():
        texts = corpus.shard(corpus.shards[0], [side]).column(side).slice(0, ROWS)
        for pattern, share, what in MARKS:
            marked = texts.filter(pc.match_substring_regex(texts, pattern))
            if len(marked) >= max(1, share * len(texts)):
                found = re.search(pattern, marked[0].as_py(), re.ASCII)  # as Arrow's are
                assert found is not None, pattern
                warnings.append(f"{name}: its {side} {what.format(found[0])}")
    return warnings
