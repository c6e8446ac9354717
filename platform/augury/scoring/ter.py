"""Translation edit rate (Snover et al., 2006) from sentence statistics, as in sacreBLEU."""

from __future__ import annotations

import math
from collections.abc import Sequence

from augury.corpora.languages import SINITIC, UNSPACED
from augury.scoring.metric import WordMetric


class Ter(WordMetric):
    """TER with sacreBLEU's default tokenisation, its Asian one for Chinese and Japanese, and of
    characters in other languages without spaces; case is ignored unless the option is `cased`."""

    title = "TER"
    unit = "%"
    lower_is_better = True
    bounds = (0.0, math.inf)
    options = ("cased",)

    def __init__(self, name: str, language: str):
        from sacrebleu.metrics.ter import TER

        super().__init__(name, language)
        asian = language in ("zh", "ja") or language in SINITIC
        self.by_character = language in UNSPACED and not asian
        library = TER(
            case_sensitive=self.option == "cased",
            normalized=asian,
            asian_support=asian,
            references=[[""]],
        )
        self.tokenizer, self.signature = library.tokenizer, str(library.get_signature())
        if self.by_character:
            self.signature += "|unit:character"

    def prepare(self, line: str) -> tuple[str, ...]:
        tokens = self.tokenizer(line.rstrip()).split()
        return tuple("".join(tokens) if self.by_character else tokens)

    def count(self, hypothesis: tuple[str, ...], reference: tuple[str, ...]) -> list[int]:
        return statistics(hypothesis, reference)

    def multiple_count(
        self, hypothesis: tuple[str, ...], *references: tuple[str, ...]
    ) -> list[float]:
        """Return the fewest edits to a reference, and the mean number of words of references."""
        counts = [statistics(hypothesis, reference) for reference in references]
        edits, words = zip(*counts, strict=True)
        return [min(edits), sum(words) / len(words)]

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        return value(sums)


METRICS = {"ter": Ter}


def statistics(hypothesis: tuple[str, ...], reference: tuple[str, ...]) -> list[int]:
    """Return the counts of a sentence: edits, and words of the reference."""
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    edits, length = translation_edit_rate(list(hypothesis), list(reference))
    return [edits, length]


def value(sums: Sequence[float]) -> float:
    """Return edits per 100 reference words, 0 (best) and up, from summed `statistics`.

    For empty references it is 100 if there are edits, and 0 otherwise.
    """
    edits, length = sums
    return 100 * (edits / length) if length else 100.0 * bool(edits)
