"""Conversion of vocabularies to fast tokenizers of `transformers`, which need neither
sentencepiece nor Augury."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, normalizers, processors
from transformers import PreTrainedTokenizerFast

from augury.text.pieces import sentencepieces
from augury.text.pieces.settings import SPACE, SPECIALS
from augury.text.pieces.vocabulary import UNKNOWN_TEXT, Vocabulary

PAD, UNK, EOS = SPECIALS
WHITE = r"[ \t\n\x0b\x0c\r]+"  # ASCII white space


def fast_tokenizer(
    vocabulary: Vocabulary,
    *,
    prefix: Sequence[str] = (),
    lowercase: bool = False,
    positions: int | None = None,
) -> PreTrainedTokenizerFast:
    """Return a tokenizer with the ids of `vocabulary` that encodes text as the tags of `prefix`,
    its pieces, `</s>`.

    It cleans text as `corpora.filters.clean` does, except for HTML entities. Tags and special
    symbols in a text are encoded as text. `positions` is the maximum number of ids of the model.
    """
    ids = {piece: index for index, piece in enumerate(vocabulary.pieces)}
    pieces = sentencepieces.pieces(sentencepieces.load(vocabulary.model()))
    tokenizer = Tokenizer(sentencepieces.bpe(pieces, ids, UNK))
    # The only character for which Arrow's lower-casing, character by character, differs.
    lowered = [normalizers.Replace("İ", "i"), normalizers.Lowercase()] if lowercase else []
    tokenizer.normalizer = normalizers.Sequence(
        [
            *lowered,
            normalizers.Replace("\ufeff", ""),
            normalizers.NFC(),
            normalizers.Replace(Regex(rf"\A{WHITE}|{WHITE}\z"), ""),
            normalizers.Replace(Regex(r"[\t\n\r]"), " "),
            normalizers.Replace(" ", SPACE),
            normalizers.Prepend(SPACE),  # unless the text is empty
        ]
    )
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
    # Not the unknown piece, which decodes to text.
    tokenizer.add_special_tokens([PAD, EOS, *vocabulary.tags])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=EOS,
        split_special_tokens=True,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=positions,
    )


def save(tokenizer: PreTrainedTokenizerFast, directory: Path) -> None:
    """Save a tokenizer such that `AutoTokenizer` of `transformers` 4 and 5 can load it."""
    tokenizer.save_pretrained(directory)
    file = directory / "tokenizer_config.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    # Version 5 writes a class that version 4 lacks.
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    file.write_text(json.dumps(settings, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
