"""Score a corpus by several metrics: value, confidence interval and signature of each."""

from __future__ import annotations

from collections.abc import Sequence

from augury.core.errors import UserError
from augury.core.naming import counted
from augury.scoring.bootstrap import SAMPLES, SEED, resample
from augury.scoring.metric import Metric
from augury.scoring.registry import metric
from augury.scoring.significance import interval
from augury.scoring.stored import Measured


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    sources: Sequence[str] | None = None,
    language: str | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    more_references: Sequence[Sequence[str]] = (),
) -> list[Measured]:
    """Score detokenised `hypotheses` by each metric, in the order of `metrics`.

    `more_references` are further references of all segments, set by set.

    Raises UserError if a metric is unknown, if there are no lines, if the numbers of lines differ,
    or if a metric needs the `language` of the text or the `sources` and they are not given.
    """
    chosen = [metric(name, language) for name in metrics]
    others = {"hypotheses": hypotheses, "sources": references if sources is None else sources}
    others |= {f"references in set {n}": lines for n, lines in enumerate(more_references, 2)}
    for what, lines in others.items():
        if len(lines) != len(references):
            raise UserError(
                f"{what}: {counted(len(lines), 'line')}, but "
                f"{counted(len(references), 'reference')}: give a line for each reference, an "
                "empty one where there is none"
            )
    if not hypotheses:
        raise UserError("nothing to score: give at least one hypothesis and its reference")
    scores = []
    for scorer in chosen:
        statistics = scorer.statistics(hypotheses, references, *more_references, sources=sources)
        examples = scorer.examples(statistics)
        resampled = resample([statistics], scorer.value, examples=examples)
        signed = signature(scorer, 1 + len(more_references))
        value, ends = resampled.value, interval(resampled)
        scores.append(Measured(scorer.name, value, *ends, signed, len(statistics), statistics))
    return scores


def signature(scorer: Metric, references: int) -> str:
    """Return the signature of a metric with the number of references, which some leave out where it
    is 1, and then of bootstrap samples and their seed, as in sacreBLEU."""
    parts = scorer.signature.split("|")
    counted_by_metric = parts[0].startswith("nrefs:")
    counts = [f"nrefs:{references}"] if counted_by_metric or references > 1 else []
    others = parts[1:] if counted_by_metric else parts
    return "|".join([*counts, f"bs:{SAMPLES}", f"seed:{SEED}", *others])
