"""A trained translation model for plain `transformers` or CTranslate2, which know nothing of tags,
views and their pieces."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from transformers import GenerationConfig

from augury.core.errors import UserError
from augury.decoding.generate import search_options
from augury.decoding.settings import PLAIN
from augury.experiments.task import Exported
from augury.models import pretrained
from augury.regimes.regime import SOURCE
from augury.text.pieces.fast_tokenizer import fast_tokenizer, save
from augury.text.pieces.vocabulary import Vocabulary
from trainables.nmt.config import Config
from trainables.nmt.model import known_elsewhere
from trainables.nmt.pretrained_vocabulary import PretrainedVocabulary
from trainables.nmt.trained import Trained
from trainables.nmt.tuning import without_new_pieces


def export(trained: Trained, form: str, directory: Path) -> Exported:
    """Write the model and its subwords for plain `transformers` (hf) or `ctranslate2`; UserError
    for another form.

    `hf`: AutoModelForSeq2SeqLM and AutoTokenizer read the directory; the tokenizer cleans text and
    adds the tag that the model expects, and `generate` searches as the run does. `ctranslate2`:
    next to the model is `sentencepiece.model`, whose pieces the model takes, and cleaning and tags
    are left to the caller; a pretrained model takes the ids of its own tokenizer.
    """
    if form not in FORMS:
        raise UserError(f"unknown form '{form}': export --to takes {' or '.join(FORMS)}")
    experiment, corpus, notes = trained.experiment, trained.experiment.corpus, []
    if corpus.preparation.unescape:
        notes.append(
            "It has learned from text without HTML entities: apply `html.unescape` to text that "
            "has them."
        )
    if set(experiment.decoding.views) - {PLAIN, SOURCE}:
        notes.append(
            f"Its scores are of translations from {', '.join(experiment.decoding.views)}; here it "
            "reads the plain source alone."
        )
    # Of the tags of domains, that of the validation set.
    prefix = experiment.prefix(corpus.tag("valid"))
    if form == "hf":
        usage, of_form = _to_transformers(trained, prefix, directory)
    elif isinstance(trained.vocabulary, PretrainedVocabulary):
        usage, of_form = _ids_to_ctranslate2(trained, trained.vocabulary, directory)
    else:
        usage, of_form = _pieces_to_ctranslate2(trained, trained.vocabulary, prefix, directory)
    return Exported(
        FORMS[form],
        "translation",
        (corpus.source_language, corpus.target_language),
        usage,
        (*notes, *of_form),
        reads_arguments=True,
    )


FORMS = {"hf": "transformers", "ctranslate2": "ctranslate2"}
"""Export formats, and the library that reads each."""


def _to_transformers(trained: Trained, prefix: list[str], directory: Path) -> tuple[str, list[str]]:
    """Write model and tokenizer; return how they are used and what must be known."""
    vocabulary, notes = trained.vocabulary, []
    if isinstance(vocabulary, PretrainedVocabulary):
        vocabulary.tokenizer.save_pretrained(directory)
        model = without_new_pieces(trained.model(), vocabulary.embedded)
        never = [index for index in vocabulary.never if index < vocabulary.embedded]
        start = model.generation_config.decoder_start_token_id
    else:
        if not vocabulary.preprocessor.is_identity:
            raise UserError(
                "its text is written as tokens of Moses, which no "
                "tokenizer of transformers does: export --to ctranslate2, or `augury translate`"
            )
        tokenizer = fast_tokenizer(
            vocabulary,
            prefix=prefix,
            lowercase=trained.experiment.corpus.preparation.lowercase,
            positions=trained.positions,
        )
        save(tokenizer, directory)
        model = known_elsewhere(trained.model())
        never, start = [vocabulary.pad, *vocabulary.never], vocabulary.eos
        if prefix:
            notes.append(
                f"The tokenizer puts `{' '.join(prefix)}` before every text by itself. Labels for "
                "further training have none: make them with `add_special_tokens=False` and put "
                "the id of `</s>` behind them."
            )
    written = len(vocabulary.first) + 1
    model.generation_config = GenerationConfig(
        **search_options(trained.experiment.decoding, never)
        | {
            "decoder_start_token_id": start,
            "eos_token_id": vocabulary.eos,
            "pad_token_id": vocabulary.pad,
            "forced_bos_token_id": next(iter(vocabulary.first), None),
            "min_new_tokens": written,
        }
    )
    with pretrained.quiet():
        model.save_pretrained(directory)
    lines, read = _texts(trained)
    usage = f"""\
import sys

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

place = "."  # this directory, or its name on the hub
tokenizer = AutoTokenizer.from_pretrained(place)
model = AutoModelForSeq2SeqLM.from_pretrained(place)
{lines}
batch = tokenizer({read}, return_tensors="pt", padding=True)
outputs = model.generate(input_ids=batch.input_ids, attention_mask=batch.attention_mask)
print(tokenizer.batch_decode(outputs[:, {written} :], skip_special_tokens=True))
"""
    return usage, notes


def _pieces_to_ctranslate2(
    trained: Trained, vocabulary: Vocabulary, prefix: list[str], directory: Path
) -> tuple[str, list[str]]:
    """Write model and subwords; return how they are used and what must be known."""
    experiment, symbols = trained.experiment, "".join(f'"{symbol}", ' for symbol in prefix)
    trained.kind.convert(trained.model(), directory)
    (directory / "sentencepiece.model").write_bytes(vocabulary.model())
    never = [[vocabulary.pieces[vocabulary.pad]], *([symbol] for symbol in vocabulary.tags)]
    usage = f"""\
import sys

import ctranslate2
from sentencepiece import SentencePieceProcessor

place = "."  # this directory
pieces = SentencePieceProcessor(model_file=f"{{place}}/sentencepiece.model")
translator = ctranslate2.Translator(place)
{_texts(trained)[0]}
results = translator.translate_batch(
    [[{symbols}*pieces.encode(text, out_type=str)] for text in texts],
{_search(experiment, 1, never)}
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
            "With `preprocessor = augury.text.pieces.settings.Preprocessor("
            f"{settings})`, encode `preprocessor.encode(texts, 'source')` in place of `texts`, "
            "and decode outputs by `preprocessor.decode`."
        )
    if prefix:
        notes.append(
            f"It expects `{' '.join(prefix)}` before the pieces of every source, with no space "
            "between them."
        )
    return usage, notes


def _ids_to_ctranslate2(
    trained: Trained, vocabulary: PretrainedVocabulary, directory: Path
) -> tuple[str, list[str]]:
    """Write model and tokenizer; return how they are used and what must be known."""
    if not trained.kind.convertible:
        kind = vocabulary.config.model_type
        raise UserError(f"CTranslate2 does not read this model ({kind}): export --to hf")
    vocabulary.tokenizer.save_pretrained(directory)
    model = without_new_pieces(trained.model(), vocabulary.embedded)
    trained.kind.convert(model, directory)
    first = [str(index) for index in vocabulary.first]
    never = [[str(index)] for index in vocabulary.never if index < vocabulary.embedded]
    lines, read = _texts(trained)
    usage = f"""\
import sys

import ctranslate2
from transformers import AutoTokenizer

place = "."  # this directory
tokenizer = AutoTokenizer.from_pretrained(place)
translator = ctranslate2.Translator(place)
{lines}
results = translator.translate_batch(
    [[str(index) for index in tokenizer(text).input_ids[:-1]] for text in {read}],
    target_prefix=[{first} for _ in texts],
{_search(trained.experiment, len(first) + 1, never)}
)
ids = [list(map(int, result.hypotheses[0]))[{len(first)}:] for result in results]
print(tokenizer.batch_decode(ids, skip_special_tokens=True))
"""
    return usage, ["It names subwords by their ids."]


def _search(experiment: Config, shortest: int, never: list[list[str]]) -> str:
    """Return the arguments of CTranslate2 for the search of the run."""
    decoding = experiment.decoding
    return f"""\
    beam_size={decoding.beam},
    length_penalty={decoding.length_penalty},
    min_decoding_length={shortest},
    max_decoding_length={decoding.max_length},
    max_input_length=0,  # otherwise longer sources are cut
    suppress_sequences={never},"""


def _texts(trained: Trained) -> tuple[str, str]:
    """Return the lines of code that take texts, and the variable of those that are read."""
    language = trained.experiment.corpus.source_language
    lines = f'texts = sys.argv[1:] or ["a sentence in \'{language}\'", "and another"]'
    vocabulary = trained.vocabulary
    if isinstance(vocabulary, PretrainedVocabulary) and (prompt := vocabulary.direction.prompt):
        return f"{lines}\nprompted = [{f'{prompt} '!r} + text for text in texts]", "prompted"
    return lines, "texts"
