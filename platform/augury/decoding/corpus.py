"""Decoding of a whole set: batches by length, on this machine or on Ray, outputs in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from augury.core.executors import Executor, LocalExecutor
from augury.core.progress import Stage
from augury.core.store import Folder
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.search import Hypothesis
from augury.decoding.settings import Decoding

TASK_SENTENCES = 512

Sources = Sequence[Sequence[int]]
"""Ids of every sentence, without the end of sentence."""
Search = Callable[[Sequence[Sequence[Sequence[int]]]], list[list[Hypothesis]]]
"""A function from sources, view by view, to the best hypotheses of each sentence, best first."""


@dataclass(frozen=True)
class CTranslateSearch:
    """Makes a search for the `count` best hypotheses of one view, with a CTranslate2 model."""

    model: Folder
    decoding: Decoding
    suppress: tuple[int, ...] = ()
    threads: int = 1
    count: int = 1
    prefix: tuple[int, ...] = ()

    def __call__(self) -> Search:
        decoder = CTranslateDecoder(self.model.local(), threads=self.threads)

        def search(views: Sequence[Sources]) -> list[list[Hypothesis]]:
            (sources,) = views
            return decoder.n_best(
                sources, self.decoding, self.suppress, self.count, prefix=self.prefix
            )

        return search


def decode(
    make: Callable[[], Search],
    views: Sequence[Sources],
    *,
    executor: Executor | None = None,
    name: str = "decode",
    cpus: float = 0,
    gpus: float = 0,
) -> list[list[Hypothesis]]:
    """Return the best hypotheses of every sentence.

    `make` is called once in every process that takes part. `views` has the sources of all
    sentences, view by view; `cpus` and `gpus` are what a process on Ray reserves.
    """
    sentences = list(zip(*views, strict=True))
    order = sorted(range(len(sentences)), key=lambda row: max(map(len, sentences[row])))
    chunks = [
        order[start : start + TASK_SENTENCES] for start in range(0, len(order), TASK_SENTENCES)
    ]
    items = []
    for chunk in chunks:
        item = []
        for sources in views:
            item.append([list(sources[row]) for row in chunk])
        items.append(item)
    with Stage(name, len(sentences), "sentences") as stage:
        parts = (executor or LocalExecutor()).map(
            make, items, stage, size=len, cpus=cpus, gpus=gpus
        )
    hypotheses: list[list[Hypothesis]] = [[] for _ in sentences]
    for chunk, part in zip(chunks, parts, strict=True):
        for row, best in zip(chunk, part, strict=True):
            hypotheses[row] = best
    return hypotheses
