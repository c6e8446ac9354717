"""EDA: four operations on a sentence, with synonyms and stop words (Wei and Zou 2019, "EDA: Easy
Data Augmentation", §2).

A sentence is a list of words without white space. Punctuation attached to a word is ignored when
the word is looked up, and kept when a synonym replaces it.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from augury.core.errors import UserError
from augury.corpora.files import examine, find, lines
from augury.corpora.tables import column_index

Operation = Literal["replacement", "insertion", "swap", "deletion"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
Synonyms = Mapping[str, tuple[str, ...]]
"""Synonyms by word, in code-point order and without the word itself; no entry for words without
any."""
WORDNET = "synsets.tsv.gz"
STOP_WORDS = Path(__file__).with_name("stop_words.en.txt")
"""English function words in lower case, one a line, which EDA does not replace."""

_INSERTION_TRIES = 10
_SWAP_TRIES = 3


def augment(
    words: Sequence[str],
    operation: Operation,
    alpha: float,
    random: np.random.Generator,
    synonyms: Synonyms,
) -> list[str]:
    """Apply an operation to a sentence; the result is empty only if `words` is.

    `alpha` is the fraction of words to change, at least one, or for deletion the probability to
    delete a word.
    """
    if not words:
        return []
    if operation == "deletion":
        return _delete(words, alpha, random)
    count = max(1, int(alpha * len(words)))
    if operation == "swap":
        return _swap(words, count, random)
    change = _replace if operation == "replacement" else _insert
    return change(words, count, random, synonyms)


def _replace(
    words: Sequence[str],
    count: int,
    random: np.random.Generator,
    synonyms: Synonyms,
) -> list[str]:
    """Replace up to `count` distinct words that have synonyms, in all occurrences, by a random
    synonym."""
    entries = [_entry(_core(word)[1], synonyms) for word in words]
    distinct = list(dict.fromkeys(entry for entry in entries if entry))
    chosen = {}
    for index in random.permutation(len(distinct))[:count]:
        options = synonyms[distinct[index]]
        chosen[distinct[index]] = options[random.integers(len(options))]
    replaced = []
    for word, entry in zip(words, entries, strict=True):
        if entry in chosen:
            before, core, after = _core(word)
            new = chosen[entry]
            # Looked up in lower case, it begins a sentence, or is in capitals.
            first = new[0] if core == entry else new[0].upper()
            word = f"{before}{first}{new[1:]}{after}"
        replaced.append(word)
    return " ".join(replaced).split()  # splits synonyms of several words


def _insert(
    words: Sequence[str],
    count: int,
    random: np.random.Generator,
    synonyms: Synonyms,
) -> list[str]:
    """Insert a synonym of a random word at a random position, `count` times; skipped if ten tries
    find no synonym."""
    result = list(words)
    for _ in range(count):
        for _ in range(_INSERTION_TRIES):
            word = result[random.integers(len(result))]
            if entry := _entry(_core(word)[1], synonyms):
                options = synonyms[entry]
                position = random.integers(len(result))
                result[position:position] = options[random.integers(len(options))].split()
                break
    return result


def _swap(words: Sequence[str], count: int, random: np.random.Generator) -> list[str]:
    """Swap two random words, `count` times; skipped if three draws give the same position twice."""
    swapped = list(words)
    for _ in range(count):
        first = int(random.integers(len(swapped)))
        for _ in range(_SWAP_TRIES):
            second = int(random.integers(len(swapped)))
            if second != first:
                swapped[first], swapped[second] = swapped[second], swapped[first]
                break
    return swapped


def _delete(words: Sequence[str], probability: float, random: np.random.Generator) -> list[str]:
    """Delete each word with a probability; a single word is kept, and a random one if all would be
    deleted."""
    if len(words) == 1:
        return list(words)
    draws = random.random(len(words))
    remaining = [word for word, draw in zip(words, draws, strict=True) if draw >= probability]
    return remaining or [words[int(random.integers(len(words)))]]


def _core(word: str) -> tuple[str, str, str]:
    """Return the punctuation before a word, the word and the punctuation after it."""
    start, end = 0, len(word)
    while start < end and _is_mark(word[start]):
        start += 1
    while end > start and _is_mark(word[end - 1]):
        end -= 1
    return word[:start], word[start:end], word[end:]


def _is_mark(character: str) -> bool:
    return not character.isalnum() and unicodedata.category(character)[0] in "PS"


def _entry(core: str, synonyms: Synonyms) -> str | None:
    """Return a word that has synonyms as written, then in lower case, to distinguish US and us, and
    to match the first word of a sentence; None for one without."""
    return next((form for form in (core, core.lower()) if form in synonyms), None)


def without_stop_words(synonyms: Synonyms) -> Synonyms:
    """Return the synonyms of words that are no English function words."""
    stop_words = set(STOP_WORDS.read_text(encoding="utf-8").split())
    return {word: others for word, others in synonyms.items() if word.lower() not in stop_words}


def load_synonyms(path: str | None = None) -> dict[str, tuple[str, ...]]:
    """Load the synonyms of all words from `synonyms_file(path)`.

    Tables have lines `word<TAB>synonym[,synonym...]`; lines for the same word are merged. In
    WordNet, the synonyms of a word are the members of all its synsets; multi-word entries are
    skipped, since words are looked up individually. Underscores stand for spaces, in synonyms of
    several words. Raises UserError with file and line.
    """
    file = synonyms_file(path)
    found: dict[str, set[str]] = defaultdict(set)
    for word, synonyms in _wordnet(file) if file.name == WORDNET else _table(file):
        found[word.replace("_", " ")].update(synonym.replace("_", " ") for synonym in synonyms)
    distinct = {}
    for word, of_word in found.items():
        if others := [other for other in of_word if other.lower() != word.lower()]:
            distinct[word] = tuple(sorted(others))
    return distinct


def synonyms_file(path: str | None = None) -> Path:
    """Return the file with synonyms: `path`, or for a directory the synsets of Open English WordNet
    in it, by default a table of a few hundred common English words; UserError if there is none."""
    if path is None:
        return Path(__file__).with_name("synonyms.en.tsv")
    target = find(path)
    return find(str(target / WORDNET)) if target.is_dir() else target


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
            raise UserError(f"{file}, line {number} has not the columns of the header")
        synset = fields[members].split("|")
        if len(synset) > 1:
            yield from ((word, synset) for word in synset if " " not in word)


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, normalised to NFC as corpora are, with their numbers."""
    examine(str(file))
    for number, line in enumerate(lines(file), start=1):
        if line.strip():
            yield number, unicodedata.normalize("NFC", line.decode()).rstrip("\r\n")
