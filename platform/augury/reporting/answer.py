"""What may be said of a comparison or a sweep, in one sentence that claims no more than the numbers
support: where nothing was learnt, only that; before the winner of a sweep is confirmed, what
confirming it takes; else the difference and its price."""

from __future__ import annotations

from dataclasses import replace

from augury.core.naming import counted
from augury.reporting.comparison import ComparedSystem, Comparison
from augury.reporting.numbers import adapted, interval, number, p_text
from augury.reporting.sweeps.summary import (
    ConfigurationResult,
    Summary,
    price_of_confirming,
    recommended,
)
from augury.scoring.registry import title, unusable

UNLEARNT = (
    "differences mean nothing: the systems are not shown to have learnt more than a trivial output."
)


def answer(table: Comparison, unconfirmed: str = "") -> str:
    """Return whether a system beats the baseline, by how much and at what cost; only that nothing
    was learnt where that is so; with `unconfirmed`, why no difference is called real."""
    metric, baseline, *others = table.metrics[0], *table.rows
    name, start = title(metric), baseline.scores.get(metric)
    if start is None:
        return (
            f"The baseline {baseline.name} has no scores on {table.test_label} yet, so nothing "
            "can be compared."
        )
    if fault := unusable(metric):
        return f"On {table.test_label}, nothing is compared by {name}: {fault}."
    compared = [row for row in others if row.difference is not None]
    learnt = [row for row in compared if not row.meaningless]
    if baseline.meaningless or (compared and not learnt):
        return f"On {table.test_label}, {UNLEARNT}"
    if not compared:
        tail = "; no other system has a comparable score" if others else ""
        reached = interval(start.value, start.low, start.high)
        return f"On {table.test_label}, {baseline.name} reaches {name} {reached}{tail}."

    def gain(row: ComparedSystem) -> float:
        return table.gain(row) or 0.0

    more, less = ("less", "more") if table.lower_is_better else ("more", "less")
    real = [row for row in learnt if row.mark and round(gain(row), 1) > 0 and not unconfirmed]
    best = max(real or learnt, key=gain)
    by = round(gain(best), 1)
    if by > 0:
        times = number(best.time_factor, "factor")
        cost = f" at {times} the {table.time_kind}" if best.time_factor else ""
        values = f"{number(best.scores[metric].value)} against {number(start.value)}"
        head = (
            f"On {table.test_label}, {best.name} scores {number(by)} {name} {more} than "
            f"{baseline.name} ({values}){cost}"
        )
    else:
        nobody = "no system beats" if len(learnt) > 1 else f"{best.name} does not beat"
        by_how_much = f"{number(-by)} {name} {less}" if by else "the same"
        head = (
            f"On {table.test_label}, {nobody} {baseline.name} ({name} {number(start.value)}): "
            f"{best.name} scores {by_how_much}"
        )
    one_seed = 1 in (len(best.scores[metric].seeds), len(start.seeds))
    return f"{head}{_verdict(best, one_seed, table.comparisons, unconfirmed)}."


def _verdict(row: ComparedSystem, single_seed: bool, comparisons: int, unconfirmed: str) -> str:
    """Return whether the difference is real, as the end of a sentence; `single_seed`: a system
    has one seed; `unconfirmed`: why it is not called so."""
    tested = row.tested
    ends = [number(end, "difference") for end in (tested.low, tested.high)] if tested else []
    between = " to ".join(ends)
    if unconfirmed:
        return (f" (95 % interval {between})" if tested else "") + f", but {unconfirmed}"
    one_seed = "one seed does not decide"
    undecided = f"; {one_seed}" if single_seed else ""
    if tested is None or row.corrected is None:
        return f", but the difference is not tested{undecided}"
    if not round(tested.value, 1):
        return f" (95 % interval of the difference {between})"
    corrected = f" after correction for {comparisons} comparisons" if comparisons > 1 else ""
    numbers = f"(95 % interval {between}, {p_text(row.corrected)}{corrected})"
    if row.mark:
        return f"; the difference is real {numbers}{undecided}"
    return f", but {one_seed if single_seed else 'that may be chance'} {numbers}"


def sweep_answer(summary: Summary) -> str:
    """Compare the leader in validation with the reference on the test set, or on the mean of
    several; while the sweep runs, the answer begins with its progress."""
    sweep, first = summary.sweep, summary.leader
    progress = f"with {counted(sweep.count('finished'), 'trial')} finished"
    if sweep.scheduler == "all":  # a race does not need them all
        finished = sweep.count("finished")
        progress = f"with {finished} of {counted(len(sweep.trials), 'trial')} finished"
    unknown = f"No answer{'' if sweep.ended else ' yet'}: {progress}"
    if first is None:
        goes_on = "" if sweep.ended else "; the same command goes on"
        return f"{unknown}, nothing can be compared{goes_on}."
    leads = f"{first.name} leads with {summary.metric} {first.score_text}"
    if not summary.learnt:
        where = f"On {summary.tested.test_label}" if summary.tested else "In validation"
        said = f"{where}, {UNLEARNT}"
    elif sweep.tests == ():
        said = f"Without test sets, {leads}; these scores chose it: expect less on unseen text."
    elif summary.confirmed:
        table = summary.confirmed[0]
        seeds = sorted({seed for row in table.rows for seed in row.seeds})
        fresh = f"tested with fresh seeds ({', '.join(map(str, seeds))})"
        said = f"{answer(table).removesuffix('.')}, {fresh}, which had no part in the choice."
    elif first is summary.reference:
        if sum(result.finished > 0 for result in summary.ranking) < 2:
            return f"{unknown}, there is nothing to compare {first.name} with."
        said = f"No other configuration is ahead in validation: {leads}."
    elif (compared := _with_leader(summary, first)) is not None:
        chosen = f"these trainings chose {first.name}, and flatter it"
        takes = price_of_confirming(summary, first)
        said = answer(compared, f"{chosen}; confirming it takes {takes}")
    else:
        return f"{unknown}, {leads}, and there are no test scores to compare."
    return said if sweep.ended else f"So far, {progress}: {said[0].lower()}{said[1:]}"


def recommendation(summary: Summary) -> str:
    """Return which configuration is recommended and why, as a sentence; empty where none is."""
    chosen, decided = recommended(summary), summary.decided
    best, reference = summary.leader, summary.reference
    if chosen is None or best is None or decided is None:
        return ""
    over = ", over fresh seeds" if summary.confirmed else ""
    values = [number(value, adapted(value)) for value in (decided.leader, decided.reference)]
    why = f"{decided.metric} {values[0]}, against {values[1]} of "
    why += f"{reference.name}{over}"
    certainty = ""
    if best is reference:
        why = f"no other is better in {summary.metric}"
    elif chosen is reference:
        why = f"{best.name} is not shown to be worth it: {why}"
    elif not decided.sure:
        certainty = ", though that may be chance" if summary.confirmed else ", not confirmed"
    so_far = "" if summary.sweep.ended else " so far"
    return f"Recommended{so_far}{certainty}: {chosen.name} ({why})."


def _with_leader(summary: Summary, first: ConfigurationResult) -> Comparison | None:
    """Return the comparison of the reference with the leader; None where either is not scored."""
    if summary.deciding is None:
        return None
    rows = [summary.row(result) for result in (summary.reference, first)]
    known = tuple(row for row in rows if row and summary.deciding.metrics[0] in row.scores)
    return replace(summary.deciding, rows=known) if len(known) == 2 else None
