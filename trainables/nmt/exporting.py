"""A trained model for plain `transformers` or CTranslate2, which know nothing of tags, views and
their pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import GenerationConfig, PreTrainedModel

from augury.core.errors import UserError
from augury.decoding.conversion import to_ctranslate2
from augury.decoding.pretrained_vocabulary import PretrainedVocabulary
from augury.experiments.task import Exported
from augury.models import pretrained
from augury.text.pieces.fast_tokenizer import fast_tokenizer, save
from augury.text.pieces.vocabulary import Vocabulary
from trainables.nmt.model import known_elsewhere
from trainables.nmt.trained import Trained

FORMS = {"hf": "transformers", "ctranslate2": "ctranslate2"}
"""Export formats, and the library that reads each."""


def export(trained: Trained, form: str, directory: Path) -> Exported:
    """Write the model for plain `transformers` (hf) or `ctranslate2`, and its tokenizer, which
    AutoTokenizer reads; UserError for another form.

    The tokenizer cleans text and adds the tag that the model expects. `hf`: `generate` searches as
    the run does. `ctranslate2`: the model names subwords by the ids of the tokenizer.
    """
    if form not in FORMS:
        raise UserError(f"unknown form '{form}': export --to takes {' or '.join(FORMS)}")
    experiment, corpus = trained.experiment, trained.experiment.corpus
    notes = []
    if corpus.preparation.unescape:
        notes.append(
            "It has learned from text without HTML entities: apply `html.unescape` to text that "
            "has them."
        )
    _write_tokenizer(trained, directory)
    vocabulary, model = trained.vocabulary, trained.model()
    never = [vocabulary.pad, *vocabulary.never]
    write = _to_transformers if form == "hf" else _to_ctranslate2
    usage = write(trained, model, never, directory)
    task = "translation" if experiment.task == "nmt" else "text2text-generation"
    languages = tuple(dict.fromkeys(experiment.languages))
    return Exported(FORMS[form], task, languages, usage, tuple(notes))


def _write_tokenizer(trained: Trained, directory: Path) -> None:
    """Write the tokenizer, which puts tags before every text by itself."""
    vocabulary, experiment = trained.vocabulary, trained.experiment
    if isinstance(vocabulary, PretrainedVocabulary):
        vocabulary.tokenizer.save_pretrained(directory)
        return
    assert isinstance(vocabulary, Vocabulary)
    if vocabulary.moses:
        raise UserError(
            "its text is written as tokens of Moses, which no tokenizer of transformers does: use "
            "`augury translate`"
        )
    # Of the tags of domains, that of the validation set.
    prefix = experiment.prefix(experiment.corpus.tag("valid"))
    lowercase = experiment.corpus.preparation.lowercase
    tokenizer = fast_tokenizer(
        vocabulary, prefix=prefix, lowercase=lowercase, positions=trained.positions
    )
    save(tokenizer, directory)


def _to_transformers(
    trained: Trained, model: PreTrainedModel, never: list[int], directory: Path
) -> str:
    """Write a model with the settings of its search; return the code that uses it."""
    vocabulary, first = trained.vocabulary, trained.vocabulary.first
    written = len(first) + 1
    start = model.generation_config.decoder_start_token_id
    decoding, of_beam = trained.experiment.decoding, dict[str, Any]()
    if decoding.beam > 1:
        of_beam = {"length_penalty": decoding.length_penalty, "early_stopping": True}
    model = known_elsewhere(model)
    model.generation_config = GenerationConfig(
        do_sample=False,
        num_beams=decoding.beam,
        min_new_tokens=written,
        max_new_tokens=decoding.max_length,
        suppress_tokens=never,
        renormalize_logits=True,
        decoder_start_token_id=start,
        eos_token_id=vocabulary.eos,
        pad_token_id=vocabulary.pad,
        forced_bos_token_id=next(iter(first), None),
        **of_beam,
    )
    pretrained.quieten()
    model.save_pretrained(directory)
    lines, read = _texts(trained)
    return f"""\
import sys

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

place = "."  # this directory, or its name on the hub
tokenizer = AutoTokenizer.from_pretrained(place)
model = AutoModelForSeq2SeqLM.from_pretrained(place)
{lines}
for start in range(0, len(texts), 32):
    batch = tokenizer({read}[start : start + 32], return_tensors="pt", padding=True)
    outputs = model.generate(input_ids=batch.input_ids, attention_mask=batch.attention_mask)
    print(*tokenizer.batch_decode(outputs[:, {written} :], skip_special_tokens=True), sep="\\n")
"""


def _to_ctranslate2(
    trained: Trained, model: PreTrainedModel, never: list[int], directory: Path
) -> str:
    """Write a model; return the code that uses it."""
    to_ctranslate2(model, directory)
    decoding = trained.experiment.decoding
    first = [str(index) for index in trained.vocabulary.first]
    suppressed = [[str(index)] for index in never]
    lines, read = _texts(trained)
    return f"""\
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
    beam_size={decoding.beam},
    length_penalty={decoding.length_penalty},
    min_decoding_length={len(first) + 1},
    max_decoding_length={decoding.max_length},
    max_input_length=0,  # otherwise longer sources are cut
    suppress_sequences={suppressed},
)
ids = [list(map(int, result.hypotheses[0]))[{len(first)}:] for result in results]
print(*tokenizer.batch_decode(ids, skip_special_tokens=True), sep="\\n")
"""


def _texts(trained: Trained) -> tuple[str, str]:
    """Return the lines of code that take texts, and the variable of those that are read."""
    experiment, vocabulary = trained.experiment, trained.vocabulary
    example = f"a sentence in '{experiment.languages[0]}'"
    lines = f'texts = sys.stdin.read().splitlines()  # such as "{example}"'
    if isinstance(vocabulary, PretrainedVocabulary) and (prompt := vocabulary.prompt):
        return f"{lines}\nprompted = [{f'{prompt} '!r} + text for text in texts]", "prompted"
    return lines, "texts"
