"""How numbers are written for people."""

from __future__ import annotations

from collections.abc import Mapping

from augury.regimes.regime import SOURCE
from augury.reporting.results import Estimate

MISSING = "–"


def interval(estimate: Estimate | None) -> str:
    """Return `31.5 [29.0, 34.0]`."""
    return f"{estimate.value:.1f} [{estimate.low:.1f}, {estimate.high:.1f}]" if estimate else MISSING


def adaptive(value: float | None, like: float | None = None) -> str:
    """Return a number with as many decimals as one of the size of `like` needs: one for scores, more for losses."""
    if value is None:
        return MISSING
    size = abs(value if like is None else like)
    return f"{value:.{1 if size >= 10 else 2 if size >= 1 else 3}f}"


def adaptive_interval(mean: float, low: float | None, high: float | None) -> str:
    """Return a mean with its interval where there is one: `31.2 [30.8, 31.6]`."""
    if low is None or high is None:
        return adaptive(mean)
    return f"{adaptive(mean)} [{adaptive(low, like=mean)}, {adaptive(high, like=mean)}]"


def signed(difference: float | None) -> str:
    """Return `+1.8`."""
    return MISSING if difference is None else f"{round(difference, 1) + 0.0:+.1f}"


def probability(p_value: float | None) -> str:
    """Return `0.012`, or `< 0.001`."""
    return MISSING if p_value is None else "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def factor(value: float | None) -> str:
    """Return `1.9 ×`."""
    return MISSING if value is None else f"{value:.1f} ×"


def seeds(count: int) -> str:
    """Return `1 seed`, `3 seeds`."""
    return f"{count} seed{'' if count == 1 else 's'}"


def amount(count: float) -> str:
    """Return a count for people: `950`, `1.2k`, `36.7M`, `1.1G`."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size * 0.9995:
            return f"{count / size:.1f}{unit}"
    return f"{count:.0f}"


def passes(by_view: Mapping[str, float]) -> str:
    """Return `40`, or `40 / 20` where each other view was read 20 times, or `40 / 20–30`."""
    plain, *others = [by_view.get(SOURCE, 0.0), *(count for view, count in by_view.items() if view != SOURCE)]
    shown = [f"{plain:.0f}"]
    if others:
        least, most = f"{min(others):.0f}", f"{max(others):.0f}"
        shown.append(least if least == most else f"{least}–{most}")
    return " / ".join(shown)


def time_unit(longest: float) -> tuple[str, float]:
    """Return the unit for an axis up to `longest` seconds, and its length in seconds."""
    if longest < 300:
        return "seconds", 1.0
    return ("minutes", 60.0) if longest < 18_000 else ("hours", 3600.0)
