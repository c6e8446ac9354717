"""A pretrained translation model: its vocabulary, with further pieces for views, and what the task
asks of it.

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

from augury.core.config import address
from augury.core.errors import UserError, unknown
from augury.core.locks import make_once
from augury.core.progress import say_once
from augury.core.store import Folder, Store
from augury.decoding import search
from augury.models import pretrained
from augury.models.lora import require_peft
from augury.models.settings import model_directory
from augury.regimes.regime import SOURCE, TARGET
from augury.text.pieces import sentencepieces, subwords
from augury.text.pieces.settings import SPACE
from augury.text.pieces.subwords import code_of, language_codes
from augury.text.pieces.vocabulary import VocabularyTokenizer
from augury.text.tokens import Encoded, Text
from trainables.nmt.config import Config, PretrainedTranslator
from trainables.nmt.translator import Translator

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

VERSION = 1
"""Raised when the same model, texts and settings give other pieces; part of addresses."""
SAMPLE = 2_000
"""Texts of a view and of the source whose pieces are counted."""
FOREIGN = 1.5
"""How many times the pieces of the source a view must have to get pieces of its own."""
VIEWS = "views-{}.model"


class Direction(NamedTuple):
    """What a translation model is told about a text."""

    read: str | None
    """The tokenizer's code of the source language; None for a model that has none."""
    written: str | None
    """That of the target language."""
    prompt: str = ""
    """Text before every source."""

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase, experiment: Config) -> Direction:
        """Return the direction of a model for the languages of a corpus; UserError for languages
        that it does not have."""
        model, corpus = experiment.model, experiment.corpus
        assert isinstance(model, PretrainedTranslator)
        known = language_codes(tokenizer)
        if not known:
            if model.source_language or model.target_language:
                raise UserError(
                    "the model's tokenizer has no languages: leave out model.source_language and "
                    "model.target_language; what a text must begin with goes into model.prompt"
                )
            return cls(None, None, model.prompt)
        chosen = []
        for side in (SOURCE, TARGET):
            setting = f"{side}_language"
            code = getattr(model, setting)
            if code is not None and code not in known:
                raise unknown(f"model.{setting}", code, known)
            chosen.append(code or code_of(getattr(corpus, setting), known, f"model.{setting}"))
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

        self.directory, self.direction = directory, direction
        self.tokenizer = subwords.load(directory)
        if direction.read is not None:
            self.tokenizer.src_lang = direction.read
            self.tokenizer.tgt_lang = direction.written
        self.config = AutoConfig.from_pretrained(directory)
        self.generation = GenerationConfig.from_pretrained(directory)
        self.pad = _required(self.tokenizer, "<pad>", self.tokenizer.pad_token_id)
        self.eos = _required(self.tokenizer, "</s>", self.tokenizer.eos_token_id)
        self.unk = _required(self.tokenizer, "<unk>", self.tokenizer.unk_token_id)
        self.embedded = int(self.config.vocab_size)
        """The number of embeddings of the pretrained model."""
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
        models = {view: folder.read(file) for view, file in manifest["models"].items()}
        return cls(subwords.directory_of(folder), Direction(**manifest["direction"]), models)

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
            ids, offsets = sentencepieces.encode(self._models[view], lines, 1)
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


class PretrainedTokenizer(VocabularyTokenizer):
    """Encodes one column by a pretrained model's vocabulary, without symbols around it."""

    def _vocabulary(self) -> PretrainedVocabulary:
        return PretrainedVocabulary.load(self.folder)


class Tuned(Translator):
    """A pretrained encoder-decoder with its own tokenizer, and new embeddings for new pieces."""

    @property
    def model(self) -> PretrainedTranslator:
        """Its settings."""
        assert isinstance(self.experiment.model, PretrainedTranslator)
        return self.experiment.model

    @cached_property
    def vocabulary(self) -> PretrainedVocabulary:
        assert self.folder is not None
        return PretrainedVocabulary.load(self.folder)

    @property
    def positions(self) -> int:
        return search.positions(self.vocabulary.config)

    @property
    def convertible(self) -> bool:
        from augury.decoding.conversion import reads  # loads torch

        return reads(self.vocabulary.config)

    def check(self, store: Store) -> None:
        if self.model.lora:
            require_peft()
        if model_directory(self.model.name):  # one of the hub is loaded when it is needed
            self.check_model(store)

    def check_model(self, store: Store) -> None:
        """Raise UserError for a model that cannot translate this text, as its configuration and
        tokenizer say without its weights."""
        folder, name = self.tokenizer({}, store).folder, self.model.name
        make_once(folder, lambda: self.make_tokenizer({}, folder))
        made = Tuned(self.experiment, folder)
        vocabulary = made.vocabulary
        if not vocabulary.config.is_encoder_decoder:
            raise UserError(
                f"'{name}' ({vocabulary.config.model_type}) is no encoder-decoder: take a model "
                "of the families of Marian, M2M-100, mBART-50 or T5"
            )
        most = made.positions - max(len(vocabulary.before), len(vocabulary.first)) - 1
        if self.experiment.max_pieces > most:
            raise UserError(
                f"max_pieces={self.experiment.max_pieces} and the symbols around a text exceed the "
                f"positions of '{name}': set max_pieces to {most:,} at most"
            )

    def tokenizer(self, texts: Mapping[str, Text], store: Store) -> PretrainedTokenizer:
        model = self.model
        determined = {
            "version": VERSION,
            "pretrained": pretrained.identity(model.name, model.revision),
            "languages": self.experiment.corpus.languages_of("train"),
            "direction": [model.source_language, model.target_language, model.prompt],
        }
        if model.new_pieces and (views := _views(texts)):
            determined["new_pieces"] = model.new_pieces
            determined["texts"] = [
                [name, text.folder.name] for name, text in {SOURCE: texts[SOURCE], **views}.items()
            ]
        return PretrainedTokenizer(store.folder("vocabularies", address(determined)))

    def make_tokenizer(self, texts: Mapping[str, Text], folder: Folder) -> None:
        """Write the tokenizer of the model, and the pieces of views that need some."""
        model, views, models = self.model, _views(texts), dict[str, str]()
        loaded = pretrained.put_files(model.name, model.revision, folder, generation=True)
        direction, directory = Direction.of(loaded, self.experiment), subwords.directory_of(folder)
        vocabulary = PretrainedVocabulary(directory, direction)
        for index, (view, text) in enumerate(views.items()):
            plain = vocabulary.pieces_per_text(texts[SOURCE].lines())
            if model.new_pieces and vocabulary.pieces_per_text(text.lines()) / plain > FOREIGN:
                models[view] = VIEWS.format(index)
                folder.write(
                    models[view], sentencepieces.learn_at_most(text.lines(), model.new_pieces)
                )
        read = {view: folder.read(file) for view, file in models.items()}
        vocabulary = PretrainedVocabulary(directory, direction, read)
        if models:
            say_once(
                f"vocabulary: {len(vocabulary.added):,} new pieces for {', '.join(models)}, beside "
                f"the {vocabulary.embedded:,} of the pretrained model"
            )
        folder.finish(
            {
                "direction": direction._asdict(),
                "models": models,
                "views": list(views),
                "size": len(vocabulary),
                "added": len(vocabulary.added),
                "version": VERSION,
            }
        )

    def untrained(self, seed: int) -> PreTrainedModel:
        """Return the model before training; UserError where `sequence.check` raises it, as for a
        model of another family. `seed` determines what is not pretrained."""
        from trainables import sequence
        from trainables.nmt.tuning import extended

        directory, tokenizer = self.vocabulary.directory, self.vocabulary.tokenizer
        perturbable = self.experiment.regime.needs_embeddings
        model = sequence.load(self.model, directory, tokenizer, perturbable=perturbable)
        return extended(model, self.model, self.vocabulary, seed).train()

    def empty(self) -> PreTrainedModel:
        from trainables import sequence
        from trainables.nmt.tuning import extended

        model = sequence.empty(self.vocabulary.config)
        return extended(model, self.model, self.vocabulary, seed=0)

    def convert(self, model: PreTrainedModel, directory: Path) -> None:
        from augury.decoding.conversion import to_ctranslate2
        from trainables.nmt.model import plain

        to_ctranslate2(plain(model), directory)


def _views(texts: Mapping[str, Text]) -> dict[str, Text]:
    return {name: text for name, text in texts.items() if name not in (SOURCE, TARGET)}
