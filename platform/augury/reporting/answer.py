"""The answer to the question of a comparison, in one sentence that claims no more than the
numbers support."""

from __future__ import annotations

from augury.reporting.comparison import Comparison, Row
from augury.reporting.numbers import factor, number, p_text, signed
from augury.scoring.registry import title


def answer(table: Comparison, doubt: str = "") -> str:
    """Return whether a system beats the baseline, by how much and at what cost; only that nothing
    was learnt where that is so; with `doubt`, why no difference is called real."""
    metric, baseline, *others = table.metrics[0], *table.rows
    name, start = title(metric), baseline.scores.get(metric)
    if start is None:
        return (
            f"The baseline {baseline.name} has no scores on {table.test_label} yet, so nothing "
            "can be compared."
        )
    compared = [row for row in others if row.difference is not None]
    if not compared:
        missing = "there is nothing to compare it with"
        if others:
            missing = "its competitors have no comparable scores yet"
        return f"On {table.test_label}, {baseline.name} reaches {name} {start.text}; {missing}."
    learnt = [row for row in compared if not row.meaningless]
    if not learnt:
        return f"On {table.test_label}, differences mean nothing: {compared[0].meaningless}."

    def gain(row: Row) -> float:
        return table.gain(row) or 0.0

    more, less = ("less", "more") if table.lower_is_better else ("more", "less")
    real = [row for row in learnt if row.mark and round(gain(row), 1) > 0 and not doubt]
    best = max(real or learnt, key=gain)
    by = round(gain(best), 1)
    if by > 0:
        cost = f" at {factor(best.time_factor)} the {table.time_kind}" if best.time_factor else ""
        values = f"{best.scores[metric].value:.1f} against {start.value:.1f}"
        head = (
            f"On {table.test_label}, {best.name} scores {by:.1f} {name} {more} than "
            f"{baseline.name} ({values}){cost}"
        )
    else:
        nobody, it = f"{best.name} does not beat", "it"
        if len(learnt) > 1:
            nobody, it = "no system beats", best.name
        level = "no difference is shown"
        if best.mark and not doubt:
            level = "the difference is real, but below 0.05"
        head = f"On {table.test_label}, {nobody} {baseline.name} ({name} {start.value:.1f}): " + (
            f"{it} scores {-by:.1f} {name} {less}" if by < 0 else level
        )
    one_seed = 1 in (len(best.scores[metric].seeds), len(start.seeds))
    sentence = head + _verdict(best, one_seed, table.comparisons, doubt)
    first = max(learnt, key=gain)
    if first is not best and round(gain(first), 1) > by:
        sentence += (
            f"; {first.name} scores still {more} ({number(first.difference, signed)}), but that "
            "may be chance"
        )
    return f"{sentence}."


def _verdict(row: Row, single_seed: bool, comparisons: int, doubt: str) -> str:
    """Return whether the difference is real, as the end of a sentence; `single_seed`: a system
    has one seed; `doubt`: why it is not called so."""
    tested = row.tested
    between = f"{signed(tested.low)} to {signed(tested.high)}" if tested else ""
    if doubt:
        return (f" (95 % interval {between})" if tested else "") + f", but {doubt}"
    undecided = "one seed does not decide" if single_seed else ""
    if tested is None or row.corrected is None:
        return ", but the difference is not tested" + (f" and {undecided}" if undecided else "")
    if not round(tested.value, 1):
        return f" (95 % interval of the difference {between})"
    corrected = f" after correction for {comparisons} comparisons" if comparisons > 1 else ""
    evidence = f"(95 % interval {between}, {p_text(row.corrected)}{corrected})"
    if not row.mark:
        return f", but that may be chance {evidence}" + (f", and {undecided}" if undecided else "")
    return f"; the difference is real {evidence}" + (f", but {undecided}" if undecided else "")
