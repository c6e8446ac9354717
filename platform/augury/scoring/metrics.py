"""Corpus metrics by name: how each prepares its text, counts a sentence and turns sums into a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from augury.errors import UserError, unknown
from augury.scoring import bleu, chrf

LOWER = ":lower"


@dataclass(frozen=True)
class Metric:
    """A metric of a corpus that depends on its sentences through a sum of counts alone."""

    name: str
    signature: str
    """What the value depends on, as sacreBLEU writes it: scores are comparable where signatures are equal."""
    prepare: Callable[[str], Any]
    """One line of text to what is counted: a tuple of tokens or a string of characters."""
    count: Callable[[Any, Any], list[int]]
    """A prepared hypothesis and reference to the counts of that sentence."""
    value: Callable[[Sequence[float]], float]
    """Summed counts to the value, 0 to 100."""

    def statistics(self, hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.int64]:
        """The counts of every sentence, shape (sentences, counts)."""
        pairs = zip(hypotheses, references, strict=True)
        return np.array([self.count(self.prepare(h), self.prepare(r)) for h, r in pairs], dtype=np.int64)


def metric(name: str, language: str) -> Metric:
    """The metric called `name` for text in `language` (`de` or `de_DE`).

    UserError for an unknown name, and for a language whose tokeniser is not installed.
    """
    check(name)
    build = _BUILDERS[name.removesuffix(LOWER)]
    return build(name, language.replace("_", "-").split("-")[0].lower(), name.endswith(LOWER))


def check(name: str) -> None:
    """UserError unless `name` is the name of a metric."""
    if name not in NAMES:
        raise unknown("metric", name, NAMES)


def _sacrebleu(name: str, language: str, lowercase: bool, *, smoothing: bleu.Smoothing) -> Metric:
    """BLEU of detokenised text with sacreBLEU's tokeniser of the language: 13a, or that of zh, ja, ko."""
    from sacrebleu.metrics.bleu import BLEU

    try:
        library = BLEU(lowercase, smooth_method=smoothing, trg_lang=language, references=_ONE_REFERENCE)
    except RuntimeError as error:  # the tokenisers of ja and ko are separate packages
        reason = " ".join(str(error).split())
        raise UserError(f"metric '{name}' cannot tokenise '{language}': {reason}") from error

    def prepare(line: str) -> tuple[str, ...]:
        return tuple(library.tokenizer(_cased(line, lowercase).rstrip()).split())

    value = partial(bleu.value, smoothing=smoothing)
    return Metric(name, str(library.get_signature()), prepare, bleu.statistics, value)


def _multi_bleu(name: str, language: str, lowercase: bool, *, split: bool) -> Metric:
    """multi-bleu.perl after Moses tokenisation with escaping; `split` also divides hyphenated compounds."""
    import sacremoses
    from sacremoses.corpus import NonbreakingPrefixes

    def prepare(line: str) -> tuple[str, ...]:
        text = " ".join(bleu.moses(line, language))
        return tuple(_cased(bleu.compound_split(text) if split else text, lowercase).split())

    parameters = {"nrefs": "1", "case": "lc" if lowercase else "mixed", "tok": f"moses-{language}"}
    if language not in NonbreakingPrefixes().available_langs:
        parameters["abbreviations"] = "en"  # Moses falls back to the English list
    parameters["smooth"] = "none"
    if split:
        parameters["split"] = "compound"
    parameters |= {"sacremoses": sacremoses.__version__, "version": "augury-0.1"}
    signature = "|".join(f"{key}:{setting}" for key, setting in parameters.items())
    return Metric(name, signature, prepare, bleu.statistics, partial(bleu.value, smoothing="none"))


def _chrf(name: str, language: str, lowercase: bool) -> Metric:
    """chrF2, which takes no notice of the language."""
    from sacrebleu.metrics.chrf import CHRF

    def prepare(line: str) -> str:
        return "".join(_cased(line, lowercase).split())

    signature = str(CHRF(lowercase=lowercase, references=_ONE_REFERENCE).get_signature())
    return Metric(name, signature, prepare, chrf.statistics, chrf.value)


def _cased(text: str, lowercase: bool) -> str:
    return text.lower() if lowercase else text


_ONE_REFERENCE = [[""]]  # sacreBLEU signs a metric only once it knows the number of references

_BUILDERS: dict[str, Callable[[str, str, bool], Metric]] = {
    "bleu": partial(_sacrebleu, smoothing="exp"),
    "chrf": _chrf,
    "multi_bleu": partial(_multi_bleu, split=False),
    "multi_bleu_detok": partial(_sacrebleu, smoothing="none"),
    "compound_bleu": partial(_multi_bleu, split=True),
}
NAMES = tuple(_BUILDERS) + tuple(name + LOWER for name in _BUILDERS)
