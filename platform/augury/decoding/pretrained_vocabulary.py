"""The vocabulary of a pretrained encoder-decoder: its own tokenizer, and what it is told about a
text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from augury.core.errors import UserError, unknown
from augury.decoding import search
from augury.decoding.settings import FAMILIES
from augury.text.pieces.settings import TARGET
from augury.text.pieces.subwords import code_of, language_codes
from augury.text.tokens import Encoded

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedConfig, PreTrainedTokenizerBase

SIDES = ("source_language", "target_language")


class PretrainedVocabulary:
    """The pieces of an encoder-decoder of `transformers`, and the symbols that it expects around
    them.

    A source is read as `before`, its pieces and `eos`; a target is written as `first`, its pieces
    and `eos`. It has no tags, and views have no pieces of their own.
    """

    tags: Mapping[str, int] = {}
    resegmenter = None

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        config: PreTrainedConfig,
        generation: GenerationConfig,
        name: str,
        *,
        codes: Sequence[str | None] = (None, None),
        languages: Sequence[str | None] = (None, None),
        prompt: str = "",
    ):
        """`config` and `generation` are those of the model, `name` that of messages.

        Of a model that knows several languages, `codes` are those of source and target, as its
        tokenizer calls them, found by `languages` where they are None. `prompt` is the text before
        every source. UserError for a model that cannot be searched or trained here, and for
        languages that it does not have.
        """
        self.tokenizer, self.prompt = tokenizer, prompt
        self.config, self.generation = config, generation
        tokenizer.split_special_tokens = True  # `<s>` in a text is text
        self.languages = _codes(tokenizer, codes, languages)
        """The codes of source and target language; none for a model without them."""
        if self.languages:
            tokenizer.src_lang, tokenizer.tgt_lang = self.languages
        self.pad = _required(tokenizer, "<pad>", tokenizer.pad_token_id)
        self.eos = _required(tokenizer, "</s>", tokenizer.eos_token_id)
        self.unk = _required(tokenizer, "<unk>", tokenizer.unk_token_id)
        _check_family(config, tokenizer, name)
        self.positions = min(int(tokenizer.model_max_length), search.positions(config))

    def __len__(self) -> int:
        return int(self.config.vocab_size)

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The piece of every id."""
        own = {index: piece for piece, index in self.tokenizer.get_vocab().items()}
        return tuple(own.get(index) or f"<{index}>" for index in range(len(self)))

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
        return (*around[:start], *(self._bare(self.prompt) if self.prompt else ()))

    @cached_property
    def first(self) -> tuple[int, ...]:
        """The ids that every target begins with: the target language, or what the model forces."""
        if self.languages:
            return (language_codes(self.tokenizer)[self.languages[1]],)
        forced = self.generation.forced_bos_token_id
        return () if forced is None else (int(forced),)

    @cached_property
    def never(self) -> tuple[int, ...]:
        """The ids that no output has: those that the model suppresses or that stand for no
        piece."""
        suppressed = {*(self.generation.suppress_tokens or ())}
        suppressed |= {ids[0] for ids in self.generation.bad_words_ids or () if len(ids) == 1}
        pieces = {*self.tokenizer.get_vocab().values(), *self.first}
        without_piece = set(range(len(self))) - pieces
        return tuple(sorted(suppressed | without_piece | {self.pad}))

    @property
    def ordinary(self) -> npt.NDArray[np.integer]:
        """The ids of pieces that are no symbols, in order."""
        languages = language_codes(self.tokenizer).values()
        symbols = {self.unk, *self.tokenizer.all_special_ids, *languages}
        return np.setdiff1d(np.arange(len(self)), sorted(symbols))

    def encode(
        self, texts: Sequence[str] | pa.Array | pa.ChunkedArray, view: str = "source"
    ) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]:
        """Return the concatenated ids of all texts, without symbols around them, and their n + 1
        offsets."""
        lines = list(texts) if isinstance(texts, Sequence) else texts.to_pylist()
        encoded = Encoded.of(self._bare(lines, view) if lines else [], {})
        return encoded.ids, encoded.offsets

    def decode(self, ids: Iterable[Sequence[int] | npt.NDArray[np.integer]]) -> list[str]:
        """Return rows of ids of targets as texts, without symbols."""
        texts = []
        for row in ids:
            kept = [int(index) for index in row if int(index) not in self.first]
            texts.append(self.tokenizer.decode(kept, skip_special_tokens=True))
        return texts

    def _bare(self, text: str | list[str], view: str = "source") -> Any:
        """Return the ids of a text, or of each of several, without symbols around them."""
        name = "text_target" if view == TARGET else "text"
        return self.tokenizer(**{name: text}, add_special_tokens=False, verbose=False).input_ids


def _codes(
    tokenizer: PreTrainedTokenizerBase, codes: Sequence[str | None], languages: Sequence[str | None]
) -> list[str]:
    """Return the codes of source and target language; UserError for those that the tokenizer does
    not have, or that nothing says."""
    known = language_codes(tokenizer)
    if not known:
        if any(codes):
            raise UserError(
                "the model's tokenizer has no languages: leave out source_language and "
                "target_language; what a text must begin with is a prompt"
            )
        return []
    chosen = []
    for side, code, language in zip(SIDES, codes, languages, strict=True):
        if code is None and language is None:
            raise UserError(
                "the model knows several languages: give source_language and target_language, as "
                "its tokenizer calls them, such as fra_Latn and eng_Latn"
            )
        if code is not None and code not in known:
            raise unknown(side, code, known)
        chosen.append(code or code_of(str(language), known, side))
    return chosen


def _check_family(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase, name: str) -> None:
    """Raise UserError for a model of another family, or one to which the tokenizer does not
    belong."""
    size = config.vocab_size
    one_vocabulary = getattr(config, "decoder_vocab_size", None) in (None, size)
    if config.model_type not in FAMILIES or not one_vocabulary:
        raise UserError(
            f"'{name}' ({config.model_type}) is no encoder-decoder that is known here: take a "
            "model with one vocabulary of the families of T5, BART, mBART-50, Marian, Pegasus or "
            "M2M-100 (NLLB)"
        )
    if tokenizer.pad_token_id not in (None, config.pad_token_id) or len(tokenizer) > size:
        raise UserError(
            f"the tokenizer of '{name}' has {len(tokenizer)} pieces and pad "
            f"{tokenizer.pad_token_id}, its model {size} embeddings and pad "
            f"{config.pad_token_id}: they do not belong together"
        )


def _required(tokenizer: PreTrainedTokenizerBase, usual: str, index: int | None) -> int:
    """Return the id of a symbol, or of its usual name where a tokenizer does not declare it."""
    if index is None:  # exports of Augury declare no unknown symbol, which they decode to text
        index = tokenizer.get_vocab().get(usual)
    if index is None:
        raise UserError(f"the model's tokenizer has no symbol such as {usual}, which is needed")
    return index
