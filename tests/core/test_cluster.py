"""Whether the workers of a cluster reach the storage, and what is said of its nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core import cluster
from augury.core.errors import UserError
from tests.conftest import Remote

HEAD = {"CPU": 4.0, "memory": 8e9, "node:10.0.0.1": 1.0}
WORKER = {"CPU": 8.0, "GPU": 1.0, "memory": 9e9, "node:10.0.0.2": 1.0}


def node(name: str, resources: dict[str, float], alive: bool = True) -> dict[str, Any]:
    """Return a node as Ray lists it."""
    return {
        "NodeID": name,
        "Alive": alive,
        "NodeManagerHostname": name,
        "NodeManagerAddress": "10.0.0.1",
        "Resources": resources,
    }


def test_one_living_node_of_each_type() -> None:
    other = {**WORKER, "memory": 1e9, "node:10.0.0.3": 1.0}
    nodes = [node("dead", HEAD, alive=False), node("a", HEAD), node("b", WORKER), node("c", other)]
    types = cluster.node_types(nodes)
    assert [each["NodeID"] for each in types.values()] == ["a", "b"]


def test_a_directory_that_is_not_the_same_on_all_machines(tmp_path: Path) -> None:
    assert "another directory" in cluster._probe(str(tmp_path), "secret", "node")


@pytest.mark.slow
def test_the_storage_is_written_and_read_from_a_worker(local_ray: Any, tmp_path: Path) -> None:
    cluster.check_storage(str(tmp_path))
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_a_worker_that_cannot_open_the_storage_is_named(local_ray: Any, remote: Remote) -> None:
    with pytest.raises(UserError, match=r"storage remote://\S+ cannot be used from node .*:"):
        cluster.check_storage("remote://bucket")
