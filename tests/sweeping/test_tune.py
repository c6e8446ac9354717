"""The placement of trials, and errors for trials that cannot be placed or run out of memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.experiments.spec import Experiment
from augury.sweeping.tune import DRIVER_MEMORY, place
from tests import tiny


def experiment(workers: int = 1, **execution: Any) -> Experiment:
    return tiny.experiment(
        "nmt",
        Path("store"),
        training={"max_tokens": 400, "max_epochs": 2, "workers": workers},
        execution=execution,
    )


@pytest.mark.slow
def test_a_small_trial_trains_in_its_own_actor_and_the_driver_of_workers_requests_no_cpu(
    local_ray: Any,
) -> None:
    cores = int(local_ray.cluster_resources()["CPU"])
    placement = place([experiment()])
    assert placement.execution == {"launcher": "direct", "device": "cpu", "threads": 1}
    assert (placement.at_once, placement.resources) == (cores, {"CPU": 1})
    assert place([experiment(at_once=1)]).at_once == 1
    placement = place([experiment(workers=2, cpus_per_worker=0.5)])
    assert (placement.execution["launcher"], placement.at_once) == ("ray", cores)
    assert placement.resources == {"memory": DRIVER_MEMORY}
    with pytest.raises(UserError, match="not a single trial fits: each needs 99 CPU"):
        place([experiment(workers=99)])
    with pytest.raises(UserError, match="each needs 1 CPU, 1 GPU, and the cluster has"):
        place([experiment(device="cuda")])
