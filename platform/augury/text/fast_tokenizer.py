"""A vocabulary as a tokenizer of Hugging Face's `tokenizers`, which needs neither sentencepiece nor this platform."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from sentencepiece import SentencePieceProcessor
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, processors
from transformers import PreTrainedTokenizerFast

from augury.text import sentencepieces
from augury.text.sentencepieces import SPACE
from augury.text.vocabulary import SPECIALS, UNKNOWN_TEXT, Vocabulary

PAD, UNK, EOS = SPECIALS
WHITE = r"[ \t\n\x0b\x0c\r]+"  # ASCII white space


def fast_tokenizer(
    vocabulary: Vocabulary, *, prefix: Sequence[str] = (), lowercase: bool = False, positions: int | None = None
) -> PreTrainedTokenizerFast:
    """Return a tokenizer with the ids of `vocabulary`: the tags of `prefix`, the pieces of a text, `</s>`.

    It cleans text as `corpora.filters.clean` does, entities apart: case where `lowercase` is set, NFC, white space.
    A tag or a special symbol that is written out in a text is text. `positions` is the most ids of the model.
    """
    ids = {piece: index for index, piece in enumerate(vocabulary.pieces)}
    pieces = sentencepieces.pieces(SentencePieceProcessor(model_proto=vocabulary.model()))
    tokenizer = Tokenizer(models.BPE(ids, list(_merges(pieces)), unk_token=UNK, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([*_cleaning(lowercase), *_spaces()])
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace(UNK, UNKNOWN_TEXT),
            decoders.Replace(SPACE, " "),
            decoders.Fuse(),
            decoders.Strip(" ", left=1, right=0),
        ]
    )
    before = " ".join(prefix)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{before} $A {EOS}".strip(),
        pair=f"{before} $A $B {EOS}".strip(),
        special_tokens=[(symbol, ids[symbol]) for symbol in (*prefix, EOS)],
    )
    tokenizer.add_special_tokens([PAD, EOS, *vocabulary.tags])  # not the unknown piece, which reads as text
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=EOS,
        split_special_tokens=True,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
        **({"model_max_length": positions} if positions else {}),
    )


def save(tokenizer: PreTrainedTokenizerFast, directory: Path) -> None:
    """Write a tokenizer so that `AutoTokenizer` of `transformers` 4 and 5 reads it."""
    tokenizer.save_pretrained(directory)
    file = directory / "tokenizer_config.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"  # version 5 writes a name that version 4 does not know
    file.write_text(json.dumps(settings, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _merges(pieces: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the merges of sentencepiece's BPE, most preferred first: all splits that make the earliest piece."""
    vocabulary = set(pieces)
    for piece in pieces:
        for position in range(1, len(piece)):
            if piece[:position] in vocabulary and piece[position:] in vocabulary:
                yield piece[:position], piece[position:]


def _cleaning(lowercase: bool) -> list[normalizers.Normalizer]:
    # Arrow maps case character by character, and of all characters this one differs.
    lowered = [normalizers.Replace("İ", "i"), normalizers.Lowercase()] if lowercase else []
    trimmed = normalizers.Replace(Regex(rf"\A{WHITE}|{WHITE}\z"), "")
    return [*lowered, normalizers.NFC(), trimmed, normalizers.Replace(Regex(r"[\t\n\r]"), " ")]


def _spaces() -> list[normalizers.Normalizer]:
    """Replace spaces by sentencepiece's and put one before the text; an empty text stays empty."""
    return [normalizers.Replace(" ", SPACE), normalizers.Prepend(SPACE)]
