"""Settings of a corpus, and the errors of wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.config import validate
from augury.core.errors import UserError
from augury.corpora.parallel import CorpusSpec, Filter, TextSpec, swapped

FILES = {"source": "a.de", "target": "a.en"}
TABLE = {"file": "a.tsv", "source_column": "de", "target_column": "en"}
LANGUAGES = {"source_language": "de", "target_language": "en"}


def corpus(**settings: Any) -> CorpusSpec:
    return validate(CorpusSpec, {**LANGUAGES, **settings}, "corpus")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {**FILES, "file": "b.tsv"},
            "source and target and file are given: give one of source and target",
        ),
        ({"file": "b.tsv", "builtin": 5}, "file and builtin are given"),
        ({"source": "a.de"}, "source is given without target"),
        ({"target": "a.en"}, "target is given without source"),
        ({"file": "a.tsv", "source_column": "de"}, "file needs source_column and target_column"),
        ({"hub": "x"}, "hub needs source_column and target_column"),
        ({**FILES, "where": {"set": "a"}}, "where applies to file or hub, not to source"),
        ({**FILES, "split": "train"}, "split applies to hub, not to source and target"),
        ({"builtin": 5, "id_column": "id"}, "id_column applies to file or hub, not to builtin"),
        ({**TABLE, "seed": 2}, "seed applies to builtin, not to file"),
        ({**TABLE, "target_column": "de"}, "source_column and target_column are both 'de'"),
        (
            {**TABLE, "format": "seg"},
            "format seg does not apply to file; allowed: tsv, csv, jsonl, parquet",
        ),
        (
            {**FILES, "format": "tsv"},
            "format tsv does not apply to source and target; allowed: lines, wit3, seg",
        ),
        ({"builtin": 0}, "must be at least 1"),
        ({"builtin": 5, "first": 0}, "must be more than 0"),
        ({"builtin": 5, "lexcon": 3}, "unknown key 'lexcon': did you mean 'lexicon'"),
    ],
)
def test_mistakes_in_a_text(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        validate(TextSpec, settings, "text")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "the corpus has no text: give known, or train, valid and tests"),
        (
            {"train": {"first": 5}},
            "train has no source: give source and target, .*, or builtin; or give known",
        ),
        ({"tests": {"a": {}}}, "a has no source"),
        ({"known": "multi30"}, "unknown known corpus 'multi30': did you mean 'multi30k'"),
        ({"known": "iwslt14", "source_language": "fr"}, "iwslt14 has no fr-en: did you mean"),
        (
            {"known": "multi30k", "tests": {"test2017": {}}},
            "of multi30k 'test2017': did you mean 'test2016'",
        ),
        ({"known": "iwslt14", "valid": {"first": 5}}, "valid: unknown split of iwslt14 'valid'"),
        ({"tests": {"train": FILES}}, "'train' is not a valid test name"),
        ({"tests": {"a/b": FILES}}, "'a/b' is not a valid test name"),
        (
            {"train": FILES, "valid": FILES, "every": 23},
            "every holds out .*: give train, and remove valid",
        ),
        ({"tests": {"a": FILES}, "every": 23}, "every holds out training pairs"),
        ({"train": FILES, "every": 1}, "must be at least 2"),
        (
            {"train": FILES, "filter": {"min_length": 9, "max_length": 8}},
            "min_length 9 is larger than max_len",
        ),
        ({"train": FILES, "filter": {"max_ratio": 0.5}}, "must be at least 1"),
    ],
)
def test_mistakes_in_a_corpus(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        corpus(**settings)


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("a.tsv", "tsv"),
        ("a.b.TSV.gz", "tsv"),
        ("a.csv.xz", "csv"),
        ("a.jsonl.zst", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.parquet", "parquet"),
    ],
)
def test_the_extension_tells_the_format(name: str, layout: str) -> None:
    assert TextSpec.model_validate({**TABLE, "file": name}).layout == layout


def test_formats_that_the_extension_does_not_tell(tmp_path: Path) -> None:
    with pytest.raises(
        UserError,
        match=r"the format of '.*/a.txt.gz' is not evident .*: add format: tsv, csv, ",
    ):
        _ = TextSpec.model_validate({**TABLE, "file": "a.txt.gz"}).layout
    assert TextSpec.model_validate({**TABLE, "file": "a.txt", "format": "csv"}).layout == "csv"
    assert TextSpec.model_validate({**TABLE, "file": str(tmp_path)}).layout == "parquet"


@pytest.mark.parametrize(
    "settings",
    [
        {"train": FILES, "every": 23, "tests": {"a": {**TABLE, "where": {"set": 1}}}},
        {"train": {"builtin": 10, "seed": 3}, "filter": {"max_ratio": None, "lowercase": True}},
        {"train": {"source": ["a.de", "b.de"], "target": ["a.en", "b.en"], "replace": {"’": "'"}}},
        {"known": "multi30k", "train": {"first": 5000}},
    ],
)
def test_plain_says_everything(settings: dict[str, Any]) -> None:
    spec = corpus(**settings)
    assert corpus(**spec.to_dict()) == spec
    assert corpus(**spec.to_dict()).splits() == spec.splits()


def test_names_of_files_are_no_part_of_the_settings() -> None:
    first, second = (
        TextSpec.model_validate({**TABLE, "file": name}) for name in ("a.tsv", "b.tsv.gz")
    )
    assert first.settings() == second.settings()
    assert first.settings() != first.model_copy(update={"where": {"set": "a"}}).settings()
    assert first.settings() != TextSpec.model_validate({**TABLE, "format": "csv"}).settings()


def test_splits_and_roles() -> None:
    spec = corpus(train={"builtin": 50}, every=5, tests={"a": {"builtin": 5}, "b": FILES})
    assert spec.splits() == ("train", "valid", "a", "b")
    assert [(spec.resolve(name).role, spec.resolve(name).every) for name in spec.splits()] == [
        ("train", 5),
        ("train", 5),
        ("test", None),
        ("test", None),
    ]
    assert spec.resolve("valid").text == spec.resolve("train").text == TextSpec(builtin=50)
    assert spec.resolve("train").filter == Filter()
    spec = corpus(train={"builtin": 50}, valid={"builtin": 5})
    assert [(spec.resolve(name).role, spec.resolve(name).every) for name in spec.splits()] == [
        ("train", None),
        ("valid", None),
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {"valid": FILES, "train": {"builtin": 5}},
        {"train": {"builtin": 50}, "every": 5},
        {"known": "iwslt14"},
    ],
)
def test_a_test_set_can_be_the_validation_text(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AUGURY_DATA", str(tmp_path))
    for side in ("de", "en"):
        (tmp_path / "iwslt14").mkdir(exist_ok=True)
        (tmp_path / "iwslt14" / f"train.tags.de-en.{side}").touch()
    spec = corpus(**settings, tests={"dev": {"validation": True}})
    assert spec.splits() == ("train", "valid", "dev") and spec.resolve("dev") == spec.resolve(
        "valid"
    )
    assert spec.noise("dev") is None


@pytest.mark.parametrize(
    "settings",
    [
        {"train": {"validation": True}},
        {"valid": {"validation": True}},
        {"valid": FILES, "tests": {"dev": {"validation": True, "first": 3}}},
    ],
)
def test_only_a_test_set_without_other_settings_is_the_validation_text(
    settings: dict[str, Any],
) -> None:
    with pytest.raises(
        UserError, match="only a test set, without other settings, can be that text"
    ):
        corpus(**{"train": {"builtin": 5}, **settings})


def test_a_corpus_without_validation_text_has_no_such_test_set() -> None:
    spec = corpus(train={"builtin": 5}, tests={"dev": {"validation": True}})
    with pytest.raises(UserError, match="no validation set"):
        spec.resolve("dev")


def test_splits_that_are_not_there() -> None:
    with pytest.raises(
        UserError,
        match="the corpus has no validation set: give valid, or every to hold out training pairs",
    ):
        corpus(train=FILES).resolve("valid")
    with pytest.raises(UserError, match="unknown split 'tset': did you mean 'test'"):
        corpus(tests={"test": FILES}).resolve("tset")


# The other direction


def test_source_and_target_are_exchanged_in_every_split() -> None:
    settings = {
        **LANGUAGES,
        "train": FILES,
        "valid": TABLE,
        "tests": {"a": {**TABLE, "first": 3}},
        "every": None,
    }
    exchanged = swapped(settings)
    assert exchanged == {
        "source_language": "en",
        "target_language": "de",
        "train": {"source": "a.en", "target": "a.de"},
        "valid": {"file": "a.tsv", "source_column": "en", "target_column": "de"},
        "tests": {"a": {"file": "a.tsv", "source_column": "en", "target_column": "de", "first": 3}},
        "every": None,
    }
    assert swapped(exchanged) == settings
    assert swapped({**LANGUAGES, "known": "multi30k", "train": {"first": 9}})["train"] == {
        "first": 9
    }


def test_the_sides_of_the_built_in_text_are_known_by_language() -> None:
    text = {"train": {"builtin": 5}}
    assert swapped({**LANGUAGES, **text})["source_language"] == "en"
    with pytest.raises(UserError, match="xx and yy do not tell which is which"):
        swapped({"source_language": "yy", "target_language": "xx", **text})
