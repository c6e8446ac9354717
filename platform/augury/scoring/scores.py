"""Score a corpus by several metrics: value, confidence interval and signature of each."""

from __future__ import annotations

from collections.abc import Sequence

from augury.core.errors import UserError
from augury.core.naming import counted
from augury.scoring.bootstrap import SAMPLES, SEED, resample
from augury.scoring.registry import metric
from augury.scoring.significance import interval
from augury.scoring.stored import Measured

RESAMPLING = ("bs:", "seed:")
"""Parts of a signature that do not affect the value."""


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    sources: Sequence[str] | None = None,
    language: str | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    samples: int = SAMPLES,
    seed: int = SEED,
    more_references: Sequence[Sequence[str]] = (),
) -> list[Measured]:
    """Score detokenised `hypotheses` by each metric, in the order of `metrics`.

    `more_references` are further references of all segments, set by set.

    Raises UserError if a metric is unknown, if there are no lines, if the numbers of lines differ,
    or if a metric needs the `language` of the text or the `sources` and they are not given.
    """
    chosen = [metric(name, language) for name in metrics]
    if len(hypotheses) != len(references):
        raise UserError(
            f"{counted(len(hypotheses), 'hypothesis', 'hypotheses')} but "
            f"{counted(len(references), 'reference')}: give one hypothesis per reference, an "
            "empty line if there is no translation"
        )
    for number, further in enumerate(more_references, start=2):
        if len(further) != len(references):
            raise UserError(
                f"{counted(len(further), 'reference')} in set {number}, and {len(references)} in "
                "the first: each set needs one for every hypothesis"
            )
    if sources is not None and len(sources) != len(references):
        raise UserError(
            f"{counted(len(sources), 'source')} but {counted(len(references), 'reference')}: give "
            "one source per reference"
        )
    if not hypotheses:
        raise UserError("nothing to score: give at least one hypothesis and its reference")
    scores = []
    for scorer in chosen:
        statistics = scorer.statistics(hypotheses, references, *more_references, sources=sources)
        labels = scorer.measures == "labels"
        resampled = resample([statistics], scorer.value, samples=samples, seed=seed, labels=labels)
        bounds = interval(resampled)
        signature = with_references(scorer.signature, 1 + len(more_references))
        scores.append(
            Measured(
                scorer.name,
                resampled.value,
                bounds.low,
                bounds.high,
                with_resampling(signature, samples, seed),
                len(statistics),
                statistics,
            )
        )
    return scores


def with_resampling(signature: str, samples: int, seed: int) -> str:
    """Return a signature with the number of bootstrap samples and the seed.

    They follow the number of references, as in sacreBLEU.
    """
    parts = without_resampling(signature).split("|")
    start = 1 if parts[0].startswith("nrefs:") else 0
    return "|".join([*parts[:start], f"bs:{samples}", f"seed:{seed}", *parts[start:]])


def without_resampling(signature: str) -> str:
    """Return a signature without bootstrap samples and seed, which do not affect the value."""
    return "|".join(part for part in signature.split("|") if not part.startswith(RESAMPLING))


def with_references(signature: str, count: int) -> str:
    """Return a signature with the number of references, which some metrics leave out if it is 1."""
    parts = signature.split("|")
    if parts[0].startswith("nrefs:"):
        return "|".join([f"nrefs:{count}", *parts[1:]])
    return signature if count == 1 else f"nrefs:{count}|{signature}"
