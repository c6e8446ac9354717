from __future__ import annotations

import json
import re

import numpy as np
import pytest
import sacrebleu

from augury.core.config import validate
from augury.core.errors import UserError
from augury.core.store import Store
from augury.scoring.registry import lower_is_better, metric, metric_class, names
from augury.scoring.scores import score
from augury.scoring.settings import TextScoring
from augury.scoring.stored import SCORES, read_statistics, write_statistics

HYPOTHESES = ["the cat sat on the mat", "there is a dog in the garden"]
REFERENCES = ["the cat is on the mat", "there is a dog in my garden"]
COUNTED = [name for name in names("text") if not metric_class(name).needs_sources]


@pytest.mark.parametrize(
    "name", [name for name in names("text") if "bleu" in name and not name.endswith(":char")]
)
def test_golden_pair(name):
    (result,) = score(HYPOTHESES, REFERENCES, language="en", metrics=[name], samples=10)
    assert result.value == pytest.approx(51.1359, abs=1e-4)


def test_golden_pair_without_higher_matches():
    metrics = ("bleu", "multi_bleu", "multi_bleu_detok")
    results = score(
        ["the cat sat on a mat today"],
        ["a cat is on the mat now"],
        language="en",
        metrics=metrics,
        samples=10,
    )
    assert [result.name for result in results] == list(metrics)
    assert [result.value for result in results] == pytest.approx([9.8204, 0.0, 0.0], abs=1e-4)


def test_defaults_are_bleu_and_chrf_of_sacrebleu(corpus):
    results = score(corpus.better, corpus.references)
    libraries = [sacrebleu.BLEU(), sacrebleu.CHRF()]
    expected = [
        library.corpus_score(corpus.better, [corpus.references]).score for library in libraries
    ]
    assert [result.value for result in results] == expected


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("bleu", sacrebleu.BLEU()),
        ("chrf", sacrebleu.CHRF()),
        ("chrf++", sacrebleu.CHRF(word_order=2)),
        ("ter", sacrebleu.TER()),
    ],
)
def test_interval_and_signature_are_those_of_sacrebleu(name, library, corpus):
    """Equal draws; sacreBLEU gives half the distance between two of the sorted samples."""
    (result,) = score(corpus.better, corpus.references, metrics=[name], samples=200)
    library.corpus_score(corpus.better, [corpus.references], n_bootstrap=200)
    assert result.signature == str(library.get_signature())
    assert "|bs:200|seed:12345|" in result.signature
    expected = library.corpus_score(corpus.better, [corpus.references], n_bootstrap=200)
    assert (result.high - result.low) / 2 == pytest.approx(expected._ci, rel=0.05)


def test_interval_holds_the_value(corpus):
    for result in score(
        corpus.better, corpus.references, language="en", metrics=COUNTED, samples=100
    ):
        assert 0 < result.low < result.value < result.high < 100
        assert result.n == 200


def test_perfect_translation(corpus):
    for result in score(
        corpus.references, corpus.references, language="en", metrics=COUNTED, samples=20
    ):
        best = 0 if lower_is_better(result.name) else 100
        assert (result.low, result.value, result.high) == pytest.approx((best, best, best))


def test_deterministic(corpus):
    first, again, other = (
        score(corpus.better, corpus.references, language="en", seed=seed, samples=50)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert [result.value for result in first] == [result.value for result in other]
    assert [result.low for result in first] != [result.low for result in other]


def test_plain_is_json():
    (result,) = score(HYPOTHESES, REFERENCES, language="en", metrics=["chrf"], samples=10)
    assert json.loads(json.dumps(result.to_dict())) == {
        "name": "chrf",
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "signature": result.signature,
        "n": 2,
    }


def test_statistics_are_kept_and_read_again(tmp_path):
    run = Store(tmp_path).folder("runs", "a/seed-1")
    metrics = ["bleu", "bleu:lower", "chrf", "chrf++", "ter:cased"]
    results = score(HYPOTHESES, REFERENCES, metrics=metrics, samples=10)
    assert (
        results[0].statistics.tolist()
        == metric("bleu", "en").statistics(HYPOTHESES, REFERENCES).tolist()
    )
    write_statistics(run, "test", results)
    run.write_record(SCORES, {}, ["statistics/test.npz"])
    kept = read_statistics(run, "test")
    assert {name: counts.tolist() for name, counts in kept.items()} == {
        result.name: result.statistics.tolist() for result in results
    }
    assert kept["bleu"].dtype == np.int64 and kept["chrf"].shape == (2, 18)
    assert [metric_class(name).value(counts.sum(0).tolist()) for name, counts in kept.items()] == [
        result.value for result in results
    ]
    assert read_statistics(run, "other") == {}
    before = run.sub("statistics").read("test.npz")
    write_statistics(run, "test", results)
    assert run.sub("statistics").read("test.npz") == before


def test_different_numbers_of_lines():
    with pytest.raises(UserError, match="1 hypothesis but 2 references"):
        score(["a"], ["a", "b"], language="en")


def test_nothing_to_score():
    with pytest.raises(UserError, match="nothing to score"):
        score([], [], language="en")


def test_unknown_metric():
    with pytest.raises(UserError, match=r"unknown metric 'bleau': did you mean 'bleu'\?"):
        score(["a"], ["a"], language="en", metrics=["bleau"])


def test_section():
    assert TextScoring().to_dict() == {"metrics": ["bleu", "chrf"], "bootstrap_samples": 1000}
    assert validate(TextScoring, {"metrics": ["multi_bleu:lower"]}, "test").metrics == (
        "multi_bleu:lower",
    )


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"metrics": ["blue"]}, "unknown metric 'blue': did you mean 'bleu'?"),
        ({"metrics": ["accuracy"]}, "metric 'accuracy' scores labels"),
        ({"metrics": []}, "metrics"),
        ({"metrics": "f1"}, "unknown metric 'f1': allowed: bleu, "),
        ({"metrics": "bleu"}, "must be a list: [bleu]"),
        ({"bootstrap_samples": 0}, "bootstrap_samples = 0"),
        ({"metric": ["bleu"]}, "unknown key 'metric': did you mean 'metrics'?"),
    ],
)
def test_section_refuses(section, message):
    with pytest.raises(UserError, match=re.escape(message)):
        validate(TextScoring, section, "test")
