"""Notes on the imbalanced labels of test sets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from augury.core.store import Folder
from augury.corpora.corpus import KINDS, Corpus
from augury.corpora.labelled import LABEL, label_counts
from augury.reporting import run_files
from augury.reporting.results import SystemResult
from augury.scoring import registry
from augury.scoring.imbalance import imbalance_note


def imbalance_notes(
    results: Sequence[SystemResult], test: str, metrics: Sequence[str]
) -> list[str]:
    """Return a note on a test set one of whose labels is most of it, with what always answering
    it scores."""
    of_labels = tuple(name for name in metrics if registry.segment_noun(name) == "examples")
    runs = (run for result in results for run in result.runs.values())
    run = next((run for run in runs if run_files.is_described(run)), None)
    corpus = run_files.test_corpus(run, test) if run and of_labels else None
    note = _note(corpus.folder, test, of_labels) if corpus else None
    return [note] if note else []


@lru_cache(maxsize=64)  # the page of a running sweep is rendered repeatedly
def _note(corpus: Folder, test: str, metrics: tuple[str, ...]) -> str | None:
    if KINDS[Corpus(corpus).kind].target != LABEL:
        return None
    return imbalance_note(test, label_counts(Corpus(corpus)), metrics)
