"""BLEU, chrF and TER by sacreBLEU, and BLEU as published results tokenise it.

The statistics of segments, and the scores of their sums, are those of sacreBLEU's own classes, by
the methods on which its significance tests rest: private ones, which is why its version is pinned,
and a test compares them with its corpus scores. What published results do besides, Moses' and
tensor2tensor's, is preprocessing.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import cycle
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from augury.core.errors import UserError
from augury.corpora.languages import SINITIC, UNSPACED
from augury.scoring.metric import HAN, VERSION, Lines, Metric

EAST_ASIAN = (
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    r"\U00020000-\U0003ffff]"
)
"""Characters that the Chinese, Japanese and Korean tokenisers split differently from 13a,
full-width ones included; compiled, which takes 4 ms, where a language is unknown."""
TOKENISED = ("zh", "ja", "ko")
"""Languages for which sacreBLEU has a tokeniser."""
UNKNOWN = ("", "und", "mul")
QUOTES = {"fr": ("«", "»")}
"""Opening and closing quote by language; no spaces inside, as in Li and Specia's released code."""
APOSTROPHE = "\u2019"
FIXED = "fixed"
_HYPHEN = re.compile(r"(\S)-(\S)")
_ONE_REFERENCE = [[""]]  # signatures need the number of references


class _Sacre(Metric):
    """A metric whose statistics are those of `library`, one of sacreBLEU's metrics."""

    bounds = (0.0, 100.0)
    scored_by: ClassVar[str]
    """Which of sacreBLEU's metrics scores sums."""
    library: Any

    def __init__(self, name: str, language: str):
        super().__init__(name, language)
        self.library = self._library()
        self.signature = str(self.library.get_signature())

    @abstractmethod
    def _library(self) -> Any:
        """Return sacreBLEU's metric for the option and the language."""

    def preprocess(self, line: str) -> str:
        """Return a line as sacreBLEU is to read it."""
        return line

    def prepare(self, line: str) -> str:
        """Return a line as its n-grams are counted: tokens between spaces for BLEU and TER."""
        return str(self.library._preprocess_segment(self.preprocess(line)))

    def statistics(
        self, hypotheses: Lines, *references: Lines, sources: Lines | None = None
    ) -> NDArray[Any]:
        self.require_words(references[0])
        sets = [[self.preprocess(line) for line in lines] for lines in references]
        lines = [self.preprocess(line) for line in hypotheses]
        return np.array(self.library._extract_corpus_statistics(lines, sets))

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        return float(_scorer(cls.scored_by)._compute_score_from_stats([*sums]).score)


class Bleu(_Sacre):
    """BLEU of detokenised text with sacreBLEU's tokeniser for the language: 13a, zh, ja or ko, and
    characters for others without spaces; option `char`: characters, `lower`: without case.

    `fixed` and `lower-fixed` read hypotheses with the quotes and apostrophes of the language (see
    `fix`), and references as they are: so Li and Specia (2019) score their French.
    """

    title = "BLEU"
    scored_by = "bleu"
    options: ClassVar[tuple[str, ...]] = ("lower", "char", FIXED, f"lower-{FIXED}")
    smoothing: ClassVar[str] = "exp"

    def __init__(self, name: str, language: str):
        super().__init__(name, language)
        self.fixes = self.option.endswith(FIXED)
        if self.fixes and language not in QUOTES:
            shown = f"'{language}'" if language else "text of unknown language (give --language)"
            raise UserError(
                f"metric '{name}' fixes the punctuation of {', '.join(QUOTES)}, not of {shown}"
            )
        self.signature += f"|punctuation:{language}" if self.fixes else ""

    def statistics(
        self, hypotheses: Lines, *references: Lines, sources: Lines | None = None
    ) -> NDArray[Any]:
        lines = [fix(line, self.language) for line in hypotheses] if self.fixes else hypotheses
        return super().statistics(lines, *references, sources=sources)

    def _library(self) -> Any:
        rules = "zh" if self.language in SINITIC else self.language
        unknown = self.language in UNSPACED and rules not in TOKENISED
        self.counts_words = not unknown and self.option != "char"
        try:
            return _bleu(
                lowercase=self.option.startswith("lower"),
                smooth_method=self.smoothing,
                tokenize=None if self.counts_words else "char",
                trg_lang=rules if self.counts_words else "",  # of which it would warn
            )
        except RuntimeError as error:  # the tokenisers of ja and ko are optional packages
            reason = " ".join(str(error).split())
            raise UserError(
                f"metric '{self.name}' cannot tokenise '{self.language}': {reason}; or use "
                f"{self.name.partition(':')[0]}:char, which counts characters (scoring.metrics), "
                "and chrf in validation (validation.metric)"
            ) from error

    def preprocess(self, line: str) -> str:
        guesses = self.language in UNKNOWN and self.counts_words
        if guesses and (character := re.search(EAST_ASIAN, line)):
            raise UserError(
                f"metric '{self.name}' tokenises Chinese, Japanese and Korean by special rules, "
                f"and the text contains '{character[0]}': give its language (--language zh, ja, "
                "ko, or another)"
            )
        return line


class MultiBleuDetokenised(Bleu):
    """`Bleu` without smoothing."""

    title = "multi-BLEU detokenised"
    scored_by = "unsmoothed"
    options = ("lower", FIXED, f"lower-{FIXED}")
    smoothing = "none"


class MultiBleu(_Sacre):
    """BLEU as multi-bleu.perl computes it, after Moses tokenisation with escaping."""

    title = "multi-BLEU"
    scored_by = "unsmoothed"
    counts_words = True
    options: ClassVar[tuple[str, ...]] = ("lower",)

    def __init__(self, name: str, language: str):
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
        super().__init__(name, language)
        import sacremoses
        from sacremoses.corpus import NonbreakingPrefixes

        known = self.language in NonbreakingPrefixes().available_langs
        entries = [
            "nrefs:1",
            f"case:{'lc' if self.option == 'lower' else 'mixed'}",
            f"tok:moses-{self.language}",
            *([] if known else ["abbreviations:en"]),  # Moses falls back to the English list
            "smooth:none",
            *self.steps(),
            f"sacremoses:{sacremoses.__version__}",
            f"version:{VERSION}",
        ]
        self.signature = "|".join(entries)

    def _library(self) -> Any:
        return _bleu(lowercase=self.option == "lower", tokenize="none", smooth_method="none")

    def steps(self) -> list[str]:
        """Return the entries in the signature of what is done besides."""
        return []

    def preprocess(self, line: str) -> str:
        return " ".join(moses(line, self.language))


class CompoundBleu(MultiBleu):
    """`MultiBleu` with hyphenated compounds split (`compound_split`).

    Option `t2t` replaces typographic punctuation first, as tensor2tensor's get_ende_bleu.sh does in
    outputs; here in references too, which that script takes as tokenised by others.
    """

    title = "compound BLEU"
    options = ("lower", "t2t")

    def steps(self) -> list[str]:
        return ["split:compound", *(["punct:t2t"] if self.option == "t2t" else [])]

    def preprocess(self, line: str) -> str:
        if self.option == "t2t":
            line = _punctuation_normaliser().replace_unicode_punct(line)
        return compound_split(super().preprocess(line))


class Chrf(_Sacre):
    """chrF, which does not depend on the language; option `lower` ignores case."""

    title = "chrF"
    scored_by = "chrf"
    options = ("lower",)
    words: ClassVar[int] = 0
    """Highest order of word n-grams."""

    def _library(self) -> Any:
        from sacrebleu.metrics.chrf import CHRF

        lower = self.option == "lower"
        return CHRF(word_order=self.words, lowercase=lower, references=_ONE_REFERENCE)


class ChrfPlusPlus(Chrf):
    """chrF++: chrF with word unigrams and bigrams."""

    title = "chrF++"
    scored_by = "chrf++"
    words = 2


class Ter(_Sacre):
    """TER with sacreBLEU's default tokenisation, its Asian one for Chinese and Japanese, and of
    characters in other languages without spaces; case is ignored unless the option is `cased`."""

    title = "TER"
    scored_by = "ter"
    lower_is_better = True
    bounds = (0.0, math.inf)
    options = ("cased",)

    def __init__(self, name: str, language: str):
        super().__init__(name, language)
        if not self.counts_words:
            self.signature += "|unit:character"

    def _library(self) -> Any:
        from sacrebleu.metrics.ter import TER

        asian = self.language in HAN
        self.counts_words = asian or self.language not in UNSPACED
        return TER(
            case_sensitive=self.option == "cased",
            normalized=asian,
            asian_support=asian,
            references=_ONE_REFERENCE,
        )

    def preprocess(self, line: str) -> str:
        return line if self.counts_words else " ".join("".join(line.split()))


def _bleu(**options: Any) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    # Forced, as `corpora` warns of tokenised text.
    return BLEU(force=True, references=_ONE_REFERENCE, **options)


@cache
def _scorer(kind: str) -> Any:
    """Return a metric of sacreBLEU by what sums are scored with."""
    from sacrebleu.metrics import CHRF, TER

    return {
        "bleu": lambda: _bleu(),
        "unsmoothed": lambda: _bleu(tokenize="none", smooth_method="none"),
        "chrf": lambda: CHRF(),
        "chrf++": lambda: CHRF(word_order=2),
        "ter": lambda: TER(),
    }[kind]()


METRICS = {
    "bleu": Bleu,
    "multi_bleu": MultiBleu,
    "multi_bleu_detok": MultiBleuDetokenised,
    "compound_bleu": CompoundBleu,
    "chrf": Chrf,
    "chrf++": ChrfPlusPlus,
    "ter": Ter,
}


def bleu_counts(hypothesis: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Return the statistics of BLEU of tokens: both lengths, the matches of 1- to 4-grams, and
    those of the hypothesis."""
    library = _scorer("unsmoothed")
    info = library._extract_reference_info([" ".join(reference)])
    return list(library._compute_segment_statistics(" ".join(hypothesis), info))


def fix(line: str, language: str = "fr") -> str:
    """Replace the ASCII apostrophes and double quotes of a line by those of a language; idempotent.

    Opening and closing quotes alternate from the beginning of the line.
    """
    marks = cycle(QUOTES[language])
    plain = line.replace("'", APOSTROPHE)
    return "".join([next(marks) if character == '"' else character for character in plain])


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


@cache
def _punctuation_normaliser() -> Any:
    """Return what replaces punctuation outside ASCII as Moses does: `“Ja’…”` becomes `"Ja'..."`.

    The rules are those of replace-unicode-punctuation.perl. It has no rule for `„` and `«`. Its
    rule for the full-width 1, which makes it a quotation mark, is not followed.
    """
    from sacremoses import MosesPunctNormalizer

    return MosesPunctNormalizer()


@cache
def _tokenizer(language: str) -> Any:
    from sacremoses import MosesTokenizer

    return MosesTokenizer(lang=language)
