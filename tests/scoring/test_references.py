"""Several references of every segment, compared with sacreBLEU and by hand."""

from __future__ import annotations

from typing import Any

import pytest
import sacrebleu

from augury.core.errors import UserError
from augury.scoring.metric import SegmentMetric
from augury.scoring.registry import metric, metric_class, names
from augury.scoring.scores import score

HYPOTHESES = ["the cat sat on the mat", "there is a dog in the garden", "so"]
FIRST = ["the cat is on the mat", "there is a dog in my garden", "well then"]
SECOND = ["a cat sat down on a mat today", "a dog is in the garden", "so it is"]


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("bleu", sacrebleu.BLEU()),
        ("bleu:lower", sacrebleu.BLEU(lowercase=True)),
        ("multi_bleu_detok", sacrebleu.BLEU(smooth_method="none")),
        ("chrf", sacrebleu.CHRF()),
        ("chrf++", sacrebleu.CHRF(word_order=2)),
        ("ter", sacrebleu.TER()),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_sacrebleu(name: str, library: Any, seed: int, corpus: Any) -> None:
    """References are the corpus's, those of other sentences, and outputs of a worse system."""
    shifted = corpus.references[seed + 1 :] + corpus.references[: seed + 1]
    sets = [corpus.references, corpus.worse, shifted]
    (result,) = score(
        corpus.better, sets[0], language="en", metrics=[name], samples=5, more_references=sets[1:]
    )
    expected = library.corpus_score(corpus.better, sets)
    assert result.value == pytest.approx(expected.score, abs=1e-9)
    assert result.signature.startswith("nrefs:3|bs:5|")


@pytest.mark.parametrize("name", names("text"))
def test_a_reference_that_is_repeated_changes_no_value(name: str) -> None:
    if metric_class(name).needs_sources or "-fixed" in name:
        pytest.skip("needs a model, or French")
    options: Any = {"language": "en", "metrics": [name], "samples": 5}
    (once,) = score(HYPOTHESES, FIRST, **options)
    (twice,) = score(HYPOTHESES, FIRST, **options, more_references=[FIRST])
    assert twice.value == pytest.approx(once.value)
    assert twice.signature != once.signature and "nrefs:2" in twice.signature


def test_word_error_rate_takes_the_best_reference() -> None:
    """1 of 6 words, 1 of 7 and 2 of 3: the first reference twice, and the second."""
    (result,) = score(HYPOTHESES, FIRST, metrics=["wer"], samples=5, more_references=[SECOND])
    assert result.value == pytest.approx(100 * (1 + 1 + 2) / (6 + 7 + 3))


def test_a_metric_of_segments_takes_the_mean() -> None:
    class Same(SegmentMetric):
        title, signature = "same", "same"

        def score(self, hypotheses: Any, references: Any, sources: Any) -> list[float]:
            return [float(h == r) for h, r in zip(hypotheses, references, strict=True)]

    counts = Same("same", "").multiple_statistics(["a", "b"], [["a", "b"], ["a", "c"]])
    assert counts.tolist() == [[1.0, 1.0], [0.5, 1.0]]


def test_sets_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UserError, match="2 references in set 2, and 3 in the first"):
        score(HYPOTHESES, FIRST, more_references=[SECOND[:2]])
    with pytest.raises(UserError, match="one label"):
        metric("accuracy").multiple_statistics(["a"], [["a"], ["b"]])
