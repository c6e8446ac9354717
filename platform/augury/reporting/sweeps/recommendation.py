"""The configuration that a sweep recommends, why, and its experiment file."""

from __future__ import annotations

from typing import Literal

from augury.reporting.numbers import adaptive, factor
from augury.reporting.run_files import experiment_yaml
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, summarise
from augury.reporting.sweeps.summary import leader as best
from augury.sweeping.price import net
from augury.sweeping.state import Sweep

RECOMMENDED = "recommended.yaml"


def recommend(sweep: Sweep) -> str | None:
    """Write the experiment file of the recommended system into the sweep's folder; return where it
    is.

    It trains that system alone, with the seeds of the sweep. None where nothing that has finished
    leads, or where no run keeps its experiment.
    """
    result = recommended(summarise(sweep))
    runs = [trial.folder for trial in result.configuration.trials] if result else []
    content = next((text for run in runs if (text := experiment_yaml(run, sweep.seeds))), None)
    if content is None:
        return None
    sweep.folder.write(RECOMMENDED, content)
    return sweep.folder.location(RECOMMENDED)


def recommended(summary: Summary) -> ConfigurationResult | None:
    """Return the best that has finished, or the reference where that is not better in validation
    by the price of its training time: a race chooses among the others alone, of which none may
    help.

    While the sweep has not ended, None before the reference and another have finished.
    """
    leader, reference = _best_finished(summary), summary.reference
    finished = [result for result in summary.ranking if result.finished]
    compared = reference in finished and len(finished) > 1
    if leader is None or not (summary.sweep.ended or compared):
        return None
    if leader.mean is None or reference.mean is None:
        return leader
    mode = summary.sweep.mode
    paid = net(leader.mean, leader.configuration.price, mode)
    return leader if is_better(paid, reference.mean, mode) else reference


def recommendation_text(summary: Summary) -> str:
    """Return which configuration is recommended and why, as a sentence; empty where none is."""
    result, leader, reference = recommended(summary), _best_finished(summary), summary.reference
    if result is None or leader is None or result.mean is None or leader.mean is None:
        return ""
    why = f"{summary.metric} {adaptive(result.mean)}"
    if result is not leader:
        why += f", against {adaptive(leader.mean)} of {leader.name}, the best of the others"
    elif result is not reference:
        why += f", against {adaptive(reference.mean)} of {reference.name}"
    if (price := leader.configuration.price) > 0:
        why += (
            f"; {leader.name} is estimated to take {factor(2 ** (price / summary.sweep.worth))} "
            f"the training time of {reference.name}, which is worth it from a gain of "
            f"{adaptive(price, like=leader.mean)} on"
        )
    so_far = "" if summary.sweep.ended else " so far"
    return f"Recommended{so_far}: {result.name} ({why})."


def _best_finished(summary: Summary) -> ConfigurationResult | None:
    return best(summary.sweep, summary.ranking, finished=True)


def is_better(chosen: float, reference: float, mode: Literal["max", "min"]) -> bool:
    """Return whether the mean of the winner of a race is better than that of the reference."""
    return chosen > reference if mode == "max" else chosen < reference
