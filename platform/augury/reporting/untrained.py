"""Warnings about models that have not learned: BLEU under 1, or labels no better than one label
for all examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.corpora.corpus import KINDS, Corpus
from augury.reporting import run_files
from augury.scoring import registry

WARNING = "warning: "
MIN_BLEU = 1.0
"""Below this score a model has not learned to translate, and its differences mean nothing."""


class SystemScore(NamedTuple):
    """The score of a system on a test or validation set."""

    name: str
    run: Folder
    """One of its runs."""
    metric: str
    value: float
    low: float
    """The lower end of the interval; the value itself where none is known."""


def untrained_warnings(scores: Sequence[SystemScore], test: str) -> list[str]:
    """Return warnings that name the systems that have not learned, or are not shown to have."""
    low = [
        f"{score.name} ({registry.title(score.metric)} {score.value:.1f})"
        for score in scores
        if "bleu" in score.metric and score.value < MIN_BLEU
    ]
    lines = (
        [f"{WARNING}not learnt, differences mean nothing: {_list_names(low)}; train longer"]
        if low
        else []
    )
    by_chance: dict[str, list[str]] = {}
    for score in scores:
        constant = _constant_score(score, test)
        if constant is not None and score.low <= constant[1]:
            label, value = constant
            level = (
                f"{registry.title(score.metric)} {value:.1f} on {test} by '{label}' for every "
                "example"
            )
            by_chance.setdefault(level, []).append(f"{score.name} ({score.value:.1f})")
    return lines + [
        f"{WARNING}not shown to be above chance, {level}: {_list_names(names)}; train longer"
        for level, names in by_chance.items()
    ]


def _list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _constant_score(score: SystemScore, test: str) -> tuple[str, float] | None:
    """Return the most frequent label and the score of predicting it always; None for text or a
    missing test set."""
    try:
        metric = registry.metric_class(score.metric)
    except UserError:
        return None
    if (
        metric.measures != "labels"
        or metric.lower_is_better
        or not run_files.is_described(score.run)
    ):
        return None
    corpus = run_files.test_corpus(score.run, test)
    return _score_constant(corpus.folder, score.metric) if corpus else None


@lru_cache(maxsize=64)  # the page of a running sweep is rendered repeatedly
def _score_constant(corpus: Folder, metric: str) -> tuple[str, float]:
    labels = Corpus(corpus).column(KINDS[Corpus(corpus).kind].target)
    ((label, _),) = Counter(labels).most_common(1)
    scorer = registry.metric(metric)
    return label, scorer.value(scorer.statistics([label] * len(labels), labels).sum(0))
