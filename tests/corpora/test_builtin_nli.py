"""The built-in NLI corpus: what it promises, and what a hypothesis gives away."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict

import pytest

from augury.corpora.builtin import SPLITS, Split
from augury.corpora.builtin_nli import Example, examples, translations
from augury.corpora.corpus import LABELS


@pytest.fixture(scope="module")
def train() -> list[Example]:
    return list(examples("train", 6_000, "qaa"))


@pytest.fixture(scope="module")
def test() -> list[Example]:
    return list(examples("test", 1_500, "qaa"))


def test_golden_text() -> None:
    drawn = [example for language in ("qaa", "qab") for example in examples("train", 600, language)]
    lines = "".join(
        f"{example.id}\t{example.premise}\t{example.hypothesis}\t{example.label}\n"
        for example in drawn
    )
    lines += "".join(
        f"{pair.source}\t{pair.target}\n" for pair in translations("valid", 200, ("qab", "qaa"))
    )
    digest = hashlib.sha256(lines.encode()).hexdigest()
    assert digest == "ac0c962b119e109ef980853691b6fb1071e4467486d0db5ae3c2410e27707e67"


@pytest.mark.parametrize("split", SPLITS)
def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(split: Split) -> None:
    larger = list(examples(split, 40, "qaa", seed=7))
    assert list(examples(split, 13, "qaa", seed=7)) == larger[:13]
    assert larger[39].id == "nli-" + split + "-00000039"


def test_every_hypothesis_has_a_premise_for_each_label(train: list[Example]) -> None:
    labels = defaultdict(list)
    for example in train:
        labels[example.hypothesis].append(example.label)
    assert len(labels) == 2_000
    assert all(sorted(group) == sorted(LABELS) for group in labels.values())
    orders = Counter(tuple(group) for group in labels.values())
    assert len(orders) == 6 and min(orders.values()) > 250


def test_splits_share_no_hypothesis_whatever_the_seeds(
    train: list[Example], test: list[Example]
) -> None:
    valid = list(examples("valid", 600, "qaa", seed=2, lexicon=100))
    hypotheses = [{example.hypothesis for example in split} for split in (train, valid, test)]
    assert [len(split) for split in hypotheses] == [2_000, 200, 500]
    assert len(set().union(*hypotheses)) == 2_700


def test_translations_are_the_sentences_of_the_examples_of_their_split(
    train: list[Example],
) -> None:
    pairs = list(translations("train", 5_000, ("qaa", "qab")))
    assert len({pair.source for pair in pairs}) == 5_000
    for pair in pairs:
        assert sorted([*pair.source.split(), "ga"]) == sorted(pair.target.split())
    sentences = {example.premise for example in train} | {example.hypothesis for example in train}
    assert {pair.source for pair in pairs} <= sentences
    held_out = set()
    for split in ("valid", "test"):
        held_out |= {pair.source for pair in translations(split, 500, ("qaa", "qab"))}
    assert len(held_out) == 1_000 and held_out.isdisjoint(pair.source for pair in pairs)
