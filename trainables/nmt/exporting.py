"""A trained translation model for plain `transformers` or CTranslate2, which know nothing of
tags and views."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from transformers import GenerationConfig

from augury.core.errors import UserError
from augury.decoding.conversion import to_ctranslate2
from augury.decoding.generate import search_options
from augury.decoding.settings import PLAIN
from augury.experiments.task import Exported
from augury.models import pretrained
from augury.regimes.regime import SOURCE
from augury.tasks.subword_task import base_model
from augury.text.vocabulary.fast_tokenizer import fast_tokenizer, save
from augury.text.vocabulary.vocabulary import Vocabulary
from trainables.nmt import tuned_exporting
from trainables.nmt.architecture import PretrainedTranslator
from trainables.nmt.config import Config
from trainables.nmt.pre_norm import known_elsewhere
from trainables.nmt.trained import Trained


def export(trained: Trained, form: str, directory: Path) -> Exported:
    """Write the model and its subwords for plain `transformers` (hf) or `ctranslate2`; UserError
    for another form.

    `hf`: AutoModelForSeq2SeqLM and AutoTokenizer read the directory; the tokenizer cleans text and
    adds the tag that the model expects, and `generate` searches as the run does. `ctranslate2`:
    next to the model is `sentencepiece.model`, whose pieces the model takes; cleaning and tags are
    left to the caller.
    """
    if form not in FORMS:
        raise UserError(f"unknown form '{form}': export --to takes {' or '.join(FORMS)}")
    corpus, model = trained.experiment.corpus, trained.experiment.model
    library, write = FORMS[form]
    if isinstance(model, PretrainedTranslator):
        write = TUNED_FORMS[form]
    # Of the tags of domains, that of the validation set.
    usage, notes = write(trained, trained.experiment.prefix(corpus.tag("valid")), directory)
    languages = (corpus.source_language, corpus.target_language)
    notes = [*_notes(trained.experiment), *notes]
    return Exported(
        library,
        "translation",
        languages,
        usage,
        tuple(notes),
        base_model=base_model(model),
        reads_arguments=True,
    )


def _to_transformers(trained: Trained, prefix: list[str], directory: Path) -> tuple[str, list[str]]:
    """Write model and tokenizer; return how they are used and what must be known."""
    vocabulary, experiment = trained.vocabulary, trained.experiment
    assert isinstance(vocabulary, Vocabulary)
    if not vocabulary.preprocessor.is_identity:
        raise UserError(
            "its text is written as tokens of Moses, which no "
            "tokenizer of transformers does: export --to ctranslate2, or `augury translate`"
        )
    model = known_elsewhere(trained.model())
    model.generation_config = GenerationConfig(
        **search_options(experiment.decoding, [vocabulary.pad, *vocabulary.never]),
        decoder_start_token_id=vocabulary.eos,
        eos_token_id=vocabulary.eos,
        pad_token_id=vocabulary.pad,
    )
    with pretrained.quiet():
        model.save_pretrained(directory)
    tokenizer = fast_tokenizer(
        vocabulary,
        prefix=prefix,
        lowercase=experiment.corpus.preparation.lowercase,
        positions=experiment.transformer.max_positions,
    )
    save(tokenizer, directory)
    usage = f"""\
import sys

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

place = "."  # this directory, or its name on the hub
tokenizer = AutoTokenizer.from_pretrained(place)
model = AutoModelForSeq2SeqLM.from_pretrained(place)
texts = sys.argv[1:] or ["a sentence in '{experiment.corpus.source_language}'", "and another"]
batch = tokenizer(texts, return_tensors="pt", padding=True)
print(tokenizer.batch_decode(model.generate(**batch), skip_special_tokens=True))
"""
    note = (
        f"The tokenizer puts `{' '.join(prefix)}` before every text by itself. Labels for further "
        "training have none: make them with `add_special_tokens=False` and put the id of `</s>` "
        "behind them."
    )
    return usage, [note] if prefix else []


def _to_ctranslate2(trained: Trained, prefix: list[str], directory: Path) -> tuple[str, list[str]]:
    """Write model and subwords; return how they are used and what must be known."""
    vocabulary, experiment = trained.vocabulary, trained.experiment
    assert isinstance(vocabulary, Vocabulary)
    to_ctranslate2(trained.model(), directory, vocabulary.pieces, unk=vocabulary.unk)
    (directory / "sentencepiece.model").write_bytes(vocabulary.model())
    decoding, symbols = experiment.decoding, "".join(f'"{symbol}", ' for symbol in prefix)
    never = [[vocabulary.pieces[vocabulary.pad]], *([symbol] for symbol in vocabulary.tags)]
    usage = f"""\
import sys

import ctranslate2
from sentencepiece import SentencePieceProcessor

place = "."  # this directory
pieces = SentencePieceProcessor(model_file=f"{{place}}/sentencepiece.model")
translator = ctranslate2.Translator(place)
texts = sys.argv[1:] or ["a sentence in '{experiment.corpus.source_language}'", "and another"]
results = translator.translate_batch(
    [[{symbols}*pieces.encode(text, out_type=str)] for text in texts],
    beam_size={decoding.beam},
    length_penalty={decoding.length_penalty},
    max_decoding_length={decoding.max_length},
    max_input_length=0,  # otherwise longer sources are cut
    suppress_sequences={never},
)
print([pieces.decode(result.hypotheses[0]) for result in results])
"""
    lowercase = ", in lower case," if experiment.corpus.preparation.lowercase else ""
    notes = [f"It reads text in NFC{lowercase} without space at its ends."]
    if not vocabulary.preprocessor.is_identity:
        settings = ", ".join(
            f"{key}={value!r}" for key, value in asdict(vocabulary.preprocessor).items()
        )
        notes.append(
            "With `preprocessor = augury.text.vocabulary.settings.Preprocessor("
            f"{settings})`, encode `preprocessor.encode(texts, 'source')` in place of `texts`, "
            "and decode outputs by `preprocessor.decode`."
        )
    if prefix:
        notes.append(
            f"It expects `{' '.join(prefix)}` before the pieces of every source, with no space "
            "between them."
        )
    return usage, notes


FORMS = {"hf": ("transformers", _to_transformers), "ctranslate2": ("ctranslate2", _to_ctranslate2)}
"""Export formats: the library that reads an export -> the function that writes it."""
TUNED_FORMS = {
    "hf": tuned_exporting.to_transformers,
    "ctranslate2": tuned_exporting.to_ctranslate2,
}
"""The functions that write a tuned model."""


def _notes(experiment: Config) -> list[str]:
    """Text processing that every export format must contain."""
    views, notes = experiment.decoding.views, []
    if experiment.corpus.preparation.unescape:
        notes.append(
            "It has learned from text without HTML entities: apply `html.unescape` to text that "
            "has them."
        )
    if set(views) - {PLAIN, SOURCE}:
        notes.append(
            f"Its scores are of translations from {', '.join(views)}; here it reads the plain "
            "source alone."
        )
    return notes
