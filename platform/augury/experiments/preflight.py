"""What can be told of an experiment before it runs: faults, what is left out of its texts, and what it will cost.

Texts are read into the storage, where the runs find them, so that nothing is done twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from augury.augment import pipeline
from augury.augment.operator import RECORDS, Operator, ReadyModel
from augury.core import config
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import SIDES, Corpus
from augury.corpora.filters import REASON_SETTINGS, word_counts
from augury.corpora.ingest import cached_corpus, overlap
from augury.corpora.mixture import row_ranges
from augury.corpora.splits import BaseSpec, ResolvedSplit
from augury.experiments import preparation, trainable
from augury.experiments.cost import Cost, Text, cost, cpu_has_bfloat16, uses_gpu
from augury.experiments.experiment import Experiment
from augury.experiments.noisy_tests import check_noise
from augury.experiments.ready_models import ready_views
from augury.experiments.runs import NO_TESTS
from augury.experiments.stages import chain, name_of
from augury.scoring import metrics

UNCHECKED = {"name", "seeds", "storage", "regime", "training", "execution", "tracking"}
UNCHECKED |= {"decoding", "validation", "baseline", "systems"}
"""Sections without a say in what is checked: experiments that differ in them alone are checked once."""


SLOW = (
    "training.precision bf16 is for GPUs and for CPUs with bfloat16 instructions: on this machine it may take ten "
    "times as long as fp32"
)


@dataclass(frozen=True)
class LeftOut:
    """Rows of a text that are no part of the corpus, for one reason."""

    reason: str
    rows: int
    setting: str | None
    """The dotted key that decides; none where nothing lets such rows in."""
    value: Any
    examples: Sequence[Mapping[str, str]]
    """Of some: where they are, and what they hold."""


@dataclass(frozen=True)
class Read:
    """A text that was read."""

    name: str
    languages: Sequence[str]
    rows_in: int
    rows: int
    left_out: Sequence[LeftOut]
    address: str


@dataclass(frozen=True)
class Report:
    """What an experiment amounts to."""

    texts: Sequence[Read]
    cautions: Sequence[str]
    """What must be known to believe the results."""
    costs: Mapping[str, Cost | None]
    """Of a seed of every system, and of all models of a role that operators work with; None where it cannot be told."""
    stages: Sequence[str] = ()
    """Those of them that are stages before systems, and run with every seed too."""


def check(experiments: Iterable[Experiment], store: Store) -> None:
    """Refuse what cannot be trained, before anything takes long: files, columns, lines, keys, sizes.

    The texts of all are read, operators fitted, and earlier stages and the models of operators checked likewise.
    """
    for experiment in _distinct(experiments):
        texts = _texts(experiment, store)
        learned_from = cached_corpus(experiment.first().corpus, "train", store.root)
        for operator in experiment.augment:
            for text in operator.texts().values():
                cached_corpus(text, "train", store.root)
            operator.check_text(pipeline.beginning(texts["train"], operator))
            operator.check_fitted(pipeline.fit(learned_from, operator, store, execution=experiment.execution))
        for test in experiment.test_sets:
            if noise := experiment.corpus.noise(test):
                check_noise(texts[test], noise)
        for name in experiment.scoring.metrics:
            metrics.metric_class(name).require()
        trainable.find(experiment.task).check(experiment, store)
        for operator, models in zip(experiment.augment, experiment.models(), strict=True):
            for role, model in models.items():
                if isinstance(model, ReadyModel):
                    operator.check_model(role, ready_views(model))
        check([*filter(None, [experiment.before()]), *experiment.model_experiments().values()], store)


def report(systems: Mapping[str, Experiment], store: Store) -> Report:
    """Check the systems of an experiment, and say what they read and what they will cost."""
    check(systems.values(), store)
    earlier = _earlier_stages(systems, store)
    trained = {**earlier, **systems}
    texts: dict[str, Read] = {}
    for name, experiment in trained.items():
        for text in _read_texts(experiment, store):
            called = (
                text.name if text.name not in {known.name for known in texts.values()} else f"{text.name} of {name}"
            )
            texts.setdefault(text.address, replace(text, name=called))
    cautioned = [*_of_models(systems.values()), *_leaks(trained, store), *cautions(systems.values())]
    return Report(list(texts.values()), cautioned, estimates(trained, store), list(earlier))


def estimates(systems: Mapping[str, Experiment], store: Store) -> dict[str, Cost | None]:
    """Return the cost of a seed of every system, and of the models that operators work with."""
    costs = {name: _cost(experiment, store) for name, experiment in systems.items()}
    for name, experiment in systems.items():
        models = experiment.model_experiments()
        costs |= {f"{model_name} of {name}": _of_all_seeds(model, store) for model_name, model in models.items()}
    return costs


def cautions(experiments: Iterable[Experiment]) -> list[str]:
    """Return what must be known before anything runs."""
    listed = list(experiments)
    slow = any(
        experiment.training.precision == "bf16" and not (uses_gpu(experiment.execution) or cpu_has_bfloat16())
        for experiment in listed
    )
    return [SLOW] * slow + [NO_TESTS] * (not any(experiment.test_sets for experiment in listed))


def _distinct(experiments: Iterable[Experiment]) -> list[Experiment]:
    """Experiments of which each has something of its own to be checked."""
    distinct: dict[str, Experiment] = {}
    for experiment in experiments:
        distinct.setdefault(config.address(experiment.model_dump(mode="json", exclude=UNCHECKED)), experiment)
    return list(distinct.values())


def _texts(experiment: Experiment, store: Store) -> dict[str, Corpus]:
    """The corpora of all splits."""
    spec = experiment.corpus
    if "train" not in spec.splits():
        raise UserError("the corpus has no train: give corpus.train, or a known set that has one")
    spec.resolve("valid")  # says what to do where there is none
    splits = ("train", *preparation.dev_sets(experiment), *experiment.test_sets)
    return {split: cached_corpus(spec, split, store.root) for split in splits}


def _read_texts(experiment: Experiment, store: Store) -> Iterator[Read]:
    """The texts of all splits, those of a mixture one by one."""
    for split, corpus in _texts(experiment, store).items():
        mixture = experiment.corpus.mixture if split == "train" else {}
        for name, spec in mixture.items():
            yield _read(f"{split} {name}", spec, split, cached_corpus(spec, split, store.root))
        if not mixture:
            yield _read(split, experiment.corpus, split, corpus)


def _read(name: str, spec: BaseSpec, split: str, corpus: Corpus) -> Read:
    manifest, part = corpus.manifest, spec.resolve(split)
    rejected = {} if part.every and split == "valid" else manifest["rejected"]  # of training text, listed there
    left_out = [
        _left_out(reason, rows, part, manifest.get("examples", {}).get(reason, ())) for reason, rows in rejected.items()
    ]
    return Read(name, part.languages, manifest["rows_in"], corpus.rows, left_out, corpus.address)


def _left_out(reason: str, rows: int, part: ResolvedSplit, examples: Sequence[Mapping[str, str]]) -> LeftOut:
    key = REASON_SETTINGS.get(reason)
    if key is None:
        return LeftOut(reason, rows, None, None, examples)
    section, _, name = key.partition(".")
    held: Mapping[str, Any] = {"filter": part.filter.to_dict(), "{split}": part.text.to_dict()}.get(section, {})
    text = part.name if part.name in ("train", "valid") else f"tests.{part.name}"
    return LeftOut(reason, rows, f"corpus.{key.format(split=text)}", held.get(name, part.every), examples)


def _earlier_stages(systems: Mapping[str, Experiment], store: Store) -> dict[str, Experiment]:
    """The stages before systems that are no system, by name, each once."""
    known = {preparation.address(experiment, store) for experiment in systems.values()}
    earlier: dict[str, Experiment] = {}
    for name, experiment in systems.items():
        for stage in chain(experiment)[:-1]:
            if (address := preparation.address(stage, store)) not in known:
                known.add(address)
                earlier[f"{name}, {name_of(stage)}"] = stage
    return earlier


def _leaks(systems: Mapping[str, Experiment], store: Store) -> list[str]:
    """Sets that share records with the training text."""
    shared: dict[str, str] = {}
    for experiment in systems.values():
        texts = _texts(experiment, store)
        for name, corpus in texts.items():
            key = f"{texts['train'].address} {corpus.address}"
            if name != "train" and key not in shared:
                count = overlap(texts["train"], corpus)
                leak = f"{count:,} of the {corpus.rows:,} {corpus.noun} of '{name}' are in the training set too"
                shared[key] = leak if count else ""
    return [leak for leak in shared.values() if leak]


def _of_models(experiments: Iterable[Experiment]) -> list[str]:
    """What tasks caution of the experiments and of those that train models of their operators, each once."""
    listed = list(experiments)
    listed += [model for experiment in listed for model in experiment.model_experiments().values()]
    by_model = {str(experiment.to_dict().get("model")): experiment for experiment in listed}
    return [note for experiment in by_model.values() for note in trainable.find(experiment.task).cautions(experiment)]


def _cost(experiment: Experiment, store: Store) -> Cost | None:
    """An estimate for one seed."""
    size = trainable.find(experiment.task).size(experiment.first(), store)
    if size is None:
        return None
    train = cached_corpus(experiment.corpus, "train", store.root)
    beginning = train.shard(train.shards[0], SIDES[train.kind])
    counts = [float(word_counts(column.combine_chunks()).mean()) for column in beginning.columns]
    shares = experiment.corpus.shares
    rows = sum(shares[name].weight * (end - start) for name, start, end in row_ranges(train))
    read = rows + sum(_records(operator, experiment, train.rows, rows) for operator in experiment.augment)
    return cost(experiment, size, Text(max(1, round(read)), counts if size.target else [sum(counts)]))


def _records(operator: Operator, experiment: Experiment, parents: int, read: float) -> float:
    """How many rows of the records of an operator a pass reads at most, given those of the training text."""
    if operator.makes() != RECORDS:
        return 0
    share = experiment.mixture.get(operator.name())
    return operator.most_records() * (read if share is None else share.weight * parents)


def _of_all_seeds(model: Experiment, store: Store) -> Cost | None:
    seed, count = _cost(model, store), len(model.seeds)
    return seed and seed._replace(seconds=seed.seconds * count, bytes=seed.bytes * count)
