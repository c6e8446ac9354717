"""Reasons to doubt an experiment's results, or to expect its end, before anything is trained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from augury.augment.models import ReadyModel
from augury.core.progress import say
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.identification import doubts
from augury.corpora.ingest import overlap, overlap_note, overlap_notes
from augury.corpora.labels import label_doubts
from augury.corpora.records import describe_controls
from augury.execution.summaries import TextSummary, distinct_texts, texts_of
from augury.experiments.cost import Cost, cpu_is_fast_in_bfloat16, uses_gpu
from augury.experiments.spec import Experiment
from augury.models import pretrained
from augury.regimes.regime import late_onset
from augury.runs.stored_runs import NO_TESTS
from augury.scoring.imbalance import imbalance_note

SLOW = (
    "training.precision bf16 is for GPUs and for CPUs that multiply bfloat16 faster than float32 "
    "(AMX, or AMD's AVX-512): on this machine it may take two to ten times as long as fp32"
)


def say_cautions(experiments: Sequence[Experiment], store: Store) -> None:
    """Log the warnings that users should see before anything runs."""
    for caution in cautions(experiments):
        say(caution)
    for caution in text_cautions(experiments, store):
        say(f"warning: {caution}")


def cautions(experiments: Iterable[Experiment]) -> list[str]:
    """Return warnings on the settings of experiments."""
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
    cautioned: dict[tuple[str, ...], Sequence[str]] = {}  # systems share most texts
    for experiment in distinct_texts(experiments):
        texts = texts_of(experiment, store)
        for name, corpus in texts.items():
            text = (name, corpus.address)
            if text not in cautioned:
                cautioned[text] = doubts(name, corpus)
        for name in experiment.test_sets:
            test, valid = texts[name], texts["valid"]
            pair = (name, test.address, valid.address)
            if pair not in cautioned and not experiment.corpus.is_validation(name):
                cautioned[pair] = _repeats_validation(name, test, valid)
    return list(dict.fromkeys(chain.from_iterable(cautioned.values())))


def label_cautions(texts: Sequence[TextSummary], systems: Iterable[Experiment]) -> list[str]:
    """Return warnings on labels that look alike, and notes on texts of imbalanced ones."""
    labels = sum((Counter(text.labels) for text in texts), Counter[str]())
    return [*label_doubts(labels), *_imbalances(texts, systems)]


def leaks(systems: Mapping[str, Experiment], store: Store) -> list[str]:
    """Return a warning for every set that shares records with the training text."""
    trains: dict[str, Corpus] = {}
    held_out: dict[str, dict[str, tuple[str, Corpus]]] = {}
    for experiment in systems.values():
        texts = texts_of(experiment, store)
        train = texts.pop("train")
        trains[train.address] = train
        of_train = held_out.setdefault(train.address, {})
        for name, corpus in texts.items():
            of_train.setdefault(corpus.address, (name, corpus))
    notes: list[str] = []
    for address, train in trains.items():
        notes += overlap_notes(train, held_out[address].values())
    return list(dict.fromkeys(notes))


def control_characters(texts: Iterable[TextSummary], store: Store) -> list[str]:
    """Return a warning for every text with characters that are invisible and change what tools
    read."""
    notes = []
    for text in texts:
        if counts := Corpus.load(store, text.address).manifest.get("controls"):
            shown = describe_controls(counts)
            notes.append(
                f"{text.name} has characters that are not seen and stay in the text: {shown}"
            )
    return notes


def too_late(systems: Mapping[str, Experiment], costs: Mapping[str, Cost | None]) -> list[str]:
    """Return a warning for every system of which all acts in less than half of its training, by
    the estimated updates of an epoch."""
    cautioned = []
    for name, experiment in systems.items():
        training, cost = experiment.training, costs.get(name)
        if cost is None or experiment.before:
            continue
        onset = experiment.regime.onset(cost.updates_per_epoch)
        if late := late_onset(onset, cost.updates):
            cautioned.append(f"{name}, about: {late}")
        if training.warmup_share is None and training.warmup_updates >= cost.updates:
            cautioned.append(
                f"{name}: the learning rate rises until update {training.warmup_updates:,}, and "
                f"training ends after about {cost.updates:,}, so that it never reaches its peak: "
                "lower training.warmup_updates, or raise training.max_epochs or "
                "training.max_updates"
            )
    return cautioned


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


def _repeats_validation(name: str, test: Corpus, valid: Corpus) -> list[str]:
    """Return the warning on a test set that shares a tenth or more of its records with the
    validation text; empty for others."""
    count = overlap(valid, test)
    if count < test.rows / 10:
        return []
    return [
        f"{overlap_note(count, name, test, 'validation')}, on which weights are chosen and "
        "training ends: scores on it are too good; give another test set, or say that it is "
        f"meant, tests: {{{name}: {{validation: true}}}}"
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
