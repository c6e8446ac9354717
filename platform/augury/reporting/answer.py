"""The answer to the question of a comparison, in one sentence that claims no more than the numbers carry."""

from __future__ import annotations

from augury.reporting.table import Row, Table, factor, interval, title


def answer(table: Table) -> str:
    """Whether a system beats the baseline, by how much, at what cost, and what speaks against believing it."""
    metric, baseline, *others = table.metrics[0], *table.rows
    name = title(metric)
    start = baseline.scores.get(metric)
    if start is None:
        return f"The baseline {baseline.name} has no scores on {table.test} yet, so nothing can be compared."
    compared = [row for row in others if row.difference is not None]
    if not compared:
        missing = "its competitors have no comparable scores yet" if others else "there is nothing to compare it with"
        return f"On {table.test}, {baseline.name} reaches {name} {interval(start)}; {missing}."
    best = max(compared, key=_difference)
    by = round(_difference(best), 1)
    if by > 0:
        cost = f" at {factor(best.time_factor)} the training time" if best.time_factor else ""
        values = f"{best.scores[metric].value:.1f} against {start.value:.1f}"
        head = f"On {table.test}, {best.name} scores {by:.1f} {name} more than {baseline.name} ({values}){cost}"
    else:
        nearest = f"{best.name} scores {-by:.1f} {name} less" if by < 0 else f"{best.name} scores the same {name}"
        head = f"On {table.test}, no system beats {baseline.name} ({name} {start.value:.1f}): {nearest}"
    own = best.scores[metric]
    overlap = own.low <= start.high and start.low <= own.high
    doubts = ["the 95 % intervals overlap"] if overlap else []
    if min(own.seeds, start.seeds) == 1:
        doubts.append("one seed does not decide")
    if by > 0 and len(compared) > 1:
        doubts.append(f"the best of {len(compared)} owes something to chance")
    if not overlap:
        head += "; the 95 % intervals do not overlap"
    return f"{head}, but {_joined(doubts)}." if doubts else f"{head}."


def _difference(row: Row) -> float:
    assert row.difference is not None
    return row.difference


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
