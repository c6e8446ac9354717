"""Warnings and notes on a comparison: models that learnt nothing, numbers that cannot be compared,
how scores were measured, and what was held equal in training."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.store import Folder
from augury.corpora.corpus import KINDS, Corpus
from augury.experiments.record import RunRecord
from augury.regimes.regime import SHORTEN
from augury.reporting import run_files
from augury.reporting.results import MEAN, SystemResult, on_one_device
from augury.reporting.system_tables import output_warnings
from augury.scoring import registry
from augury.scoring.registry import lower_is_better, segment_noun, title
from augury.scoring.significance import Difference
from augury.scoring.trivial import Trivial, best_trivial
from augury.training.trained import OUTCOME, Outcome

Layout = Literal["independent", "blocks", "confounded"]
"""How the seeds of a system and of the baseline are related by the hardware that trained them."""
WARNING = "warning: "
LEARNT = "not shown to have learnt"
UNEQUAL = 1.1
"""Budgets that differ by a larger factor are said."""
LISTED = 3
"""Names that a warning lists before it counts the others."""


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
    lower = lower_is_better(score.metric)
    better = score.worst < trivial.value if lower else score.worst > trivial.value
    return None if better else trivial


def untrained_warnings(scores: Sequence[SystemScore]) -> list[str]:
    """Return warnings that name the systems that are not shown to have learned, and what to
    change."""
    unlearned: dict[str, list[SystemScore]] = {}
    for score in scores:
        if trivial := not_beaten(score):
            level = f"{title(score.metric)} {trivial.value:.1f} by {trivial.output}"
            unlearned.setdefault(level, []).append(score)
    lines = []
    for level, of_level in unlearned.items():
        names = listed([f"{score.name} ({score.value:.1f})" for score in of_level])
        remedies = dict.fromkeys(filter(None, (_remedy(score.run) for score in of_level)))
        lines.append(
            f"{WARNING}not shown to have learnt more than {level}, so that differences mean "
            f"nothing: {'; '.join([names, *remedies])}"
        )
    return lines


def listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"


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


def incomparable(results: Sequence[SystemResult], test: str, metrics: Sequence[str]) -> list[str]:
    """Return why scores of systems on a test set, or on the mean of all, cannot be compared: other
    texts, or measured in another way."""
    lines = []
    for metric in metrics:
        ways: dict[str, list[str]] = {}
        for result in results:
            if score := result.score(test, metric):
                ways.setdefault(f"{score.measure}, n = {score.n:,}", []).append(result.name)
        if len(ways) > 1:
            measured = "; ".join(f"{listed(names)}: {way}" for way, names in ways.items())
            lines.append(
                f"{title(metric)} on {test} is not measured in one way, and not compared: "
                f"{measured}"
            )
    scored = [result for result in results if result.score(test, metrics[0])]
    if others := [of.name for of in scored if _texts(of, test) != _texts(scored[0], test)]:
        lines.append(
            f"{test} is another text for {', '.join(others)} than for {scored[0].name}: not "
            "compared"
        )
    return lines


def same_measure(results: Sequence[SystemResult], test: str, metric: str) -> bool:
    """Return whether all systems are scored on the same text in the same way."""
    return all(of.score(test, metric) for of in results) and not incomparable(
        results, test, [metric]
    )


def _texts(result: SystemResult, test: str) -> dict[str, str]:
    """Return the addresses of a test set's text, or of the texts of all sets for their mean.

    Empty for files.
    """
    tests = result.tests if test == MEAN else [test]
    return {role: address for role, address in result.record.addresses.items() if role in tests}


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
            lines.append(f"{title(metric)}: {signature}, n = {n:,}{direction}")
    if not tested:
        return lines
    over, single = segment_noun(metrics[0]), [of for of in tested if tested[of].over == "sentences"]
    by = f"moderated t-test over seeds and {over}"
    if len(single) == len(tested):
        by = f"paired bootstrap over {over}"
    family = f", corrected for {len(tested)} comparisons (Holm)" if len(tested) > 1 else ""
    line = f"p of the difference to {results[0].name}: {by}{family}; * p < 0.05, ** p < 0.01"
    if single:
        line += f"; one seed against one does not tell a method from chance: {listed(single)}"
    if any(difference.least_p for difference in tested.values()):
        line += "; two seeds show no p below 0.01"
    return [*lines, line]


def cautions(
    results: Sequence[SystemResult], layouts: Sequence[Layout], test: str, metrics: Sequence[str]
) -> list[str]:
    """Return what may change a decision beside what was not learnt: budgets that differ, losses
    that never acted, degenerate outputs of operators, numbers that are missing or cannot be
    compared."""
    lines, baseline, deciding = [], results[0], metrics[0]
    if unequal := _unequal_budgets(results, deciding):
        lines.append(
            f"{WARNING}budgets differ: {unequal}; --equal updates or tokens holds them equal"
        )
    costs = {result.name: result.cost for result in results if result.cost}
    idle = [
        f"{name} (from update {cost.onset:,.0f}, trained for {cost.updates:,.0f})"
        for name, cost in costs.items()
        if cost.onset and cost.onset >= cost.updates
    ]
    if idle:
        lines.append(f"{WARNING}the regime never acted in full: {listed(idle)}; {SHORTEN}")
    lines += output_warnings(results)
    for result in results:
        if result.unscored:
            seeds = ", ".join(map(str, result.unscored))
            lines.append(f"{result.name}: no scores yet for seed {seeds}")
    scored = [result for result in results if result.score(test, deciding)]
    unknown = [result.name for result in scored if result.samples(test, deciding) is None]
    if unknown and len(results) > 1:
        lines.append(
            f"not tested, as the counts of {segment_noun(deciding)} are gone: "
            f"{', '.join(unknown)}; remove scores.json from the runs and give the command again "
            "that made them"
        )
    lines += incomparable(results, test, metrics)
    for result in results:
        seeds_of_sets = {of.seeds for name in result.tests if (of := result.score(name, deciding))}
        if len(seeds_of_sets) > 1:
            lines.append(
                f"{result.name}: test sets are scored for different seeds and have no mean"
            )
    if costs and not on_one_device([*costs.values()]):
        lines.append("times were measured on different devices: do not compare them")
    kinds = dict.fromkeys(kind for result in results for kind in result.hardware.values())
    if len(kinds) > 1:
        lines.append(
            f"trained on different hardware, which moves scores as seeds do: {'; '.join(kinds)}"
        )
    named = [(result.name, layout) for result, layout in zip(results, layouts, strict=True)]
    if blocks := [name for name, layout in named if layout == "blocks"]:
        lines.append(
            "seeds are paired, as all systems of a seed ran on the same hardware: "
            f"{', '.join(blocks)}"
        )
    if confounded := [name for name, layout in named if layout == "confounded"]:
        lines.append(
            f"not tested, as seeds were trained on other hardware than those of {baseline.name}: "
            f"{', '.join(confounded)}; train all systems of a seed on one machine, in one precision"
        )
    return lines


def counted_unit(metric: str) -> str:
    """Return what training counts, by the metric that decides: examples where labels are learnt,
    target tokens elsewhere."""
    return "examples" if metric in registry.names("labels") else "tokens"


def _unequal_budgets(results: Sequence[SystemResult], metric: str) -> str:
    """Return what systems saw where that differs from the baseline, such as `X saw 1.9 times the
    updates of baseline`; empty where it does not."""
    baseline, parts = results[0], []
    unit = counted_unit(metric)
    for result in results[1:]:
        if baseline.cost and result.cost:
            own, its = (
                {"updates": of.updates, unit: of.target_tokens}
                for of in (result.cost, baseline.cost)
            )
            ratios = {what: own[what] / its[what] for what in own if its[what] and own[what]}
            seen = [
                f"{ratio:.2g} times the {what}"
                for what, ratio in ratios.items()
                if max(ratio, 1 / ratio) > UNEQUAL
            ]
            if seen:
                parts.append(f"{result.name} saw {' and '.join(seen)} of {baseline.name}")
    more = [f"{len(parts) - LISTED} more differ"] if len(parts) > LISTED else []
    return "; ".join([*parts[:LISTED], *more])


def training_notes(results: Sequence[SystemResult]) -> list[str]:
    """Return notes on what was held equal between the systems, and on what their cost is of."""
    costs = {result.name: result.cost for result in results if result.cost}
    if not costs:
        return []
    parameters = [result.record.parameters for result in results if result.cost]

    def shared(name: str) -> Any:
        values = {settings.get(f"training.{name}") for settings in parameters}
        return values.pop() if len(values) == 1 else None

    limits = {unit: shared(f"max_{unit}") for unit in ("epochs", "updates", "minutes")}
    equal = [f"at most {limit:,} {unit}" for unit, limit in limits.items() if limit]
    lines = ["training budget: not the same for all systems"]
    if equal:
        # Systems without records have none: their budget is the same in every unit.
        units = {settings.get("training.equal", "epochs") for settings in parameters} - {"epochs"}
        budget = f"training budget of every system: {' and '.join(equal)}"
        if len(units) == 1:
            budget += f" of the original text, counted in {units.pop()}"
        if patience := shared("patience"):
            budget += f", or until {counted(patience, 'validation')} bring no improvement"
        lines = [budget]
    several = [
        f"{of} ({cost.trainings:g} trainings)" for of, cost in costs.items() if cost.trainings > 1
    ]
    if several:
        lines.append(
            "tokens seen and time are of all trainings behind a system, stages before it and "
            "models that make its text, with the time of making it; updates and epochs of the last "
            f"one alone: {', '.join(several)}"
        )
    if trained_elsewhere := [name for name, cost in costs.items() if cost.uncounted]:
        lines.append(
            f"time leaves out models that were trained elsewhere: {', '.join(trained_elsewhere)}"
        )
    return lines


def text_notes(results: Sequence[SystemResult]) -> list[str]:
    """Return the notes on the texts of all systems, such as that they are synthetic, each once."""
    return list(dict.fromkeys(note for result in results for note in result.notes))


def grouped(lines_by_set: Mapping[str, Sequence[str]]) -> list[str]:
    """Return lines of several test sets, each once, after the names of its sets unless it holds for
    all."""
    sets: dict[str, list[str]] = {}
    for test, lines in lines_by_set.items():
        for line in lines:
            sets.setdefault(line, []).append(test)
    return [
        line if len(tests) == len(lines_by_set) else f"{', '.join(tests)}: {line}"
        for line, tests in sets.items()
    ]
