"""Warnings and notes on a comparison: models that learnt nothing, numbers that cannot be compared,
how scores were measured, and what was held equal in training."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import lru_cache

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.corpora.corpus import Corpus
from augury.experiments.record import DESCRIPTION
from augury.regimes.regime import SHORTEN
from augury.reporting import run_files
from augury.reporting.numbers import number
from augury.reporting.results import MEAN, SystemResult, on_one_device
from augury.scoring import registry
from augury.scoring.registry import lower_is_better, segment_noun, title, unusable
from augury.scoring.significance import Difference
from augury.scoring.trivial import Trivial, best_trivial

WARNING = "warning: "
LEARNT = "not shown to have learnt"
UNEQUAL = 1.1
"""Budgets that differ by a larger factor are said."""
LISTED = 3
"""Names that a warning lists before it counts the others."""


def not_beaten(result: SystemResult, test: str, metric: str, worst: float) -> Trivial | None:
    """Return the trivial output that a system is not shown to beat on a set, with its score; None
    where it does, and where the text or the metric is missing; `worst` is the worse end of the
    interval of the system's score."""
    run = next(iter(result.runs.values()), None)
    if run is None or not run.exists(DESCRIPTION):
        return None
    tests = [name for name in result.tests if name != MEAN] if test == MEAN else [test]
    corpora = [run_files.test_corpus(run, name) for name in tests]
    known = [best for corpus in corpora if corpus and (best := _on_corpus(corpus.folder, metric))]
    if not known or len(known) < len(corpora):
        return None
    output = known[0].output if len(known) == 1 else "the best trivial output of every set"
    trivial = Trivial(output, statistics.fmean(best.value for best in known))
    better = worst < trivial.value if lower_is_better(metric) else worst > trivial.value
    return None if better else trivial


def untrained_warnings(metric: str, unlearnt: Mapping[str, Trivial]) -> list[str]:
    """Return warnings that name the systems that are not shown to have learned; `unlearnt` are the
    outputs that they do not beat."""
    lines = []
    for trivial in dict.fromkeys(unlearnt.values()):
        names = [name for name, output in unlearnt.items() if output == trivial]
        lines.append(
            f"{WARNING}{LEARNT} more than {title(metric)} {number(trivial.value)} by "
            f"{trivial.output}, so that differences mean nothing: {listed(names)}; train longer "
            "or with more seeds, or change training.learning_rate"
        )
    return lines


def listed(names: Sequence[str], separator: str = ", ") -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{separator.join(names[:LISTED])}{more}"


@lru_cache(maxsize=64)  # the page of a running sweep is rendered repeatedly
def _on_corpus(folder: Folder, metric: str) -> Trivial | None:
    corpus = Corpus(folder)
    kind = corpus.kind
    try:
        language, *others = set(corpus.column(kind.target_language))
        scorer = registry.metric(metric, None if others else language)
        sources = corpus.column(kind.inputs[0]) if len(kind.inputs) == 1 else None
        return best_trivial(scorer, corpus.column(kind.target), sources)
    except UserError:  # the text or the metric is gone, or it cannot read this language
        return None


def incomparable(results: Sequence[SystemResult], test: str, metrics: Sequence[str]) -> list[str]:
    """Return why scores of systems on a test set, or on the mean of all, cannot be compared: other
    texts, or measured in another way."""
    lines = []
    for metric in metrics:
        ways: dict[str, list[str]] = {}
        for result in results:
            if score := result.score(test, metric):
                way = f"{score.signature}, n = {number(score.n, 'count')}{_texts(result, test)}"
                ways.setdefault(way, []).append(result.name)
        if len(ways) > 1:
            measured = "; ".join(f"{listed(names)}: {way}" for way, names in ways.items())
            lines.append(
                f"{title(metric)} on {test} is not measured in one way, and not compared: "
                f"{measured}"
            )
    return lines


def _texts(result: SystemResult, test: str) -> str:
    """Return the addresses of a test set's text, or of the texts of all sets for their mean; empty
    for files."""
    tests = result.tests if test == MEAN else [test]
    addresses = [address for role, address in result.texts.items() if role in tests]
    return f", text {' '.join(sorted(addresses))}" if addresses else ""


def score_notes(
    results: Sequence[SystemResult],
    test: str,
    metrics: Sequence[str],
    tested: Mapping[str, Difference],
) -> list[str]:
    """Return a line for every way in which a metric was measured, and one on the test behind the
    p-values of the systems in `tested`."""
    lines = []
    for metric in metrics:
        direction = ", lower is better" if lower_is_better(metric) else ""
        estimates = [score for result in results if (score := result.score(test, metric))]
        for signature, n in dict.fromkeys((score.signature, score.n) for score in estimates):
            lines.append(f"{title(metric)}: {signature}, n = {number(n, 'count')}{direction}")
    if not tested:
        return lines
    over = segment_noun(metrics[0])
    single = [name for name in tested if tested[name].over == "sentences"]
    by = f"moderated t-test over seeds and {over}"
    if len(single) == len(tested):
        by = f"paired bootstrap over {over}"
    family = f", corrected for {len(tested)} comparisons (Holm)" if len(tested) > 1 else ""
    line = f"p of the difference to {results[0].name}: {by}{family}; * p < 0.05, ** p < 0.01"
    if single:
        names = f": {listed(single)}" if len(single) < len(tested) else ""
        line += f"; one seed against one does not tell a method from chance{names}"
    return [*lines, line]


def warnings(
    results: Sequence[SystemResult], confounded: Sequence[str], test: str, metrics: Sequence[str]
) -> list[str]:
    """Return what may change a decision beside what was not learnt: budgets that differ, losses
    that never acted, numbers that are missing or cannot be compared; `confounded` are systems whose
    seeds were trained on other hardware than the baseline's."""
    lines, baseline = [], results[0]
    costs = {result.name: result.cost for result in results if result.cost}
    if unequal := _unequal_budgets(results, metrics[0]):
        lines.append(
            f"{WARNING}budgets differ: {unequal}; training.max_updates in place of max_epochs "
            "holds updates equal"
        )
    idle = [
        f"{name} (from update {number(cost.onset, 'count')}, trained for "
        f"{number(cost.updates, 'count')})"
        for name, cost in costs.items()
        if cost.onset and cost.onset >= cost.updates
    ]
    if idle:
        lines.append(f"{WARNING}the regime never acted in full: {listed(idle)}; {SHORTEN}")
    if missing := {result.name: result.unscored for result in results if result.unscored}:
        names = [f"{name} (seed {', '.join(map(str, seeds))})" for name, seeds in missing.items()]
        lines.append(f"no scores yet: {listed(names)}")
    for metric in metrics:
        if fault := unusable(metric):
            lines.append(f"{WARNING}{title(metric)} is shown and not compared: {fault}")
    lines += incomparable(results, test, metrics)
    if costs and not on_one_device([*costs.values()]):
        lines.append("times were measured on different devices: do not compare them")
    if elsewhere := [name for name, cost in costs.items() if cost.uncounted]:
        lines.append(f"time leaves out models that were trained elsewhere: {listed(elsewhere)}")
    kinds = dict.fromkeys(kind for result in results for kind in result.hardware.values())
    if len(kinds) > 1:
        untested = f"; not tested against {baseline.name}: {listed(confounded)}"
        lines.append(
            f"trained on different hardware, which moves scores as seeds do: {'; '.join(kinds)}"
            f"{untested if confounded else ''}"
        )
    return lines


def _unequal_budgets(results: Sequence[SystemResult], metric: str) -> str:
    """Return what systems saw where that differs from the baseline, such as `X saw 1.9 times the
    updates of baseline`; empty where it does not."""
    baseline, parts = results[0], []
    unit = "examples" if segment_noun(metric) == "examples" else "tokens"
    for result in results[1:]:
        if not (baseline.cost and result.cost):
            continue
        counts = {unit: (result.cost.target_tokens, baseline.cost.target_tokens)}
        if result.cost.trainings == baseline.cost.trainings == 1:  # updates are of the last one
            updates = (result.cost.updates, baseline.cost.updates)
            counts = {"updates": updates, **counts}
        ratios = {what: own / its for what, (own, its) in counts.items() if own and its}
        seen = [
            f"{number(ratio, 'count')} times the {what}"
            for what, ratio in ratios.items()
            if max(ratio, 1 / ratio) > UNEQUAL
        ]
        if seen:
            parts.append(f"{result.name} saw {' and '.join(seen)} of {baseline.name}")
    return listed(parts, "; ")


def text_notes(results: Sequence[SystemResult]) -> list[str]:
    """Return the notes on the texts of all systems, such as that they are synthetic, each once."""
    return list(dict.fromkeys(note for result in results for note in result.notes))
