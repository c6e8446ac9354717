"""The experiment file of the configuration that a sweep recommends."""

from __future__ import annotations

from augury.reporting.run_files import experiment_yaml
from augury.reporting.sweeps.summary import summarise
from augury.sweeping.state import Sweep

RECOMMENDED = "recommended.yaml"


def recommend(sweep: Sweep) -> str | None:
    """Write the experiment file of the leader into the sweep's folder; return where it is.

    It trains that system alone, with the seeds of the sweep. None where nothing leads, or where no
    run keeps its experiment.
    """
    leader = summarise(sweep).leader
    runs = [trial.folder for trial in leader.configuration.trials] if leader else []
    content = next((text for run in runs if (text := experiment_yaml(run, sweep.seeds))), None)
    if content is None:
        return None
    sweep.folder.write(RECOMMENDED, content)
    return f"{sweep.folder.uri}/{RECOMMENDED}"
