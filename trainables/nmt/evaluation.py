"""After training: test translations, and translation of free text."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from transformers import MarianMTModel

from augury.corpora.corpus import Corpus
from augury.corpora.filters import clean
from augury.corpora.spec import Filter
from augury.decoding.corpus import decode
from augury.decoding.ctranslate import to_ctranslate2
from augury.decoding.search import Decoding
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


def outputs(experiment: Config, run: Folder, store: Store, corpus: Corpus, test: str) -> list[str]:
    """Translations of a test set by the run's weights."""
    return _translate(run, store, corpus.column("source"), experiment.decoding, f"translate {test}")


def translate(run: Folder, store: Store, texts: Sequence[str], *, decoding: Decoding | None = None) -> list[str]:
    """The translations of `texts` by a finished run; each is cleaned as the training text was."""
    cleaning = Filter.model_validate(described(run)["preparation"])
    cleaned = clean(pa.array(texts, pa.string()), {}, cleaning)[0].to_pylist()
    return _translate(run, store, cleaned, decoding, "translate")


def _translate(run: Folder, store: Store, texts: Sequence[str], decoding: Decoding | None, name: str) -> list[str]:
    experiment, vocabulary = read_run(run, store)
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


def read_run(run: Folder, store: Store) -> tuple[Config, Vocabulary]:
    """Return the experiment and the vocabulary of a run; UserError where the folder is none."""
    prepared = described(run)
    experiment = parse(prepared["experiment"])
    assert isinstance(experiment, Config)
    return experiment, Vocabulary.load(Folder(store.root, prepared["vocabulary"]))


def trained_model(run: Folder, experiment: Config, vocabulary: Vocabulary) -> MarianMTModel:
    """Return a finished run's model with the weights that it reports on; UserError where training has not ended."""
    model = build(experiment.model, len(vocabulary.pieces), pad=vocabulary.pad, eos=vocabulary.eos, seed=0)
    return load_weights(run, model)


def _ctranslate2(run: Folder, experiment: Config, vocabulary: Vocabulary) -> Folder:
    """The folder of the run's CTranslate2 model, converted at the first call."""
    if not run.holds(CTRANSLATE2):
        directory = Path(tempfile.mkdtemp(prefix="augury-ctranslate2-"))
        to_ctranslate2(trained_model(run, experiment, vocabulary), directory, vocabulary.pieces, unk=vocabulary.unk)
        run.put(directory, CTRANSLATE2)
    return run.sub(CTRANSLATE2)
