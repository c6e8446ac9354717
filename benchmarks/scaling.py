"""Simulate the preparation of a large corpus on a cluster: how long on how many nodes, and why.

    python benchmarks/scaling.py [--rows 100000000] [--nodes 1 4 16 64 256] [--cores 4] [--json]
        [--plot FILE]

The costs are measured by `benchmarks/preparation.py` (`COSTS`; the commands are beside them); what
no single machine can show is assumed and can be set: the storage's bandwidth and latency, the
network of a node, the start of Ray and of a worker. The steps are those of `augury train`:

    hash        the driver computes the checksums of the text files
    read        the driver reads, filters, deduplicates and writes the text
    overlap     the driver looks for held-out sentences in the training text
    fit, apply  tasks: what a cipher learns, and the view of one key; a task is a shard
    vocabulary  the driver learns it
    tokenise    tasks: source, target and the view
    metadata    the driver sums up what was counted in the shards of the view

Tasks run as on Ray Data: the driver hands out blocks one after the other, to the first free core,
each of which starts a worker first; a task reads and writes at its share of the bandwidths, and its
time varies (log-normal, 20 %). Blocks hold several tasks where there are very many.

`before` has the costs without what was changed for large corpora (docs/scaling.md). `efficiency` is
the CPU time of all tasks and of the driver's threads, over seconds times cores. `driver` is the
share of the time in which only the driver works.
"""

from __future__ import annotations

import argparse
import heapq
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SHARD_ROWS = 20_000
VIEWS = 1
MILLION = 1e6


@dataclass(frozen=True)
class Costs:
    """What a million pairs cost, in CPU seconds and bytes, and what a block costs the driver."""

    hash_text: float
    """Seconds of the driver for the checksums of the text, both sides at once."""
    clean: float
    """CPU seconds that the driver's threads share."""
    add: float
    """Seconds of the driver's main thread: reading, deduplicating, building and writing records."""
    overlap: float
    fit: float
    apply: float
    learn: float
    """Seconds of the driver to learn a vocabulary, from up to `most_learned` pairs."""
    sample: float
    """Seconds of the driver to read the pairs that it learns from, both sides."""
    tokenise: float
    """CPU seconds, one side or view."""
    block: float
    """Seconds of the driver for a block of Ray Data."""
    task: float
    """Seconds of the driver for a task in a block."""
    dedup_bytes: float
    """Memory of the driver a row."""
    learn_bytes: float
    """Memory of the driver for a pair that a vocabulary is learned from."""
    text_bytes: float = 250.0
    corpus_bytes: float = 101.0
    view_bytes: float = 55.0
    token_bytes: float = 62.0
    """Bytes a row in files, of one side or view for the last two."""
    entry_bytes: float = 89.0
    """Bytes a shard in a manifest."""
    threads: int = 8
    """Threads on which the driver cleans."""
    most_learned: int | None = 1_000_000
    """Pairs that a vocabulary is learned from (`vocabulary.max_sentences`); None: all."""
    joins: bool = True
    """Whether very many tasks are joined to fewer blocks."""
    reads_back: bool = False
    """Whether the driver reads the output of tasks for its checksums, eight files at a time, and
    the metadata of views, one by one."""
    held_out: int = 3
    """Held-out sets; the driver reads the training text for each where it has one thread."""


# Of one core of an Intel Xeon that has AVX-512, other load on the machine:
#   benchmarks/preparation.py --rows 10000 1000000
#       --stages read deduplicate operator tokenise vocabulary
#   benchmarks/preparation.py --executor ray --stages dispatch --rows 10000000 100000000
# Checksums are twice as fast since then, on an AMD processor (250 and 500 MB/s a core).
COSTS = Costs(
    hash_text=0.6,
    clean=4.5,
    add=2.3,
    overlap=1.05,
    fit=1.0,
    apply=2.0,
    learn=8.5,
    sample=0.64,
    tokenise=15.0,
    block=0.0084,
    task=0.00075,
    dedup_bytes=16.0,
    learn_bytes=760.0,
)
BEFORE = replace(
    COSTS,
    hash_text=1.2,
    clean=0.0,  # in the main thread
    add=6.5,
    sample=1.5,
    dedup_bytes=108.0,
    threads=1,
    most_learned=None,
    joins=False,
    reads_back=True,
)

VERSIONS = {"before": BEFORE, "now": COSTS}


@dataclass(frozen=True)
class Cluster:
    """The machines, and what is assumed of them."""

    nodes: int
    cores: int
    storage: float
    """Bytes a second that the storage serves in all."""
    network: float
    """Bytes a second of a node."""
    latency: float
    """Seconds of a request to the storage."""
    ray: float
    """Seconds until Ray runs."""
    worker: float
    """Seconds until a worker runs its first task."""

    @property
    def slots(self) -> int:
        return self.nodes * self.cores

    @property
    def share(self) -> float:
        """Bytes a second of one core, if all read."""
        return min(self.network / self.cores, self.storage / self.slots)


class Step(NamedTuple):
    """One step: wall seconds, CPU seconds of work, and whether the driver does it alone."""

    name: str
    seconds: float
    work: float
    alone: bool


class Plan(NamedTuple):
    """A preparation on a cluster."""

    nodes: int
    seconds: float
    efficiency: float
    driver: float
    steps: list[Step]


def simulate(rows: int, cluster: Cluster, costs: Costs, seed: int = 1) -> Plan:
    """Return the steps of a preparation."""
    random, millions = np.random.default_rng(seed), rows / MILLION
    shards = -(-rows // SHARD_ROWS)
    own = min(cluster.network, cluster.storage)

    def alone(name: str, seconds: float, work: float | None = None) -> Step:
        return Step(name, seconds, seconds if work is None else work, True)

    def tasks(
        name: str,
        count: int,
        cpu: float,
        read: float,
        written: float,
        files: int = 1,
        rows_of_task: int = SHARD_ROWS,
    ) -> Step:
        seconds = cpu * rows_of_task / MILLION
        transfer = (read + written) * rows_of_task / cluster.share + (1 + files) * cluster.latency
        wall = dispatch(count, seconds, transfer, cluster, costs, random)
        if costs.reads_back and written:
            wall += count * (SHARD_ROWS * written / own + files * cluster.latency / 8)
        return Step(name, wall, seconds * count, False)

    learned = rows if costs.most_learned is None else min(rows, costs.most_learned)
    hashing = max(costs.hash_text * millions, costs.text_bytes * rows / own)
    reading = max(
        costs.add * millions,
        costs.clean / costs.threads * millions,
        (costs.text_bytes + costs.corpus_bytes) * rows / own,
    )
    if costs.reads_back:
        reading += costs.corpus_bytes * rows / own
    read = alone("read", reading, (costs.clean + costs.add) * millions)
    passes = costs.held_out if costs.threads == 1 else 1
    overlap = passes * max(
        costs.overlap / costs.threads * millions, costs.corpus_bytes * rows / own
    )
    sides = costs.corpus_bytes / 2
    steps = [
        alone("start", cluster.ray, 0.0),
        alone("hash", hashing, costs.hash_text * millions),
        read,
        alone("overlap", overlap, costs.overlap * millions),
        tasks("fit", shards, costs.fit, sides, 0.0),
        tasks("apply", shards, costs.apply, sides, costs.view_bytes),
        alone("vocabulary", costs.sample * millions + costs.learn * learned / MILLION),
        tasks("tokenise", shards * (2 + VIEWS), costs.tokenise, sides, costs.token_bytes, 2),
        alone("metadata", VIEWS * shards * 2 * cluster.latency if costs.reads_back else 0.0, 0.0),
    ]
    seconds = sum(step.seconds for step in steps)
    work = sum(step.work for step in steps)
    driver = sum(step.seconds for step in steps if step.alone)
    return Plan(cluster.nodes, seconds, work / (seconds * cluster.slots), driver / seconds, steps)


def dispatch(
    count: int,
    cpu: float,
    transfer: float,
    cluster: Cluster,
    costs: Costs,
    random: np.random.Generator,
) -> float:
    """Return the seconds until the last of `count` tasks has ended."""
    most = max(1_000, 2 * cluster.slots) if costs.joins else count
    sizes = np.diff(np.linspace(0, count, min(count, most) + 1).astype(int))
    free = [0.0] * min(cluster.slots, len(sizes))
    new = set(range(len(free)))
    cores = list(zip(free, range(len(free)), strict=True))
    issued = end = 0.0
    for size in sizes.tolist():
        issued += costs.block + costs.task * size
        since, core = heapq.heappop(cores)
        begin = max(issued, since) + (cluster.worker if core in new else 0.0)
        new.discard(core)
        noise = random.lognormal(0.0, 0.2, size)
        done = begin + float((cpu * noise).sum()) + transfer * size
        end = max(end, done)
        heapq.heappush(cores, (done, core))
    return end


def limits(rows: int, costs: Costs) -> dict[str, float]:
    """Return what grows with the rows besides time: memory of the driver, files and manifests."""
    shards = -(-rows // SHARD_ROWS)
    learned = rows if costs.most_learned is None else min(rows, costs.most_learned)
    return {
        "deduplication GB": rows * costs.dedup_bytes / 1e9,
        "vocabulary GB": learned * costs.learn_bytes / 1e9,
        "files": shards * (1 + VIEWS + 2 * (2 + VIEWS)),
        "largest manifest MB": 2 * shards * costs.entry_bytes / 1e6,
        "stored GB": rows
        * (costs.corpus_bytes + VIEWS * costs.view_bytes + (2 + VIEWS) * costs.token_bytes)
        / 1e9,
    }


def table(plans: dict[str, list[Plan]]) -> str:
    """Return the plans as text."""
    names = [step.name for step in next(iter(plans.values()))[0].steps]
    titles = ["", "nodes", "seconds", "efficiency", "driver", *names]
    lines = ["".join(f"{title:>11}" for title in titles)]
    for version, of_version in plans.items():
        for plan in of_version:
            cells = [version, f"{plan.nodes:,}", f"{plan.seconds:,.0f}"]
            cells += [f"{100 * plan.efficiency:.1f} %", f"{100 * plan.driver:.0f} %"]
            cells += [f"{step.seconds:,.0f}" for step in plan.steps]
            lines.append("".join(f"{cell:>11}" for cell in cells))
    return "\n".join(lines)


def plot(plans: dict[str, list[Plan]], rows: int) -> str:
    """Return a page with the seconds of every step by number of nodes."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    figure = make_subplots(1, len(plans), shared_yaxes=True, subplot_titles=list(plans))
    colours = [
        "#888888",
        "#4477aa",
        "#66ccee",
        "#228833",
        "#ccbb44",
        "#ee6677",
        "#aa3377",
        "#000000",
        "#ddaa33",
    ]
    for column, of_version in enumerate(plans.values(), start=1):
        for place, step in enumerate(of_version[0].steps):
            figure.add_bar(
                x=[f"{plan.nodes:,}" for plan in of_version],
                y=[plan.steps[place].seconds for plan in of_version],
                name=step.name,
                marker_color=colours[place],
                showlegend=column == 1,
                row=1,
                col=column,
            )
    figure.update_layout(
        go.Layout(barmode="stack", template="plotly_white", title=f"{rows:,} pairs: seconds")
    )
    figure.update_xaxes(title_text="nodes")
    return str(figure.to_html(include_plotlyjs=True))


def _content(plan: Plan) -> dict[str, Any]:
    return {**plan._asdict(), "steps": [step._asdict() for step in plan.steps]}


def plans_of(arguments: argparse.Namespace, nodes: Sequence[int]) -> dict[str, list[Plan]]:
    """Return the plans of all versions."""
    clusters = [
        Cluster(
            count,
            arguments.cores,
            arguments.storage * 1e9,
            arguments.network * 1e9,
            arguments.latency,
            arguments.ray,
            arguments.worker,
        )
        for count in nodes
    ]
    return {
        name: [simulate(arguments.rows, cluster, costs) for cluster in clusters]
        for name, costs in VERSIONS.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 4, 16, 64, 256])
    parser.add_argument("--cores", type=int, default=4, help="of a node (default 4)")
    parser.add_argument("--storage", type=float, default=10.0, help="GB/s in all (default 10)")
    parser.add_argument("--network", type=float, default=1.25, help="GB/s of a node (default 1.25)")
    parser.add_argument("--latency", type=float, default=0.03, help="s a request (default 0.03)")
    parser.add_argument("--ray", type=float, default=10.0, help="s until Ray runs (default 10)")
    parser.add_argument("--worker", type=float, default=5.0, help="s until it works (default 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a chart as an HTML page")
    arguments = parser.parse_args()
    plans = plans_of(arguments, arguments.nodes)
    grown = {name: limits(arguments.rows, costs) for name, costs in VERSIONS.items()}
    if arguments.plot:
        arguments.plot.write_text(plot(plans, arguments.rows), encoding="utf-8")
    if arguments.json:
        content = {
            name: [
                {**plan._asdict(), "steps": [step._asdict() for step in plan.steps]} for plan in of
            ]
            for name, of in plans.items()
        }
        setting = {
            key: value for key, value in vars(arguments).items() if key not in ("plot", "json")
        }
        costs = {name: asdict(of_version) for name, of_version in VERSIONS.items()}
        print(json.dumps({**setting, "costs": costs, "plans": content, "limits": grown}, indent=2))
        return
    print(table(plans))
    print()
    for name, values in grown.items():
        print(f"{name}: " + ", ".join(f"{key} {value:,.4g}" for key, value in values.items()))


if __name__ == "__main__":
    main()
