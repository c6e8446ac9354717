"""Buckets by frequency and by length."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from augury.analysis.buckets import (
    FREQUENCIES,
    LENGTHS,
    BucketAnalysis,
    bucket_name,
    f_measure,
    frequency_statistics,
)
from augury.reporting.tables import plain_records

NAMES = [bucket_name(FREQUENCIES, index) for index in range(len(FREQUENCIES) + 1)]


def test_buckets_are_those_of_compare_mt() -> None:
    assert NAMES == ["0", "1", "2", "3", "4", "5–9", "10–99", "100–999", "1,000 and more"]
    assert [bucket_name(LENGTHS, index) for index in range(3)] == ["0–9", "10–19", "20–29"]


def test_words_match_in_the_bucket_of_their_count_and_within_a_sentence() -> None:
    counts = {"a": 5, "b": 1, "c": 200}
    table = frequency_statistics([("a", "c", "c"), ("z",)], [("a", "b", "c"), ()], counts)
    by_name = dict(zip(NAMES, table.sum(1).tolist(), strict=True))
    assert [by_name[name] for name in ("0", "1", "5–9")] == [[0, 0, 1], [0, 1, 0], [1, 1, 1]]
    assert by_name["100–999"] == [1, 1, 2]
    assert [f_measure(by_name[name]) for name in ("1", "5–9")] == [0, 100]
    assert f_measure(by_name["100–999"]) == pytest.approx(66.6667, abs=1e-4)
    across = frequency_statistics([("a",), ("b",)], [("b",), ("a",)], {})
    assert across.sum((0, 1)).tolist() == [0, 2, 2]


def test_text_of_a_region_is_split_and_one_bucket_is_enough() -> None:
    lines = ["我喜欢猫"] * 30
    run = SimpleNamespace(corpus=lambda role: SimpleNamespace(blocks=lambda columns: []))
    system: Any = SimpleNamespace(
        name="copy", language="zh_CN", references=lines, outputs=lambda: lines, run=run
    )
    system.test, system.rows = "test", range(len(lines))
    buckets = BucketAnalysis().compute([system])
    assert set(buckets["words"]) == {30 * 4} and set(buckets["bucket"]) == {"0", "0–9"}
    assert "has F 100.0 on words" in BucketAnalysis().answer(buckets, [system])


def test_a_bucket_of_few_sentences_has_no_interval() -> None:
    """Of 1,000 resamples of 31 sentences, 362 would have none of the long one, and BLEU 0."""
    lines = [*["a b c d e"] * 30, "f g h i j k l m n o p q"]
    run = SimpleNamespace(corpus=lambda role: SimpleNamespace(blocks=lambda columns: []))
    system: Any = SimpleNamespace(
        name="copy", language="en", references=lines, outputs=lambda: lines, run=run
    )
    buckets = BucketAnalysis().compute([system])
    short, long = plain_records(buckets[buckets["kind"] == "length"])
    assert (short["value"], long["value"]) == (pytest.approx(100), pytest.approx(100))
    assert short["low"] == pytest.approx(100)
    assert [long[name] for name in ("bucket", "sentences", "low")] == ["10–19", 1, None]
