"""Test the differences of systems to a reference, with pooled variances between seeds and with an
eye on hardware.

Rounding differs between processors, devices and precisions, and moves a score as much as a seed
does. Where the seeds of two systems were trained on different hardware, and each seed of both on
the same, seeds are blocks and are paired. Where the systems of one seed were trained on different
hardware, their difference is not tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Literal, NamedTuple

from augury.core.errors import UserError
from augury.core.store import Store
from augury.reporting.resampling import stored_systems
from augury.reporting.results import SystemResult
from augury.scoring.bootstrap import Resampled
from augury.scoring.power import Components, components
from augury.scoring.registry import bounds, metric_class
from augury.scoring.seed_variance import (
    UNKNOWN,
    SeedVariance,
    block_variance,
    pool,
    sample_variance,
)
from augury.scoring.significance import (
    Difference,
    Method,
    compare_blocks,
    compare_by,
    interval,
    sentence_interval,
)

Layout = Literal["independent", "blocks", "confounded"]


@dataclass(frozen=True)
class Inference:
    """How differences are tested."""

    method: Method = "moderated"
    pair_seeds: bool = False
    """Pair seeds even where hardware does not ask for it: the systems of a seed have something
    in common."""
    stored: bool = False
    """Pool the variance with other systems that the storage has for the same training corpus and
    test set, too: more degrees of freedom, and p-values that change when other runs are stored."""


DEFAULT = Inference()


class Differences(NamedTuple):
    """The tested differences of one test set."""

    differences: list[Difference | None]
    """By system; None for the reference and where a difference is not tested."""
    notes: list[str]
    components: Components | None
    """Of the variance of a difference; None where no system has two seeds."""


def with_pooled_intervals(results: Sequence[SystemResult], test: str) -> list[SystemResult]:
    """Return the systems with intervals from variances between seeds that are shrunk to the
    pooled ones."""
    pooled = {}
    for metric in {metric for result in results for metric in result.resampled.get(test, {})}:
        known = [result.samples(test, metric) for result in results]
        pooled[metric] = pool([sample_variance(drawn) for drawn in known if drawn is not None])
    return [_with_intervals(result, test, pooled) for result in results]


def _with_intervals(
    result: SystemResult, test: str, pooled: Mapping[str, SeedVariance]
) -> SystemResult:
    estimates = dict(result.tests.get(test, {}))
    for metric, estimate in estimates.items():
        resampled = result.samples(test, metric)
        if resampled is not None and resampled.seeds > 1:
            between = interval(resampled, pooled[metric]).within(bounds(metric))
            over_sentences = astuple(sentence_interval(resampled))
            estimates[metric] = replace(
                estimate, low=between.low, high=between.high, over_sentences=over_sentences
            )
    return replace(result, tests={**result.tests, test: estimates}) if estimates else result


def differences_of(
    results: Sequence[SystemResult],
    comparable: Sequence[bool],
    test: str,
    metric: str,
    inference: Inference,
) -> Differences:
    """Test every comparable system against the first one."""
    known = [result.samples(test, metric) for result in results]
    layouts = [_layout(results[0], result, inference.pair_seeds) for result in results]
    differences: list[Difference | None] = [None] * len(results)
    baseline = known[0]
    if baseline is None:
        return Differences(differences, [], None)
    tested = {
        index: system
        for index, system in enumerate(known)
        if system is not None and comparable[index] and layouts[index] != "confounded"
    }
    blocks = [system for index, system in tested.items() if layouts[index] == "blocks"]
    independent = [system for index, system in tested.items() if layouts[index] == "independent"]
    others = _stored(results, test, metric) if inference.stored else []
    pooled = pool([sample_variance(system) for system in (baseline, *independent, *others)])
    moderate = inference.method == "moderated"
    pooled_blocks = block_variance([baseline, *blocks]) if moderate else UNKNOWN
    value = metric_class(metric).value
    for index, system in tested.items():
        difference = (
            compare_blocks(baseline, system, pooled_blocks)
            if layouts[index] == "blocks"
            else compare_by(inference.method, baseline, system, value, pooled)
        )
        differences[index] = difference.within(bounds(metric))
    variance = None
    if baseline.statistics:
        compared, paired = [baseline, *tested.values()], bool(blocks and not independent)
        variance = components(compared, len(baseline.statistics[0]), paired=paired)
    notes = _notes(results, layouts)
    if others:
        notes.append(
            f"the variance between seeds is pooled with {len(others)} other stored systems"
        )
    return Differences(differences, notes, variance)


def _stored(results: Sequence[SystemResult], test: str, metric: str) -> list[Resampled]:
    """Return other systems that the storage of the first one has for its training corpus and
    this test set."""
    reference = results[0]
    addresses = reference.record.addresses
    if test not in addresses or "train" not in addresses:
        return []
    store = Store(next(iter(reference.runs.values())).root)
    own = [result.address for result in results]
    return stored_systems(store, addresses[test], metric, train=addresses["train"], without=own)


def _layout(baseline: SystemResult, system: SystemResult, pair_seeds: bool) -> Layout:
    """Return how the seeds of two systems are related by the hardware that trained them."""
    if system is baseline:
        return "independent"
    seeds = list(baseline.runs)
    same_seeds = seeds == list(system.runs) and len(seeds) > 1
    if pair_seeds:
        if not same_seeds:
            raise UserError(
                f"seeds cannot be paired: {baseline.name} has {', '.join(map(str, seeds))} and "
                f"{system.name} {', '.join(map(str, system.runs))}: train both with the same two "
                "or more seeds"
            )
        return "blocks"
    kinds = {*baseline.hardware.values(), *system.hardware.values()}
    if len(kinds) <= 1:
        return "independent"
    shared = [seed for seed in seeds if seed in system.runs]
    equal = all(baseline.hardware.get(seed) == system.hardware.get(seed) for seed in shared)
    return "blocks" if same_seeds and equal else "confounded"


def _notes(results: Sequence[SystemResult], layouts: Sequence[Layout]) -> list[str]:
    kinds = dict.fromkeys(kind for result in results for kind in result.hardware.values())
    named = [(result.name, layout) for result, layout in zip(results, layouts, strict=True)]
    lines = []
    if len(kinds) > 1:
        lines.append(
            f"trained on different hardware, which moves scores as seeds do: {'; '.join(kinds)}"
        )
    if blocks := [name for name, layout in named if layout == "blocks"]:
        lines.append(
            "seeds are paired, as all systems of a seed ran on the same hardware: "
            f"{', '.join(blocks)}"
        )
    lines += [
        f"{name} is not tested: its seeds were trained on other hardware than those of "
        f"{results[0].name}; train all systems of a seed on one machine, in one precision"
        for name, layout in named
        if layout == "confounded"
    ]
    return lines
