"""Training of vocabularies, and their automatic sizes.

In joint mode, one BPE model is trained on the plain bitext and all other views. In separate mode,
the plain bitext and each other view have models of their own, whose pieces are merged by string
(CipherDAug, table 7). In mirrored mode, the model of a view is that of the plain bitext with its
letters replaced: the view has other pieces and no other segmentation, which separates two effects
of a cipher.

Views compete for the merges of a joint BPE model. With too few entries for them, plain text is
split into more pieces than with the vocabulary of the baseline, and systems differ in more than the
method: the automatic size of a joint model keeps that small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, islice, pairwise
from typing import Any

from augury.core.errors import UserError
from augury.core.messages import say_once
from augury.core.store import Folder
from augury.core.words import is_unspaced, spelt_words
from augury.corpora.tables import batches
from augury.text.pieces import sentencepieces
from augury.text.pieces.settings import DEFAULT_SIZE, SPECIALS, Moses, VocabularySettings
from augury.text.pieces.vocabulary import Vocabulary

VERSION = 3
"""To be incremented when the same texts and settings give other pieces."""
SIZE_VERSION = 2
"""To be incremented when the automatic size of further views changes."""
PLAIN_VIEWS = ("source", "target")
SAMPLE = 200_000
"""The texts of a view whose words are counted for the automatic size of further views."""

Texts = Callable[[], Iterable[str]]


def train(
    groups: Mapping[str, Texts],
    config: VocabularySettings,
    *,
    languages: Sequence[str],
    folder: Folder,
) -> Vocabulary:
    """Train a vocabulary on the training split and save it in `folder`.

    `groups` has the texts of each view: `source` and `target` are the plain bitext, all others are
    views of the source. Each language has a tag, such as `__en__`. The bytes are reproducible.
    Raises UserError for a view without text, and a size that the text does not allow.
    """
    tags = [*(f"__{language}__" for language in dict.fromkeys(languages)), *config.reserved]
    counts: dict[str, int] = {}
    symbols = len(SPECIALS) + len(tags)
    moses = Moses(languages[0], languages[-1]) if config.tokenise == "moses" else None
    if moses:
        groups = {view: _tokenised(texts, view, moses) for view, texts in groups.items()}
    plain = [view for view in groups if view in PLAIN_VIEWS]
    others = [view for view in groups if view not in PLAIN_VIEWS]
    assert plain, "a vocabulary needs the plain bitext"
    size = config.size
    if size == "auto":
        size = _size(groups, plain, symbols)
    models: list[bytes] = []
    views: dict[str, int] = {}

    def add(
        members: Sequence[str], size: int, symbols: int, *settings: str, least: int | None = None
    ) -> None:
        """Learn the model of some views, whose entries are pieces and symbols; fewer where the text
        does not have so many, down to `least`, which `settings` give."""
        texts = _texts(groups, members, counts)
        try:
            model = sentencepieces.learn(texts, max(size - symbols, 0), config.character_coverage)
        except sentencepieces.SizeError as error:
            limit = error.limit + symbols
            if least is not None and least <= limit < size:
                return add(members, limit, symbols, *settings)
            bound, change = ("at most", "lower") if error.too_large else ("no fewer than", "raise")
            raise UserError(
                f"{' and '.join(settings)}: {least or size} entries, but the training text of "
                f"{', '.join(members)} allows {bound} {limit}: {change} {' or '.join(settings)}"
            ) from error
        views.update(dict.fromkeys(members, len(models)))
        models.append(model)

    letters: dict[str, dict[str, str]] = {}
    if config.mode != "joint" or not others:
        add(plain, size, symbols, "vocabulary.size")
        if config.mode == "mirrored":
            letters = {view: _letters(groups, view, counts) for view in others}
            views |= {view: index for index, view in enumerate(others, len(models))}
        for view in others if config.mode == "separate" else ():
            add([view], config.separate_size_per_key, 0, "vocabulary.separate_size_per_key")
    elif config.size_per_key == "auto":
        joint = size + len(others) * _size_per_key(groups, plain, others, size)
        add(plain + others, joint, symbols, "vocabulary.size", least=size)
    else:
        joint = size + len(others) * config.size_per_key
        add(plain + others, joint, symbols, "vocabulary.size", "vocabulary.size_per_key")
    vocabulary = Vocabulary(models, views, tags, moses, letters)
    names = [f"sentencepiece-{index}.model" for index in range(len(models))]
    for name, model in zip(names, models, strict=True):
        folder.write(name, model)
    manifest: dict[str, Any] = {"size": len(vocabulary), "models": names, "views": views}
    manifest |= {"tags": tags, "texts": counts}
    if letters:
        manifest["letters"] = letters
    if moses:
        manifest["moses"] = asdict(moses)
    folder.finish(manifest)
    return vocabulary


def _size(groups: Mapping[str, Texts], plain: Sequence[str], symbols: int) -> int:
    """Return the automatic size, which is said where it is not the default, symbols included."""
    size = symbols + fitting_size(_texts(groups, plain, {}), DEFAULT_SIZE - symbols)
    if size < DEFAULT_SIZE:
        say_once(
            f"vocabulary: size auto is {size:,} instead of {DEFAULT_SIZE:,}, because the training "
            "text has few words that are repeated; set vocabulary.size for another size"
        )
    return size


def _tokenised(texts: Texts, view: str, moses: Moses) -> Texts:
    return lambda: chain.from_iterable(
        moses.encode(batch, view) for batch in batches(texts(), 1_000)
    )


def _letters(groups: Mapping[str, Texts], view: str, counts: dict[str, int]) -> dict[str, str]:
    """Return what each character of the plain source becomes in a view; UserError if it is not
    the same everywhere."""
    letters: dict[str, str] = {}
    is_mirrored = True
    for plain, rendered in zip(groups["source"](), _texts(groups, (view,), counts), strict=True):
        is_mirrored &= len(plain) == len(rendered)
        for letter, other in zip(plain, rendered, strict=False):
            is_mirrored &= letters.setdefault(letter, other) == other
    if not is_mirrored or len(set(letters.values())) < len(letters):
        raise UserError(
            f"vocabulary.mode mirrored: view '{view}' does not replace every character of the "
            "source by one other, so that it cannot be segmented as the source: set "
            "vocabulary.mode=joint, or leave out vocabulary.tokenise"
        )
    return letters


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


def _size_per_key(
    groups: Mapping[str, Texts], plain: Sequence[str], others: Sequence[str], size: int
) -> int:
    """Return the automatic number of entries per further view, in proportion to what is new there.

    A view gets entries as plain text has, by the number of its characters and repeated words that
    plain text lacks, but no more than the source. The smallest number with which plain text keeps
    its pieces differs by 5 to 13 % (ROT-1, 5,000 pairs of Multi30k: 1,050 at 2,000 entries, where
    this gives 994 and 0.3 % more pieces; 2,240 at 4,000, where it gives 1,949 and 0.9 % more), on
    the toy text by 16 % (470 at 1,000, where it gives 543 and 1.8 % fewer pieces).
    """
    known, source = _worth(_sampled(groups, plain)), _worth(_sampled(groups, ["source"]))
    new = _worth(_sampled(groups, others)) - known
    letters = sum(len(piece) == 1 for piece in new)
    share = min(len(new) / len(others), len(source)) / len(known)
    per_key = max(1, letters, round(size * share))
    say_once(f"vocabulary: size_per_key auto is {per_key:,}")
    return per_key


def _sampled(groups: Mapping[str, Texts], views: Sequence[str]) -> Iterator[str]:
    return chain.from_iterable(islice(groups[view](), SAMPLE) for view in views)


def _worth(texts: Iterable[str], most: int | None = None) -> set[str]:
    """Return the distinct characters of a text and its words that occur at least twice, at most
    about `most`; pieces for words that occur once would hardly be trained."""
    characters, once, repeated = {" "}, set[str](), set[str]()
    for text in texts:
        characters.update(text)
        for word in _words(text):
            (repeated if word in once else once).add(word)
        if most is not None and len(repeated) >= most:
            break
    return characters | repeated


def fitting_size(texts: Iterable[str], largest: int) -> int:
    """Return the number of distinct characters and of words that occur at least twice, at most
    `largest`; the text always allows a model of this size."""
    return min(largest, len(_worth(texts, largest)))


def has_words(texts: Iterable[str], count: int) -> bool:
    """Return whether texts have at least `count` distinct words.

    Stops reading as soon as they do.
    """
    words: set[str] = set()
    for text in texts:
        words.update(_words(text))
        if len(words) >= count:
            return True
    return False


def _words(text: str) -> list[str]:
    """Return the words of a text, and of scripts that do not separate them pairs of characters;
    single ones are covered by characters."""
    words = [word for word in spelt_words(text) if len(word) > 1]
    if not is_unspaced([text]):
        return words
    return [first + second for word in words for first, second in pairwise(word)]
