"""The answer to the question of a comparison, in one sentence that claims no more than the
numbers support."""

from __future__ import annotations

from augury.reporting.comparison import Comparison, Row
from augury.reporting.numbers import factor, number, p_text, signed
from augury.scoring.registry import title


def answer(table: Comparison, doubt: str = "") -> str:
    """Return whether a system beats the baseline, by how much and at what cost, and the doubts
    about it; with `doubt`, why no difference is called real."""
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

    def gain(row: Row) -> float:
        return table.gain(row) or 0.0

    more, less = ("less", "more") if table.lower_is_better else ("more", "less")
    real = [row for row in compared if row.mark and round(gain(row), 1) > 0 and not doubt]
    best = max(real or compared, key=gain)
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
        if len(compared) > 1:
            nobody, it = "no system beats", best.name
        shown = best.mark and not doubt
        level = "the difference is real, but below 0.05" if shown else "no difference is shown"
        difference = f"{it} scores {-by:.1f} {name} {less}" if by < 0 else level
        head = (
            f"On {table.test_label}, {nobody} {baseline.name} ({name} {start.value:.1f}): "
            f"{difference}"
        )
    one_seed = 1 in (len(best.scores[metric].seeds), len(start.seeds))
    sentence = head + _verdict(best, one_seed, table.comparisons, doubt)
    first = max(compared, key=gain)
    if first is not best and round(gain(first), 1) > by:
        sentence += (
            f"; {first.name} scores still {more} ({number(first.difference, signed)}), but that "
            "may be chance"
        )
    idle = [row for row in compared if row.never_acted]
    doubts = [row.never_acted for row in idle]
    if len(idle) > 1:  # the notes say why of each
        doubts = [f"the regimes of {', '.join(row.name for row in idle)} never acted"]
    if unequal := table.unequal_budgets:
        sentence = f"Budgets differ ({unequal}): {sentence[0].lower()}{sentence[1:]}"
    return f"{'; '.join([sentence, *doubts])}."


def _verdict(row: Row, single_seed: bool, comparisons: int, doubt: str) -> str:
    """Return whether the difference is real, as the end of a sentence; `single_seed`: a system
    has one seed; `doubt`: why it is not called so."""
    if row.meaningless:
        return f", but that means nothing: {row.meaningless}"
    if doubt:
        tested = row.tested
        evidence = (
            f" (95 % interval {signed(tested.low)} to {signed(tested.high)})" if tested else ""
        )
        return f"{evidence}, but {doubt}"
    undecided = "one seed does not decide" if single_seed else ""
    if row.tested is None or row.corrected is None:
        return ", but the difference is not tested" + (f" and {undecided}" if undecided else "")
    between = f"{signed(row.tested.low)} to {signed(row.tested.high)}"
    if not round(row.tested.value, 1):
        return f" (95 % interval of the difference {between})"
    corrected = f" after correction for {comparisons} comparisons" if comparisons > 1 else ""
    evidence = f"(95 % interval {between}, {p_text(row.corrected)}{corrected})"
    if not row.mark:
        more = f", and {undecided}" if undecided else ""
        return f", but that may be chance {evidence}{more}"
    more = f", but {undecided}" if undecided else ""
    return f"; the difference is real {evidence}{more}"
