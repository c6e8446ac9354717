"""Whether the workers of a Ray cluster reach the storage of a command."""

from __future__ import annotations

import functools
import uuid

from augury.core.directories import TEMPORARY
from augury.core.errors import UserError, is_read_only, outage_of
from augury.core.store import Folder

REACH_SECONDS = 60.0
"""Within this time a worker has to write and read the storage."""


@functools.cache
def check_storage(root: str) -> None:
    """Write and read a storage from each node, once in a process.

    UserError names a node where that fails, or takes too long, and says why.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    folder = Folder(root, f"{TEMPORARY}reach-{uuid.uuid4().hex}")  # two commands may try at once
    try:
        folder.write("command", "")
    except OSError as error:
        if is_read_only(error):  # what is finished needs no worker
            return
        raise

    @ray.remote(num_cpus=0, max_retries=0)
    def probe() -> None:
        """Read on a worker what the command has written, and write it; raise what is wrong."""
        if not folder.exists("command"):
            raise UserError("it does not see what this command has just written: another directory")
        folder.write("command", "")

    try:
        asked = []
        for node in ray.nodes():
            if node["Alive"]:
                place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                task = probe.options(scheduling_strategy=place).remote()
                asked.append((node, task))
        for node, task in asked:
            try:
                ray.get(task, timeout=REACH_SECONDS)
            except Exception as error:  # such as a machine on which Augury is not installed
                cause = getattr(error, "cause", None) or error
                said = str(cause).strip().splitlines() or [type(cause).__name__]
                reason = outage_of(error) or said[-1]
                raise UserError(
                    f"storage {root} cannot be used from node {node['NodeManagerHostname']} "
                    f"({node['NodeManagerAddress']}): {reason}. Workers read and write it: mount "
                    "it on all machines at the same path, or give them its credentials"
                ) from error
    finally:
        folder.remove()
