from __future__ import annotations

from pathlib import Path

import yaml

CLUSTER = Path(__file__).parents[1] / "cluster.yaml"


def test_ray_accepts_the_cluster_file() -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config

    validate_config(prepare_config(yaml.safe_load(CLUSTER.read_text())))


def test_the_head_offers_drivers_and_keeps_its_dashboard_to_itself() -> None:
    cluster = yaml.safe_load(CLUSTER.read_text())
    assert (
        cluster["available_node_types"][cluster["head_node_type"]]["resources"]["trial_driver"] > 0
    )
    start = " ".join(cluster["head_start_ray_commands"])
    assert (
        "--dashboard-host=127.0.0.1" in start
        and "--autoscaling-config=~/ray_bootstrap_config.yaml" in start
    )
