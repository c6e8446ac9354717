"""Where does the time of a training step go?

    python -m benchmarks.step_parts [--steps 3] [--precision fp32 bf16] [--json]

A step is one update of the engine as `benchmarks/training.py` measures it (architecture `small`,
vocabulary 8,000, Multi30k de-en or the built-in corpus, plain regime), in one thread under torch's
profiler. Every operation counts by its own time, for the first of these parts that it is in:

    loading     from row numbers to tensors
    dropout     random bits, masks and their products; products of gradients are among `other`
    optimizer   Adam, and the norm of the gradient
    objective   the projection to the vocabulary and its loss, gradients included
    products    of matrices in encoder and decoder, gradients included
    softmax     of attention, gradients included
    other       norms, activations, embeddings, sums, copies

`ms` is of a step, `share` of the sum of all parts. The profiler slows small operations a little.
"""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch
from torch.autograd.profiler_util import FunctionEvent
from torch.profiler import ProfilerActivity, profile, record_function

from augury.core.store import Store
from augury.training.dropout import Dropout
from benchmarks import frame, training
from trainables.nmt.translation import Translation

T = TypeVar("T")

ENCLOSING = {
    "loading": "loading",
    "dropout": "dropout",
    "Optimizer": "optimizer",
    "_ViewObjective": "objective",
}
"""Part by the beginning of the name of what encloses an operation."""
OPERATIONS = {
    "aten::mm": "products",
    "aten::bmm": "products",
    "aten::addmm": "products",
    "aten::baddbmm": "products",
    "aten::_softmax": "softmax",
    "aten::_softmax_backward_data": "softmax",
    "aten::_foreach_norm": "optimizer",
    "aten::_foreach_mul_": "optimizer",
}
"""Part by the name of an operation."""


def marked(name: str, function: Callable[..., T]) -> Callable[..., T]:
    """Return a function whose calls the profiler sees as a range."""

    def call(*arguments: Any, **settings: Any) -> T:
        with record_function(name):
            return function(*arguments, **settings)

    return call


def part(event: FunctionEvent) -> str:
    """Return the part of the step that an operation belongs to."""
    enclosing: FunctionEvent | None = event
    while enclosing is not None:
        for beginning, name in ENCLOSING.items():
            if enclosing.name.startswith(beginning):
                return name
        enclosing = enclosing.cpu_parent
    return OPERATIONS.get(event.name, "other")


def milliseconds(events: Iterable[FunctionEvent], steps: int) -> dict[str, float]:
    """Return the milliseconds of each part in a step, the largest first."""
    total: Counter[str] = Counter()
    for event in events:
        total[part(event)] += event.self_cpu_time_total
    return {name: time / 1000 / steps for name, time in total.most_common()}


def measure(precision: str, steps: int, store: Store) -> dict[str, float]:
    """Return the milliseconds of the parts of a step, after two steps that are not counted."""
    run = training.prepare("plain", precision, store)
    task = Translation(run)
    task.load = marked("loading", task.load)  # type: ignore[method-assign]
    engine = training.Engine(task, run)
    batches = engine.batches()
    for examples in itertools.islice(batches, 2):
        engine.step(examples)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        for examples in itertools.islice(batches, steps):
            engine.step(examples)
    return milliseconds(profiled.events() or [], steps)


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--steps", type=int, default=3, help="steps (default 3)")
    parser.add_argument(
        "--precision", nargs="+", choices=["fp32", "bf16"], default=frame.precisions()
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    Dropout._dropout = marked("dropout", Dropout._dropout)  # type: ignore[method-assign]
    rows = []
    with tempfile.TemporaryDirectory() as root:
        for precision in arguments.precision:
            times = measure(precision, arguments.steps, Store(root))
            whole = sum(times.values())
            rows += [
                {"precision": precision, "part": name, "ms": ms, "share": ms / whole}
                for name, ms in times.items()
            ]
    frame.report(arguments, {"steps": arguments.steps, "threads": 1}, rows, lines="part")


if __name__ == "__main__":
    main()
