"""Notes on a comparison: how scores were measured, what was held equal in training, and what
cannot be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from augury.core.store import Folder
from augury.corpora.corpus import KINDS, Corpus
from augury.corpora.labels import LABEL, label_counts
from augury.experiments.record import Cost
from augury.reporting import run_files
from augury.reporting.results import ADD_A_SEED, MEAN, WIDE, Estimate, SystemResult, on_one_device
from augury.scoring.imbalance import imbalance_note
from augury.scoring.registry import bounds, lower_is_better, segment_noun, title

WEIGHTS = {
    "averaged": "the mean of the last checkpoints",
    "last": "the last checkpoint",
    "best": "the best on validation",
}
PATIENCE = ("patience", "patience_mean")


FEWEST_EXAMPLES = 6
"""Of which a system alone is right where it is better at 5 %: 2 x 0.5^6 = 0.03 in McNemar's exact
test, twice as much with five."""


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
    lines, deciding, noun = [], metrics[0], segment_noun(metrics[0])
    for metric in metrics:
        direction = ", lower is better" if lower_is_better(metric) else ""
        estimates = [score for result in results if (score := result.score(test, metric))]
        for signature, n in dict.fromkeys((score.signature, score.n) for score in estimates):
            lines.append(f"{title(metric)}: {signature}, n = {n:,}{direction}")
    seeds = {result.name: ", ".join(map(str, result.runs)) for result in results}
    lines.append(f"seeds: {_summarise_values(seeds)}")
    known = {result.name: score for result in results if (score := result.score(test, deciding))}
    if wide := [name for name, score in known.items() if score.needs_a_seed]:
        lines.append(
            f"{ADD_A_SEED}, which makes the interval much smaller: {', '.join(wide)} (it is "
            f"over {WIDE:g} times as wide as over {noun} alone)"
        )
    several = any(len(score.seeds) > 1 for score in known.values())
    over_seeds = ", with Student's t over seeds" if several else ""
    return [*lines, f"intervals: bootstrap over {noun}{over_seeds}"]


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


def ceiling_notes(results: Sequence[SystemResult], test: str, metric: str) -> list[str]:
    """Return a note on a test set that the baseline has too few wrong labels of for a better
    system to be told from it."""
    score = results[0].score(test, metric)
    if score is None or test == MEAN or len(results) < 2 or segment_noun(metric) != "examples":
        return []
    wrong = (bounds(metric)[1] - score.value) / 100 * score.n
    if round(wrong, 6) >= FEWEST_EXAMPLES:
        return []
    return [
        f"{results[0].name} has {score.value:.1f} % {title(metric)} on {test}, {wrong:.2g} of "
        f"{score.n:,} examples wrong: this test set cannot show a gain, which takes "
        f"{FEWEST_EXAMPLES}"
    ]


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
    deciding = metrics[0]
    scored = [result for result in results if result.score(test, deciding)]
    unknown = [result.name for result in scored if result.samples(test, deciding) is None]
    if unknown and len(results) > 1:
        lines.append(
            f"not tested, as the counts of {segment_noun(deciding)} are gone: "
            f"{', '.join(unknown)}; remove scores.json from the runs and give the command again "
            "that made them"
        )
    for metric in metrics:
        estimates = [score for result in results if (score := result.score(test, metric))]
        if len(set(map(measured, estimates))) > 1:
            lines.append(
                f"{title(metric)} was not measured in the same way for all systems: do not compare "
                "it"
            )
    if others := [
        result.name for result in scored if texts_of(result, test) != texts_of(scored[0], test)
    ]:
        lines.append(
            f"{test} is another text for {', '.join(others)} than for {scored[0].name}: not "
            "compared"
        )
    for result in results:
        known = {name: result.score(name, deciding) for name in result.tests}
        seeds = {name: score.seeds for name, score in known.items() if score}
        if len(set(seeds.values())) > 1:
            listed = "; ".join(f"{name}: {', '.join(map(str, of))}" for name, of in seeds.items())
            lines.append(
                f"{result.name}: test sets are scored for different seeds ({listed}) and have no "
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
    kinds = {
        name: " or ".join(WEIGHTS[kind] for kind in dict.fromkeys(cost.weights))
        for name, cost in costs.items()
    }
    warm: dict[str, list[str]] = {}
    for name, cost in costs.items():
        if cost.onset:
            warm.setdefault(f"after update {cost.onset:,.0f}", []).append(name)
    ends = "; ".join(f"{end} for {', '.join(names)}" for end, names in warm.items())
    pieces = {name: f"{sum(cost.pieces.values()):.1f}" for name, cost in costs.items()}
    return [
        _budget_note(results),
        "epochs: passes over the original text / each further view",
        f"weights: {_summarise_values(kinds)}",
        *_cost_notes(costs),
        *([f"the warm-up of the additional loss or attack ends {ends}"] if warm else []),
        f"subwords in a training example, before augmentation: {_summarise_values(pieces)}",
    ]


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
            "models that make its text, with the time of making it; updates and epochs of the last "
            f"one alone: {', '.join(several)}"
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
