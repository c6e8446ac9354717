"""The outputs of a model by view: the score of every view, and outputs side by side (CipherDAug,
figures 6 and 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.analysis.system import System
from augury.core.rng import generator
from augury.decoding.settings import PLAIN
from augury.scoring.bootstrap import SAMPLES, resample
from augury.scoring.registry import metric
from augury.scoring.significance import Difference, Interval, compare, interval

EXAMPLES = 8
METRIC = "bleu"


@dataclass(frozen=True)
class ViewScore:
    """The translation of the test sentences from one view of their source."""

    view: str
    value: float
    """Of the corpus, in the metric."""
    interval: Interval
    against_plain: Difference | None
    """Paired bootstrap over sentences; None for the plain source itself."""
    same_as_plain: int
    """The number of sentences with the same output as from the plain source."""


@dataclass(frozen=True)
class Example:
    """A sentence with its outputs by view."""

    sentence: int
    """Its index among the sentences."""
    source: str
    reference: str
    outputs: Mapping[str, str]


@dataclass(frozen=True)
class Outputs:
    """The outputs of one system by view."""

    system: str
    sentences: int
    signature: str
    views: tuple[ViewScore, ...]
    all_same: int
    """The number of sentences with equal outputs from all views."""
    examples: tuple[Example, ...]
    """A random sample of the others."""


def outputs(
    systems: Sequence[System], *, examples: int = EXAMPLES, scored_by: str = METRIC
) -> list[Outputs]:
    """Return the outputs of every system from every view, scored by a metric.

    Translates views x sentences.
    """
    return [_analyse_system(system, examples, scored_by) for system in systems]


def _analyse_system(system: System, examples: int, scored_by: str) -> Outputs:
    score = metric(scored_by, system.language)
    by_view = {view: system.outputs(view) for view in system.views}
    resampled = {
        view: resample([score.statistics(lines, system.references)], score.value, samples=SAMPLES)
        for view, lines in by_view.items()
    }
    plain = by_view[PLAIN]
    views = [
        ViewScore(
            view,
            resampled[view].value,
            interval(resampled[view]),
            None if view == PLAIN else compare(resampled[PLAIN], resampled[view]),
            sum(map(str.__eq__, lines, plain)),
        )
        for view, lines in by_view.items()
    ]
    differing = [
        row for row, lines in enumerate(zip(*by_view.values(), strict=True)) if len(set(lines)) > 1
    ]
    chosen = differing
    if len(differing) > examples:
        random = generator("outputs", system.test, len(plain))
        chosen = sorted(random.choice(differing, examples, replace=False).tolist())
    shown = []
    for row in chosen:
        outputs = {view: lines[row] for view, lines in by_view.items()}
        shown.append(Example(row, system.sources[row], system.references[row], outputs))
    return Outputs(
        system.name,
        len(plain),
        score.signature,
        tuple(views),
        len(plain) - len(differing),
        tuple(shown),
    )
