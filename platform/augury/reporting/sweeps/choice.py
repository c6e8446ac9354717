"""The choice of a sweep: the winner in validation, or the reference where its lead is not certain.

The reference, which is the simplest system, is kept unless another is better after the price of its
time. Where the metric counts right examples, the lead has to be more than one standard error, the
rule of Breiman et al. (1984, "Classification and Regression Trees"): at least k examples are right
with one system alone where it leads by k, so that the error is at least sqrt(k) (McNemar's test),
and a lead of one example is never more than that.

The deviation of seeds is no part of the error; the price of its time is what a lead is held
against. Once the winner is confirmed, the fresh seeds alone decide, in validation: those that chose
it were lucky.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from augury.experiments.record import RunRecord
from augury.reporting import run_files
from augury.reporting.numbers import adaptive
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, leader
from augury.scoring.registry import segment_noun
from augury.sweeping.schedulers import net

VALIDATION = "valid"
"""The role of the text of validations."""
ROUNDING = 1e-9


def is_better(
    chosen: float, reference: float, mode: Literal["max", "min"], error: float = 0.0
) -> bool:
    """Return whether the mean of the winner of a race is better than that of the reference by more
    than a standard error."""
    gain = chosen - reference if mode == "max" else reference - chosen
    return gain > error + (ROUNDING if error else 0.0)


@dataclass(frozen=True)
class Lead:
    """The lead of a configuration over the reference in validation."""

    gain: float
    """In points of the metric, positive where it is better."""
    examples: int | None
    """Validated examples, where the metric counts right ones."""

    @property
    def error(self) -> float:
        """The least standard error of the lead; 0 where it is not known."""
        return math.sqrt(100 / self.examples * abs(self.gain)) if self.examples else 0.0

    def in_words(self, like: float) -> str:
        """Return the lead as text: `0.4, 1 of 282 examples`, with the decimals that numbers of the
        size of `like` need."""
        shown = adaptive(self.gain, like=like)
        if self.examples:
            shown += f", {abs(self.gain) * self.examples / 100:.2g} of {self.examples:,} examples"
        return shown


def lead(summary: Summary, result: ConfigurationResult) -> Lead | None:
    """Return the lead of a configuration; None where it or the reference has no validation."""
    own, reference = validated(summary, result)
    if own is None or reference is None:
        return None
    gain = own - reference
    return Lead(gain if summary.sweep.mode == "max" else -gain, _examples(summary))


def validated(summary: Summary, result: ConfigurationResult) -> tuple[float | None, float | None]:
    """Return the means in validation of a configuration and of the reference: over the fresh seeds
    where it is confirmed, which have no luck in the choice."""
    tested = summary.confirmed
    if tested and result.address == tested.confirmation.winner:
        return tested.winner, tested.reference
    return result.mean, summary.reference.mean


def best_finished(summary: Summary) -> ConfigurationResult | None:
    """Return the best in validation, less its price, of those with a finished seed."""
    return leader(summary.sweep, summary.ranking, finished=True)


def recommended(summary: Summary) -> ConfigurationResult | None:
    """Return the best that has finished, or the reference where that is not better in validation
    by its price and a standard error: a race chooses among the others alone, of which none may
    help.

    While the sweep has not ended, None before the reference and another have finished.
    """
    best, reference = best_finished(summary), summary.reference
    finished = [result for result in summary.ranking if result.finished]
    compared = reference in finished and len(finished) > 1
    if best is None or not (summary.sweep.ended or compared):
        return None
    (mean, of_reference), ahead = validated(summary, best), lead(summary, best)
    if mean is None or of_reference is None or ahead is None:
        return best
    mode = summary.sweep.mode
    paid = net(mean, best.configuration.price, mode)
    return best if is_better(paid, of_reference, mode, ahead.error) else reference


def _examples(summary: Summary) -> int | None:
    """Return the number of validated examples, where the metric counts right ones."""
    if segment_noun(summary.sweep.metric_name) != "examples":
        return None
    for trial in summary.reference.configuration.trials:
        if run_files.is_described(trial.folder):
            inputs = RunRecord.read(trial.folder).inputs
            return next((text.rows for text in inputs if text.role == VALIDATION), None)
    return None
