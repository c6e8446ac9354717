"""Warnings about models that have not learned: no better than a trivial output for the test set."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.corpora.corpus import KINDS, Corpus
from augury.experiments.record import RunRecord
from augury.reporting import run_files
from augury.scoring import registry
from augury.scoring.trivial import Trivial, best_trivial
from augury.training.trained import OUTCOME, Outcome

WARNING = "warning: "


class SystemScore(NamedTuple):
    """The score of a system on a test or validation set, or its mean over several."""

    name: str
    run: Folder
    """One of its runs."""
    metric: str
    value: float
    worst: float
    """The worse end of the interval; the value itself where none is known."""
    tests: tuple[str, ...]
    """The sets that the score is of."""


def not_beaten(score: SystemScore) -> Trivial | None:
    """Return the trivial output that a score is not shown to be better than, with its own; None
    where it is better, and where the text or the metric is missing."""
    trivial = _trivial(score)
    if trivial is None:
        return None
    lower = registry.lower_is_better(score.metric)
    better = score.worst < trivial.value if lower else score.worst > trivial.value
    return None if better else trivial


def untrained_warnings(scores: Sequence[SystemScore]) -> list[str]:
    """Return warnings that name the systems that are not shown to have learned, and what to
    change."""
    unlearned: dict[str, list[SystemScore]] = {}
    for score in scores:
        if trivial := not_beaten(score):
            level = f"{registry.title(score.metric)} {trivial.value:.1f} by {trivial.output}"
            unlearned.setdefault(level, []).append(score)
    lines = []
    for level, of_level in unlearned.items():
        names = [f"{score.name} ({score.value:.1f})" for score in of_level]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        remedies = dict.fromkeys(filter(None, (_remedy(score.run) for score in of_level)))
        what = "; ".join([f"{', '.join(names[:3])}{more}", *remedies])
        lines.append(
            f"{WARNING}not shown to have learnt more than {level}, so that differences mean "
            f"nothing: {what}"
        )
    return lines


def _remedy(run: Folder) -> str:
    """Return the settings to change, by what ended training; empty where that is not known."""
    if not (run_files.is_described(run) and run.exists(OUTCOME)):
        return ""
    outcome, parameters = Outcome.read(run), RunRecord.read(run).parameters

    def now(name: str) -> str:
        key, value = f"training.{name}", parameters.get(f"training.{name}")
        return key if value is None else f"{key} (now {value:,})"

    warmup = parameters.get("training.warmup_updates") or 0
    if parameters.get("training.warmup_share") is None and warmup >= outcome.updates:
        return (
            f"the learning rate still rose when training ended after update {outcome.updates:,}: "
            f"lower {now('warmup_updates')}"
        )
    if outcome.stopped_by == "patience":
        return (
            f"patience ended training after update {outcome.updates:,}: change "
            f"{now('learning_rate')}, or raise {now('patience')}"
        )
    budgets = [name for name in ("max_epochs", "max_updates") if parameters.get(f"training.{name}")]
    return f"train longer: raise {' or '.join(map(now, budgets))}" if budgets else ""


def _trivial(score: SystemScore) -> Trivial | None:
    """Return the best trivial output on the sets of a score, or on the first of several with the
    mean of their scores."""
    if not run_files.is_described(score.run):
        return None
    known = []
    for test in score.tests:
        corpus = run_files.test_corpus(score.run, test)
        trivial = _on_corpus(corpus.folder, score.metric) if corpus else None
        if trivial is None:
            return None
        known.append(trivial)
    if not known:
        return None
    output = known[0].output if len(known) == 1 else "the best trivial output of every set"
    return Trivial(output, statistics.fmean(trivial.value for trivial in known))


@lru_cache(maxsize=64)  # the page of a running sweep is rendered repeatedly
def _on_corpus(folder: Folder, metric: str) -> Trivial | None:
    corpus = Corpus(folder)
    columns = KINDS[corpus.kind]
    try:
        language, *others = set(corpus.column(columns.target_language))
        scorer = registry.metric(metric, None if others else language)
        sources = corpus.column(columns.inputs[0]) if len(columns.inputs) == 1 else None
        return best_trivial(scorer, corpus.column(columns.target), sources)
    except UserError:  # the text or the metric is gone, or it cannot read this language
        return None
