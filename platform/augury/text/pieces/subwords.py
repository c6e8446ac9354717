"""Tokenizers of `transformers`, learned here or of pretrained models, and their languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augury.core.directories import scratch
from augury.core.errors import UserError, unknown
from augury.core.store import Folder
from augury.corpora.languages import base_language, languages
from augury.text.pieces import sentencepieces
from augury.text.pieces.settings import TARGET
from augury.text.tokens import Encode, Encoded

if TYPE_CHECKING:
    import pyarrow as pa
    from transformers import PreTrainedTokenizerBase

LEARNED = 2
"""Version of learned tokenizers, raised when the same text gives other ones; part of addresses."""
VERSION = 2
"""Raised when the same text becomes other ids; part of the addresses of tokens."""
FILES = "tokenizer"
START, PAD, END, UNKNOWN = SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""Special tokens in the order of their ids, as in XLM-R."""
TRUNCATED = "truncated"
CODE = re.compile("[a-z]{2,3}([_-][A-Za-z]+)*")
"""Languages: `de` (M2M-100), `de_DE` (mBART), `deu_Latn` (NLLB)."""


def learn(texts: Iterable[str], size: int, folder: Folder) -> None:
    """Learn a tokenizer with at most `size` ids, save it in `folder`, as `from_pretrained` reads
    it, and mark that as complete.

    Pairs are encoded as `<s> a </s></s> b </s>`, single texts as `<s> a </s>`.
    """
    from tokenizers import Tokenizer, decoders, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    lines = list(texts)
    try:
        model = sentencepieces.learn(lines, max(size - len(SPECIAL), 0))
    except sentencepieces.SizeError as error:  # as near to it as the text allows
        model = sentencepieces.learn(lines, error.limit)
    learned = sentencepieces.pieces(sentencepieces.load(model))
    # No special token is a piece, since pieces are of one script.
    ids = {piece: index for index, piece in enumerate([*SPECIAL, *learned])}
    tokenizer = Tokenizer(sentencepieces.bpe(learned, ids, UNKNOWN))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{START} $A {END}",
        pair=f"{START} $A {END} {END} $B {END}",
        special_tokens=[(START, ids[START]), (END, ids[END])],
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=START,
        cls_token=START,
        eos_token=END,
        sep_token=END,
        pad_token=PAD,
        unk_token=UNKNOWN,
    )
    with scratch("tokenizer") as directory:
        wrapped.save_pretrained(directory)
        folder.put(directory, FILES)
    folder.finish({"size": len(wrapped), "version": LEARNED})


def directory_of(folder: Folder) -> str:
    """Return a local directory with the tokenizer in a folder, for `from_pretrained`."""
    return str(folder.local() / FILES)


def load(directory: str) -> PreTrainedTokenizerBase:
    """Load the tokenizer from a directory written by `save_pretrained`; `<s>` in a text is text
    to it."""
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(directory)
    loaded.split_special_tokens = True
    return loaded


@dataclass(frozen=True)
class Subwords:
    """The tokenizer in a folder, which adds the special tokens of its model.

    At most `max_length` ids per row.
    """

    folder: Folder
    max_length: int

    @property
    def name(self) -> str:
        return f"{self.folder.name} {self.max_length} {VERSION}"

    @property
    def size(self) -> int:
        return len(self.tokenizer())

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Load the `transformers` tokenizer."""
        return load(directory_of(self.folder))

    def load(self) -> Encode:
        tokenizer = self.tokenizer()

        def encode_block(block: pa.Table, view: str) -> Encoded:
            rows, truncated = encode(
                tokenizer, [column.to_pylist() for column in block.columns], self.max_length, view
            )
            return Encoded.of(rows, {TRUNCATED: truncated})

        return encode_block


def encode(
    tokenizer: PreTrainedTokenizerBase,
    columns: Sequence[Sequence[str]],
    max_length: int,
    view: str = "source",
) -> tuple[list[list[int]], int]:
    """Encode rows, which are texts or pairs of texts.

    Return their ids and the number of rows truncated to a length.

    The longer text of a pair is truncated first; special tokens are kept. The view `target` is
    encoded with the target vocabulary of tokenizers that have one.
    """
    if not columns or not columns[0]:
        return [], 0
    names = ("text_target", "text_pair_target") if view == TARGET else ("text", "text_pair")
    texts = dict(zip(names, map(list, columns), strict=False))
    rows: list[list[int]] = tokenizer(**texts, verbose=False).input_ids
    long = [row for row, ids in enumerate(rows) if len(ids) > max_length]
    for row in long:
        text = {name: column[row] for name, column in texts.items()}
        rows[row] = tokenizer(**text, truncation="longest_first", max_length=max_length).input_ids
    return rows, len(long)


def language_codes(tokenizer: PreTrainedTokenizerBase) -> Mapping[str, int]:
    """Return the ids of a tokenizer's languages by their codes; none for one without languages."""
    if not hasattr(tokenizer, "src_lang"):
        return {}
    if codes := getattr(tokenizer, "lang_code_to_id", None):  # M2M-100 writes `de` as `__de__`
        return dict(codes)
    symbols = [symbol for symbol in tokenizer.all_special_tokens if CODE.fullmatch(symbol)]
    return dict(zip(symbols, tokenizer.convert_tokens_to_ids(symbols), strict=True))


def code_of(language: str, codes: Mapping[str, int], setting: str) -> str:
    """Return the code of a language (`de`) among those of a tokenizer.

    UserError, which names the setting that says it, where there is none, or several.
    """
    if language in codes:
        return language

    def base(code: str) -> str:
        return languages().codes.get(base_language(code), base_language(code))

    matching = [code for code in codes if base(code) == base(language)]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise UserError(f"{unknown('language of the model', language, codes)}; {setting} says it")
    raise UserError(
        f"the model writes '{language}' in several ways, {', '.join(matching)}: set {setting} to "
        "one of them"
    )
