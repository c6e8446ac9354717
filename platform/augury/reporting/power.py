"""Say what an experiment can see: the smallest difference that it finds, and the seeds that a
smaller one needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from augury.core.naming import counted
from augury.scoring.power import Components
from augury.scoring.registry import segment_noun, title


@dataclass(frozen=True)
class Power:
    """The smallest difference of a comparison, at 5 % with correction for its comparisons, found
    in 80 % of cases."""

    seeds: int
    sentences: int
    smallest: float
    target: float
    """A smaller difference, of about half the size."""
    seeds_needed: int | None
    """The seeds that it needs; None where even many do not suffice, because the test set is too
    small."""
    text: str
    components: Components
    """Of the variance of a difference."""

    def seeds_for(self, difference: float) -> int | None:
        """Return the seeds of two systems that tell them apart where they differ by as much; None
        where even many do not suffice."""
        return self.components.seeds_needed(difference, self.sentences) if difference else None


def power_of_comparison(
    metric: str, known: Components | None, scored: Sequence[tuple[int, int]]
) -> Power | None:
    """Return the power of a comparison; `scored` has the numbers of seeds and sentences of every
    system.

    None where a system has one seed, which a note says.
    """
    seeds, sentences = (min((counts[place] for counts in scored), default=0) for place in (0, 1))
    if known is None or len(scored) < 2 or seeds < 2:
        return None
    return power(metric, known, seeds, sentences, len(scored) - 1)


def power(
    metric: str, known: Components, seeds: int, sentences: int, comparisons: int
) -> Power | None:
    """Return what `seeds` seeds and `sentences` sentences can see; None where scores do not
    vary."""
    smallest = known.smallest_difference(seeds, sentences, comparisons)
    if not smallest:
        return None
    target = _one_digit(smallest / 2)
    needed = known.seeds_needed(target, sentences, comparisons)
    unit, segments = title(metric), segment_noun(metric)
    more = f"{needed} seeds" if needed else f"more {segments}"
    text = (
        f"power: {counted(seeds, 'seed')} and {sentences:,} {segments} may miss differences below "
        f"{smallest:.1f} {unit}; finding one of {target:g} takes {more}"
    )
    return Power(seeds, sentences, smallest, target, needed, text, known)


def _one_digit(value: float) -> float:
    """Return a number rounded to one significant digit."""
    place = math.floor(math.log10(value))
    return round(value, -place)
