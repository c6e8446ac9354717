"""The contract of a metric: statistics of every segment, whose sum over a corpus decides its value.

That covers metrics of counts (BLEU, chrF, TER, accuracy) and metrics that give every segment a number, whose mean is
the corpus's (COMET). Whatever satisfies it has intervals and tests: resampled test sets sum the same statistics.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from augury.core.errors import UserError

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = "augury-0.1"
"""Of the metrics that no library signs."""


class Metric(ABC):
    """A metric for text in one language; the class is what is known of it before any text is read.

    A subclass sets `signature`, on which comparability depends: what a value depends on, as sacreBLEU writes it.
    """

    title: ClassVar[str]
    """What people call it."""
    unit: ClassVar[str] = "points"
    """What values and differences are counted in."""
    lower_is_better: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    """The least and the greatest value that there can be."""
    measures: ClassVar[Literal["text", "labels"]] = "text"
    needs_sources: ClassVar[bool] = False
    """Whether segments are scored with the sources that they translate."""
    options: ClassVar[tuple[str, ...] | None] = ()
    """What may follow the name after a colon; None: any text, such as the name of a model."""

    signature: str

    def __init__(self, name: str, language: str):
        self.name, self.language = name, language
        self.option = name.partition(":")[2]

    @abstractmethod
    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        """Return the statistics of every segment, shape (segments, statistics).

        UserError where the metric needs sources and there are none.
        """

    @classmethod
    def require(cls) -> None:
        """Raise UserError where what the metric needs is not installed: checked before anything is trained."""
        return

    @classmethod
    @abstractmethod
    def value(cls, sums: Sequence[float]) -> float:
        """Return the value of a corpus whose statistics sum to `sums`."""


class CountedMetric(Metric):
    """A metric of whole numbers that a hypothesis and its reference have."""

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        import numpy as np

        pairs = zip(hypotheses, references, strict=True)
        return np.array([self.count(self.prepare(h), self.prepare(r)) for h, r in pairs], dtype=np.int64)

    @abstractmethod
    def prepare(self, line: str) -> Any:
        """Return what is counted in a line of text: a tuple of tokens or a string of characters."""

    @abstractmethod
    def count(self, hypothesis: Any, reference: Any) -> list[int]:
        """Return the counts of a prepared segment."""


class SegmentMetric(Metric):
    """A metric that gives every segment a number, as models do; the corpus has their mean."""

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        import numpy as np

        if self.needs_sources and sources is None:
            raise UserError(f"metric '{self.name}' reads what was translated too: give the sources (--sources FILE)")
        scores = np.asarray(self.score(hypotheses, references, sources or ()), dtype=np.float64)
        assert scores.shape == (len(hypotheses),), f"metric '{self.name}' has a number for every segment"
        return np.column_stack([scores, np.ones(len(scores))])

    @abstractmethod
    def score(self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str]) -> Sequence[float]:
        """Return a number for every segment; a model reads them in batches of its own."""

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        total, segments = sums
        return total / segments if segments else 0.0
