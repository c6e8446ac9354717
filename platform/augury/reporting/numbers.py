"""Format numbers for people."""

from __future__ import annotations

from collections.abc import Callable

MISSING = "–"
NumberFormat = str | Callable[[float], str]
"""A format specification (`.1f`), or a function such as those below."""


def number(value: float | None, form: NumberFormat = ".1f") -> str:
    """Return a formatted number; a dash for None."""
    if value is None:
        return MISSING
    return format(value, form) if isinstance(form, str) else form(value)


def interval(
    value: float | None, low: float | None, high: float | None, form: NumberFormat = ".1f"
) -> str:
    """Return `31.5 [29.0, 34.0]`; only the value where an end is not known."""
    if low is None or high is None:
        return number(value, form)
    return f"{number(value, form)} [{number(low, form)}, {number(high, form)}]"


def adaptive(value: float | None, like: float | None = None) -> str:
    """Return a number with the decimals that numbers of the size of `like` need: one for scores,
    more for losses."""
    if value is None:
        return MISSING
    size = abs(value if like is None else like)
    return f"{value:.{1 if size >= 10 else 2 if size >= 1 else 3}f}"


def adaptive_interval(mean: float, low: float | None, high: float | None) -> str:
    """Return a mean with its interval, if it has one, all with the decimals that the mean needs."""
    return interval(mean, low, high, lambda end: adaptive(end, like=mean))


def spread(value: float | None, deviation: float | None, form: NumberFormat = ".1f") -> str:
    """Return `31.2 ± 0.4`; only the value where no deviation is known."""
    more = "" if deviation is None else f" ± {number(deviation, form)}"
    return number(value, form) + more


def signed(difference: float) -> str:
    """Return `+1.8`."""
    return f"{round(difference, 1) + 0.0:+.1f}"


def probability(p_value: float) -> str:
    """Return `0.012`, or `< 0.001`."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def p_text(p_value: float) -> str:
    """Return `p = 0.012`, or `p < 0.001`."""
    return f"p {'' if p_value < 0.001 else '= '}{probability(p_value)}"


def factor(value: float) -> str:
    """Return `1.9 ×`."""
    return f"{value:.1f} ×"


def share(value: float) -> str:
    """Return `4.2 %`."""
    return f"{100 * value:.1f} %"
