"""Languages of texts against their codes, on sentences of XNLI's and Multi30k's languages."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from augury.core.store import Store
from augury.corpora import builtin
from augury.corpora.corpus import Corpus
from augury.corpora.identification import is_foreign, language_of, language_warnings
from tests.augment.texts import corpus as stored
from tests.augment.texts import records

XNLI = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")


def corpus(
    texts: Sequence[str] | Sequence[tuple[str, str]], languages: str | tuple[str, str], folder: Path
) -> Corpus:
    """A text of one language, or a parallel text for two."""
    store = Store(folder)
    if isinstance(languages, str):
        table = records("monolingual", languages, text=texts)
        return stored(store, table, languages, "monolingual")
    columns = dict(zip(("source", "target"), zip(*texts, strict=True), strict=True))
    codes = {
        f"{side}_language": [code] * len(texts)
        for side, code in zip(columns, languages, strict=True)
    }
    return stored(store, records(**columns, **codes), "-".join(languages))


@pytest.fixture(scope="module")
def hypotheses(data: Path) -> dict[str, list[str]]:
    """400 hypotheses of every language of XNLI."""
    texts = {}
    for code in XNLI:
        with gzip.open(data / "xnli" / f"dev.{code}.tsv.gz", "rt", encoding="utf-8") as file:
            lines = [next(file) for _ in range(401)][1:]
        texts[code] = [line.split("\t")[1] for line in lines]
    return texts


@pytest.mark.parametrize("language", XNLI)
def test_each_language_is_found_accepted_as_itself_and_warned_of_as_others(
    language: str, hypotheses: dict[str, list[str]], tmp_path: Path
) -> None:
    assert language_of(hypotheses[language]) == language
    for code in XNLI:
        told = language_warnings("train", corpus(hypotheses[language], code, tmp_path))
        assert len(told) == (code != language) and all(f"'{code}'" in warning for warning in told)


def test_each_side_is_warned_of(tmp_path: Path) -> None:
    texts = list(itertools.islice(builtin.pairs("train"), 100))
    assert language_warnings("train", corpus(texts, ("de", "en"), tmp_path)) == []
    source, target = language_warnings("train", corpus(texts, ("en", "de"), tmp_path))
    assert "read like 'de'" in source and "read like 'en'" in target
    (warning,) = language_warnings("train", corpus(texts, ("fr", "en"), tmp_path))
    assert "'fr'" in warning and "'de'" in warning


def test_a_sentence_that_is_clearly_of_another_language() -> None:
    english = "the dog is in the house and it sleeps"
    assert is_foreign(english, "de") and is_foreign("собака спит", "en")
    # Its own language, too little to tell, and a language of which nothing is known.
    for sentence, code in ((english, "en-GB"), ("der Hund", "en"), (english, "qaa")):
        assert not is_foreign(sentence, code)


def test_hardly_any_sentence_is_thought_foreign(data: Path) -> None:
    """Measured: one of 3,000 captions in German, none in English, French and Czech."""
    for language, limit in (("de", 0.001), ("en", 0), ("fr", 0), ("cs", 0)):
        with gzip.open(data / "multi30k" / f"train.{language}.gz", "rt", encoding="utf-8") as file:
            sentences = list(itertools.islice(file, 3000))
        wrong = sum(is_foreign(sentence, language) for sentence in sentences)
        assert wrong <= limit * len(sentences)
