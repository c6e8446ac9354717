"""Vocabularies: subword pieces, special symbols and tags in one table of ids for every view of a corpus.

Joint: one BPE model is learned from the plain bitext and all enciphered views, each text once. Separate: the
plain bitext and every enciphered view have a model each, and their pieces are merged by identity (CipherDAug,
table 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sentencepiece import SentencePieceProcessor

from augury.core.errors import UserError, unknown
from augury.core.progress import say_once
from augury.core.store import Folder
from augury.text import sentencepieces
from augury.text.resegmentation import Resegmenter
from augury.text.vocabulary_settings import SPECIALS, USUAL_SIZE, VocabularyConfig
from augury.text.vocabulary_size import fitting_size, matching_size

VERSION = 3
"""Incremented when equal texts and settings come to give other pieces."""
PLAIN_VIEWS = ("source", "target")
PAD, UNK, EOS = range(3)
UNKNOWN_TEXT = " ⁇ "
"""The text of the unknown piece, as in sentencepiece."""

Texts = Callable[[], Iterable[str]]


class Vocabulary:
    """The table of ids: `<pad>` 0, `<unk>` 1, `</s>` 2, then the tags, then the pieces as they were learned.

    Tags are never read from a text: `__en__` written out in one is encoded like any other characters. No
    symbol begins a sentence, since decoders start from `</s>`.
    """

    pad, unk, eos = PAD, UNK, EOS

    def __init__(self, models: Sequence[bytes], views: Mapping[str, int], tags: Sequence[str]):
        """Take serialised sentencepiece models and, for each view, the index of the one that encodes it."""
        self._models = [SentencePieceProcessor(model_proto=model) for model in models]
        self._views = dict(views)
        learned = [sentencepieces.pieces(model) for model in self._models]
        taken = set(tags).intersection(chain.from_iterable(learned))
        if taken:
            raise UserError(f"symbols {sorted(taken)} are also pieces of the text: choose others, as '<tag>'")
        symbols = (*SPECIALS, *tags)
        self.pieces: tuple[str, ...] = merge([symbols, *learned])
        ids = {piece: index for index, piece in enumerate(self.pieces)}
        self.tags: Mapping[str, int] = {tag: ids[tag] for tag in tags}
        self._ids = [np.array([UNK, *(ids[piece] for piece in table)], np.int32) for table in learned]
        self._resegmenters: dict[int, Resegmenter] = {}
        self._surfaces = dict.fromkeys(symbols, "") | {SPECIALS[UNK]: UNKNOWN_TEXT}

    @classmethod
    def load(cls, folder: Folder) -> Vocabulary:
        """Return the vocabulary that `train` saved in `folder`; raise UserError where it was not finished."""
        manifest = folder.manifest()
        return cls([folder.read(name) for name in manifest["models"]], manifest["views"], manifest["tags"])

    def __len__(self) -> int:
        return len(self.pieces)

    def model(self, view: str = "source") -> bytes:
        """Return the sentencepiece model of a view, for use outside; ids are the indices in `pieces`."""
        return bytes(self._models[self._views[view]].serialized_model_proto())

    def resegmenter(self, view: str = "source") -> Resegmenter:
        """Return what segments ids of a view anew, by the view's own model."""
        index = self._views[view]
        if index not in self._resegmenters:
            self._resegmenters[index] = Resegmenter(self._models[index], self.pieces, self._ids[index])
        return self._resegmenters[index]

    def encode(
        self, texts: Sequence[str] | pa.Array | pa.ChunkedArray, view: str = "source", num_threads: int = 1
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return the ids of all texts end to end, without tags and `</s>`, and the n + 1 offsets between them.

        Texts decode to themselves, spaces included, but for characters not seen in training, U+2585 and NUL,
        which become `<unk>`, and U+2581, which sentencepiece takes for a space.
        """
        assert not isinstance(texts, str)
        if view not in self._views:
            raise unknown("view", view, self._views)
        index = self._views[view]
        lines = texts.to_pylist() if isinstance(texts, pa.Array | pa.ChunkedArray) else texts
        ids, offsets = sentencepieces.encode(self._models[index], lines, num_threads)
        return self._ids[index][ids], offsets

    def decode(self, ids: Iterable[Sequence[int] | npt.NDArray[np.integer]]) -> list[str]:
        """Return the texts of rows of ids of any view, without special symbols and tags; `<unk>` reads ` ⁇ `."""
        rows = [np.asarray(row, np.int64).tolist() for row in ids]
        assert all(index >= 0 for row in rows for index in row)
        return self.decode_pieces([self.pieces[index] for index in row] for row in rows)

    def decode_pieces(self, rows: Iterable[Sequence[str]]) -> list[str]:
        """Return the texts of rows of pieces, as `decode` does."""
        return [sentencepieces.join(self._surfaces.get(piece, piece) for piece in row) for row in rows]


def merge(tables: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return the union of tables of pieces by identity of their strings, in order of first appearance."""
    return tuple(dict.fromkeys(chain.from_iterable(tables)))


def train(
    groups: Mapping[str, Texts], config: VocabularyConfig, *, languages: Sequence[str], folder: Folder
) -> Vocabulary:
    """Learn a vocabulary from the training split, save it in `folder` and return it.

    `groups` gives the texts of every view, read once: `source` and `target` are the plain bitext, all others
    are enciphered. Every language has a tag, `__en__`. Equal texts give equal bytes. Raises UserError for a
    view without text, a size that the text does not allow and a reserved symbol that is a tag or a piece.
    """
    tags = _tags(languages, config.reserved)
    counts: dict[str, int] = {}
    symbols = len(SPECIALS) + len(tags)
    config = _with_fitting_size(config, groups, symbols)
    if config.mode == "joint" and config.size_per_key == "auto":
        config = _with_matching_size(config, groups, symbols)
    parts = _parts(config, list(groups), symbols)
    models = [_learn(part, _texts(groups, part.views, counts), config.character_coverage) for part in parts]
    views = {view: index for index, part in enumerate(parts) for view in part.views}
    vocabulary = Vocabulary(models, views, tags)
    names = [f"sentencepiece-{index}.model" for index in range(len(models))]
    for name, model in zip(names, models, strict=True):
        folder.write(name, model)
    folder.finish({"size": len(vocabulary), "models": names, "views": views, "tags": tags, "texts": counts})
    return vocabulary


def _with_fitting_size(config: VocabularyConfig, groups: Mapping[str, Texts], symbols: int) -> VocabularyConfig:
    """Return the settings with a size that fits the plain bitext, where none was given."""
    if config.size != "auto":
        return config
    plain = [view for view in PLAIN_VIEWS if view in groups]
    size = symbols + fitting_size(_texts(groups, plain, {}), USUAL_SIZE - symbols)
    if size < USUAL_SIZE:
        say_once(
            f"vocabulary: size auto is {size:,}, not {USUAL_SIZE:,}: the training text has no more words that come "
            "twice; vocabulary.size gives another"
        )
    return config.model_copy(update={"size": size})


def _with_matching_size(config: VocabularyConfig, groups: Mapping[str, Texts], symbols: int) -> VocabularyConfig:
    """Return the settings with the size per key that keeps the segmentation of plain text."""
    ciphers = [view for view in groups if view not in PLAIN_VIEWS]
    if not ciphers:
        return config
    assert config.size != "auto"
    plain = [text for view in PLAIN_VIEWS if view in groups for text in groups[view]()]
    views = chain.from_iterable(groups[view]() for view in ciphers)
    baseline, most = config.size - symbols, config.size * (1 + len(ciphers)) - symbols
    try:
        matched = matching_size(plain, views, baseline, most, config.character_coverage)
    except sentencepieces.SizeError as error:
        raise _impossible(("vocabulary.size",), config.size, PLAIN_VIEWS, error, symbols) from error
    per_key = -(-(matched.size - baseline) // len(ciphers))
    change = 100 * (matched.pieces / matched.baseline - 1)
    say_once(
        f"vocabulary: size_per_key auto is {per_key:,}: {matched.pieces:.1f} pieces in a plain text, {change:+.1f} % "
        "against the vocabulary without enciphered text"
    )
    return config.model_copy(update={"size_per_key": max(1, per_key)})


class _Part(NamedTuple):
    """The views that one model is learned from, its number of entries and the settings that decide it."""

    views: tuple[str, ...]
    size: int
    symbols: int  # entries among `size` that are not learned
    settings: tuple[str, ...]


def _parts(config: VocabularyConfig, views: Sequence[str], symbols: int) -> list[_Part]:
    plain = tuple(view for view in views if view in PLAIN_VIEWS)
    ciphers = tuple(view for view in views if view not in PLAIN_VIEWS)
    assert plain, "a vocabulary needs the plain bitext"
    assert config.size != "auto"
    if config.mode == "joint" and ciphers:
        assert config.size_per_key != "auto"
        size = config.size + len(ciphers) * config.size_per_key
        return [_Part(plain + ciphers, size, symbols, ("vocabulary.size", "vocabulary.size_per_key"))]
    own = ("vocabulary.separate_size_per_key",)
    return [
        _Part(plain, config.size, symbols, ("vocabulary.size",)),
        *(_Part((view,), config.separate_size_per_key, 0, own) for view in ciphers),
    ]


def _learn(part: _Part, texts: Iterable[str], character_coverage: float) -> bytes:
    try:
        return sentencepieces.learn(texts, max(part.size - part.symbols, 0), character_coverage)
    except sentencepieces.SizeError as error:
        raise _impossible(part.settings, part.size, part.views, error, part.symbols) from error


def _impossible(
    settings: Sequence[str], size: int, views: Sequence[str], error: sentencepieces.SizeError, symbols: int
) -> UserError:
    bound, change = ("at most", "lower") if error.too_large else ("no fewer than", "raise")
    return UserError(
        f"{' and '.join(settings)} ask for {size} entries, but the training text of {', '.join(views)} allows "
        f"{bound} {error.limit + symbols}: {change} {' or '.join(settings)}"
    )


def _texts(groups: Mapping[str, Texts], views: Iterable[str], counts: dict[str, int]) -> Iterator[str]:
    """Yield the texts of `views`; `counts` receives the number of those that are not blank."""
    for view in views:
        counts[view] = 0
        for text in groups[view]():
            counts[view] += bool(text.strip())
            yield text
        if not counts[view]:
            raise UserError(f"view '{view}' of the training split has no text: check its files, or drop it")


def _tags(languages: Iterable[str], reserved: Sequence[str]) -> list[str]:
    tags = [f"__{language}__" for language in dict.fromkeys(languages)]
    for symbol in reserved:
        if symbol in tags:
            raise UserError(f"vocabulary.reserved: '{symbol}' is the tag of a language already; take it out")
    return [*tags, *reserved]
