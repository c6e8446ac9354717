"""The vocabulary of a pretrained translation model, with further pieces for views.

A pretrained tokenizer's pieces cover enciphered text, if at all, by single letters. So such a view
has a BPE model of its own; of its pieces, those that the tokenizer has keep their ids, and the
others are numbered behind the embeddings of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from augury.core.errors import UserError, unknown
from augury.core.store import Folder
from augury.regimes.regime import SOURCE, TARGET
from augury.text.pieces import sentencepieces, subwords
from augury.text.pieces.settings import SPACE
from augury.text.pieces.subwords import code_of, language_codes
from augury.text.tokens import Encoded
from trainables.nmt.config import PretrainedTranslator, SequenceExperiment

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

SAMPLE = 2_000
"""Texts of a view and of the source whose pieces are counted."""


class Direction(NamedTuple):
    """What a translation model is told about a text."""

    read: str | None = None
    """The tokenizer's code of the source language; None for a model that has none."""
    written: str | None = None
    """That of the target language."""
    prompt: str = ""
    """Text before every source."""

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase, experiment: SequenceExperiment) -> Direction:
        """Return the direction of a model for the languages of a corpus; UserError for languages
        that it does not have."""
        model = experiment.model
        assert isinstance(model, PretrainedTranslator)
        known = language_codes(tokenizer)
        if not known:
            if model.source_language or model.target_language:
                raise UserError(
                    "the model's tokenizer has no languages: leave out model.source_language and "
                    "model.target_language; what a text must begin with goes into model.prompt"
                )
            return cls(prompt=model.prompt)
        chosen = []
        for side, language in zip((SOURCE, TARGET), experiment.languages, strict=True):
            setting = f"{side}_language"
            code = getattr(model, setting)
            if code is not None and code not in known:
                raise unknown(f"model.{setting}", code, known)
            chosen.append(code or code_of(language, known, f"model.{setting}"))
        read, written = chosen
        return cls(read, written, model.prompt)


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
        from transformers import AutoConfig, GenerationConfig
        from transformers.utils import CONFIG_NAME, GENERATION_CONFIG_NAME

        self.directory, self.direction = directory, direction
        self.tokenizer = subwords.load(directory)
        if direction.read is not None:
            self.tokenizer.src_lang = direction.read
            self.tokenizer.tgt_lang = direction.written
        files = {file.name for file in Path(directory).iterdir()}
        self.config = AutoConfig.from_pretrained(directory) if CONFIG_NAME in files else None
        """The configuration of the pretrained model, if it is one."""
        self.generation = GenerationConfig()
        if GENERATION_CONFIG_NAME in files:
            self.generation = GenerationConfig.from_pretrained(directory)
        self.pad = _required(self.tokenizer, "<pad>", self.tokenizer.pad_token_id)
        self.eos = _required(self.tokenizer, "</s>", self.tokenizer.eos_token_id)
        self.unk = _required(self.tokenizer, "<unk>", self.tokenizer.unk_token_id)
        self.embedded = int(self.config.vocab_size) if self.config else len(self.tokenizer)
        """The number of embeddings without those of new pieces."""
        self._models = {view: sentencepieces.load(model) for view, model in (models or {}).items()}
        special = set(self.tokenizer.all_special_ids)
        vocabulary = self.tokenizer.get_vocab().items()
        known = {piece: index for piece, index in vocabulary if index not in special}
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
        models = {view: folder.read(file) for view, file in manifest.get("models", {}).items()}
        direction = Direction(**manifest.get("direction", {}))
        return cls(subwords.directory_of(folder), direction, models)

    def __len__(self) -> int:
        return self.embedded + len(self.added)

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The piece of every id."""
        own = {index: piece for piece, index in self.tokenizer.get_vocab().items()}
        return (*(own.get(index) or f"<{index}>" for index in range(self.embedded)), *self.added)

    @cached_property
    def before(self) -> tuple[int, ...]:
        """The ids before every source: the model's own symbols, and the prompt."""
        around, bare = self.tokenizer("a").input_ids, self._bare("a")
        start = next(row for row in range(len(around)) if around[row : row + len(bare)] == bare)
        if around[start + len(bare) :] != [self.eos]:
            after = self.tokenizer.convert_ids_to_tokens(around[start + len(bare) :])
            raise UserError(
                f"its tokenizer ends a source by {' '.join(after)}, and sources are read here that "
                "end by the end of sentence: take a model with the language before the text, such "
                "as mBART-50 in place of mBART-25"
            )
        prompt = self.direction.prompt
        return (*around[:start], *(self._bare(prompt) if prompt else ()))

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
        languages = language_codes(self.tokenizer).values()
        symbols = {self.unk, *self.tokenizer.all_special_ids, *languages}
        return np.setdiff1d(np.arange(len(self)), sorted(symbols))

    def encode(
        self, texts: Sequence[str] | pa.Array | pa.ChunkedArray, view: str = SOURCE
    ) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]:
        """Return the concatenated ids of all texts, without symbols around them, and their n + 1
        offsets."""
        lines = list(texts) if isinstance(texts, Sequence) else texts.to_pylist()
        if view in self._models:
            ids, offsets = sentencepieces.encode(self._models[view], lines)
            return self._ids[view][ids], offsets
        encoded = Encoded.of(self._bare(lines, view) if lines else [], {})
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
        spelled = self._bare([piece.replace(SPACE, " ") for piece in self.added])
        return [[index for index in row if index != self.unk] for row in spelled]

    def pieces_per_text(self, texts: Iterable[str]) -> float:
        """Return the mean number of the pretrained model's pieces of the first texts."""
        lines = list(islice(texts, SAMPLE))
        return sum(map(len, self._bare(lines) if lines else [])) / max(1, len(lines))

    def _bare(self, text: str | list[str], view: str = SOURCE) -> Any:
        """Return the ids of a text, or of each of several, without symbols around them."""
        name = "text_target" if view == TARGET else "text"
        return self.tokenizer(**{name: text}, add_special_tokens=False, verbose=False).input_ids


def _required(tokenizer: PreTrainedTokenizerBase, usual: str, index: int | None) -> int:
    """Return the id of a symbol, or of its usual name where a tokenizer does not declare it."""
    if index is None:  # exports of Augury declare no unknown symbol, which they decode to text
        index = tokenizer.get_vocab().get(usual)
    if index is None:
        raise UserError(f"the model's tokenizer has no symbol such as {usual}, which is needed")
    return index
