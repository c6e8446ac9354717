"""The built-in corpora: what they promise, and what a hypothesis gives away."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from itertools import islice

import pytest

from augury.corpora.builtin import builtin_text, inferences, pairs, translations
from augury.corpora.corpus import LABELS
from augury.corpora.spec import CorpusSpec, MonolingualSpec, NliSpec
from augury.corpora.text_settings import Role

SPLITS: tuple[Role, ...] = ("train", "valid", "test")
NLI = ("qaa", "qab")


@pytest.fixture(scope="module")
def train() -> list[tuple[str, str, str]]:
    return list(islice(inferences("train", "qaa"), 6_000))


def digest(lines: list[str]) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def test_golden_text_of_the_nli_languages() -> None:
    lines = []
    for language in NLI:
        drawn = enumerate(islice(inferences("train", language), 600))
        lines += ["\t".join((f"nli-train-{index:08}", *row)) for index, row in drawn]
    lines += map("\t".join, islice(translations("valid", ("qab", "qaa")), 200))
    assert digest(lines) == "ac0c962b119e109ef980853691b6fb1071e4467486d0db5ae3c2410e27707e67"


def test_golden_text_of_german_and_english() -> None:
    lines = list(map("\t".join, islice(pairs("train"), 1_000)))
    assert digest(lines) == "09773835d73a29b461e715f7bc464274d1f35af4c206296c8704e4d903478e99"


@pytest.mark.parametrize("split", SPLITS)
def test_rows_are_those_of_the_direction_and_a_smaller_text_is_the_beginning_of_a_larger_one(
    split: Role,
) -> None:
    names, rows = builtin_text(CorpusSpec.TEXT(builtin=40, seed=7), split, ("de", "en"))
    larger = list(rows)
    assert len(larger) == 40
    swapped, rows = builtin_text(CorpusSpec.TEXT(builtin=13, seed=7), split, ("en", "de"))
    assert list(rows) == [pair[::-1] for pair in larger[:13]] and swapped != names
    _, rows = builtin_text(MonolingualSpec.TEXT(builtin=13, seed=7), split, ("en",))
    assert list(rows) == [(pair[1],) for pair in larger[:13]]
    examples = list(builtin_text(NliSpec.TEXT(builtin=40, seed=7), split, ("qaa",))[1])
    assert list(builtin_text(NliSpec.TEXT(builtin=13, seed=7), split, ("qaa",))[1]) == examples[:13]


def test_splits_of_pairs_share_no_sentence_and_repeat_none() -> None:
    sizes: list[tuple[Role, int]] = [("train", 5_000), ("valid", 1_000), ("test", 1_000)]
    splits = [list(islice(pairs(split), size)) for split, size in sizes]
    assert len({source for split in splits for source, _ in split}) == 7_000


def test_every_hypothesis_has_a_premise_for_each_label(train: list[tuple[str, str, str]]) -> None:
    labels = defaultdict(list)
    for _, hypothesis, label in train:
        labels[hypothesis].append(label)
    assert len(labels) == 2_000
    assert all(sorted(group) == sorted(LABELS) for group in labels.values())
    orders = Counter(tuple(group) for group in labels.values())
    assert len(orders) == 6 and min(orders.values()) > 250


def test_splits_share_no_hypothesis_whatever_the_seeds(train: list[tuple[str, str, str]]) -> None:
    test = islice(inferences("test", "qaa"), 1_500)
    valid = islice(inferences("valid", "qaa", seed=2, lexicon=100), 600)
    hypotheses = [{hypothesis for _, hypothesis, _ in split} for split in (train, valid, test)]
    assert [len(split) for split in hypotheses] == [2_000, 200, 500]
    assert len(set().union(*hypotheses)) == 2_700


def test_translations_are_the_sentences_of_the_examples_of_their_split(
    train: list[tuple[str, str, str]],
) -> None:
    drawn = list(islice(translations("train", NLI), 5_000))
    assert len({source for source, _ in drawn}) == 5_000
    for source, target in drawn:
        assert sorted([*source.split(), "ga"]) == sorted(target.split())
    sentences = {sentence for example in train for sentence in example[:2]}
    assert {source for source, _ in drawn} <= sentences
    held_out = set()
    for split in SPLITS[1:]:
        held_out |= {source for source, _ in islice(translations(split, NLI), 500)}
    assert len(held_out) == 1_000 and held_out.isdisjoint(source for source, _ in drawn)
