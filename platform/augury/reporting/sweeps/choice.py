"""The choice of a sweep: the winner in validation, or the reference where its lead is not certain.

A lead in validation is noise as well, and whoever is chosen is chosen by it. The reference, which
is the simplest system, is kept unless another is better by more than one standard error, the rule
of Breiman et al. (1984, "Classification and Regression Trees"), after the price of its time.

The standard error has two parts, each as far as it is known:

- seeds: their deviation, pooled over the finished configurations; unknown with one seed of each;
- examples, where the metric counts right ones: at least k examples are right with one system alone
  where it leads by k, which has a standard error of at least sqrt(k) then (McNemar's test). A lead
  of one example is therefore never more than its standard error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from augury.reporting import run_files
from augury.reporting.numbers import adaptive
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, leader
from augury.runs.record import RunRecord
from augury.scoring.registry import segment_noun
from augury.sweeping.price import net
from augury.sweeping.race import pooled_deviation

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


def seeds_error(deviation: float, chosen: int, reference: int) -> float:
    """Return the standard error of the difference of two means over so many seeds."""
    return deviation * math.sqrt(1 / chosen + 1 / reference)


@dataclass(frozen=True)
class Lead:
    """The lead of a configuration over the reference in validation."""

    gain: float
    """In points of the metric, positive where it is better."""
    of_seeds: float
    """The standard error by seeds; 0 where no configuration has two."""
    examples: int | None
    """Validated examples, where the metric counts right ones."""

    @property
    def error(self) -> float:
        """The standard error of the lead."""
        example = 100 / self.examples if self.examples else 0.0
        return math.sqrt(self.of_seeds**2 + example * abs(self.gain))

    @property
    def text(self) -> str:
        """The lead in words: `0.4, 1 of 282 examples`."""
        shown = adaptive(self.gain)
        if self.examples:
            shown += f", {abs(self.gain) * self.examples / 100:.2g} of {self.examples:,} examples"
        return shown


def lead(summary: Summary, result: ConfigurationResult) -> Lead | None:
    """Return the lead of a configuration; None where it or the reference has no validation."""
    reference, sweep = summary.reference, summary.sweep
    if result.mean is None or reference.mean is None:
        return None
    finished = [list(item.values.values()) for item in summary.ranking if item.finished]
    deviation, _ = pooled_deviation([values for values in finished if values])
    gain = result.mean - reference.mean
    return Lead(
        gain if sweep.mode == "max" else -gain,
        seeds_error(deviation, len(result.values), len(reference.values)),
        _examples(summary),
    )


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
    if best.mean is None or reference.mean is None or (ahead := lead(summary, best)) is None:
        return best
    mode = summary.sweep.mode
    paid = net(best.mean, best.configuration.price, mode)
    return best if is_better(paid, reference.mean, mode, ahead.error) else reference


def _examples(summary: Summary) -> int | None:
    """Return the number of validated examples, where the metric counts right ones."""
    if segment_noun(summary.sweep.metric_name) != "examples":
        return None
    for trial in summary.reference.configuration.trials:
        if run_files.is_described(trial.folder):
            inputs = RunRecord.read(trial.folder).inputs
            return next((text.rows for text in inputs if text.role == VALIDATION), None)
    return None
