"""Executors, which map a task over rows in this process or on Ray Data and return the results in
order.

A row is a mapping of names to plain values (numbers, text, lists and arrays of them), as in a
dataset of Ray: the item to work on, such as a shard and the range of its records. Tasks are coarse
and pure, so that results depend neither on where they run nor on retries; what is large they read
and write themselves, as files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from augury.core.errors import UserError
from augury.core.machine import in_this_directory
from augury.core.messages import collected
from augury.core.progress import Stage, say_once
from augury.core.ray_connection import connect

Row = Mapping[str, Any]
Task = Callable[[Row], Row]
"""The result has `rows`, its units of progress, among what else the task returns."""

# A block costs the driver about 10 ms: more of them than these are joined, on large clusters to a
# few for every CPU.
MIN_BLOCKS, BLOCKS_PER_CPU = 1_000, 2


class LocalExecutor:
    """Maps a task over rows in this process, one after the other; `make` creates the task."""

    name = "local"

    def map(self, make: Callable[[], Task], rows: Sequence[Row], stage: Stage) -> list[Row]:
        task, results = make(), []
        for row in rows:
            results.append(task(row))
            stage.advance(results[-1]["rows"])
        return results


class RayExecutor:
    """Maps a task over rows on Ray Data, in a pool of actors for each of which `make` creates it.

    `reserved` are the CPUs and GPUs of each actor, which limit their number.
    """

    name = "ray"

    def __init__(self, reserved: Mapping[str, float]):
        self.reserved = reserved

    def map(self, make: Callable[[], Task], rows: Sequence[Row], stage: Stage) -> list[Row]:
        if not rows:
            return []
        connect()
        import ray

        has = ray.cluster_resources()
        fitting = [int(has.get(kind, 0) / amount) for kind, amount in self.reserved.items()]
        workers = max(1, min(len(rows), *fitting))
        blocks = min(len(rows), max(MIN_BLOCKS, int(BLOCKS_PER_CPU * has.get("CPU", 0))))
        dataset = ray.data.from_items(
            [{INDEX: index, **row} for index, row in enumerate(rows)], override_num_blocks=blocks
        ).map(
            _Worker,
            fn_constructor_args=(in_this_directory(make),),
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers),
            num_cpus=self.reserved["CPU"],
            num_gpus=self.reserved.get("GPU"),
        )
        dataset.set_name(stage.name)
        results: list[Row] = [{}] * len(rows)
        for row in dataset.iter_rows():
            for message in row.pop(MESSAGES):
                say_once(message)
            # Raised by the task, it would end the dataset, wrapped in the traceback of Ray's code.
            if error := row.pop(ERROR):
                raise UserError(error)
            results[row.pop(INDEX)] = row
            stage.advance(row["rows"])
        return results


Executor: TypeAlias = LocalExecutor | RayExecutor

INDEX, MESSAGES, ERROR = "index", "messages", "error"
"""Columns beside those of the task: the place of a row, what the task has said, its UserError."""


class _Worker:
    """Holds a task in an actor of Ray Data."""

    def __init__(self, make: Callable[[], Task]):
        self.make = make
        self.task: Task | None = None

    def __call__(self, row: Row) -> dict[str, Any]:
        result: Row = {"rows": 0}
        error = ""
        with collected() as messages:
            try:
                if self.task is None:  # not in the constructor, whose errors Ray would wrap
                    self.task = self.make()
                result = self.task(row)
            except UserError as raised:
                error = str(raised)
        return {**result, INDEX: row[INDEX], MESSAGES: messages, ERROR: error}
