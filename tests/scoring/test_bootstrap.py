from __future__ import annotations

import numpy as np

from augury.scoring import bootstrap
from augury.scoring.bootstrap import resample, resample_counts
from augury.scoring.registry import metric
from tests.scoring.simulated import mean, numbers


def test_blocks_do_not_change_the_draws(monkeypatch):
    (expected,) = resample_counts(10, 20, 1)
    monkeypatch.setattr(bootstrap, "BLOCK", 30)
    blocks = list(resample_counts(10, 20, 1))
    assert len(blocks) == 7
    np.testing.assert_array_equal(np.concatenate(blocks), expected)


def test_a_sample_is_scored_as_the_sentences_that_were_drawn(corpus):
    bleu = metric("bleu", "en")
    statistics = bleu.statistics(corpus.better, corpus.references)
    resampled = resample([statistics], bleu.value, samples=5)
    for row, times in zip(
        resampled.samples, np.concatenate(list(resample_counts(200, 5, 12345))), strict=True
    ):
        drawn = np.repeat(np.arange(200), times.astype(int))
        lines, references = (
            [side[line] for line in drawn] for side in (corpus.better, corpus.references)
        )
        assert row == [bleu.value(bleu.statistics(lines, references).sum(0).tolist())]
    assert resampled.scores == [bleu.value(statistics.sum(0).tolist())]
    assert resampled.statistics == (statistics,)


def test_seeds_and_systems_share_the_sentences_of_a_sample():
    first, second = numbers("a"), numbers("b")
    together = resample([first, second], mean, samples=30)
    apart = [resample([statistics], mean, samples=30) for statistics in (first, second)]
    assert (together.seeds, together.value) == (2, (mean(first.sum(0)) + mean(second.sum(0))) / 2)
    np.testing.assert_array_equal(
        together.samples, np.hstack([resampled.samples for resampled in apart])
    )
    np.testing.assert_array_equal(
        together.scores, np.concatenate([resampled.scores for resampled in apart])
    )
