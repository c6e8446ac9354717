from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from augury.augment import operator, pipeline
from augury.augment.eda import Eda
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.text.eda import OPERATIONS
from tests.augment import texts

WORDS = [f"w{number}" for number in range(10)]
SENTENCE = " ".join(WORDS)
LABELS = ["entailment", "neutral", "contradiction"]


def block(
    count: int, premise: str = SENTENCE, hypothesis: str = SENTENCE, language: str = "en"
) -> pa.Table:
    labels = [LABELS[number % 3] for number in range(count)]
    sides = {"premise": [premise] * count, "hypothesis": [hypothesis] * count}
    return texts.records("nli", language, **sides, label=labels)


def apply_eda(eda: Eda, records: pa.Table, store: Store) -> operator.OperatorOutput:
    return eda.bind({}, store)(records)


def operation(text: str) -> str:
    """Which operation made a text of `SENTENCE`, where the synonym of every word `w*` is `s`."""
    words = text.split()
    if len(words) > len(WORDS):
        return "insertion"
    if "s" in words:
        return "replacement"
    return "swap" if sorted(words) == WORDS and words != WORDS else "deletion"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def synonyms(tmp_path: Path) -> str:
    path = tmp_path / "synonyms.tsv"
    path.write_text("".join(f"{word}\ts\n" for word in WORDS))
    return str(path)


def test_four_copies_have_the_four_operations_on_either_side_apart(
    store: Store, synonyms: str
) -> None:
    """Swaps that undo each other count as deletions of nothing: premises of ten words have two
    of them."""
    rows = apply_eda(Eda(synonyms=synonyms), block(300), store).table.to_pylist()
    for side in ("premise", "hypothesis"):
        drawn = [operation(row[side]) for row in rows]
        counts = Counter(drawn)
        assert counts["replacement"] == counts["insertion"] == 300
        assert counts["swap"] + counts["deletion"] == 600 and counts["swap"] > 280
        # The round begins anywhere: the first copies alone are balanced too, 75 each, four standard
        # deviations 30.
        assert all(45 < Counter(drawn[::4])[name] < 105 for name in OPERATIONS)
    both = Counter((operation(row["premise"]), operation(row["hypothesis"])) for row in rows)
    assert len(both) == 16 and all(35 < count < 130 for count in both.values())  # 75 expected


def corpus(
    store: Store, premise: str = "The dog sees a happy child.", language: str = "en"
) -> Corpus:
    hypothesis = "A man is walking." if language == "en" else premise
    table = block(10, premise, hypothesis, language)
    return texts.corpus(store, table, f"{language}-{len(premise)}", "nli")


def test_words_are_needed_where_none_are_written(store: Store) -> None:
    with pytest.raises(UserError, match="operator eda: .*'zh'.*run a segmenter"):
        pipeline.augment(corpus(store, "两只狗在公园里跑。", "zh"), [Eda()], store)
    segmented = corpus(store, "两 只 狗 在 公园 里 跑 。", "zh")
    pipeline.augment(segmented, [Eda()], store)
    assert len(store.addresses("records")) == 1
