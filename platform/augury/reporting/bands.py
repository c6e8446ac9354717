"""Gains on several test sets at once: simultaneous bands, and whether they grow with the
distance in word order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain

import numpy as np

from augury.core import config
from augury.core.errors import UserError, unknown
from augury.core.locks import make_once
from augury.core.progress import say
from augury.core.store import Folder
from augury.corpora.corpus import KINDS, Corpus
from augury.reporting.numbers import MISSING, number, probability, signed
from augury.reporting.results import SystemResult
from augury.reporting.run_files import test_corpus
from augury.reporting.tables import Cell, Table, cell, records
from augury.scoring.bootstrap import Resampled
from augury.scoring.registry import lower_is_better, title
from augury.scoring.significance import Difference, compare
from augury.scoring.simultaneous import Band, simultaneous_bands
from augury.text.alignment import word_order as orders
from augury.text.alignment.word_order import WordOrder, word_order

KIND = "word_orders"
LANGUAGE_COLUMNS = ("language", "source_language")
STEP = 0.1
"""The distance in word order that the slope is printed for."""


@dataclass(frozen=True)
class Gains:
    """The differences of one system to the baseline on several test sets."""

    system: str
    metric: str
    bands: Mapping[str, Band]
    """By test set."""
    slope: Difference | None
    """How much the difference changes with `STEP` of distance in word order; None without
    distances."""


def gains(
    systems: Sequence[SystemResult],
    tests: Sequence[str],
    distances: Mapping[str, WordOrder] | None = None,
) -> list[Gains]:
    """Return the differences of each system to the first one, where they can be tested together.

    The test sets must have as many rows: row n of each is the same example. UserError where they
    have not.
    """
    baseline, *others = systems
    metric = next(iter(baseline.tests[tests[0]]))
    lengths = {test: baseline.tests[test][metric].n for test in tests}
    if len(set(lengths.values())) > 1 or len(tests) < 2:
        sizes = ", ".join(f"{test}: {length:,}" for test, length in lengths.items())
        raise UserError(
            "simultaneous bands are of two test sets or more whose rows are the same examples, "
            f"such as XNLI's: {sizes}"
        )
    compared = []
    for system in others:
        first, second = (_resampled(side, tests, metric) for side in (baseline, system))
        if not first or not second:
            raise UserError(
                f"{system.name} is not scored on all of {', '.join(tests)}, or the statistics are "
                "gone"
            )
        bands = dict(zip(tests, simultaneous_bands(first, second), strict=True))
        slope = _slope(first, second, tests, distances) if distances else None
        compared.append(Gains(system.name, metric, bands, slope))
    return compared


def _resampled(system: SystemResult, tests: Sequence[str], metric: str) -> list[Resampled]:
    """Return the resampled scores on all sets; empty where one is missing or has other seeds."""
    known = [system.samples(test, metric) for test in tests]
    sides = [drawn for drawn in known if drawn is not None]
    same_seeds = len({drawn.seeds for drawn in sides}) == 1
    return sides if len(sides) == len(tests) and same_seeds else []


def _slope(
    baseline: Sequence[Resampled],
    system: Sequence[Resampled],
    tests: Sequence[str],
    distances: Mapping[str, WordOrder],
) -> Difference | None:
    """Return the slope of a least-squares line of differences against distances, tested as a
    difference is.

    It is a weighted sum of scores, of the baseline and of the system, on the same sentences and
    seeds.
    """
    places = [place for place, test in enumerate(tests) if test in distances]
    x = np.array([distances[tests[place]].distance for place in places]) / STEP
    if len(places) < 3 or np.ptp(x) == 0:
        return None
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    sums = []
    for side in (baseline, system):
        parts = [(weight, side[place]) for weight, place in zip(weights, places, strict=True)]
        scores = sum(weight * part.scores for weight, part in parts)
        samples = sum(weight * part.samples for weight, part in parts)
        sums.append(Resampled(np.asarray(scores), np.asarray(samples), ()))
    return compare(sums[0], sums[1])


def distances_to(
    reference: str, system: SystemResult, tests: Sequence[str]
) -> dict[str, WordOrder]:
    """Return the word order of every other test set compared with that of `reference`, kept in the
    runs' store.

    UserError where a text is gone, or has other rows.
    """
    if reference not in tests:
        raise unknown("test set of --word-order", reference, tests)
    run = next(iter(system.runs.values()))
    corpora = {}
    for test in tests:
        corpus = test_corpus(run, test)
        if corpus is None:
            raise UserError(
                f"the text of {test} is not in the storage of {run.uri}: score the run again there"
            )
        corpora[test] = corpus
    first = corpora.pop(reference)
    return {test: _distance(first, corpus, run.root) for test, corpus in corpora.items()}


def _distance(reference: Corpus, other: Corpus, root: str) -> WordOrder:
    texts = [reference.address, other.address]
    address = config.address({"version": orders.VERSION, "texts": texts})
    folder = Folder(root, f"{KIND}/{address}")
    make_once(folder, lambda: _measure(reference, other, folder))
    manifest = folder.manifest()
    return WordOrder(manifest["kept"], manifest["inverted"])


def _measure(reference: Corpus, other: Corpus, folder: Folder) -> None:
    if reference.rows != other.rows:
        raise UserError(
            f"the texts have {reference.rows:,} and {other.rows:,} rows: a distance in word order "
            "needs translations, row by row"
        )
    corpora = (reference, other)
    first, second = (
        next(str(corpus.manifest[name]) for name in LANGUAGE_COLUMNS if name in corpus.manifest)
        for corpus in corpora
    )
    say(f"word order: {first} and {second}")
    sides = [side for side in KINDS[reference.kind].sentences if side != "target"]
    texts = [list(chain.from_iterable(map(corpus.column, sides))) for corpus in corpora]
    order = word_order(texts[0], texts[1], (first, second))
    folder.finish({"inputs": [reference.address, other.address], **asdict(order)})


def band_table(
    found: Sequence[Gains], baseline: str, distances: Mapping[str, WordOrder] | None = None
) -> Table:
    """Return the differences to the baseline by test set, the nearest word order first."""
    known = distances or {}
    tests = sorted(found[0].bands, key=lambda test: known[test].distance if test in known else -1.0)
    rows = []
    for test in tests:
        row: dict[str, object] = {"test set": test}
        if known:
            order = known.get(test)
            row["word-order distance"] = cell(order.distance if order else None, ".3f")
            row["Kendall's τ"] = cell(order.tau if order else None, ".3f")
        for gain in found:
            band = gain.bands[test]
            mark = "*" if band.excludes_zero else ""
            text = f"{signed(band.value)}{mark} [{signed(band.low)}, {signed(band.high)}]"
            row[f"{gain.system} [95 %, all sets]"] = Cell(text, band.value)
        for gain in found:
            row[f"p, {gain.system}"] = cell(gain.bands[test].p_value, probability)
        rows.append(row)
    notes = tuple(_notes(found, known))
    return records(rows, title=f"differences to {baseline}", notes=notes)


def _notes(found: Sequence[Gains], known: Mapping[str, WordOrder]) -> list[str]:
    metric, count = found[0].metric, len(found[0].bands)
    direction = ", lower is better" if lower_is_better(metric) else ""
    lines = [
        f"{title(metric)}{direction}; bands hold for all {count} test sets of a system together "
        "(max-t over sets whose rows are the same examples); p corrected for the sets in the same "
        "way; *: the band excludes 0"
    ]
    if known:
        lines += [f"{gain.system}: {_slope_text(gain.slope)}" for gain in found]
        lines.append(
            "word-order distance: the share of pairs of aligned words that the translation "
            "inverts, 0 for the same order; aligned by both directions of IBM model 1, which knows "
            "nothing of positions"
        )
    return lines


def _slope_text(slope: Difference | None) -> str:
    if slope is None:
        return (
            f"no slope over word-order distance ({MISSING}): it takes three sets of different "
            "distances"
        )
    low, high = signed(slope.low), signed(slope.high)
    p_value = number(slope.p_value, probability)
    return (
        f"the difference changes by {signed(slope.value)} [{low}, {high}] for every {STEP:g} of "
        f"word-order distance, p = {p_value}, over {slope.over}"
    )
