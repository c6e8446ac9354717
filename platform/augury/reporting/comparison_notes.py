"""Notes on a comparison: how scores were measured, what was held equal in training, and what
cannot be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from augury.core.store import Folder
from augury.corpora.corpus import KINDS, Corpus
from augury.corpora.labelled import LABEL, label_counts
from augury.reporting import run_files
from augury.reporting.results import ADD_A_SEED, MEAN, WIDE, Estimate, SystemResult, on_one_device
from augury.runs.record import Cost
from augury.scoring.imbalance import imbalance_note
from augury.scoring.registry import lower_is_better, segment_noun, title

WEIGHTS = {
    "averaged": "the mean of the last checkpoints",
    "last": "the last checkpoint",
    "best": "the best on validation",
}
PATIENCE = ("patience", "patience_mean")


def measured(score: Estimate) -> tuple[str, int]:
    """Return how a score was measured: scores with equal values can be compared."""
    return score.measure, score.n


def texts_of(result: SystemResult, test: str) -> dict[str, str]:
    """Return the addresses of a test set's text, or of the texts of all sets for their mean.

    Empty for files.
    """
    tests = result.tests if test == MEAN else [test]
    return {role: address for role, address in result.record.addresses.items() if role in tests}


def measurement_notes(
    results: Sequence[SystemResult], test: str, metrics: Sequence[str]
) -> list[str]:
    """Return notes on how scores and intervals were measured."""
    lines = []
    for metric in metrics:
        estimates = [
            result.tests[test][metric] for result in results if metric in result.tests.get(test, {})
        ]
        for signature, n in dict.fromkeys(
            (estimate.signature, estimate.n) for estimate in estimates
        ):
            direction = ", lower is better" if lower_is_better(metric) else ""
            lines.append(f"{title(metric)}: {signature}, n = {n:,}{direction}")
    lines.append(
        "seeds: "
        + _summarise_values({result.name: ", ".join(map(str, result.runs)) for result in results})
    )
    if wide := [
        result.name
        for result in results
        if (score := result.tests.get(test, {}).get(metrics[0])) and score.needs_a_seed
    ]:
        lines.append(
            f"{ADD_A_SEED}, which makes the interval much smaller: {', '.join(wide)} (it is "
            f"over {WIDE:g} times as wide as over {segment_noun(metrics[0])} alone)"
        )
    several = any(
        len(result.tests[test][metrics[0]].seeds) > 1
        for result in results
        if metrics[0] in result.tests.get(test, {})
    )
    lines.append(
        f"intervals: bootstrap over {segment_noun(metrics[0])}"
        + (", with Student's t over seeds" if several else "")
    )
    return lines


def imbalance_notes(
    results: Sequence[SystemResult], test: str, metrics: Sequence[str]
) -> list[str]:
    """Return a note on a test set one of whose labels is most of it, with what always answering
    it scores."""
    of_labels = tuple(name for name in metrics if segment_noun(name) == "examples")
    runs = (run for result in results for run in result.runs.values())
    run = next((run for run in runs if run_files.is_described(run)), None)
    corpus = run_files.test_corpus(run, test) if run and of_labels else None
    note = _imbalance_note(corpus.folder, test, of_labels) if corpus else None
    return [note] if note else []


@lru_cache(maxsize=64)  # the page of a running sweep is rendered repeatedly
def _imbalance_note(corpus: Folder, test: str, metrics: tuple[str, ...]) -> str | None:
    if KINDS[Corpus(corpus).kind].target != LABEL:
        return None
    return imbalance_note(test, label_counts(Corpus(corpus)), metrics)


def problem_notes(results: Sequence[SystemResult], test: str, metrics: Sequence[str]) -> list[str]:
    """Return notes on numbers that cannot be compared or are missing."""
    lines = [
        f"{result.name}: no scores yet for seed {', '.join(map(str, result.unscored))}"
        for result in results
        if result.unscored
    ]
    scored = [result for result in results if metrics[0] in result.tests.get(test, {})]
    unknown = [result.name for result in scored if metrics[0] not in result.resampled.get(test, {})]
    if unknown and len(results) > 1:
        lines.append(
            f"not tested, as the counts of {segment_noun(metrics[0])} are gone: "
            f"{', '.join(unknown)}; remove "
            "scores.json from the runs and give the command again that made them"
        )
    for metric in metrics:
        estimates = [
            result.tests[test][metric] for result in results if metric in result.tests.get(test, {})
        ]
        if len(set(map(measured, estimates))) > 1:
            lines.append(
                f"{title(metric)} was not measured in the same way for all systems: do not compare "
                "it"
            )
    other_text = [
        result.name for result in scored if texts_of(result, test) != texts_of(scored[0], test)
    ]
    if other_text:
        lines.append(
            f"{test} is another text for {', '.join(other_text)} than for {scored[0].name}: not "
            "compared"
        )
    for result in results:
        by_test = {
            name: estimates[metrics[0]].seeds
            for name, estimates in result.tests.items()
            if metrics[0] in estimates
        }
        if len(set(by_test.values())) > 1:
            seeds = "; ".join(
                f"{name}: {', '.join(map(str, scored))}" for name, scored in by_test.items()
            )
            lines.append(
                f"{result.name}: test sets are scored for different seeds ({seeds}) and have no "
                "mean"
            )
    costs = [result.cost for result in results if result.cost]
    if costs and not on_one_device(costs):
        lines.append("times were measured on different devices: do not compare them")
    return lines


def training_notes(results: Sequence[SystemResult]) -> list[str]:
    """Return notes on what was held equal between the systems, and on their training."""
    costs = {result.name: result.cost for result in results if result.cost}
    if not costs:
        return []
    lines = [
        _budget_note(results),
        "epochs: passes over the original text / each further view",
    ]
    kinds = {
        name: " or ".join(WEIGHTS[kind] for kind in dict.fromkeys(cost.weights))
        for name, cost in costs.items()
    }
    lines.append(f"weights: {_summarise_values(kinds)}")
    lines += _cost_notes(costs)
    warm: dict[str, list[str]] = {}
    for name, cost in costs.items():
        if cost.onset:
            warm.setdefault(f"after update {cost.onset:,.0f}", []).append(name)
    if warm:
        ends = "; ".join(f"{end} for {', '.join(names)}" for end, names in warm.items())
        lines.append(f"the warm-up of the additional loss or attack ends {ends}")
    pieces = {name: sum(cost.pieces.values()) for name, cost in costs.items()}
    lines.append(
        "subwords in a training example, before augmentation: "
        + _summarise_values({name: f"{count:.1f}" for name, count in pieces.items()})
    )
    return lines


def _cost_notes(costs: Mapping[str, Cost]) -> list[str]:
    """Return notes on systems whose cost is that of several trainings, and on what it leaves
    out."""
    lines = []
    if several := [
        f"{name} ({cost.trainings:g} trainings)"
        for name, cost in costs.items()
        if cost.trainings > 1
    ]:
        lines.append(
            "tokens seen and time are of all trainings behind a system, stages before it and "
            "models that make "
            "its text, with the time of making it; updates and epochs of the last one alone: "
            + ", ".join(several)
        )
    if trained_elsewhere := [name for name, cost in costs.items() if cost.uncounted]:
        lines.append(
            f"time leaves out models that were trained elsewhere: {', '.join(trained_elsewhere)}"
        )
    return lines


def _budget_note(results: Sequence[SystemResult]) -> str:
    """Return a note on the limits of training that are equal for all systems."""
    parameters = [result.record.parameters for result in results if result.cost]
    # Systems without records have none: their budget is the same in every unit.
    units = {settings.get("training.equal", "epochs") for settings in parameters} - {"epochs"}
    ends = {
        unit: {settings.get(f"training.max_{unit}") for settings in parameters}
        for unit in ("epochs", "updates", "minutes")
    }
    equal = [
        f"at most {limit:,} {unit}"
        for unit, (limit, *others) in ends.items()
        if limit and not others
    ]
    patience: set[tuple[Any, ...]] = {
        tuple(settings.get(f"training.{name}") for name in PATIENCE) for settings in parameters
    }
    stops = f", or until {_patience(*patience.pop())}" if len(patience) == 1 else ""
    counted = f" of the original text, counted in {units.pop()}" if len(units) == 1 else ""
    if not equal:
        return "training budget: not the same for all systems"
    return f"training budget of every system: {' and '.join(equal)}{counted}{stops}"


def _patience(allowed: int, mean_of: int | None) -> str:
    """Say when patience ends a training; runs from before `patience_mean` existed have none."""
    what = f" in the mean of the last {mean_of}" if mean_of and mean_of > 1 else ""
    return f"{allowed} validations bring no improvement{what}"


def _summarise_values(values: Mapping[str, str]) -> str:
    """Return the value that all systems share, or the value of each.

    Three and more that agree are `the others`.
    """
    (common, count), *_ = Counter(values.values()).most_common(1)
    if count == len(values):
        return common
    parts = [f"{name} {value}" for name, value in values.items() if value != common or count < 3]
    return "; ".join([*parts, *([f"the others {common}"] if count >= 3 else [])])


def cautions(results: Sequence[SystemResult]) -> list[str]:
    """Return the notes on the texts of all systems, each once."""
    return list(dict.fromkeys(note for result in results for note in result.notes))
