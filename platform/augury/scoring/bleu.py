"""BLEU (Papineni et al., 2002) from sentence statistics, and the tokenisation of its variants."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from augury.core.errors import UserError
from augury.corpora.languages import SINITIC, UNSPACED
from augury.scoring.metric import VERSION, WordMetric
from augury.scoring.ngrams import matches, multiple_matches, pairwise_matches

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

ORDER = 4
Smoothing = Literal["exp", "none"]

EAST_ASIAN = (
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    r"\U00020000-\U0003ffff]"
)
"""Characters that the Chinese, Japanese and Korean tokenisers split differently from 13a,
full-width ones included; compiled, which takes 4 ms, where a language is unknown."""
TOKENISED = ("zh", "ja", "ko")
"""Languages for which sacreBLEU has a tokeniser."""
UNKNOWN = ("", "und", "mul")
_HYPHEN = re.compile(r"(\S)-(\S)")
_ONE_REFERENCE = [[""]]  # sacreBLEU's signatures need the number of references


class _Bleu(WordMetric):
    """BLEU with the tokenisation of a subclass; option `lower` ignores case."""

    options: ClassVar[tuple[str, ...]] = ("lower",)
    bounds = (0.0, 100.0)
    smoothing: ClassVar[Smoothing]

    def count(self, hypothesis: tuple[str, ...], reference: tuple[str, ...]) -> list[int]:
        return statistics(hypothesis, reference)

    def multiple_count(
        self, hypothesis: tuple[str, ...], *references: tuple[str, ...]
    ) -> list[float]:
        return [*multiple_statistics(hypothesis, references)]

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        return value(sums, cls.smoothing)

    def cased(self, line: str) -> str:
        """Return a line, lower-cased if case is ignored."""
        return line.lower() if self.option == "lower" else line


class Bleu(_Bleu):
    """BLEU of detokenised text with sacreBLEU's tokeniser for the language: 13a, zh, ja or ko, and
    characters for others without spaces; option `char`: characters."""

    title = "BLEU"
    options: ClassVar[tuple[str, ...]] = ("lower", "char")
    smoothing: ClassVar[Smoothing] = "exp"

    def __init__(self, name: str, language: str):
        from sacrebleu.metrics.bleu import BLEU

        super().__init__(name, language)
        rules = "zh" if language in SINITIC else language
        unknown = language in UNSPACED and rules not in TOKENISED
        self.by_character = unknown or self.option == "char"
        try:
            library = BLEU(
                lowercase=self.option == "lower",
                smooth_method=self.smoothing,
                tokenize="char" if self.by_character else None,
                trg_lang="" if self.by_character else rules,  # of which it would warn
                references=_ONE_REFERENCE,
            )
        except RuntimeError as error:  # the tokenisers of ja and ko are optional packages
            reason = " ".join(str(error).split())
            raise UserError(
                f"metric '{name}' cannot tokenise '{language}': {reason}; or use "
                f"{name.partition(':')[0]}:char, which counts characters"
            ) from error
        self.tokenizer, self.signature = library.tokenizer, str(library.get_signature())

    def prepare(self, line: str) -> tuple[str, ...]:
        guesses = self.language in UNKNOWN and not self.by_character
        if guesses and (character := re.search(EAST_ASIAN, line)):
            raise UserError(
                f"metric '{self.name}' tokenises Chinese, Japanese and Korean by special rules, "
                f"and the text contains '{character[0]}': give its language (--language zh, ja, "
                "ko, or another)"
            )
        return tuple(self.tokenizer(self.cased(line).rstrip()).split())


class MultiBleuDetokenised(Bleu):
    """`Bleu` without smoothing."""

    title = "multi-BLEU detokenised"
    options = ("lower",)
    smoothing = "none"


class MultiBleu(_Bleu):
    """BLEU as multi-bleu.perl computes it, after Moses tokenisation with escaping."""

    title = "multi-BLEU"
    smoothing = "none"

    def __init__(self, name: str, language: str):
        super().__init__(name, language)
        if not language:
            raise UserError(
                f"metric '{name}' tokenises by the rules of a language: give it (--language de, "
                "en, fr, ...)"
            )
        if language in UNSPACED:
            raise UserError(
                f"metric '{name}' splits at spaces, and '{language}' has none between words: use "
                "bleu, which counts its words or characters, or chrf"
            )
        self.signature = "|".join(f"{key}:{setting}" for key, setting in self.parameters().items())

    def parameters(self) -> dict[str, str]:
        """Return the entries of the signature."""
        import sacremoses
        from sacremoses.corpus import NonbreakingPrefixes

        parameters = {"nrefs": "1", "case": "lc" if self.option == "lower" else "mixed"}
        parameters["tok"] = f"moses-{self.language}"
        if self.language not in NonbreakingPrefixes().available_langs:
            parameters["abbreviations"] = "en"  # Moses falls back to the English list
        return {
            **parameters,
            "smooth": "none",
            "sacremoses": sacremoses.__version__,
            "version": VERSION,
        }

    def prepare(self, line: str) -> tuple[str, ...]:
        return tuple(self.cased(self.split(" ".join(moses(line, self.language)))).split())

    def split(self, line: str) -> str:
        """Split the words of a tokenised line further; a hook for subclasses."""
        return line


class CompoundBleu(MultiBleu):
    """`MultiBleu` with hyphenated compounds split (`compound_split`).

    Option `t2t` replaces typographic punctuation first (`ascii_punctuation`), as tensor2tensor's
    get_ende_bleu.sh does in outputs; here in references too, which that script takes as tokenised
    by others.
    """

    title = "compound BLEU"
    options = ("lower", "t2t")

    def parameters(self) -> dict[str, str]:
        parameters = super().parameters()
        versions = {key: parameters.pop(key) for key in ("sacremoses", "version")}
        punctuation = {"punct": "t2t"} if self.option == "t2t" else {}
        return {**parameters, "split": "compound", **punctuation, **versions}

    def prepare(self, line: str) -> tuple[str, ...]:
        return super().prepare(ascii_punctuation(line) if self.option == "t2t" else line)

    def split(self, line: str) -> str:
        return compound_split(line)


METRICS = {
    "bleu": Bleu,
    "multi_bleu": MultiBleu,
    "multi_bleu_detok": MultiBleuDetokenised,
    "compound_bleu": CompoundBleu,
}


def statistics(hypothesis: tuple[str, ...], reference: tuple[str, ...]) -> list[int]:
    """Return nine counts of a sentence.

    They are clipped matches for n = 1 to 4, n-grams of the hypothesis, and the length of the
    reference.
    """
    in_hypothesis, in_reference, matched = matches(hypothesis, reference, ORDER)
    return [*matched, *in_hypothesis, in_reference[0]]


def multiple_statistics(
    hypothesis: tuple[str, ...], references: Sequence[tuple[str, ...]]
) -> list[int]:
    """Return the `statistics` of a sentence given several references.

    An n-gram matches as often as the reference that has most of it has it; the length is that of
    the reference that is closest to the hypothesis, the shorter of two (Papineni et al., 2002).
    """
    in_hypothesis = [max(0, len(hypothesis) - n) for n in range(ORDER)]
    matched = multiple_matches(hypothesis, references, ORDER)
    length = min(map(len, references), key=lambda length: (abs(length - len(hypothesis)), length))
    return [*matched, *in_hypothesis, length]


def pairwise_statistics(sentences: Sequence[tuple[str, ...]]) -> NDArray[Any]:
    """Return the `statistics` of all pairs of a hypothesis (row) and a reference (column)."""
    import numpy as np

    totals, matched = pairwise_matches(sentences, ORDER)
    hypotheses = np.broadcast_to(totals[:, None], matched.shape)
    lengths = np.broadcast_to(totals[None, :, :1], (*matched.shape[:2], 1))
    return np.concatenate([matched, hypotheses, lengths], axis=2)


def value(sums: Sequence[float], smoothing: Smoothing) -> float:
    """Return BLEU, 0 to 100, from summed `statistics`.

    Without smoothing, an order without matches gives 0, as in multi-bleu.perl. `exp` counts the
    k-th such order as 1 / 2^k matches, as in mteval-v13a (Chen and Cherry, 2014, method 3). Either
    way BLEU is 0 if there is no match at all or no 4-gram.
    """
    if not all(sums[ORDER : 2 * ORDER]) or (smoothing == "none" and not all(sums[:ORDER])):
        return 0.0
    return _geometric(sums, ORDER)


def sentence_value(counts: Sequence[float]) -> float:
    """Return sentence BLEU, 0 to 100, as sacreBLEU does: with `exp` smoothing and effective order.

    The effective order leaves out orders for which the hypothesis is too short.
    """
    return _geometric(counts, sum(map(bool, counts[ORDER : 2 * ORDER])))


def _geometric(sums: Sequence[float], order: int) -> float:
    """Return the geometric mean of smoothed (`exp`) precisions, times the brevity penalty."""
    matched, total, reference_length = sums[:order], sums[ORDER : ORDER + order], sums[2 * ORDER]
    if not any(matched):
        return 0.0
    logarithms, smoothed = [], 1.0
    for count, possible in zip(matched, total, strict=True):
        if not count:
            smoothed /= 2
        logarithms.append(math.log(100 * (count or smoothed) / possible))
    brevity_penalty = min(1.0, math.exp(1 - reference_length / total[0]))
    return brevity_penalty * math.exp(sum(logarithms) / order)


@lru_cache(maxsize=2**16)
def moses(line: str, language: str) -> tuple[str, ...]:
    """Tokenise a line as Moses does for `language`, escaping `& | < > ' " [ ]` (`&amp;`)."""
    return tuple(_tokenizer(language).tokenize(line, escape=True))


def compound_split(line: str) -> str:
    """Split hyphenated words of a tokenised line: `rich-text` becomes `rich ##AT##-##AT## text`.

    Matches do not overlap, so that `a-b-c` is split once, as in the scripts behind published WMT14
    En-De results.
    """
    return _HYPHEN.sub(r"\1 ##AT##-##AT## \2", line)


def ascii_punctuation(line: str) -> str:
    """Replace punctuation outside ASCII as Moses does: `“Ja’…”` becomes `"Ja'..."`.

    The rules are those of replace-unicode-punctuation.perl. It has no rule for `„` and `«`. Its
    rule for the full-width 1, which makes it a quotation mark, is not followed.
    """
    replaced: str = _punctuation_normaliser().replace_unicode_punct(line)
    return replaced


@lru_cache
def _punctuation_normaliser() -> MosesPunctNormalizer:
    from sacremoses import MosesPunctNormalizer

    return MosesPunctNormalizer()


@lru_cache
def _tokenizer(language: str) -> MosesTokenizer:
    from sacremoses import MosesTokenizer

    return MosesTokenizer(lang=language)
