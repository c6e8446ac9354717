"""After training: test translations and their scores, translation of free text, export."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from transformers import MarianMTModel, MarianTokenizer

from augury.corpora.corpus import Corpus
from augury.corpora.filters import clean
from augury.corpora.spec import Filter
from augury.decoding.corpus import decode
from augury.decoding.ctranslate import to_ctranslate2
from augury.decoding.settings import Decoding
from augury.errors import UserError
from augury.execution import choose
from augury.experiment import parse
from augury.regimes.regime import SOURCE
from augury.store import Folder, Store
from augury.text.vocabulary import Vocabulary
from augury.training.trained import described, load_weights
from trainables.nmt.config import Config
from trainables.nmt.model import build
from trainables.nmt.preparation import tag

CTRANSLATE2 = "ctranslate2"
SENTENCES_PER_SECOND = 60  # that one core decodes with the model `small`
FORMS = ("hf", "ctranslate2")


def outputs(experiment: Config, run: Folder, store: Store, corpus: Corpus, test: str) -> list[str]:
    """Translations of a test set by the run's weights."""
    return _translate(run, store, corpus.column("source"), experiment.decoding, f"translate {test}")


def translate(run: Folder, store: Store, texts: Sequence[str], *, decoding: Decoding | None = None) -> list[str]:
    """The translations of `texts` by a finished run; each is cleaned as the training text was."""
    cleaning = Filter.model_validate(described(run)["preparation"])
    cleaned = clean(pa.array(texts, pa.string()), {}, cleaning)[0].to_pylist()
    return _translate(run, store, cleaned, decoding, "translate")


def _translate(run: Folder, store: Store, texts: Sequence[str], decoding: Decoding | None, name: str) -> list[str]:
    experiment, vocabulary = _described(run, store)
    model = _ctranslate2(run, experiment, vocabulary)
    ids, offsets = vocabulary.encode(texts, SOURCE)
    prefix = [vocabulary.tags[tag(experiment.corpus.target_language)]] if experiment.tagged else []
    sources = [
        [*prefix, *ids[start:end].tolist()] if end > start else []
        for start, end in zip(offsets[:-1], offsets[1:], strict=True)
    ]
    execution = experiment.execution
    executor = choose(execution.executor, len(texts) / SENTENCES_PER_SECOND, name, execution.address)
    found = decode(
        model,
        sources,
        decoding or experiment.decoding,
        suppress=tuple(vocabulary.tags.values()),
        executor=executor,
        threads=execution.threads or 2,
        name=name,
    )
    return vocabulary.decode([hypothesis.ids for hypothesis in found])


def export(run: Folder, store: Store, form: str, directory: Path) -> None:
    """Write the model and its subwords for plain `transformers` (hf) or `ctranslate2`.

    `hf`: AutoModelForSeq2SeqLM and AutoTokenizer read the directory. `ctranslate2`: beside the model lies
    `sentencepiece.model`, whose pieces the model takes. A model trained on enciphered views expects the tag of the
    target language before every source: `README.txt` in the directory says so.
    """
    if form not in FORMS:
        raise UserError(f"unknown form '{form}': export --to takes {' or '.join(FORMS)}")
    experiment, vocabulary = _described(run, store)
    model = _trained(run, experiment, vocabulary)
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


def _described(run: Folder, store: Store) -> tuple[Config, Vocabulary]:
    prepared = described(run)
    experiment = parse(prepared["experiment"])
    assert isinstance(experiment, Config)
    return experiment, Vocabulary.load(Folder(store.root, prepared["vocabulary"]))


def _trained(run: Folder, experiment: Config, vocabulary: Vocabulary) -> MarianMTModel:
    model = build(experiment.model, len(vocabulary.pieces), pad=vocabulary.pad, eos=vocabulary.eos, seed=0)
    return load_weights(run, model)


def _ctranslate2(run: Folder, experiment: Config, vocabulary: Vocabulary) -> Folder:
    """The folder of the run's CTranslate2 model, converted at the first call."""
    if not run.holds(CTRANSLATE2):
        directory = Path(tempfile.mkdtemp(prefix="augury-ctranslate2-"))
        to_ctranslate2(_trained(run, experiment, vocabulary), directory, vocabulary.pieces, unk=vocabulary.unk)
        run.put(directory, CTRANSLATE2)
    return run.sub(CTRANSLATE2)
