"""A trained translation model for plain `transformers` or CTranslate2."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from transformers import MarianMTModel, MarianTokenizer

from augury.decoding.conversion import to_ctranslate2
from augury.decoding.settings import Decoding
from augury.errors import UserError
from augury.store import Folder, Store
from augury.text.vocabulary import Vocabulary
from trainables.nmt.conversion import trained_model
from trainables.nmt.evaluation import read_run
from trainables.nmt.preparation import tag

FORMS = ("hf", "ctranslate2")


def export(run: Folder, store: Store, form: str, directory: Path) -> None:
    """Write the model and its subwords for plain `transformers` (hf) or `ctranslate2`.

    `hf`: AutoModelForSeq2SeqLM and AutoTokenizer read the directory. `ctranslate2`: beside the model lies
    `sentencepiece.model`, whose pieces the model takes. A model trained on enciphered views expects the tag of the
    target language before every source: `README.txt` in the directory says so.
    """
    if form not in FORMS:
        raise UserError(f"unknown form '{form}': export --to takes {' or '.join(FORMS)}")
    experiment, vocabulary = read_run(run, store)
    model = trained_model(run, experiment, vocabulary)
    directory.mkdir(parents=True, exist_ok=True)
    if form == "hf":
        _as_decoded(model, experiment.decoding)
        model.save_pretrained(directory)
        _tokenizer(vocabulary).save_pretrained(directory)
    else:
        to_ctranslate2(model, directory, vocabulary.pieces, unk=vocabulary.unk)
        (directory / "sentencepiece.model").write_bytes(vocabulary.model())
    # A space after the tag would become a piece that the model has never seen there.
    before = f"{tag(experiment.corpus.target_language)}, without a space" if experiment.tagged else "nothing"
    (directory / "README.txt").write_text(f"Put before every source: {before}.\n", encoding="utf-8")


def _as_decoded(model: MarianMTModel, decoding: Decoding) -> None:
    """Let plain `generate` search as the run was decoded."""
    beams = {"early_stopping": True, "length_penalty": decoding.length_penalty} if decoding.beam > 1 else {}
    settings = {"num_beams": decoding.beam, "max_new_tokens": decoding.max_length, "max_length": None, **beams}
    model.generation_config.update(**settings, bad_words_ids=None, forced_eos_token_id=None)


def _tokenizer(vocabulary: Vocabulary) -> MarianTokenizer:
    """The subwords as a Hugging Face tokenizer with the same ids."""
    with tempfile.TemporaryDirectory(prefix="augury-tokenizer-") as name:
        directory = Path(name)
        for side in ("source.spm", "target.spm"):
            (directory / side).write_bytes(vocabulary.model())
        ids = {piece: index for index, piece in enumerate(vocabulary.pieces)}
        (directory / "vocab.json").write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
        return MarianTokenizer(
            str(directory / "source.spm"),
            str(directory / "target.spm"),
            str(directory / "vocab.json"),
            unk_token="<unk>",
            eos_token="</s>",
            pad_token="<pad>",
            additional_special_tokens=list(vocabulary.tags),
        )
