"""A Ray cluster that a command joins: whether its workers reach the storage, which machines come
and go, and whether its head still answers.
"""

from __future__ import annotations

import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from augury.core.errors import UserError
from augury.core.messages import logger, say, say_once
from augury.core.outages import Outage, is_read_only, outage_of
from augury.core.periodic import run_every
from augury.core.roots import TEMPORARY
from augury.core.store import Folder

REACH_SECONDS = 60.0
"""Within this time a worker has to write and read the storage."""
REACH = f"{TEMPORARY}reach-"
"""The beginning of the name of the folder of a storage in which its workers try to write."""
POLL_SECONDS = 5.0
PATIENCE_SECONDS = 45.0
"""How long a head may not answer; Ray's own processes end after a minute."""
_COUNTED = ("CPU", "GPU")
_OF_MACHINES = ("memory", "object_store_memory")

WAIT_SECONDS = 30.0
"""After this time it is said that a worker is too large for every node."""

_reached: set[str] = set()
_training: set[str] = set()
_trials: list[Callable[[], Iterable[str]]] = []


def check_storage(root: str) -> None:
    """Write and read a storage from a worker of each type of node, once in a process.

    Nodes are of one type if they have the same resources. UserError names a node where that fails,
    or takes too long, and says why.
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
    for node in node_types(ray.nodes()).values():
        place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        task = probe.options(scheduling_strategy=place).remote(root, secret, node["NodeID"])
        waiting[task] = node
    try:
        done, late = ray.wait([*waiting], num_returns=len(waiting), timeout=REACH_SECONDS)
        for task in done:
            _check_answer(folder, secret, waiting[task], _answer(task))
        for task in late:
            raise _unreached(root, waiting[task], f"no answer within {REACH_SECONDS:g} s")
    finally:
        folder.remove()
    _reached.add(root)


def node_types(nodes: Sequence[Mapping[str, Any]]) -> dict[Any, Mapping[str, Any]]:
    """Return one living node of each type, by its resources."""
    types: dict[Any, Mapping[str, Any]] = {}
    for node in nodes:
        if node["Alive"]:
            types.setdefault(frozenset(_resources(node).items()), node)
    return types


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


def _check_answer(folder: Folder, secret: str, node: Mapping[str, Any], answer: str) -> None:
    if not answer and not folder.exists(f"{secret}-{node['NodeID']}"):
        answer = "this command does not see what it has written"
    if answer:
        raise _unreached(folder.root, node, answer)


def _unreached(root: str, node: Mapping[str, Any], reason: str) -> UserError:
    return UserError(
        f"storage {root} cannot be used from {name_of(node)}: {reason}. Workers read and write it: "
        "mount it on all machines at the same path, or give them its credentials"
    )


def name_of(node: Mapping[str, Any]) -> str:
    """Return a node with its resources, for messages: `node a (10.0.0.5; CPU 4)`."""
    resources = ", ".join(f"{kind} {amount:g}" for kind, amount in _resources(node).items())
    return f"node {node['NodeManagerHostname']} ({node['NodeManagerAddress']}; {resources})"


def largest(nodes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the living node with most GPUs, and of these with most CPUs."""
    living = [node for node in nodes if node["Alive"]]
    return max(
        living,
        key=lambda node: [node["Resources"].get(kind, 0) for kind in reversed(_COUNTED)],
        default=None,
    )


def _resources(node: Mapping[str, Any]) -> dict[str, float]:
    """Return the resources of a node that its type has, CPUs and GPUs first."""
    kinds = [kind for kind in node["Resources"] if not kind.startswith("node:")]
    kinds = [kind for kind in kinds if kind not in _OF_MACHINES]
    ordered = sorted(kinds, key=lambda kind: (kind not in _COUNTED, kind))
    return {kind: node["Resources"][kind] for kind in ordered}


Lost = Callable[[str], None]
"""Called with the address of a head that no longer answers; ends the process."""


class _OnLoss:
    """What to do when the head is lost; a program that says nothing is told so."""

    call: Lost | None = None


def on_loss(lost: Lost | None) -> None:
    """Let `lost` be called where the head of the cluster no longer answers; None for a message."""
    _OnLoss.call = lost


@contextmanager
def training(run: str, resources: Mapping[str, float]) -> Iterator[None]:
    """Note that a run is trained on the cluster while the block runs, for messages; say after a
    while if no node is large enough for one of its workers."""
    _training.add(run)
    try:
        with run_every(WAIT_SECONDS, lambda: _say_if_too_large(resources), name="workers"):
            yield
    finally:
        _training.discard(run)


@contextmanager
def training_trials(names: Callable[[], Iterable[str]]) -> Iterator[None]:
    """Let messages name, while the block runs, the trials that are trained on the cluster then."""
    _trials.append(names)
    try:
        yield
    finally:
        _trials.remove(names)


def _in_training() -> str:
    names = {*_training, *chain.from_iterable(trials() for trials in _trials)}
    return ", ".join(sorted(names)) or "no run"


def _say_if_too_large(resources: Mapping[str, float]) -> None:
    nodes = _living()
    fitting = [node for node in nodes if fits(resources, node)]
    if not fitting and (node := largest(nodes)) is not None:
        asked = ", ".join(f"{kind} {amount:g}" for kind, amount in resources.items())
        say_once(
            f"warning: no node has the {asked} of a worker, and the largest is {name_of(node)}: "
            "waiting for a larger one; or stop, and lower execution.cpus_per_worker or "
            "execution.gpus_per_worker"
        )


def fits(resources: Mapping[str, float], node: Mapping[str, Any]) -> bool:
    """Return whether a node, when nothing else runs there, has these resources."""
    return all(node["Resources"].get(kind, 0) >= amount for kind, amount in resources.items())


def watch() -> None:
    """Say what becomes of the cluster that this process has joined, as long as it is joined."""
    threading.Thread(target=_watch, name="cluster", daemon=True).start()


def outage() -> Outage | None:
    """Return that the head of the cluster that this process has joined does not answer; None where
    it does, or none is joined."""
    if _Joined.address is None or _answers(_Joined.address):
        return None
    return Outage(
        f"the Ray cluster at {_Joined.address} is lost: its head does not answer; start it again"
    )


class _Joined:
    """The head of the cluster that this process has joined, HOST:PORT."""

    address: str | None = None


def _watch() -> None:
    import ray

    address = _Joined.address = ray.get_runtime_context().gcs_address
    identity = _identity(address)
    known: dict[str, Mapping[str, Any]] = {node["NodeID"]: node for node in _living()}
    while ray.is_initialized():
        time.sleep(POLL_SECONDS)
        if not (_answers(address) or _comes_back(address)) or _identity(address) != identity:
            if ray.is_initialized():
                _lose(address)
            return
        living = {node["NodeID"]: node for node in _living()}
        for identifier in known.keys() - living.keys():
            say(
                f"warning: {name_of(known[identifier])} is lost: what was trained there goes on "
                f"elsewhere from its last checkpoint (in training: {_in_training()})"
            )
        for identifier in living.keys() - known.keys():
            say(f"{name_of(living[identifier])} has joined")
        known = living


def _living() -> list[Mapping[str, Any]]:
    import ray

    return [node for node in ray.nodes() if node["Alive"]]


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=POLL_SECONDS).close()
    except OSError:
        return False
    return True


def _comes_back(address: str) -> bool:
    """Wait for a head that does not answer; return whether it does again."""
    say(f"warning: the head of the Ray cluster at {address} does not answer")
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        time.sleep(1.0)
        if _answers(address):
            return True
    return False


def _identity(address: str) -> str:
    """Return the identity of the cluster at an address: a head that has lost its memory begins a
    new cluster."""
    from ray._raylet import GcsClient  # type: ignore[attr-defined]

    return str(GcsClient(address=address).cluster_id.hex())


def _lose(address: str) -> None:
    if _OnLoss.call is None:
        logger.error(f"the Ray cluster at {address} is lost: start it, and begin again")
    else:
        _OnLoss.call(address)
