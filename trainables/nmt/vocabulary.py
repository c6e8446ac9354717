"""The vocabulary of a translation model: learned from its text, or that of a pretrained model, with
further pieces for views.

A pretrained tokenizer's pieces cover enciphered text, if at all, by single letters. So such a view
has a BPE model of its own; of its pieces, those that the tokenizer has keep their ids, and the
others are numbered behind the embeddings of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from augury.core.errors import UserError, unknown
from augury.core.progress import say_once
from augury.core.store import Folder
from augury.text.pieces import sentencepieces, subwords
from augury.text.pieces.settings import SPACE
from augury.text.pieces.subwords import code_of, language_codes
from augury.text.tokens import Encoded

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedConfig, PreTrainedTokenizerBase


from augury.core.config import address
from augury.core.store import Store
from augury.decoding import search
from augury.models import pretrained
from augury.regimes.regime import SOURCE, TARGET
from augury.text.pieces.vocabulary import Vocabulary, VocabularyTokenizer
from augury.text.tokens import Text
from trainables.nmt.config import Config, PretrainedTranslator

VERSION = 1
"""Raised when the same model, texts and settings give other pieces; part of addresses."""
SAMPLE = 2_000
"""Texts of a view and of the source whose pieces are counted."""
FOREIGN = 1.5
"""How many times the pieces of the source a view must have to get pieces of its own."""
VIEWS = "views-{}.model"

Texts = Callable[[], Iterable[str]]


class Direction(NamedTuple):
    """What a translation model is told about a text."""

    read: str | None
    """The tokenizer's code of the source language; None for a model that has none."""
    written: str | None
    """That of the target language."""
    prompt: str = ""
    """Text before every source."""


def direction_of(
    tokenizer: PreTrainedTokenizerBase,
    corpus_languages: tuple[str, str],
    codes: tuple[str | None, str | None] = (None, None),
    prompt: str = "",
) -> Direction:
    """Return the direction of a model for languages of a corpus, source and target.

    `codes` are those of the tokenizer, where they are set. UserError for languages that the model
    does not have.
    """
    known = language_codes(tokenizer)
    if not known:
        if any(codes):
            raise UserError(
                "the model's tokenizer has no languages: leave out model.source_language and "
                "model.target_language; what a text must begin with goes into model.prompt"
            )
        return Direction(None, None, prompt)
    chosen = []
    for side, code, language in zip((SOURCE, TARGET), codes, corpus_languages, strict=True):
        if code is not None and code not in known:
            raise unknown(f"model.{side}_language", code, known)
        chosen.append(code or code_of(language, known, f"model.{side}_language"))
    read, written = chosen
    return Direction(read, written, prompt)


def finish(
    folder: Folder, direction: Direction, views: Mapping[str, Texts], plain: Texts, size: int
) -> None:
    """Finish a folder that holds the tokenizer: learn the pieces of views that need some.

    `size` is the number of pieces that are learned for a view; 0: none.
    """
    vocabulary = PretrainedVocabulary(subwords.directory_of(folder), direction)
    models: dict[str, str] = {}
    for index, (view, texts) in enumerate(views.items()):
        times = vocabulary.pieces_per_text(texts) / vocabulary.pieces_per_text(plain)
        if size and times > FOREIGN:
            models[view] = VIEWS.format(index)
            folder.write(models[view], sentencepieces.learn_at_most(texts(), size))
    extended = PretrainedVocabulary(
        subwords.directory_of(folder),
        direction,
        {view: folder.read(file) for view, file in models.items()},
    )
    if models:
        say_once(
            f"vocabulary: {len(extended.added):,} new pieces for {', '.join(models)}, beside the "
            f"{len(extended) - len(extended.added):,} of the pretrained model"
        )
    folder.finish(
        {
            "direction": direction._asdict(),
            "models": models,
            "views": list(views),
            "size": len(extended),
            "added": len(extended.added),
            "version": VERSION,
        }
    )


class PretrainedVocabulary:
    """The pieces of a pretrained model, and the symbols that it expects around them.

    A source is read as `before`, its pieces and `eos`; a target is written as `first`, its pieces
    and `eos`. It has no tags.
    """

    tags: Mapping[str, int] = {}
    resegmenter = None

    def __init__(
        self, directory: str, direction: Direction, models: Mapping[str, bytes] | None = None
    ):
        """`directory` holds tokenizer and configuration, `models` the sentencepiece models of
        views that have their own."""
        self.directory, self.direction = directory, direction
        self.tokenizer = _load(directory, direction)
        self.config = _config(directory)
        self.generation = _generation(directory)
        self.pad = _required(self.tokenizer, "<pad>", self.tokenizer.pad_token_id)
        self.eos = _required(self.tokenizer, "</s>", self.tokenizer.eos_token_id)
        self.unk = _required(self.tokenizer, "<unk>", self.tokenizer.unk_token_id)
        self.embedded = int(self.config.vocab_size)
        """The number of embeddings of the pretrained model."""
        self._models = {view: sentencepieces.load(model) for view, model in (models or {}).items()}
        special = set(self.tokenizer.all_special_ids)
        known = {
            piece: index
            for piece, index in self.tokenizer.get_vocab().items()
            if index not in special
        }
        tables = {view: sentencepieces.pieces(model) for view, model in self._models.items()}
        pieces = dict.fromkeys(piece for table in tables.values() for piece in table)
        self.added = tuple(piece for piece in pieces if piece not in known)
        """The pieces that the pretrained model does not have, in the order of their ids."""
        ids = known | {piece: self.embedded + row for row, piece in enumerate(self.added)}
        self._ids = {
            view: np.array([self.unk, *map(ids.__getitem__, table)], np.int32)
            for view, table in tables.items()
        }

    @classmethod
    def load(cls, folder: Folder) -> PretrainedVocabulary:
        """Load a finished vocabulary; UserError if it is incomplete."""
        manifest = folder.manifest()
        models = {view: folder.read(file) for view, file in manifest["models"].items()}
        return cls(subwords.directory_of(folder), Direction(**manifest["direction"]), models)

    def __len__(self) -> int:
        return self.embedded + len(self.added)

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The piece of every id."""
        own: list[str | None] = [None] * self.embedded
        for piece, index in self.tokenizer.get_vocab().items():
            if index < self.embedded:
                own[index] = piece
        named = (piece or f"<{index}>" for index, piece in enumerate(own))
        return (*named, *self.added)

    @cached_property
    def before(self) -> tuple[int, ...]:
        """The ids before every source: the model's own symbols, and the prompt."""
        around = self.tokenizer("a").input_ids
        bare = self.tokenizer("a", add_special_tokens=False).input_ids
        start = next(row for row in range(len(around)) if around[row : row + len(bare)] == bare)
        if around[start + len(bare) :] != [self.eos]:
            after = self.tokenizer.convert_ids_to_tokens(around[start + len(bare) :])
            raise UserError(
                f"its tokenizer ends a source by {' '.join(after)}, and sources are read here that "
                "end by the end of sentence: take a model with the language before the text, such "
                "as mBART-50 in place of mBART-25"
            )
        prompt = self.direction.prompt
        return (
            *around[:start],
            *(self.tokenizer(prompt, add_special_tokens=False).input_ids if prompt else ()),
        )

    @cached_property
    def first(self) -> tuple[int, ...]:
        """The ids that every target begins with: the target language, or what the model forces."""
        if self.direction.written is not None:
            return (language_codes(self.tokenizer)[self.direction.written],)
        forced = self.generation.forced_bos_token_id
        return () if forced is None else (int(forced),)

    @cached_property
    def never(self) -> tuple[int, ...]:
        """The ids that no output has: those that the model suppresses or that stand for no piece,
        and new pieces, of which targets have none."""
        suppressed = {*(self.generation.suppress_tokens or ())}
        suppressed |= {ids[0] for ids in self.generation.bad_words_ids or () if len(ids) == 1}
        pieces = {*self.tokenizer.get_vocab().values(), *self.first}
        without_piece = set(range(self.embedded)) - pieces
        return (*sorted(suppressed | without_piece | {self.pad}), *range(self.embedded, len(self)))

    @property
    def ordinary(self) -> npt.NDArray[np.integer]:
        """The ids of pieces that are no symbols, in order."""
        symbols = {
            self.unk,
            *self.tokenizer.all_special_ids,
            *language_codes(self.tokenizer).values(),
        }
        return np.setdiff1d(np.arange(len(self)), sorted(symbols))

    def encode(
        self, texts: Sequence[str] | pa.Array | pa.ChunkedArray, view: str = SOURCE
    ) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]:
        """Return the concatenated ids of all texts, without symbols around them, and their n + 1
        offsets."""
        lines = list(texts) if isinstance(texts, Sequence) else texts.to_pylist()
        if view in self._models:
            ids, offsets = sentencepieces.encode(self._models[view], lines, 1)
            return self._ids[view][ids], offsets
        encoded = Encoded.of(self._rows(lines, view), {})
        return encoded.ids, encoded.offsets

    def decode(self, ids: Iterable[Sequence[int] | npt.NDArray[np.integer]]) -> list[str]:
        """Return rows of ids of targets as texts, without symbols."""
        left_out = {*self.first, *range(self.embedded, len(self))}
        texts = []
        for row in ids:
            kept = [int(index) for index in row if int(index) not in left_out]
            texts.append(self.tokenizer.decode(kept, skip_special_tokens=True))
        return texts

    def constituents(self) -> list[list[int]]:
        """Return the pieces of the pretrained model that spell each new piece; none for one with
        characters that it lacks."""
        spelled = self._rows([piece.replace(SPACE, " ") for piece in self.added], SOURCE)
        return [[index for index in row if index != self.unk] for row in spelled]

    def pieces_per_text(self, texts: Texts) -> float:
        """Return the mean number of the pretrained model's pieces of the first texts."""
        rows = self._rows(list(islice(texts(), SAMPLE)), SOURCE)
        return sum(map(len, rows)) / max(1, len(rows))

    def _rows(self, lines: list[str], view: str) -> list[list[int]]:
        if not lines:
            return []
        name = "text_target" if view == TARGET else "text"
        encoded = self.tokenizer(**{name: lines}, add_special_tokens=False, verbose=False)
        rows: list[list[int]] = encoded.input_ids
        return rows


def _load(directory: str, direction: Direction) -> PreTrainedTokenizerBase:
    tokenizer = subwords.load(directory)
    if direction.read is not None:
        tokenizer.src_lang, tokenizer.tgt_lang = direction.read, direction.written
    return tokenizer


def _config(directory: str) -> PreTrainedConfig:
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(directory)


def _generation(directory: str) -> GenerationConfig:
    from transformers import GenerationConfig

    return GenerationConfig.from_pretrained(directory)


def _required(tokenizer: PreTrainedTokenizerBase, usual: str, index: int | None) -> int:
    """Return the id of a symbol, or of its usual name where a tokenizer does not declare it."""
    if index is None:  # exports of Augury declare no unknown symbol, which they decode to text
        index = tokenizer.get_vocab().get(usual)
    if index is None:
        raise UserError(f"the model's tokenizer has no symbol such as {usual}, which is needed")
    return index


AnyVocabulary = Vocabulary | PretrainedVocabulary
"""How texts become what a model reads, and its outputs texts."""


def load(experiment: Config, folder: Folder) -> AnyVocabulary:
    """Load the vocabulary of an experiment's runs; UserError where it is incomplete."""
    if isinstance(experiment.model, PretrainedTranslator):
        return PretrainedVocabulary.load(folder)
    return Vocabulary.load(folder)


def positions(experiment: Config, vocabulary: AnyVocabulary) -> int:
    """Return the number of subwords that the model reads or writes, the end included; a large one
    where its positions are relative."""
    if not isinstance(vocabulary, PretrainedVocabulary):
        return experiment.transformer.max_positions
    return search.positions(vocabulary.config)


def convertible(vocabulary: AnyVocabulary) -> bool:
    """Return whether CTranslate2 reads the models of a vocabulary."""
    if not isinstance(vocabulary, PretrainedVocabulary):
        return True
    from augury.decoding.conversion import reads  # loads torch

    return reads(vocabulary.config)


class PretrainedTokenizer(VocabularyTokenizer):
    """Encodes one column by a pretrained model's vocabulary, without symbols around it."""

    def _vocabulary(self) -> PretrainedVocabulary:
        return PretrainedVocabulary.load(self.folder)


def tokenizer(
    experiment: Config, model: PretrainedTranslator, texts: Mapping[str, Text], store: Store
) -> PretrainedTokenizer:
    """Return the tokenizer of a pretrained model, made or not; `texts` are those of training."""
    determined = {
        "version": VERSION,
        "pretrained": pretrained.identity(model.name, model.revision),
        "languages": experiment.corpus.languages_of("train"),
        "direction": [model.source_language, model.target_language, model.prompt],
    }
    if model.new_pieces and (views := _views(texts)):
        determined["new_pieces"] = model.new_pieces
        determined["texts"] = [
            [name, text.folder.name] for name, text in {SOURCE: texts[SOURCE], **views}.items()
        ]
    return PretrainedTokenizer(store.folder("vocabularies", address(determined)))


def make_tokenizer(
    experiment: Config, model: PretrainedTranslator, texts: Mapping[str, Text], folder: Folder
) -> None:
    """Write the tokenizer of a pretrained model, with new pieces for views that need some."""
    loaded = pretrained.put_files(model.name, model.revision, folder, generation=True)
    corpus = experiment.corpus
    direction = direction_of(
        loaded,
        (corpus.source_language, corpus.target_language),
        (model.source_language, model.target_language),
        model.prompt,
    )
    views = {view: text.lines for view, text in _views(texts).items()}
    plain = texts[SOURCE].lines if views else list[str]
    finish(folder, direction, views, plain, model.new_pieces)


def _views(texts: Mapping[str, Text]) -> dict[str, Text]:
    return {name: text for name, text in texts.items() if name not in (SOURCE, TARGET)}


def check_pretrained(experiment: Config, config: PretrainedTranslator, folder: Folder) -> None:
    """Raise UserError for a model that cannot translate, by its configuration and tokenizer.

    Its vocabulary is in `folder`.
    """
    vocabulary = PretrainedVocabulary.load(folder)
    if not vocabulary.config.is_encoder_decoder:
        raise UserError(
            f"'{config.name}' ({vocabulary.config.model_type}) is no encoder-decoder: take a model "
            "of the families of Marian, M2M-100, mBART-50 or T5"
        )
    around = max(len(vocabulary.before), len(vocabulary.first)) + 1
    most = positions(experiment, vocabulary) - around
    if experiment.max_pieces > most:
        raise UserError(
            f"max_pieces={experiment.max_pieces} and the symbols around a text exceed the "
            f"positions of '{config.name}': set max_pieces to {most:,} at most"
        )
