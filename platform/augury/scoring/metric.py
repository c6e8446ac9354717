"""Base classes of metrics: additive statistics of segments, and a corpus value from their sums.

This covers metrics of counts (BLEU, chrF, TER, accuracy) and means of segment scores (COMET), and
gives all of them bootstrap intervals and significance tests, which resample the statistics.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from augury.core.errors import UserError
from augury.core.words import is_han, is_unspaced
from augury.corpora.languages import SINITIC

Lines = Sequence[str]
"""A text, a segment a line."""
READ = 200
"""References that are read to see whether a metric can count their words."""
HAN = SINITIC | {"zh", "ja"}
"""Languages whose words sacreBLEU tells apart by their characters."""
VERSION = "augury-0.1"
"""Version in the signatures of metrics that sacreBLEU does not sign."""


class Metric(ABC):
    """A metric for one language; class attributes describe it without loading libraries.

    Subclasses set `signature` to all that values depend on, in sacreBLEU's format; values with
    different signatures are not comparable.
    """

    title: ClassVar[str]
    """Name in tables and figures."""
    lower_is_better: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    """Smallest and largest possible value."""
    measures: ClassVar[Literal["text", "labels"]] = "text"
    needs_sources: ClassVar[bool] = False
    """Whether the metric reads the sources of the translations."""
    options: ClassVar[tuple[str, ...] | None] = ()
    """Allowed options after a colon in the name; None allows any text, such as the name of a
    model."""

    signature: str
    counts_words: bool = False
    """Whether it counts words between spaces, and not something else where there are none."""

    def __init__(self, name: str, language: str):
        self.name, self.language = name, language
        self.option = name.partition(":")[2]

    @abstractmethod
    def statistics(
        self, hypotheses: Lines, *references: Lines, sources: Lines | None = None
    ) -> NDArray[Any]:
        """Return the statistics of each segment, shape (segments, statistics), given one set of
        references or several.

        Raises UserError if the metric needs sources and there are none, and where it reads one set
        of references and there are several.
        """

    @classmethod
    def require(cls) -> None:
        """Raise UserError if a dependency is missing; called before training."""
        return

    def require_words(self, references: Lines) -> None:
        """Raise UserError for references in scripts without spaces if the metric counts words: a
        sentence would be one word, right or wrong as a whole."""
        beginning = references[:READ]
        counted = self.language in HAN and is_han(beginning)
        if self.counts_words and is_unspaced(beginning) and not counted:
            stated = f"'{self.language}'" if self.language else "not given"
            raise UserError(
                f"metric '{self.name}' counts words, the references separate none by spaces, and "
                f"their language is {stated}: give the right one (zh, ja, th, ...), or use chrf"
            )

    @classmethod
    @abstractmethod
    def value(cls, sums: Sequence[float]) -> float:
        """Return the corpus value from summed statistics."""

    @classmethod
    def examples(cls, statistics: NDArray[Any]) -> int:
        """Return the examples of which one exception changes a value of labels by 1 / examples at
        most, by which values without exception are bounded; 0 for other metrics."""
        return 0


class CountedMetric(Metric):
    """A metric whose statistics are integer counts of a hypothesis and its reference: of several,
    the one with the best value, the first of equals."""

    def statistics(
        self, hypotheses: Lines, *references: Lines, sources: Lines | None = None
    ) -> NDArray[Any]:
        self.require_words(references[0])
        best = min if self.lower_is_better else max
        rows = []
        for row in zip(hypotheses, *references, strict=True):
            hypothesis, *expected = map(self.prepare, row)
            counts = [self.count(hypothesis, reference) for reference in expected]
            rows.append(counts[0] if len(counts) == 1 else best(counts, key=self.value))
        return np.array(rows, dtype=np.int64)

    @abstractmethod
    def prepare(self, line: str) -> Any:
        """Return a line as a tuple of tokens or a string of characters, for `count`."""

    @abstractmethod
    def count(self, hypothesis: Any, reference: Any) -> list[int]:
        """Return the counts of a prepared segment."""


class SegmentMetric(Metric):
    """A metric that scores each segment, such as a model; the corpus value is the mean, over
    several references too."""

    def statistics(
        self, hypotheses: Lines, *references: Lines, sources: Lines | None = None
    ) -> NDArray[Any]:
        if self.needs_sources and sources is None:
            raise UserError(
                f"metric '{self.name}' needs the source sentences: give them (--sources FILE)"
            )
        by_set = [self.score(hypotheses, of_set, sources or ()) for of_set in references]
        scores = np.mean(np.asarray(by_set, dtype=np.float64), axis=0)
        assert scores.shape == (len(hypotheses),), (
            f"metric '{self.name}' must return one score per segment"
        )
        return np.column_stack([scores, np.ones(len(scores))])

    @abstractmethod
    def score(self, hypotheses: Lines, references: Lines, sources: Lines) -> Sequence[float]:
        """Return the score of each segment; batching is up to the metric."""

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        total, segments = sums
        return total / segments if segments else 0.0
