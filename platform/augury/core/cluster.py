"""Whether the workers of a Ray cluster reach the storage of a command."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from augury.core.directories import TEMPORARY
from augury.core.errors import UserError, is_read_only, outage_of
from augury.core.store import Folder

REACH_SECONDS = 60.0
"""Within this time a worker has to write and read the storage."""
REACH = f"{TEMPORARY}reach-"
"""The beginning of the name of the folder of a storage in which its workers try to write."""

_reached: set[str] = set()


def check_storage(root: str) -> None:
    """Write and read a storage from each node, once in a process.

    UserError names a node where that fails, or takes too long, and says why.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    if root in _reached:
        return
    secret = uuid.uuid4().hex
    folder = Folder(root, f"{REACH}{secret}")  # two commands may try at once
    try:
        folder.write(secret, secret)
    except OSError as error:
        if is_read_only(error):  # what is finished needs no worker
            return
        raise
    probe = ray.remote(num_cpus=0, max_retries=0)(_probe)
    waiting = {}
    for node in ray.nodes():
        if not node["Alive"]:
            continue
        place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        task = probe.options(scheduling_strategy=place).remote(root, secret, node["NodeID"])
        waiting[task] = node
    try:
        done, late = ray.wait([*waiting], num_returns=len(waiting), timeout=REACH_SECONDS)
        for task in done:
            node = waiting[task]
            answer = _answer(task)
            if not answer and not folder.exists(f"{secret}-{node['NodeID']}"):
                answer = "this command does not see what it has written"
            if answer:
                raise _unreached(root, node, answer)
        for task in late:
            raise _unreached(root, waiting[task], f"no answer within {REACH_SECONDS:g} s")
    finally:
        folder.remove()
    _reached.add(root)


def _probe(root: str, secret: str, node: str) -> str:
    """Read on a worker what the command has written, and write beside it; return what is wrong."""
    try:
        folder = Folder(root, f"{REACH}{secret}")
        if not folder.exists(secret):
            return "it does not see what this command has just written, and is another directory"
        folder.read(secret)
        folder.write(f"{secret}-{node}", node)
    except Exception as error:
        return str(outage_of(error) or f"{type(error).__name__}: {error}".splitlines()[0])
    return ""


def _answer(task: Any) -> str:
    import ray

    try:
        return str(ray.get(task))
    except Exception as error:  # such as a machine on which Augury is not installed
        return str(getattr(error, "cause", None) or error).strip().splitlines()[-1]


def _unreached(root: str, node: Mapping[str, Any], reason: str) -> UserError:
    return UserError(
        f"storage {root} cannot be used from node {node['NodeManagerHostname']} "
        f"({node['NodeManagerAddress']}): {reason}. Workers read and write it: mount it on all "
        "machines at the same path, or give them its credentials"
    )
