"""Decoding a whole set: batches by length, here or on Ray, hypotheses in the order of the sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from augury.core.execution import Executor, LocalExecutor
from augury.core.progress import Stage
from augury.core.store import Folder
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.search import Hypothesis
from augury.decoding.settings import Decoding

TASK_SENTENCES = 512


@dataclass(frozen=True)
class _Decode:
    """Makes the task that decodes a list of sources with the model in a folder, loaded once per process."""

    model: Folder
    decoding: Decoding
    suppress: tuple[int, ...]
    threads: int

    def __call__(self) -> Callable[[list[list[int]]], list[Hypothesis]]:
        decoder = CTranslateDecoder(self.model.local(), threads=self.threads)
        return lambda sources: decoder.translate(sources, self.decoding, self.suppress)


def decode(
    model: Folder,
    sources: Sequence[Sequence[int]],
    decoding: Decoding,
    *,
    suppress: Sequence[int] = (),
    executor: Executor | None = None,
    threads: int = 1,
    name: str = "decode",
) -> list[Hypothesis]:
    """Translate `sources` (ids without end of sentence) with the CTranslate2 model in `model`."""
    order = sorted(range(len(sources)), key=lambda row: len(sources[row]))
    chunks = [order[start : start + TASK_SENTENCES] for start in range(0, len(order), TASK_SENTENCES)]
    backend = executor or LocalExecutor()
    task = _Decode(model, decoding, tuple(suppress), threads if backend.name == "local" else 1)
    with Stage(name, len(sources), "sentences") as stage:
        parts = backend.map(task, [[list(sources[row]) for row in chunk] for chunk in chunks], stage, size=len)
    hypotheses = [Hypothesis((), 0.0)] * len(sources)
    for chunk, part in zip(chunks, parts, strict=True):
        for row, hypothesis in zip(chunk, part, strict=True):
            hypotheses[row] = hypothesis
    return hypotheses
