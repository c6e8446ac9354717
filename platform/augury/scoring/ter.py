"""Translation edit rate (Snover et al., 2006) from per-sentence statistics: sacreBLEU's search for edits and shifts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from augury.scoring.metric import CountedMetric


class Ter(CountedMetric):
    """TER of words between spaces, as sacreBLEU's default; case counts as `:cased` alone."""

    title = "TER"
    unit = "%"
    lower_is_better = True
    bounds = (0.0, math.inf)
    options = ("cased",)

    def __init__(self, name: str, language: str):
        from sacrebleu.metrics.ter import TER

        super().__init__(name, language)
        library = TER(case_sensitive=self.option == "cased", references=[[""]])
        self.tokenizer, self.signature = library.tokenizer, str(library.get_signature())

    def prepare(self, line: str) -> tuple[str, ...]:
        return tuple(self.tokenizer(line.rstrip()).split())

    def count(self, hypothesis: tuple[str, ...], reference: tuple[str, ...]) -> list[int]:
        return statistics(hypothesis, reference)

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        return value(sums)


METRICS = {"ter": Ter}


def statistics(hypothesis: tuple[str, ...], reference: tuple[str, ...]) -> list[int]:
    """Return the two counts of a sentence: edits that make the hypothesis the reference, and words of the reference."""
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    edits, length = translation_edit_rate(list(hypothesis), list(reference))
    return [edits, length]


def value(sums: Sequence[float]) -> float:
    """Return edits per 100 words of the reference, from 0 (best) to more than 100; `sums` are those of `statistics`.

    Of empty references it is 100 where there are edits, and otherwise 0.
    """
    edits, length = sums
    return 100 * (edits / length) if length else 100.0 * bool(edits)
