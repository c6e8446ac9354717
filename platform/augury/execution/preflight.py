"""Check an experiment before it runs: faults, rows left out of its texts, and estimated cost.

Texts are read into the storage, where the runs use them, so that nothing is done twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from augury.augment import pipeline, planning
from augury.augment.mixins import Fitted, MakesRecords, TextSubset, UsesModels
from augury.augment.models import ReadyModel
from augury.augment.noisy_tests import check_noise
from augury.augment.operator import RECORDS, Operator
from augury.core import config
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.locks import usable
from augury.core.store import Store
from augury.corpora.corpus import KINDS, Corpus
from augury.corpora.filters import NOT_SELECTED, REASON_SETTINGS, REASONS, word_counts
from augury.corpora.identification import doubts
from augury.corpora.ingest import cached_corpus, overlap, overlaps
from augury.corpora.labelled import LABEL, label_counts, label_doubts
from augury.corpora.mixture import row_ranges
from augury.corpora.records import describe_controls
from augury.corpora.references import stored_references
from augury.corpora.splits import BaseSpec, ResolvedSplit
from augury.execution.graph import Graph, Step, dev_sets
from augury.execution.ready_models import ready_views
from augury.experiments.cost import Cost, Text, cost, cpu_is_fast_in_bfloat16, uses_gpu
from augury.experiments.missing_models import missing_models, pretrained_model
from augury.experiments.spec import Experiment
from augury.experiments.systems import canonical
from augury.experiments.task import find_task
from augury.regimes.regime import late_onset
from augury.runs.stored_runs import NO_TESTS
from augury.scoring import registry
from augury.scoring.imbalance import imbalance_note

UNCHECKED = {
    "name",
    "seeds",
    "storage",
    "regime",
    "training",
    "execution",
    "tracking",
    "health",
    "decoding",
    "validation",
    "baseline",
    "systems",
}
"""Sections that checks of texts do not depend on: experiments that differ only in them are
checked once."""

SLOW = (
    "training.precision bf16 is for GPUs and for CPUs that multiply bfloat16 faster than float32 "
    "(AMX, or AMD's AVX-512): on this machine it may take two to ten times as long as fp32"
)


@dataclass(frozen=True)
class LeftOutRows:
    """Rows of a text that were left out of the corpus for one reason."""

    reason: str
    rows: int
    setting: str | None
    """The dotted key of the filter; None where no setting keeps such rows."""
    value: Any
    examples: Sequence[Mapping[str, str]]
    """Some of the rows: their place and content."""


@dataclass(frozen=True)
class TextSummary:
    """The size of a text, and the rows left out of it."""

    name: str
    languages: Sequence[str]
    rows_in: int
    rows: int
    left_out: Sequence[LeftOutRows]
    address: str
    labels: Mapping[str, int] = field(default_factory=dict)
    """The rows with each label, the most frequent first; empty for text without labels."""


@dataclass(frozen=True)
class Report:
    """The texts, cautions and estimated cost of an experiment."""

    texts: Sequence[TextSummary]
    cautions: Sequence[str]
    """Reasons to doubt the results."""
    costs: Mapping[str, Cost | None]
    """One seed of every system, and all models of each role of operators; None where the cost
    cannot be estimated."""
    graph: Graph
    stages: Sequence[str] = ()
    """The names in `costs` that are stages before systems, which run with every seed too."""
    unreachable: Sequence[str] = ()
    """The names of pretrained models of systems, which training would need and cannot have."""


def check(experiments: Iterable[Experiment], graph: Graph) -> None:
    """Raise UserError for experiments that cannot be trained: files, columns, lines, keys, sizes.

    Texts are read and operators fitted; earlier stages and the models of operators are checked too.
    """
    listed, store = list(experiments), graph.store
    for experiment in listed:
        experiment.execution.check(experiment.training.workers)
    for experiment in _distinct(listed):
        texts = _texts(experiment, store)
        learned_from = cached_corpus(experiment.first.corpus, "train", store.root)
        for operator in experiment.augment:
            for text in planning.extra_texts(operator).values():
                cached_corpus(text, "train", store.root)
            operator.check_text(pipeline.first_records(texts["train"], operator))
            fitted = pipeline.fit(learned_from, operator, store, execution=experiment.execution)
            if isinstance(operator, Fitted):
                operator.check_fitted(fitted)
        for test in experiment.test_sets:
            stored_references(experiment.corpus, test, texts[test], store)
            if noise := experiment.corpus.noise(test):
                check_noise(texts[test], noise)
        for name in experiment.scoring.metrics:
            registry.metric_class(name).require()
        find_task(experiment.task).check(experiment, store)
        _check_held_out(experiment, graph)
        for operator, models in zip(experiment.augment, experiment.models, strict=True):
            for role, model in models.items():
                if isinstance(model, ReadyModel):
                    assert isinstance(operator, UsesModels)
                    operator.check_model(role, ready_views(model))
        check([*filter(None, [experiment.before]), *experiment.model_experiments.values()], graph)


def report(systems: Mapping[str, Experiment], store: Store) -> Report:
    """Check the systems of an experiment; return a report of their texts and estimated cost."""
    graph = Graph(store)
    check(systems.values(), graph)
    graph.add({name: canonical(system, store).experiment for name, system in systems.items()})
    earlier = graph.earlier_stages
    trained = {name: plan.experiment for name, plan in earlier.items()} | dict(systems)
    texts: dict[str, TextSummary] = {}
    for name, experiment in trained.items():
        for text in _read_texts(experiment, store):
            label = (
                text.name
                if text.name not in {known.name for known in texts.values()}
                else f"{text.name} of {name}"
            )
            texts.setdefault(text.address, replace(text, name=label))
    missing = missing_models(systems.values())
    cautioned = [
        *missing.values(),
        *_leaks(trained, store),
        *text_cautions(trained.values(), store),
        *_controls(texts.values(), store),
        *label_doubts(sum((Counter(text.labels) for text in texts.values()), Counter())),
        *_imbalances(texts.values(), systems.values()),
        *(
            caution
            for system in _distinct(systems.values())
            for caution in _check_held_out(system, graph)
        ),
        *cautions(systems.values()),
    ]
    costs = estimates(graph)
    cautioned += _too_late(trained, costs)
    own = {model.name for system in systems.values() if (model := pretrained_model(system))}
    unreachable = [name for name in missing if name in own]
    return Report(list(texts.values()), cautioned, costs, graph, list(earlier), unreachable)


def estimates(graph: Graph, execution: Execution | None = None) -> dict[str, Cost | None]:
    """Return the cost of one seed of every system and stage before one, and of all seeds of the
    models that operators use.

    Trainings that systems share, with each other or with models, are counted once. `execution`
    overrides that of the experiments.
    """
    store = graph.store
    costs = {
        name: seed_cost(plan.experiment, store, execution)
        for name, plan in (graph.earlier_stages | graph.systems).items()
    }
    for address, seeds in graph.models_of_operators.items():
        cost_of_seed = seed_cost(graph.plans[address].experiment, store, execution)
        costs[graph.names[Step(address, seeds[0])]] = _multiply(len(seeds), cost_of_seed)
    return costs


def cautions(experiments: Iterable[Experiment]) -> list[str]:
    """Return the warnings that users should see before anything runs."""
    listed = list(experiments)
    slow = any(
        experiment.training.precision == "bf16"
        and not (uses_gpu(experiment.execution) or cpu_is_fast_in_bfloat16())
        for experiment in listed
    )
    return [SLOW] * slow + [NO_TESTS] * (not any(experiment.test_sets for experiment in listed))


def text_cautions(experiments: Iterable[Experiment], store: Store) -> list[str]:
    """Return warnings on texts that are not in their languages, and on tests that repeat the
    validation text."""
    cautioned: dict[str, None] = {}
    for experiment in _distinct(experiments):
        texts = _texts(experiment, store)
        for name, corpus in texts.items():
            cautioned.update(dict.fromkeys(doubts(name, corpus)))
        for name in experiment.test_sets:
            if not experiment.corpus.is_validation(name):
                caution = _repeats_validation(name, texts[name], texts["valid"])
                cautioned.update({caution: None} if caution else {})
    return list(cautioned)


def _repeats_validation(name: str, test: Corpus, valid: Corpus) -> str:
    """Return the warning on a test set that shares a tenth or more of its records with the
    validation text; empty for others."""
    count = overlap(valid, test)
    if count < test.rows / 10:
        return ""
    return (
        f"{count:,} of the {test.rows:,} {test.noun} of '{name}' {_are(count)} in the validation "
        "set too, on which weights are chosen and training ends: scores on it are too good; give "
        f"another test set, or say that it is meant, tests: {{{name}: {{validation: true}}}}"
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _distinct(experiments: Iterable[Experiment]) -> list[Experiment]:
    """Return the experiments without those that check the same."""
    distinct: dict[str, Experiment] = {}
    for experiment in experiments:
        distinct.setdefault(
            config.address(experiment.model_dump(mode="json", exclude=UNCHECKED)), experiment
        )
    return list(distinct.values())


def _texts(experiment: Experiment, store: Store) -> dict[str, Corpus]:
    """Return the corpora of all splits."""
    spec = experiment.corpus
    if "train" not in spec.splits():
        raise UserError("the corpus has no train: give corpus.train, or a known set that has one")
    spec.resolve("valid")  # says what to do where there is none
    splits = ("train", *dev_sets(experiment), *experiment.test_sets)
    return {split: cached_corpus(spec, split, store.root, experiment.execution) for split in splits}


def _read_texts(experiment: Experiment, store: Store) -> Iterator[TextSummary]:
    """Yield the texts of all splits, those of a mixture one by one."""
    for split, corpus in _texts(experiment, store).items():
        mixture = experiment.corpus.mixture if split == "train" else {}
        for name, spec in mixture.items():
            yield _read(f"{split} {name}", spec, split, cached_corpus(spec, split, store.root))
        if not mixture:
            yield _read(split, experiment.corpus, split, corpus)


def _read(name: str, spec: BaseSpec, split: str, corpus: Corpus) -> TextSummary:
    manifest, part = corpus.manifest, spec.resolve(split)
    # Of training text, listed there.
    rejected = {} if part.every and split == "valid" else manifest["rejected"]
    left_out = [
        _left_out(reason, rows, part, manifest.get("examples", {}).get(reason, ()))
        for reason, rows in rejected.items()
    ]
    labels = label_counts(corpus) if KINDS[corpus.kind].target == LABEL else {}
    return TextSummary(
        name, part.languages, manifest["rows_in"], corpus.rows, left_out, corpus.address, labels
    )


def _left_out(
    reason: str, rows: int, part: ResolvedSplit, examples: Sequence[Mapping[str, str]]
) -> LeftOutRows:
    key = REASON_SETTINGS.get(reason)
    if key is None:
        return LeftOutRows(reason, rows, None, None, examples)
    if reason == REASONS[NOT_SELECTED] and part.text.portion and not part.text.where:
        key, examples = "{split}.portion", ()  # other rows of it, which say nothing
    section, _, name = key.partition(".")
    cleaning = {name: getattr(part.filter, name) for name in type(part.filter).model_fields}
    held: Mapping[str, Any] = {"filter": cleaning, "{split}": part.text.to_dict()}.get(section, {})
    text = part.name if part.name in ("train", "valid") else f"tests.{part.name}"
    return LeftOutRows(
        reason, rows, f"corpus.{key.format(split=text)}", held.get(name, part.every), examples
    )


def _too_late(systems: Mapping[str, Experiment], costs: Mapping[str, Cost | None]) -> list[str]:
    """Return a warning for every system whose training ends before all of it acts, by the
    estimated updates of an epoch."""
    cautioned = []
    for name, experiment in systems.items():
        training, cost = experiment.training, costs.get(name)
        if cost is None or experiment.before:
            continue
        onset = experiment.regime.onset(cost.updates_per_epoch)
        if onset and onset >= cost.updates:
            cautioned.append(f"{name}, about: {late_onset(onset, cost.updates)}")
        if training.warmup_share is None and training.warmup_updates >= cost.updates:
            cautioned.append(
                f"{name}: the learning rate rises until update {training.warmup_updates:,}, and "
                f"training ends after about {cost.updates:,}, so that it never reaches its peak: "
                "lower training.warmup_updates, or raise training.max_epochs or "
                "training.max_updates"
            )
    return cautioned


def _leaks(systems: Mapping[str, Experiment], store: Store) -> list[str]:
    """Return a warning for every set that shares records with the training text."""
    shared: dict[str, str] = {}
    for experiment in systems.values():
        texts = _texts(experiment, store)
        train = texts["train"]
        names: dict[str, str] = {}
        for name, corpus in texts.items():
            key = f"{train.address} {corpus.address}"
            if name != "train" and key not in shared:
                names.setdefault(key, name)
        counts = overlaps(train, [texts[name] for name in names.values()])
        for (key, name), count in zip(names.items(), counts, strict=True):
            corpus = texts[name]
            leak = (
                f"{count:,} of the {corpus.rows:,} {corpus.noun} of '{name}' {_are(count)} in "
                "the training set too"
            )
            shared[key] = leak if count else ""
    return [leak for leak in shared.values() if leak]


def _check_held_out(experiment: Experiment, graph: Graph) -> list[str]:
    """Raise UserError where held-out text does not suit the model, by its tokenizer if it is
    there; return warnings."""
    tokenizer = graph.plan(experiment).tokenizer.folder
    texts = _texts(experiment, graph.store)
    held_out = {name: corpus for name, corpus in texts.items() if name != "train"}
    return find_task(experiment.task).check_held_out(
        experiment, tokenizer if usable(tokenizer) else None, held_out
    )


def _controls(texts: Iterable[TextSummary], store: Store) -> list[str]:
    """Return a warning for every text with characters that are invisible and change what tools
    read."""
    found = {text.name: Corpus.load(store, text.address).manifest.get("controls") for text in texts}
    return [
        f"{name} has characters that are not seen and stay in the text: {describe_controls(counts)}"
        for name, counts in found.items()
        if counts
    ]


def _imbalances(texts: Iterable[TextSummary], systems: Iterable[Experiment]) -> list[str]:
    """Return a note on every text that models are judged on whose labels are imbalanced."""
    metrics = list(
        dict.fromkeys(
            metric
            for system in systems
            if system.scoring.MEASURES == "labels"
            for metric in system.scoring.metrics
        )
    )
    notes = (
        imbalance_note(text.name, text.labels, metrics)
        for text in texts
        if metrics and text.name.partition(" ")[0] != "train"
    )
    return [note for note in notes if note]


def seed_cost(
    experiment: Experiment, store: Store, execution: Execution | None = None
) -> Cost | None:
    """Estimate the cost of one seed."""
    if execution is not None:
        experiment = experiment.model_copy(update={"execution": execution})
    size = find_task(experiment.task).size(experiment.first, store)
    if size is None:
        return None
    train, shares = cached_corpus(experiment.corpus, "train", store.root), experiment.corpus.shares
    rows = {name: end - start for name, start, end in row_ranges(train)}
    read = {name: shares[name].weight * count for name, count in rows.items()}
    counts = _words(experiment, read, store)
    plain = sum(read.values())
    all_rows = plain + sum(
        _records(operator, experiment, rows, read, store) for operator in experiment.augment
    )
    words = counts if size.target else [sum(counts)]
    text = Text(max(1, round(all_rows)), words, max(1, round(plain)))
    return cost(experiment, size, text)


def _words(experiment: Experiment, read: Mapping[str, float], store: Store) -> list[float]:
    """Estimate the mean words of each side of a row, from the middle shard of every text."""
    texts = experiment.corpus.mixture or {"train": experiment.corpus}
    counts = []
    for name in read:
        text = cached_corpus(texts[name], "train", store.root)
        shard = text.shard(text.shards[len(text.shards) // 2], KINDS[text.kind].sentences)
        counts.append(
            [float(word_counts(column.combine_chunks()).mean()) for column in shard.columns]
        )
    weights = np.array([*read.values()])
    return list(np.average(counts, axis=0, weights=weights if weights.any() else None).tolist())


def _records(
    operator: Operator,
    experiment: Experiment,
    rows: Mapping[str, int],
    read: Mapping[str, float],
    store: Store,
) -> float:
    """Estimate the rows of an operator's records that an epoch reads, given those of the training
    texts."""
    if operator.makes() != RECORDS or not isinstance(operator, MakesRecords):
        return 0
    subset = operator.of if isinstance(operator, TextSubset) else ()
    of = [name for name in rows if name in subset or not subset]
    texts = {
        name: cached_corpus(spec, "train", store.root).rows
        for name, spec in planning.extra_texts(operator).items()
    }
    share = experiment.mixture.get(operator.name())
    parents = sum((read if share is None else rows)[name] for name in of)
    return operator.expected_records(parents, texts) * (1 if share is None else share.weight)


def _multiply(count: int, cost: Cost | None) -> Cost | None:
    return cost and cost._replace(seconds=cost.seconds * count, bytes=cost.bytes * count)
