"""Synonyms and stop words for EDA."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from augury.core.errors import UserError
from augury.core.naming import counted
from augury.corpora.files import examine, find, lines
from augury.corpora.tables import column_index

Synonyms = Mapping[str, tuple[str, ...]]
"""Synonyms by word, in code-point order and without the word itself.

No entry for words without any.
"""

WORDNET = "synsets.tsv.gz"


def load_synonyms(path: str | None = None) -> dict[str, tuple[str, ...]]:
    """Load the synonyms of all words from `synonyms_file(path)`.

    Tables have lines `word<TAB>synonym[,synonym...]`; lines for the same word are merged. In
    WordNet, the synonyms of a word are the members of all its synsets; multi-word entries are
    skipped, since words are looked up individually. Underscores stand for spaces, in synonyms of
    several words. Raises UserError with file and line.
    """
    file = synonyms_file(path)
    return _collect(_wordnet(file) if file.name == WORDNET else _table(file))


def load_stop_words(path: str | None = None) -> frozenset[str]:
    """Load the lower-cased words of `stop_words_file(path)`, one per line.

    Raise UserError with file and line.
    """
    file, words = stop_words_file(path), set()
    for number, line in _lines(file):
        if len(line.split()) != 1:
            raise UserError(
                f"{file}, line {number}: {line!r:.60} is not a stop word; give one word per line"
            )
        words.add(line.strip().lower())
    return frozenset(words)


def synonyms_file(path: str | None = None) -> Path:
    """Return the file with synonyms: `path`, or for a directory the synsets of Open English WordNet
    in it.

    The default is a table of a few hundred common English words. Raises UserError if the file does
    not exist.
    """
    if path is None:
        return Path(__file__).with_name("synonyms.en.tsv")
    target = find(path)
    return find(str(target / WORDNET)) if target.is_dir() else target


def stop_words_file(path: str | None = None) -> Path:
    """Return the file with stop words, by default English function words.

    Raise UserError if it does not exist.
    """
    return Path(__file__).with_name("stop_words.en.txt") if path is None else find(path)


def _table(file: Path) -> Iterator[tuple[str, list[str]]]:
    for number, line in _lines(file):
        fields = line.split("\t")
        synonyms = [synonym.strip() for synonym in fields[-1].split(",")]
        if len(fields) != 2 or not fields[0].strip() or not all(synonyms):
            raise UserError(
                f"{file}, line {number}: {line!r:.60} is not an entry; use "
                "word<TAB>synonym[,synonym...]"
            )
        yield fields[0].strip(), synonyms


def _wordnet(file: Path) -> Iterator[tuple[str, list[str]]]:
    rows = _lines(file)
    names = next(rows)[1].split("\t")
    members = column_index(str(file), names, "members")
    for number, line in rows:
        fields = line.split("\t")
        if len(fields) != len(names):
            raise UserError(
                f"{file}, line {number} has {counted(len(fields), 'column')}, but the header has "
                f"{len(names)}; download it again"
            )
        synset = fields[members].split("|")
        if len(synset) > 1:
            yield from ((word, synset) for word in synset if " " not in word)


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, normalised to NFC as corpora are, with their numbers."""
    examine(str(file))  # raises if the file is empty, damaged or not UTF-8
    for number, line in enumerate(lines(file), start=1):
        text = unicodedata.normalize("NFC", line.decode()).rstrip("\r\n")
        if text.strip():
            yield number, text


def _collect(entries: Iterable[tuple[str, Iterable[str]]]) -> dict[str, tuple[str, ...]]:
    collected: dict[str, set[str]] = defaultdict(set)
    for word, synonyms in entries:
        collected[word.replace("_", " ")].update(synonym.replace("_", " ") for synonym in synonyms)
    distinct = {}
    for word, synonyms in collected.items():
        others = [synonym for synonym in synonyms if synonym.lower() != word.lower()]
        if others:
            distinct[word] = tuple(sorted(others))
    return distinct
