"""After training: test translations, and translation of free text."""

from __future__ import annotations

from collections.abc import Sequence

from augury.corpora.corpus import Corpus
from augury.corpora.filters import clean_lines
from augury.corpora.spec import Filter
from augury.decoding.corpus import decode
from augury.decoding.settings import Decoding
from augury.execution import ExecutorName, choose
from augury.experiment import parse
from augury.regimes.regime import SOURCE
from augury.store import Folder, Store
from augury.text.vocabulary import Vocabulary
from augury.training.trained import described
from trainables.nmt.config import Config
from trainables.nmt.preparation import tag

CTRANSLATE2 = "ctranslate2"
SENTENCES_PER_SECOND = 60  # that one core decodes with the model `small`


def outputs(experiment: Config, run: Folder, store: Store, corpus: Corpus, test: str) -> list[str]:
    """Return translations of a test set by the run's weights."""
    executor = experiment.execution.executor
    return _translate(run, store, corpus.column("source"), experiment.decoding, executor, f"translate {test}")


def translate(
    run: Folder,
    store: Store,
    texts: Sequence[str],
    *,
    decoding: Decoding | None = None,
    executor: ExecutorName = "local",
) -> list[str]:
    """Return the translations of `texts` by a finished run; each is cleaned as the training text was."""
    cleaning = Filter.model_validate(described(run)["preparation"])
    return _translate(run, store, clean_lines(texts, cleaning), decoding, executor, "translate")


def _translate(
    run: Folder, store: Store, texts: Sequence[str], decoding: Decoding | None, executor: ExecutorName, name: str
) -> list[str]:
    experiment, vocabulary = read_run(run, store)
    model = _ctranslate2(run, experiment, vocabulary)
    ids, offsets = vocabulary.encode(texts, SOURCE)
    prefix = [vocabulary.tags[tag(experiment.corpus.target_language)]] if experiment.tagged else []
    sources = [
        [*prefix, *ids[start:end].tolist()] if end > start else []
        for start, end in zip(offsets[:-1], offsets[1:], strict=True)
    ]
    execution = experiment.execution
    hypotheses = decode(
        model,
        sources,
        decoding or experiment.decoding,
        suppress=tuple(vocabulary.tags.values()),
        executor=choose(executor, len(texts) / SENTENCES_PER_SECOND, name, execution.address),
        threads=execution.threads or 2,
        name=name,
    )
    return vocabulary.decode([hypothesis.ids for hypothesis in hypotheses])


def read_run(run: Folder, store: Store) -> tuple[Config, Vocabulary]:
    """Return the experiment and the vocabulary of a run; UserError where the folder is none."""
    prepared = described(run)
    experiment = parse(prepared["experiment"])
    assert isinstance(experiment, Config)
    return experiment, Vocabulary.load(Folder(store.root, prepared["vocabulary"]))


def _ctranslate2(run: Folder, experiment: Config, vocabulary: Vocabulary) -> Folder:
    """Return the folder of the run's CTranslate2 model, converted at the first call."""
    if not run.holds(CTRANSLATE2):
        from trainables.nmt.conversion import converted  # with torch and transformers, which translating does not need

        run.put(converted(run, experiment, vocabulary), CTRANSLATE2)
    return run.sub(CTRANSLATE2)
