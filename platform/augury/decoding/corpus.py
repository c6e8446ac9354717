"""Decoding of a whole set: batches by length, on this machine or on Ray, outputs in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from augury.core.executors import Executor, LocalExecutor, Row, Task
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
    cpus: float = 1,
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
    rows = []
    for chunk in chunks:
        of_views = []
        for sources in views:
            of_views.append([list(sources[row]) for row in chunk])
        rows.append({"views": of_views})
    with Stage(name, len(sentences), "sentences") as stage:
        parts = (executor or LocalExecutor()).map(_Decode(make), rows, stage, cpus=cpus, gpus=gpus)
    hypotheses: list[list[Hypothesis]] = [[] for _ in sentences]
    for chunk, part in zip(chunks, parts, strict=True):
        for row, ids, scores in zip(chunk, part["ids"], part["scores"], strict=True):
            for of_hypothesis, score in zip(ids, scores, strict=True):
                hypotheses[row].append(Hypothesis(tuple(of_hypothesis), score))
    return hypotheses


@dataclass(frozen=True)
class _Decode:
    """Creates the task that searches the best hypotheses of some sentences, and returns their ids
    and scores."""

    make: Callable[[], Search]

    def __call__(self) -> Task:
        search = self.make()

        def task(row: Row) -> Row:
            ids, scores = [], []
            for best in search(row["views"]):
                ids.append([[*hypothesis.ids] for hypothesis in best])
                scores.append([hypothesis.score for hypothesis in best])
            return {"rows": len(ids), "ids": ids, "scores": scores}

        return task
