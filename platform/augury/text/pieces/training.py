"""Training of vocabularies, and their automatic sizes.

In joint mode, one BPE model is trained on the plain bitext and all other views. In separate mode,
the plain bitext and each other view have models of their own, whose pieces are merged by string
(CipherDAug, table 7).

Views compete for the merges of a joint BPE model. With too few entries for them, plain text is
split into more pieces than with the vocabulary of the baseline, and systems differ in more than the
method: the automatic size of a joint model prevents that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, islice, pairwise
from typing import NamedTuple

from augury.core.errors import UserError
from augury.core.progress import say_once
from augury.core.store import Folder
from augury.core.words import is_unspaced, spelt_words
from augury.corpora.tables import batches
from augury.text.pieces import sentencepieces
from augury.text.pieces.sentencepieces import UNCOVERED
from augury.text.pieces.settings import (
    DEFAULT_SIZE,
    SPACE,
    SPECIALS,
    Preprocessor,
    VocabularyConfig,
)
from augury.text.pieces.vocabulary import Vocabulary

VERSION = 3
"""To be incremented when the same texts and settings give other pieces."""
PLAIN_VIEWS = ("source", "target")

Texts = Callable[[], Iterable[str]]


def train(
    groups: Mapping[str, Texts],
    config: VocabularyConfig,
    *,
    languages: Sequence[str],
    folder: Folder,
) -> Vocabulary:
    """Train a vocabulary on the training split and save it in `folder`.

    `groups` has the texts of each view: `source` and `target` are the plain bitext, all others are
    views of the source. Each language has a tag, such as `__en__`. The bytes are reproducible.
    Raises UserError for a view without text, a size that the text does not allow, and a reserved
    symbol that is a tag or a piece.
    """
    tags = _tags(languages, config.reserved)
    counts: dict[str, int] = {}
    symbols = len(SPECIALS) + len(tags)
    preprocessor = config.preprocessor(languages[0], languages[-1])
    groups = {view: _preprocessed(texts, view, preprocessor) for view, texts in groups.items()}
    plain = [view for view in groups if view in PLAIN_VIEWS]
    others = [view for view in groups if view not in PLAIN_VIEWS]
    assert plain, "a vocabulary needs the plain bitext"
    size = config.size if config.size != "auto" else _fitting(groups, plain, symbols)
    models: list[bytes] = []
    views: dict[str, int] = {}

    def add(members: Sequence[str], size: int, symbols: int, *settings: str) -> None:
        """Learn the model of some views, whose entries are pieces and symbols."""
        texts = _texts(groups, members, counts)
        try:
            model = sentencepieces.learn(texts, max(size - symbols, 0), config.character_coverage)
        except sentencepieces.SizeError as error:
            raise _size_error(settings, size, members, error, symbols) from error
        views.update(dict.fromkeys(members, len(models)))
        models.append(model)

    if config.mode == "joint" and others:
        per_key = config.size_per_key
        if per_key == "auto":
            per_key = _matching(groups, plain, others, size, symbols, config.character_coverage)
        size += len(others) * per_key
        add(plain + others, size, symbols, "vocabulary.size", "vocabulary.size_per_key")
    else:
        add(plain, size, symbols, "vocabulary.size")
    if config.mode == "separate":
        for view in others:
            add([view], config.separate_size_per_key, 0, "vocabulary.separate_size_per_key")
    vocabulary = Vocabulary(models, views, tags, preprocessor)
    names = [f"sentencepiece-{index}.model" for index in range(len(models))]
    for name, model in zip(names, models, strict=True):
        folder.write(name, model)
    form = {} if preprocessor.is_identity else {"form": asdict(preprocessor)}
    folder.finish(
        {
            "size": len(vocabulary),
            "models": names,
            "views": views,
            "tags": tags,
            "texts": counts,
            **form,
        }
    )
    return vocabulary


def _preprocessed(texts: Texts, view: str, preprocessor: Preprocessor) -> Texts:
    if preprocessor.is_identity:
        return texts
    return lambda: chain.from_iterable(
        preprocessor.encode(batch, view) for batch in batches(texts(), 1_000)
    )


def _fitting(groups: Mapping[str, Texts], plain: Sequence[str], symbols: int) -> int:
    """Return the automatic number of entries for the plain bitext."""
    size = symbols + fitting_size(_texts(groups, plain, {}), DEFAULT_SIZE - symbols)
    if size < DEFAULT_SIZE:
        say_once(
            f"vocabulary: size auto is {size:,} instead of {DEFAULT_SIZE:,}, because the training "
            "text has few words that are repeated; set vocabulary.size for another size"
        )
    return size


def _matching(
    groups: Mapping[str, Texts],
    plain: Sequence[str],
    others: Sequence[str],
    size: int,
    symbols: int,
    character_coverage: float,
) -> int:
    """Return the automatic number of entries per further view, which preserves the segmentation of
    plain text."""
    texts = [text for view in plain for text in groups[view]()]
    views = chain.from_iterable(groups[view]() for view in others)
    baseline, largest = size - symbols, size * (1 + len(others)) - symbols
    try:
        matched = matching_size(texts, views, baseline, largest, character_coverage)
    except sentencepieces.SizeError as error:
        raise _size_error(("vocabulary.size",), size, plain, error, symbols) from error
    per_key = -(-(matched.size - baseline) // len(others))
    change = round(100 * (matched.pieces / matched.baseline - 1), 1) + 0.0  # not -0.0
    say_once(
        f"vocabulary: size_per_key auto is {per_key:,}: {matched.pieces:.1f} pieces per plain "
        f"sentence, {change:+.1f} % compared with the vocabulary without other views"
    )
    return max(1, per_key)


def _size_error(
    settings: Sequence[str],
    size: int,
    views: Sequence[str],
    error: sentencepieces.SizeError,
    symbols: int,
) -> UserError:
    bound, change = ("at most", "lower") if error.too_large else ("no fewer than", "raise")
    return UserError(
        f"{' and '.join(settings)}: {size} entries, but the training text of {', '.join(views)} "
        f"allows {bound} {error.limit + symbols}: {change} {' or '.join(settings)}"
    )


def _texts(
    groups: Mapping[str, Texts], views: Iterable[str], counts: dict[str, int]
) -> Iterator[str]:
    """Yield the texts of `views`, adding the numbers of those that are not blank to `counts`."""
    for view in views:
        counts[view] = 0
        for text in groups[view]():
            counts[view] += bool(text.strip())
            yield text
        if not counts[view]:
            raise UserError(
                f"view '{view}' of the training split has no text: check its files, or remove it"
            )


def _tags(languages: Iterable[str], reserved: Sequence[str]) -> list[str]:
    tags = [f"__{language}__" for language in dict.fromkeys(languages)]
    for symbol in reserved:
        if symbol in tags:
            raise UserError(
                f"vocabulary.reserved: '{symbol}' is already the tag of a language; remove it"
            )
    return [*tags, *reserved]


SAMPLE = 20_000  # number of texts on each side for counting pieces
STEP = 10  # granularity of sizes


def fitting_size(texts: Iterable[str], largest: int) -> int:
    """Return the number of distinct characters and of words that occur at least twice, at most
    `largest`.

    The text always allows a model of this size; pieces for words that occur once would hardly be
    trained.
    """
    characters, once, repeated = {" "}, set[str](), set[str]()
    for text in texts:
        characters.update(text)
        for word in _pieces_of(text):
            (repeated if word in once else once).add(word)
        if len(repeated) >= largest:
            return largest
    return min(largest, len(characters) + len(repeated))


def has_words(texts: Iterable[str], count: int) -> bool:
    """Return whether texts have at least `count` distinct words.

    Stops reading as soon as they do.
    """
    words: set[str] = set()
    for text in texts:
        words.update(_pieces_of(text))
        if len(words) >= count:
            return True
    return False


def _pieces_of(text: str) -> list[str]:
    """Return the words of a text, and of scripts that do not separate them pairs of characters;
    single ones are covered by characters."""
    words = [word for word in spelt_words(text) if len(word) > 1]
    if not is_unspaced([text]):
        return words
    return [first + second for word in words for first, second in pairwise(word)]


class Matched(NamedTuple):
    """A size, and the mean number of pieces of plain texts with it and with the baseline's size."""

    size: int
    pieces: float
    baseline: float


def matching_size(
    plain: Sequence[str],
    views: Iterable[str],
    baseline: int,
    largest: int,
    character_coverage: float = 1.0,
) -> Matched:
    """Return the smallest joint size with which plain text has at most as many pieces as with the
    baseline's size.

    `plain` are the texts of both sides, `views` all further ones, `baseline` is the size of a
    model of plain text only, and `largest` the maximum size; sizes are numbers of pieces. The
    largest model contains all smaller ones, so that only one is trained. Raises
    sentencepieces.SizeError if the text does not allow the baseline's size.
    """
    sample = [*islice(plain, SAMPLE), *islice(reversed(plain), SAMPLE)]
    words = Counter(chain.from_iterable(text.split(" ") for text in sample if text))
    rows = max(1, len(sample))
    target = _count(_learned(plain, baseline, character_coverage), words) / rows
    texts = [*plain, *views]
    try:
        learned = _learned(texts, largest, character_coverage)
    except sentencepieces.SizeError as error:
        if not error.too_large:
            raise
        learned = _learned(texts, error.limit, character_coverage)
    largest = len(learned)
    smallest = min(max(baseline, sum(len(piece) == 1 for piece in learned)), largest)
    sizes = [*range(smallest, largest, STEP), largest]
    counts: dict[int, float] = {}

    def reaches_target(size: int) -> bool:
        counts[size] = _count(sentencepieces.first_pieces(learned, size), words) / rows
        return counts[size] <= target

    size = sizes[min(bisect_left(sizes, True, key=reaches_target), len(sizes) - 1)]
    if size not in counts:
        reaches_target(size)
    return Matched(size, counts[size], target)


def _learned(texts: Iterable[str], size: int, character_coverage: float) -> list[str]:
    model = sentencepieces.learn(texts, size, character_coverage)
    return sentencepieces.pieces(sentencepieces.load(model))


def _count(learned: Sequence[str], words: Mapping[str, int]) -> int:
    """Return the number of pieces of words that occur so often."""
    from tokenizers import Tokenizer

    ids = {piece: index for index, piece in enumerate([UNCOVERED, *learned])}
    model = Tokenizer(sentencepieces.bpe(learned, ids, UNCOVERED))
    return sum(count * len(model.encode(SPACE + word)) for word, count in words.items())
