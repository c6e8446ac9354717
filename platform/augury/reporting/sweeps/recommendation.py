"""The experiment file of the configuration that a sweep recommends."""

from __future__ import annotations

from typing import Literal

from augury.reporting.run_files import experiment_yaml
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, summarise
from augury.sweeping.state import Sweep

RECOMMENDED = "recommended.yaml"


def recommend(sweep: Sweep) -> str | None:
    """Write the experiment file of the recommended system into the sweep's folder; return where it
    is.

    It trains that system alone, with the seeds of the sweep. None where nothing leads, or where no
    run keeps its experiment.
    """
    result = recommended(summarise(sweep))
    runs = [trial.folder for trial in result.configuration.trials] if result else []
    content = next((text for run in runs if (text := experiment_yaml(run, sweep.seeds))), None)
    if content is None:
        return None
    sweep.folder.write(RECOMMENDED, content)
    return f"{sweep.folder.uri}/{RECOMMENDED}"


def recommended(summary: Summary) -> ConfigurationResult | None:
    """Return the leader, or the reference where the leader is not better in validation: a race
    chooses among the others alone, of which none may help."""
    leader, reference = summary.leader, summary.reference
    if leader is None or leader.mean is None or reference.mean is None:
        return leader
    return leader if is_better(leader.mean, reference.mean, summary.sweep.mode) else reference


def is_better(chosen: float, reference: float, mode: Literal["max", "min"]) -> bool:
    """Return whether the mean of the winner of a race is better than that of the reference."""
    return chosen > reference if mode == "max" else chosen < reference
