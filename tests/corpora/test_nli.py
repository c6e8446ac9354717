"""Settings of an NLI corpus, and the errors of wrong ones."""

from __future__ import annotations

from typing import Any

import pytest

from augury.core.config import validate
from augury.core.errors import UserError
from augury.corpora.known import KNOWN_NLI
from augury.corpora.nli import NliSpec, NliText
from augury.corpora.splits import Cleaning

TABLE = {"file": "a.tsv"}

XNLI_LANGUAGES = tuple(KNOWN_NLI["xnli"].languages)


def corpus(**settings: Any) -> NliSpec:
    return validate(NliSpec, {"language": "en", **settings}, "corpus")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"file": "a.tsv", "hub": "xnli"},
            "file and hub are given: give one of file, or hub, or builtin",
        ),
        ({"builtin": 5, "labels": {0: "neutral"}}, "labels applies to file or hub, not to builtin"),
        ({**TABLE, "lexicon": 50}, "lexicon applies to builtin, not to file"),
        ({**TABLE, "split": "train"}, "split applies to hub"),
        ({**TABLE, "premise_column": "label"}, "are label, hypothesis, label: they must differ"),
        ({**TABLE, "labels": {0: "entails"}}, "must be 'entailment', 'neutral' or 'contradiction'"),
        ({**TABLE, "format": "seg"}, "must be 'tsv', 'csv', 'jsonl' or 'parquet'"),
        ({**TABLE, "source_column": "de"}, "unknown key 'source_column'"),
        ({**TABLE, "subset": 0}, "must be more than 0"),
        ({**TABLE, "language": "de", "language_column": "code"}, "remove it, or language_column"),
        (
            {"builtin": 5, "language_column": "code"},
            "language_column applies to file or hub, not to builtin",
        ),
    ],
)
def test_mistakes_in_a_text(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        validate(NliText, settings, "text")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "the corpus has no text: give known, or train, valid and tests"),
        (
            {"train": {"subset": 5}},
            "train has no source: give file, or hub, or builtin; or give known",
        ),
        ({"known": "xnly"}, "unknown known corpus 'xnly': did you mean 'xnli'"),
        (
            {"known": ["xnli", "multinli"]},
            "unknown known corpus 'multinli': did you mean 'multi_nli'",
        ),
        ({"known": "xnli", "train": {"subset": 5}}, "train: unknown split of xnli 'train'"),
        (
            {"known": ["xnli", "snli"], "tests": {"deu": {}}},
            "deu: unknown split of xnli and snli 'deu': did you mean 'de'",
        ),
        (
            {"known": "ling_in_loop", "language": "de"},
            "ling_in_loop has no train in 'de': allowed: en",
        ),
        ({"known": "xnli", "language": "pt"}, "xnli has no valid in 'pt': allowed: ar, bg"),
        (
            {"train": TABLE, "valid": {**TABLE, "subset": 5}},
            "valid: subset is for training text only: use first",
        ),
        (
            {"train": {"builtin": 5}},
            "train: unknown language of the built-in NLI corpus 'en': allowed: qaa, qab",
        ),
        ({"train": TABLE, "filter": {"max_ratio": 2}}, "unknown key 'filter.max_ratio'"),
        ({"train": TABLE, "every": 9}, "unknown key 'every'"),
        ({"train": []}, "train is a list of texts: give at least one, with distinct names"),
        ({"train": [{"name": "a", **TABLE}] * 2}, "with distinct names"),
        ({"train": [TABLE]}, "name"),
        (
            {"known": "xnli_mt", "train": [{"name": "pt", "language": "pt"}]},
            "xnli_mt has no train in 'pt'",
        ),
        ({"tests": {"train": TABLE}}, "'train' is not a valid test name"),
        (
            {"tests": {"mean": TABLE}},
            "'mean' is not a valid test name: .* neither train, valid nor mean",
        ),
    ],
)
def test_mistakes_in_a_corpus(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        corpus(**settings)


@pytest.mark.parametrize(
    "settings",
    [
        {
            "train": {
                **TABLE,
                "labels": {0: "neutral", "no": "contradiction"},
                "where": {"genre": 1},
            }
        },
        {
            "language": "qaa",
            "train": {"builtin": 9, "subset": 3},
            "tests": {"qab": {"builtin": 5, "language": "qab"}},
        },
        {
            "train": [
                {"name": "de", "language": "de", **TABLE},
                {"name": "fr", "language_column": "code", **TABLE},
            ]
        },
        {
            "known": ["xnli", "multi_nli"],
            "train": {"subset": 20000, "subset_seed": 3},
            "filter": {"unescape": True},
        },
    ],
)
def test_plain_says_everything(settings: dict[str, Any]) -> None:
    spec = corpus(**settings)
    assert corpus(**spec.to_dict()) == spec == NliSpec.model_validate_json(spec.model_dump_json())
    assert corpus(**spec.to_dict()).splits() == spec.splits()


def test_splits_roles_and_languages() -> None:
    spec = corpus(
        language="qaa",
        train={"builtin": 9},
        valid={"builtin": 5},
        tests={"qaa": {"builtin": 5}, "qab": {"builtin": 5, "language": "qab"}},
    )
    assert spec.splits() == ("train", "valid", "qaa", "qab")
    assert [(spec.resolve(name).role, spec.resolve(name).languages) for name in spec.splits()] == [
        ("train", ("qaa",)),
        ("valid", ("qaa",)),
        ("test", ("qaa",)),
        ("test", ("qab",)),
    ]
    assert [spec.language_of(name) for name in spec.splits()] == ["qaa", "qaa", "qaa", "qab"]
    assert spec.resolve("train").filter == Cleaning()


def test_known_sets_fill_in_what_is_not_given() -> None:
    paper = corpus(known=["xnli", "multi_nli"], train={"subset": 20_000})
    assert paper.splits() == ("train", "valid", *XNLI_LANGUAGES) and len(XNLI_LANGUAGES) == 15
    assert {name: paper.language_of(name) for name in paper.splits()} == {
        "train": "en",
        "valid": "en",
        **{code: code for code in XNLI_LANGUAGES},
    }
    other = corpus(known=["ling_in_loop", "xnli_dev", "snli_validation"])
    assert other.splits() == ("train", "valid", *XNLI_LANGUAGES)
    chosen = corpus(
        known=["xnli_mt", "xnli_dev", "snli_validation"],
        language="de",
        tests={"snli": {}, "sw": {"first": 9}},
    )
    assert chosen.splits() == ("train", "snli", "sw")
    assert [chosen.language_of(name) for name in chosen.splits()] == ["de", "en", "sw"]


def test_what_has_no_effect_is_not_in_the_settings() -> None:
    def settings(**values: Any) -> dict[str, Any]:
        return NliText.model_validate(values).settings()

    assert settings(file="a.tsv") == settings(
        file="b.tsv.gz", language="de", subset_seed=2, format="tsv"
    )
    assert settings(builtin=5) == settings(builtin=5, lexicon=96) != settings(builtin=5, lexicon=95)
    assert settings(builtin=5, subset=3) != settings(builtin=5, subset=3, subset_seed=2)


def test_several_training_texts_are_in_several_languages() -> None:
    texts = [{"name": code, "language": code} for code in ("de", "sw")]
    spec = corpus(known=["xnli_mt", "xnli_dev"], train=texts)
    assert spec.language_of("train") == "mul" and spec.splits() == ("train", *XNLI_LANGUAGES)
    assert {name: part.language_of("train") for name, part in spec.mixture.items()} == {
        "de": "de",
        "sw": "sw",
    }
    assert (
        corpus(train=[{"name": "a", **TABLE}, {"name": "b", **TABLE}]).language_of("train") == "en"
    )
    assert corpus(train={**TABLE, "language_column": "code"}).language_of("train") == "mul"
