"""Check an experiment before it runs: faults, rows left out of its texts, estimated cost, and what
its results will not show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import Any

from augury.augment import pipeline
from augury.augment.models import ReadyModel
from augury.core.errors import UserError
from augury.core.locks import usable
from augury.core.messages import say
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.filters import NOT_SELECTED, REASON_SETTINGS, REASONS
from augury.corpora.identification import language_warnings, marks_of_tools
from augury.corpora.ingest import (
    cached_corpus,
    overlap_warning,
    overlap_warnings,
    overlaps,
)
from augury.corpora.labels import LABEL, label_counts
from augury.corpora.spec import BaseSpec, ResolvedSplit, text_key
from augury.experiments.cost import TrainingEstimate, estimate_seed, uses_gpu
from augury.experiments.graph import Graph, Step, validation_sets
from augury.experiments.spec import Experiment
from augury.experiments.stored_runs import NO_TESTS
from augury.experiments.task import find_task
from augury.models import pretrained
from augury.models.settings import model_directory
from augury.regimes.regime import late_onset
from augury.scoring import registry
from augury.scoring.trivial import imbalance_warning


@dataclass(frozen=True)
class Findings:
    """The texts, warnings and estimated cost of an experiment."""

    texts: Sequence[TextSummary]
    warnings: Sequence[str]
    """What its results will not show, or show wrongly."""
    costs: Mapping[str, TrainingEstimate | None]
    """One seed of every training; None where the cost cannot be estimated."""
    graph: Graph
    unreachable: Sequence[str] = ()
    """The names of pretrained models of systems, which training would need and cannot have."""


def check(experiments: Iterable[Experiment], graph: Graph) -> None:
    """Raise UserError for experiments that cannot be trained: files, columns, lines, keys, sizes.

    Texts are read and operators fitted; earlier stages and the models of operators are checked too.
    """
    store = graph.store
    for experiment in experiments:
        experiment.execution.check(experiment.training.workers)
        texts = texts_of(experiment, store)
        learned_from = cached_corpus(experiment.first.corpus, "train", store.root)
        for operator in experiment.augment:
            for text in operator.texts().values():
                cached_corpus(text, "train", store.root)
            operator.check_text(pipeline.first_records(texts["train"], operator))
            how = experiment.execution
            operator.check_fitted(pipeline.fit(learned_from, operator, store, how))
        for test in experiment.test_sets:
            if noise := experiment.corpus.noise(test):
                from augury.augment.noise import check_noise  # few files have such tests

                check_noise(texts[test], noise, learned_from)
        for name in experiment.scoring.metrics:
            registry.metric_class(name).require()
        if experiment.pretrained:
            model_directory(experiment.pretrained.name)
        find_task(experiment.task).check(experiment, store)
        tokenizer = graph.plan(experiment).tokenizer.folder
        if usable(tokenizer):
            held_out = {name: corpus for name, corpus in texts.items() if name != "train"}
            find_task(experiment.task).check_held_out(experiment, tokenizer, held_out)
        for operator, models in zip(experiment.augment, experiment.models, strict=True):
            for role, model in models.items():
                if isinstance(model, ReadyModel):
                    from augury.experiments.ready_models import ready_inputs

                    operator.check_model(role, ready_inputs(model), experiment.corpus.languages)
        check([*filter(None, [experiment.before]), *experiment.model_experiments.values()], graph)


def examine(systems: Mapping[str, Experiment], store: Store) -> Findings:
    """Check the systems of an experiment; return findings on their texts and estimated cost."""
    graph = Graph(store)
    check(systems.values(), graph)
    graph.add(systems)
    scored = {step.address for step in graph.scored}
    plans = {graph.names[Step(address)]: plan for address, plan in graph.plans.items()}
    trained = {name: plan.experiment for name, plan in plans.items() if plan.address in scored}
    costs = {name: estimate_seed(plan.experiment, store) for name, plan in plans.items()}
    texts = summarise(trained, store)
    missing = missing_models(systems.values())
    own = {model.name for system in systems.values() if (model := system.pretrained)}
    return Findings(
        texts=texts,
        warnings=[
            *missing.values(),
            *leaks(trained, store),
            *text_warnings(trained.values(), store),
            *label_warnings(texts, systems.values()),
            *setting_warnings(systems.values()),
            *too_late(trained, costs),
        ],
        costs=costs,
        graph=graph,
        unreachable=[name for name in missing if name in own],
    )


SLOW = (
    "training.precision bf16 is for GPUs and for CPUs that multiply bfloat16 faster than float32 "
    "(AMX, or AMD's AVX-512): on others it takes two to ten times as long as fp32"
)


def say_warnings(experiments: Sequence[Experiment], store: Store) -> None:
    """Log the warnings that users should see before anything runs."""
    for warning in setting_warnings(experiments):
        say(warning)
    for warning in text_warnings(experiments, store):
        say(f"warning: {warning}")


def setting_warnings(experiments: Iterable[Experiment]) -> list[str]:
    """Return warnings on the settings of experiments."""
    listed = list(experiments)
    slow = any(
        experiment.training.precision == "bf16" and not uses_gpu(experiment.execution)
        for experiment in listed
    )
    return [SLOW] * slow + [NO_TESTS] * (not any(experiment.test_sets for experiment in listed))


def text_warnings(experiments: Iterable[Experiment], store: Store) -> list[str]:
    """Return warnings on texts that are not in their languages or were made by tools, and on tests
    that repeat the validation text."""
    warnings: list[str] = []
    for experiment, texts in distinct_texts(experiments, store):
        for name, _, _, corpus in _each_text(experiment, store):
            warnings += [*language_warnings(name, corpus), *marks_of_tools(name, corpus)]
        for name in experiment.test_sets:
            if experiment.corpus.is_validation(name):
                continue
            test, valid = texts[name], texts["valid"]
            (count,) = overlaps(valid, [test])
            if count >= test.rows / 10:
                warnings.append(
                    f"{overlap_warning(count, name, test, 'validation')}, on which weights are "
                    "chosen and training ends: scores on it are too good; give another test set, "
                    f"or say that it is meant, tests: {{{name}: {{validation: true}}}}"
                )
    return list(dict.fromkeys(warnings))


def leaks(systems: Mapping[str, Experiment], store: Store) -> list[str]:
    """Return a warning for every set that shares records with the training text."""
    warnings: list[str] = []
    for _, texts in distinct_texts(systems.values(), store):
        warnings += overlap_warnings(texts.pop("train"), [*texts.items()])
    return list(dict.fromkeys(warnings))


def too_late(
    systems: Mapping[str, Experiment], costs: Mapping[str, TrainingEstimate | None]
) -> list[str]:
    """Return a warning for every system of which all acts in less than half of its training, by
    the estimated updates of an epoch."""
    warnings = []
    for name, experiment in systems.items():
        training, cost = experiment.training, costs.get(name)
        if cost is None or (experiment.stage and experiment.stage.carry == "optimizer"):
            continue
        onset = experiment.regime.onset(cost.updates_per_epoch)
        if late := late_onset(onset, cost.updates):
            warnings.append(f"{name}, about: {late}")
        if training.warmup_share is None and training.warmup_updates > cost.updates:
            warnings.append(
                f"{name}: the learning rate rises until update {training.warmup_updates:,}, and "
                f"training ends after about {cost.updates:,}, so that it never reaches its peak: "
                "lower training.warmup_updates, or raise training.max_epochs or "
                "training.max_updates"
            )
    return warnings


def missing_models(experiments: Iterable[Experiment]) -> dict[str, str]:
    """Return warnings on pretrained models, and those of operators, that cannot be had here, by
    their names."""
    listed = list(experiments)
    listed += [model for experiment in listed for model in experiment.model_experiments.values()]
    advice: dict[tuple[str, str | None], str] = {}
    for experiment in listed:
        if model := experiment.pretrained:
            advice[model.name, model.revision] = (
                "give model.name the path of a directory that save_pretrained wrote, or train "
                "from nothing, model: {architecture: tiny}"
            )
        for operator, roles in zip(experiment.augment, experiment.models, strict=True):
            for role, ready in roles.items():
                if isinstance(ready, ReadyModel) and ready.checkpoint:
                    advice[ready.checkpoint, ready.revision] = (
                        f"give the {role} of operator {operator.operator} as the path of a "
                        "directory that save_pretrained wrote"
                    )
    return {
        name: f"the pretrained model {name} cannot be had here, and training would end with that: "
        f"there is no such directory, and no hub that has it can be reached ({reason:.200}); "
        f"{remedy}"
        for (name, revision), remedy in advice.items()
        if (reason := pretrained.unreachable(name, revision))
    }


def label_warnings(texts: Sequence[TextSummary], systems: Iterable[Experiment]) -> list[str]:
    """Return warnings of imbalanced labels of texts that models are judged on."""
    of_labels = (system.scoring for system in systems if system.scoring.MEASURES == "labels")
    metrics = list(dict.fromkeys(name for scoring in of_labels for name in scoring.metrics))
    judged = [text for text in texts if metrics and text.name.partition(" ")[0] != "train"]
    warnings = [imbalance_warning(text.name, text.labels, metrics) for text in judged]
    return list(filter(None, warnings))


@dataclass(frozen=True)
class LeftOutRows:
    """Rows of a text that were left out of the corpus for one reason."""

    reason: str
    rows: int
    setting: str | None
    """The dotted key of the filter; None where no setting keeps such rows."""
    value: Any


@dataclass(frozen=True)
class TextSummary:
    """The size of a text, and the rows left out of it."""

    name: str
    languages: Sequence[str]
    rows_in: int
    """Rows of the file that are part of the text."""
    rows: int
    left_out: Sequence[LeftOutRows]
    address: str
    labels: Mapping[str, int] = field(default_factory=dict)
    """The rows with each label, the most frequent first; empty for text without labels."""


def texts_of(experiment: Experiment, store: Store) -> dict[str, Corpus]:
    """Return the corpora of all splits of an experiment, made unless the store has them."""
    spec = experiment.corpus
    if "train" not in spec.splits():
        raise UserError("the corpus has no train: give corpus.train, or a known set that has one")
    spec.resolve("valid")  # says what to do where there is none
    splits = ("train", *validation_sets(experiment), *experiment.test_sets)
    return {split: cached_corpus(spec, split, store.root) for split in splits}


def distinct_texts(
    experiments: Iterable[Experiment], store: Store
) -> list[tuple[Experiment, dict[str, Corpus]]]:
    """Return the corpora of experiments, with the first experiment that has them: systems share
    most."""
    distinct: dict[tuple[tuple[str, str], ...], tuple[Experiment, dict[str, Corpus]]] = {}
    for experiment in experiments:
        texts = texts_of(experiment, store)
        addresses = tuple((split, corpus.address) for split, corpus in texts.items())
        distinct.setdefault(addresses, (experiment, texts))
    return list(distinct.values())


def summarise(experiments: Mapping[str, Experiment], store: Store) -> list[TextSummary]:
    """Return the texts of experiments, each once, under names of their own."""
    texts: dict[str, TextSummary] = {}
    for experiment_name, experiment in experiments.items():
        for text in starmap(_summary, _each_text(experiment, store)):
            names = {known.name for known in texts.values()}
            name = text.name if text.name not in names else f"{text.name} of {experiment_name}"
            texts.setdefault(text.address, replace(text, name=name))
    return list(texts.values())


def _each_text(experiment: Experiment, store: Store) -> Iterator[tuple[str, BaseSpec, str, Corpus]]:
    """Yield the name, settings, split and corpus of every text, several of training one by one."""
    for split, corpus in texts_of(experiment, store).items():
        mixture = experiment.corpus.mixture if split == "train" else {}
        for name, spec in mixture.items():
            yield f"{split} {name}", spec, split, cached_corpus(spec, split, store.root)
        if not mixture:
            yield split, experiment.corpus, split, corpus


def _summary(name: str, spec: BaseSpec, split: str, corpus: Corpus) -> TextSummary:
    manifest, part = corpus.manifest, spec.resolve(split)
    # Of training text, listed there.
    rejected = {} if part.every and split == "valid" else manifest["rejected"]
    left_out = [_left_out(reason, rows, part) for reason, rows in rejected.items()]
    labels = label_counts(corpus) if corpus.kind.target == LABEL else {}
    read = manifest["rows_in"]
    return TextSummary(name, part.languages, read, corpus.rows, left_out, corpus.address, labels)


def _left_out(reason: str, rows: int, part: ResolvedSplit) -> LeftOutRows:
    key = REASON_SETTINGS.get(reason)
    if key is None:
        return LeftOutRows(reason, rows, None, None)
    if reason == REASONS[NOT_SELECTED] and part.text.portion and not part.text.where:
        key = "{split}.portion"
    section, _, name = key.partition(".")
    held = dict(part.filter) if section == "filter" else part.text.to_dict()
    setting = f"corpus.{key.format(split=text_key(part.name))}"
    return LeftOutRows(reason, rows, setting, held.get(name, part.every))
