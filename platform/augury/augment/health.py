"""The health of an operator's output: the shares that were made, are copied or repeated.

Without it, a system trained on nothing or garbage would be scored like any other. The measures are
stored with the output, and stop such a system before training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from augury.augment.operator import REJECTED, Operator, OperatorOutput
from augury.core.config import Section
from augury.core.errors import UserError
from augury.core.messages import say

YIELD, COPIED, REPEATED, WER = "yield", "copied", "repeated", "WER"
LIMITS = {YIELD: "min_yield", COPIED: "max_copied", REPEATED: "max_repeated", WER: "max_wer"}
"""The measures that have a limit, and its setting."""
TEXTS, EMPTY, PAIRS = "texts", "empty", "pairs"
"""Sums of `tally`: texts, empty ones, and distinct pairs of a text and what it is made from."""


class UnusableOutput(UserError):
    """The output of an operator is beyond a limit of the section `health`."""


class HealthLimits(Section):
    """Limits of operators' output, beyond which no system is trained on it; null: no limit."""

    stop: bool = True
    """Leave a system out, and say why, where the output of an operator is beyond a limit; false:
    warn."""
    min_yield: float | None = Field(0.5, ge=0, le=1)
    """The minimum share of non-empty texts among those to be made; none at all is always a fault.
    Fuzzy matches, diversified data and hypotheses labelled by a teacher may be any number above 0.
    """
    max_copied: float | None = Field(0.8, ge=0, le=1)
    """The maximum share of texts that are equal to what they are made from; noise and
    duplicates may have any."""
    max_repeated: float | None = Field(0.8, ge=0, le=1)
    """The maximum share of texts that are equal to one made from another text of the same block
    of the corpus."""
    max_wer: float | None = Field(0.9, ge=0)
    """The maximum word error rate of speech transcripts; a file of other sentences has about 1."""


@dataclass(frozen=True)
class Health:
    """The measures of one view, or of one set of records."""

    name: str
    operator: str
    made: int
    """Texts or records that were made."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Texts that became none, by reason."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Shares by name, those of the operator's own included, without the ones that may have any
    value."""

    @property
    def requested(self) -> int:
        """The number of texts that were to be made."""
        return self.made + sum(self.lost.values())

    @classmethod
    def of(
        cls, operator: Operator, made: int, counts: Mapping[str, int], sums: Mapping[str, int]
    ) -> Health:
        """Return the measures of `made` texts, given the operator's counts and the sums of
        `tally`."""
        lost = {
            name.removeprefix(REJECTED): count
            for name, count in counts.items()
            if name.startswith(REJECTED) and count
        }
        requested = made + sum(lost.values())
        measures = operator.measures(counts)
        if requested:
            measures[YIELD] = (made - sums.get(EMPTY, 0)) / requested
        if texts := sums.get(TEXTS):
            measures[COPIED] = sums[COPIED] / texts
            measures[REPEATED] = sums[REPEATED] / sums[PAIRS]
        limited = {name: share for name, share in measures.items() if name not in operator.NORMAL}
        return cls(operator.name(), operator.operator, made, lost, limited)

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as JSON-like values, of which `Health(**values)` is made again."""
        return asdict(self)

    @property
    def text(self) -> str:
        """The measures in a line, such as `95 of 100 made (5 empty), yield 95.0 %`."""
        made = f"{self.made:,} made"
        if self.lost:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.lost.items())
            made = f"{self.made:,} of {self.requested:,} made ({reasons})"
        shares = [f"{name} {100 * share:.1f} %" for name, share in self.measures.items()]
        return ", ".join([made, *shares])

    def faults(self, limits: HealthLimits) -> list[str]:
        """Return what is beyond a limit: the measure, the limit and its setting."""
        lost = "".join(f", {count:,} {reason}" for reason, count in self.lost.items())
        made = f"it made {self.made:,} of {self.requested:,} texts{lost}"
        if not self.made:
            return [made]
        faults = []
        for name, setting in LIMITS.items():
            limit, share = getattr(limits, setting), self.measures.get(name)
            if limit is None or share is None:
                continue
            if share < limit if name == YIELD else share > limit:
                text = f"{made}, and the share of {name} is {100 * share:.1f} %"
                faults.append(f"{text}; health.{setting} is {limit:g}")
        return faults


def require(outputs: Sequence[Health], limits: HealthLimits) -> None:
    """Raise UnusableOutput where an output is beyond a limit, or warn, as `limits` say.

    Of an operator with several outputs, one that is empty is no fault where another is not.
    """
    productive = {output.operator for output in outputs if output.made}
    for output in outputs:
        faults = output.faults(limits) if output.made or output.operator not in productive else []
        if not faults:
            continue
        described = f"operator {output.operator} ({output.name}): {'; '.join(faults)}"
        if limits.stop:
            raise UnusableOutput(
                f"{described}. Correct the operator, its text or its model, set the limit to "
                "another value or null, or health.stop to false"
            )
        say(f"warning: {described}")


Column: TypeAlias = "pa.Array | pa.ChunkedArray"


def tally(output: OperatorOutput) -> Counter[str]:
    """Return the sums over an output's texts and what they were made from.

    A text of several columns is copied where all of them are, and empty where one is that was not.
    A pair is repeated where its text is in an earlier one.
    """
    rows = len(output.table)
    if not rows or not output.made_of:
        return Counter()
    pairs = [
        (output.table.column(name), texts.cast(pa.string()))
        for name, texts in output.made_of.items()
    ]
    # A column that the operator leaves alone, such as the source, is no copy to warn of.
    pairs = [pair for pair in pairs if not pc.all(pc.equal(*pair)).as_py()] or pairs
    empty, copied = np.zeros(rows, bool), np.ones(rows, bool)
    for text, source in pairs:
        empty |= _blank(text) & ~_blank(source)
        copied &= np.asarray(pc.equal(text, source))
    new, both = _distinct([text for text, _ in pairs]), _distinct([*chain.from_iterable(pairs)])
    sums = {EMPTY: int(empty.sum()), COPIED: int((copied & ~empty).sum())}
    return Counter(sums | {TEXTS: rows, PAIRS: both, REPEATED: both - new})


def _blank(texts: Column) -> np.ndarray:
    return np.asarray(pc.equal(pc.binary_length(pc.utf8_trim_whitespace(texts)), 0))


def _distinct(columns: Sequence[Column]) -> int:
    """Return the number of distinct rows."""
    names = [str(place) for place in range(len(columns))]
    return int(pa.table([*columns], names).group_by(names).aggregate([]).num_rows)
