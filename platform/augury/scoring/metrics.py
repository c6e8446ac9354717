"""The metrics there are: what is known of each by its name, and how each reads text in a language.

What a library is needed for is imported when text is read, so that names can be checked without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from augury.core.errors import UserError, unknown
from augury.scoring import accuracy, bleu, chrf, ter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = "augury-0.1"
"""Of the metrics that no library signs."""


@dataclass(frozen=True)
class Reader:
    """How a metric reads text in one language."""

    signature: str
    """What the value depends on, as sacreBLEU writes it: scores are comparable where signatures are equal."""
    prepare: Callable[[str], Any]
    """One line of text to what is counted: a tuple of tokens or a string of characters."""


@dataclass(frozen=True)
class Entry:
    """What is known of a metric before any text is read."""

    title: str
    count: Callable[[Any, Any], list[int]]
    """A prepared hypothesis and reference to the counts of that sentence."""
    value: Callable[[Sequence[float]], float]
    """Counts, summed over sentences, to the value."""
    reader: Callable[[str, str, bool], Reader]
    """Name, language (empty where it was not given) and whether case is ignored, to how text is read."""
    lower_is_better: bool = False
    measures: Literal["text", "labels"] = "text"
    ignores_case: bool | None = False
    """By default; the other way is the option `:lower` or `:cased`. None: there is no other way."""

    @property
    def options(self) -> tuple[str, ...]:
        """What may follow the name after a colon."""
        return () if self.ignores_case is None else ("cased",) if self.ignores_case else ("lower",)


@dataclass(frozen=True)
class Metric:
    """A metric of a corpus that depends on its sentences through a sum of counts alone, for text in one language."""

    name: str
    signature: str
    prepare: Callable[[str], Any]
    count: Callable[[Any, Any], list[int]]
    value: Callable[[Sequence[float]], float]

    def statistics(self, hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.int64]:
        """The counts of every sentence, shape (sentences, counts)."""
        import numpy as np

        pairs = zip(hypotheses, references, strict=True)
        return np.array([self.count(self.prepare(h), self.prepare(r)) for h, r in pairs], dtype=np.int64)


def metric(name: str, language: str | None = None) -> Metric:
    """The metric called `name` for text in `language` (`de` or `de_DE`).

    UserError for an unknown name, for a language whose tokeniser is not installed and, without a language, where the
    metric depends on it: at once, or when a line is read whose tokens do.
    """
    known = entry(name)
    ignores_case = bool(known.ignores_case) != (":" in name)
    code = (language or "").replace("_", "-").split("-")[0].lower()
    reader = known.reader(name, code, ignores_case)
    return Metric(name, reader.signature, reader.prepare, known.count, known.value)


def entry(name: str) -> Entry:
    """What is known of the metric called `name`, with or without an option; UserError names the nearest."""
    base, colon, option = name.partition(":")
    if base not in METRICS:
        raise unknown("metric", name, names())
    known = METRICS[base]
    if colon and option not in known.options:
        raise unknown("metric", name, [base, *(f"{base}:{choice}" for choice in known.options)])
    return known


def names(measures: Literal["text", "labels"] | None = None) -> tuple[str, ...]:
    """The names of the metrics of texts, of labels or of both, and behind them those with options."""
    chosen = {name: known for name, known in METRICS.items() if measures in (None, known.measures)}
    return (*chosen, *(f"{name}:{option}" for name, known in chosen.items() for option in known.options))


def title(name: str) -> str:
    """What people call a metric; a name that is none, such as `loss`, is its own title."""
    base, colon, option = name.partition(":")
    return (METRICS[base].title if base in METRICS else base) + (f" ({option})" if colon else "")


def lower_is_better(name: str) -> bool:
    """Whether less of a metric, or of what training measures beside metrics, is better."""
    base = name.partition(":")[0]
    return METRICS[base].lower_is_better if base in METRICS else base in ("loss", "perplexity")


def _accuracy(name: str, language: str, ignores_case: bool) -> Reader:
    return Reader(f"labels:exact|version:{VERSION}", str.strip)


def _sacrebleu(name: str, language: str, ignores_case: bool, *, smoothing: bleu.Smoothing) -> Reader:
    """BLEU of detokenised text with sacreBLEU's tokeniser of the language: 13a, or that of zh, ja, ko."""
    from sacrebleu.metrics.bleu import BLEU

    try:
        library = BLEU(lowercase=ignores_case, smooth_method=smoothing, trg_lang=language, references=_ONE_REFERENCE)
    except RuntimeError as error:  # the tokenisers of ja and ko are separate packages
        reason = " ".join(str(error).split())
        raise UserError(f"metric '{name}' cannot tokenise '{language}': {reason}") from error

    def prepare(line: str) -> tuple[str, ...]:
        if not language and (character := bleu.EAST_ASIAN.search(line)):
            raise UserError(
                f"metric '{name}' parts Chinese, Japanese and Korean by rules of their own, and the text holds "
                f"'{character[0]}': say its language (--language zh, ja, ko, or what else it is in)"
            )
        return tuple(library.tokenizer(_cased(line, ignores_case).rstrip()).split())

    return Reader(str(library.get_signature()), prepare)


def _moses(name: str, language: str, ignores_case: bool, *, split: bool) -> Reader:
    """multi-bleu.perl after Moses tokenisation with escaping; `split` also divides hyphenated compounds."""
    import sacremoses
    from sacremoses.corpus import NonbreakingPrefixes

    if not language:
        raise UserError(f"metric '{name}' tokenises by the rules of a language: say which (--language de, en, fr, ...)")

    def prepare(line: str) -> tuple[str, ...]:
        text = " ".join(bleu.moses(line, language))
        return tuple(_cased(bleu.compound_split(text) if split else text, ignores_case).split())

    parameters = {"nrefs": "1", "case": "lc" if ignores_case else "mixed", "tok": f"moses-{language}"}
    if language not in NonbreakingPrefixes().available_langs:
        parameters["abbreviations"] = "en"  # Moses falls back to the English list
    parameters["smooth"] = "none"
    if split:
        parameters["split"] = "compound"
    parameters |= {"sacremoses": sacremoses.__version__, "version": VERSION}
    return Reader("|".join(f"{key}:{setting}" for key, setting in parameters.items()), prepare)


def _chrf(name: str, language: str, ignores_case: bool, *, words: int) -> Reader:
    """Characters, and n-grams of words up to order `words`; the language makes no difference."""
    from sacrebleu.metrics.chrf import CHRF

    library = CHRF(word_order=words, lowercase=ignores_case, references=_ONE_REFERENCE)
    return Reader(str(library.get_signature()), partial(_cased, ignores_case=ignores_case))


def _ter(name: str, language: str, ignores_case: bool) -> Reader:
    """Words between spaces, as sacreBLEU's default; the language makes no difference."""
    from sacrebleu.metrics.ter import TER

    library = TER(case_sensitive=not ignores_case, references=_ONE_REFERENCE)

    def prepare(line: str) -> tuple[str, ...]:
        return tuple(library.tokenizer(line.rstrip()).split())

    return Reader(str(library.get_signature()), prepare)


def _cased(text: str, ignores_case: bool) -> str:
    return text.lower() if ignores_case else text


def _bleu(title: str, smoothing: bleu.Smoothing, reader: Callable[[str, str, bool], Reader]) -> Entry:
    return Entry(title, bleu.statistics, partial(bleu.value, smoothing=smoothing), reader)


_ONE_REFERENCE = [[""]]  # sacreBLEU signs a metric only once it knows the number of references

METRICS: dict[str, Entry] = {
    "bleu": _bleu("BLEU", "exp", partial(_sacrebleu, smoothing="exp")),
    "chrf": Entry("chrF", chrf.statistics, chrf.value, partial(_chrf, words=0)),
    "chrf++": Entry("chrF++", partial(chrf.statistics, words=2), chrf.value, partial(_chrf, words=2)),
    "ter": Entry("TER", ter.statistics, ter.value, _ter, lower_is_better=True, ignores_case=True),
    "multi_bleu": _bleu("multi-BLEU", "none", partial(_moses, split=False)),
    "multi_bleu_detok": _bleu("multi-BLEU detokenised", "none", partial(_sacrebleu, smoothing="none")),
    "compound_bleu": _bleu("compound BLEU", "none", partial(_moses, split=True)),
    "accuracy": Entry("accuracy", accuracy.statistics, accuracy.value, _accuracy, measures="labels", ignores_case=None),
}
