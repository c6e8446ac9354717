"""From text files to everything that a classifier's run reads, each step under its address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from augury.augment import pipeline
from augury.augment.operator import VIEW
from augury.core import config
from augury.core.execution import choose
from augury.core.locks import make_once
from augury.core.progress import say_once
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.ingest import addressed, ingested, warn_of_overlap
from augury.experiments import operator_models as models
from augury.experiments.recording import Recording, unrecorded
from augury.experiments.trainable import Input, Prepared
from augury.regimes.adversarial import Adversarial
from augury.regimes.regime import SOURCE, texts_read
from augury.text import learned, pretrained
from augury.text.subwords import say_truncated
from augury.text.tokens import KIND as TOKENS
from augury.text.tokens import Text, tokenise
from augury.training.settings import trunk
from trainables.nli.architecture import Pretrained, Scratch
from trainables.nli.config import Config
from trainables.nli.examples import Examples
from trainables.nli.pieces import Pieces

VERSION = 3
"""Raised when the same configuration comes to train another model: part of every run's address."""
PAIRS_PER_SECOND = 5_000  # that one core tokenises in a second
SIDES = ("premise", "hypothesis")
VALID = "valid"


class Plan(NamedTuple):
    """The addresses of everything between the corpora and a run; nothing need exist yet."""

    parts: list[pipeline.Part]
    vocabulary: Folder
    texts: dict[str, Text]
    """The corpus as `source`, views and records by their names, the validation text as `valid`."""
    tokens: dict[str, Folder]
    address: str
    trunk: str
    """The address of everything that determines training but its end."""


def address(experiment: Config, store: Store) -> str:
    """The address of the run that an experiment describes; reads the corpora's files and makes nothing."""
    corpora = {split: addressed(experiment.corpus, split) for split in ("train", "valid")}
    return plan(experiment, store, corpora, models.addressed(experiment, store)).address


def plan(experiment: Config, store: Store, corpora: Mapping[str, str], runs: Sequence[pipeline.Models]) -> Plan:
    """What a run reads, from the addresses of its training and validation corpora and the runs of its operators."""
    parts = pipeline.plan(corpora["train"], experiment.augment, store, models=runs)
    texts = {SOURCE: Text(store.folder(CORPORA, corpora["train"]), SIDES, SOURCE)}
    texts |= {part.name: Text(part.folder, SIDES, part.name) for part in parts}
    vocabulary = _vocabulary(experiment, store, texts)
    pieces = Pieces(vocabulary, experiment.max_length)
    texts[VALID] = Text(store.folder(CORPORA, corpora["valid"]), SIDES, SOURCE)
    tokens = {name: store.folder(TOKENS, text.address(pieces.name)) for name, text in texts.items()}
    determined = {
        "task": "nli",
        "version": VERSION,
        "vocabulary": vocabulary.name,
        "tokens": [[name, folder.name] for name, folder in tokens.items()],
        "model": _model(experiment),
        "regime": experiment.regime.plain(),
        "training": experiment.training.plain(),
    }
    beginning = config.address({**determined, "training": trunk(experiment.training)})
    return Plan(parts, vocabulary, texts, tokens, config.address(determined), beginning)


def prepare(experiment: Config, store: Store, recording: Recording = unrecorded) -> Prepared:
    """Check the model, ingest, augment (with models that are trained if missing), get the subwords and tokenise."""
    from augury.training.launch import uses_cuda

    _check_fits(experiment, store)
    corpora = {split: ingested(experiment.corpus, split, store.root) for split in experiment.corpus.splits()}
    train, execution = corpora["train"], experiment.execution
    warn_of_overlap(train, {name: corpus for name, corpus in corpora.items() if name != "train"})
    runs = models.trained(experiment, store, recording)
    augmented = pipeline.augment(
        train,
        experiment.augment,
        store,
        models=runs,
        executor=execution.executor,
        ray_address=execution.address,
        cpus=execution.cpus_per_worker,
        gpus=execution.gpus_per_worker if any(runs) and uses_cuda(execution) else 0,
    )
    if augmented.reused:
        say_once(f"found, not made again: {', '.join(augmented.reused)}")
    planned = plan(experiment, store, {split: corpus.address for split, corpus in corpora.items()}, runs)
    make_once(planned.vocabulary, lambda: _learn_vocabulary(experiment, planned))
    work = train.rows * len(planned.texts) / PAIRS_PER_SECOND
    tokenise(
        planned.texts,
        planned.tokens,
        Pieces(planned.vocabulary, experiment.max_length),
        choose(execution.executor, work, "tokenise", execution.address),
    )
    say_truncated(planned.tokens, experiment.max_length)
    prepared = {
        "experiment": experiment.plain(),
        "address": planned.address,
        "trunk": planned.trunk,
        "vocabulary": planned.vocabulary.name,
        "corpora": {split: corpus.address for split, corpus in corpora.items()},
        "views": {part.name: part.folder.name for part in planned.parts if part.operator.makes() == VIEW},
        "records": {part.name: part.folder.name for part in planned.parts if part.operator.makes() != VIEW},
        "tokens": {name: folder.name for name, folder in planned.tokens.items()},
        "preparation": experiment.corpus.part("train").filter.plain(),
    }
    examples = Examples(prepared, store)
    return Prepared(
        address=planned.address,
        inputs=tuple(Input(split, corpus.address, corpus.rows) for split, corpus in corpora.items()),
        data_factor=examples.texts_read / train.rows,
        passes_by_view={view: share for (view, _), share in texts_read(examples.draws).items()},
        pieces={"pair": float(examples.lengths.sources.mean())},
        artifacts={"vocabulary": planned.vocabulary.name, **{part.name: part.fit.name for part in planned.parts}},
        config=prepared,
    )


def _vocabulary(experiment: Config, store: Store, texts: Mapping[str, Text]) -> Folder:
    """Where the tokenizer lies; a pretrained model's does not depend on the texts."""
    model = experiment.model
    if isinstance(model, Pretrained):
        determined: dict[str, Any] = {"pretrained": pretrained.identity(model.name, model.revision)}
    else:
        determined = {
            "version": learned.VERSION,
            "size": model.vocabulary_size,
            "texts": [[text.folder.name, list(text.columns)] for text in texts.values()],
        }
    return store.folder("vocabularies", config.address(determined))


def _check_fits(experiment: Config, store: Store) -> None:
    """Keep the tokenizer of a pretrained model; refuse a model that training could not read, before anything else."""
    from trainables.nli.model import check

    model, kept = experiment.model, _vocabulary(experiment, store, {})
    if not isinstance(model, Pretrained):
        return
    make_once(kept, lambda: pretrained.keep(model.name, model.revision, kept))
    attacked = isinstance(experiment.regime, Adversarial)
    check(model, learned.directory(kept), experiment.max_length, embedded=attacked)


def _learn_vocabulary(experiment: Config, planned: Plan) -> None:
    assert isinstance(experiment.model, Scratch), "a pretrained model's tokenizer is kept before"
    texts = [text for name, text in planned.texts.items() if name != VALID]
    lines = (line for text in texts for line in text.lines())
    learned.learn(lines, experiment.model.vocabulary_size, planned.vocabulary)


def _model(experiment: Config) -> dict[str, Any]:
    """What determines the model before training, its seed left out."""
    model = experiment.model
    if not isinstance(model, Pretrained):
        return model.plain()
    named = {"name": pretrained.identity(model.name, model.revision)}
    return {key: value for key, value in model.plain().items() if key != "revision"} | named
