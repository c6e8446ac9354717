"""Format numbers for people: the one table of formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from augury.core.progress import duration

MISSING = "–"
Number = float | None
Kind = Literal["score", "fine", "exact", "count", "share", "factor", "difference", "p", "time"]


def _count(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value % 1 == 0 else f"{value:.3g}"


FORMS: Mapping[Kind, Callable[[float], str]] = {
    "score": "{:.1f}".format,
    "fine": "{:.2f}".format,
    "exact": "{:.3f}".format,
    "difference": lambda value: f"{round(value, 1) + 0.0:+.1f}",
    "p": lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}",
    "factor": "{:.1f} ×".format,
    "share": lambda value: f"{100 * value:.1f} %",
    "count": _count,
    "time": duration,
}
"""Kind of number -> its text. Scores have one decimal, fine numbers two, exact ones three; counts
are whole, or have three digits; times are in seconds, differences have a sign."""


def number(value: Number, kind: Kind = "score") -> str:
    """Return a number as text; a dash for None."""
    return MISSING if value is None else FORMS[kind](value)


def interval(value: Number, low: Number, high: Number, kind: Kind = "score", mark: str = "") -> str:
    """Return `31.5 [29.0, 34.0]`, or `+1.8** [+0.4, +3.2]` with a mark; without the interval where
    an end is not known."""
    ends = "" if low is None or high is None else f" [{number(low, kind)}, {number(high, kind)}]"
    return f"{number(value, kind)}{mark}{ends}"


def adapted(value: float) -> Kind:
    """Return the kind with the decimals that numbers of this size need: one for scores, more for
    losses."""
    if abs(value) >= 10:
        return "score"
    return "fine" if abs(value) >= 1 else "exact"


def spread(value: Number, deviation: Number, kind: Kind = "score") -> str:
    """Return `31.2 ± 0.4`; only the value where no deviation is known."""
    more = "" if deviation is None else f" ± {number(deviation, kind)}"
    return number(value, kind) + more


def p_text(p_value: float) -> str:
    """Return `p = 0.012`, or `p < 0.001`."""
    return f"p {'' if p_value < 0.001 else '= '}{number(p_value, 'p')}"
