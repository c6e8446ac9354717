"""A tuned model with its own tokenizer for plain `transformers` or CTranslate2, without pieces of
views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import GenerationConfig

from augury.core.errors import UserError
from augury.decoding.conversion import reads
from augury.decoding.conversion import to_ctranslate2 as convert
from augury.decoding.generate import search_options
from augury.models import pretrained
from trainables.nmt.subwords import PretrainedVocabulary
from trainables.nmt.trained import Trained
from trainables.nmt.tuning import without_new_pieces


def to_transformers(trained: Trained, prefix: list[str], directory: Path) -> tuple[str, list[str]]:
    """Write model and tokenizer; return how they are used and what must be known.

    `generate` begins with the target language, and searches as the run does.
    """
    model, vocabulary = _write_tokenizer(trained, directory)
    never = [index for index in vocabulary.never if index < vocabulary.embedded]
    options = search_options(trained.experiment.decoding, never)
    model.generation_config = GenerationConfig(
        **options
        | {
            "decoder_start_token_id": model.generation_config.decoder_start_token_id,
            "eos_token_id": vocabulary.eos,
            "pad_token_id": vocabulary.pad,
            "forced_bos_token_id": next(iter(vocabulary.first), None),
            "min_new_tokens": len(vocabulary.first) + 1,
        }
    )
    with pretrained.quiet():
        model.save_pretrained(directory)
    lines, read = _texts(trained, vocabulary, ", or its name on the hub")
    usage = f"""\
import sys

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

{lines}
model = AutoModelForSeq2SeqLM.from_pretrained(place)
batch = tokenizer({read}, return_tensors="pt", padding=True)
outputs = model.generate(input_ids=batch.input_ids, attention_mask=batch.attention_mask)
print(tokenizer.batch_decode(outputs[:, {len(vocabulary.first) + 1} :], skip_special_tokens=True))
"""
    return usage, []


def to_ctranslate2(trained: Trained, prefix: list[str], directory: Path) -> tuple[str, list[str]]:
    """Write model and tokenizer; return how they are used and what must be known."""
    model, vocabulary = _write_tokenizer(trained, directory)
    if not reads(model.config):
        raise UserError(
            f"CTranslate2 does not read this model ({model.config.model_type}): export --to hf"
        )
    convert(model, directory)
    decoding = trained.experiment.decoding
    first = [str(index) for index in vocabulary.first]
    never = [[str(index)] for index in vocabulary.never if index < vocabulary.embedded]
    lines, read = _texts(trained, vocabulary, "")
    usage = f"""\
import sys

import ctranslate2
from transformers import AutoTokenizer

{lines}
translator = ctranslate2.Translator(place)
results = translator.translate_batch(
    [[str(index) for index in tokenizer(text).input_ids[:-1]] for text in {read}],
    target_prefix=[{first} for _ in texts],
    beam_size={decoding.beam},
    length_penalty={decoding.length_penalty},
    min_decoding_length={len(first) + 1},
    max_decoding_length={decoding.max_length},
    max_input_length=0,  # otherwise longer sources are cut
    suppress_sequences={never},
)
ids = [list(map(int, result.hypotheses[0]))[{len(first)}:] for result in results]
print(tokenizer.batch_decode(ids, skip_special_tokens=True))
"""
    return usage, ["It names subwords by their ids."]


def _write_tokenizer(trained: Trained, directory: Path) -> tuple[Any, PretrainedVocabulary]:
    """Write the tokenizer; return the model without new pieces, and the vocabulary."""
    vocabulary = trained.vocabulary
    assert isinstance(vocabulary, PretrainedVocabulary)
    vocabulary.tokenizer.save_pretrained(directory)
    return without_new_pieces(trained.model(), vocabulary.embedded), vocabulary


def _texts(trained: Trained, vocabulary: PretrainedVocabulary, hub: str) -> tuple[str, str]:
    """Return the lines of code that load the tokenizer and take texts, and the variable of those
    that are read."""
    prompt, language = vocabulary.direction.prompt, trained.experiment.corpus.source_language
    lines = [
        f'place = "."  # this directory{hub}',
        "tokenizer = AutoTokenizer.from_pretrained(place)",
        f'texts = sys.argv[1:] or ["a sentence in \'{language}\'", "and another"]',
    ]
    if not prompt:
        return "\n".join(lines), "texts"
    lines.append(f"prompted = [{f'{prompt} '!r} + text for text in texts]")
    return "\n".join(lines), "prompted"
