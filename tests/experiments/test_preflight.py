"""What is found, and told, before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora import ingest
from augury.experiments import preflight
from augury.experiments.graph import Graph
from augury.experiments.spec import Experiment, parse
from augury.experiments.stored_runs import NO_TESTS
from augury.experiments.systems import expand

Make = Callable[..., Experiment]
SIDES = {"source": "de", "target": "en"}
TEXT = "der die das Haus Hund Katze sieht hat geht und oder nicht"


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """An experiment on files of 40 and 10 pairs, with changes."""
    for cached in (ingest._check_files, ingest.cached_address, ingest.cached_corpus):
        monkeypatch.setattr(ingest, cached.__name__, cached.__wrapped__)
    texts: dict[str, dict[str, str]] = {}
    for split, size in (("train", 40), ("valid", 10)):
        lines = [f"{TEXT} {index}" for index in range(size)]
        english = "".join(f"{line.upper()}\n" for line in lines)
        (tmp_path / f"{split}.de").write_text("".join(f"{line}\n" for line in lines))
        (tmp_path / f"{split}.en").write_text(english)
        texts[split] = {side: str(tmp_path / f"{split}.{code}") for side, code in SIDES.items()}

    def build(corpus: Any = (), **changes: Any) -> Experiment:
        described = {"source_language": "de", "target_language": "en", **texts}
        described |= {"tests": {"news": texts["valid"]}, **dict(corpus)}
        content = {
            "name": "toy",
            "task": "nmt",
            "storage": str(tmp_path / "store"),
            "corpus": described,
            "augment": [{"operator": "cipher", "keys": [1]}],
            "regime": "multi_source",
            "model": {"architecture": "tiny"},
            "execution": {"executor": "local"},
        }
        return parse({**content, **changes})

    return build


def report(experiment: Experiment) -> preflight.Findings:
    return preflight.examine(expand(experiment), Store(experiment.storage))


def test_missing_test_sets_are_reported(make: Make) -> None:
    assert NO_TESTS in report(make({"tests": {}})).warnings
    assert preflight.setting_warnings([make({"tests": {}}), make()]) == []


def test_tests_that_repeat_the_validation_text_are_reported(make: Make, tmp_path: Path) -> None:
    """The same text under another file name, a part of it, and validation that is meant."""
    (tmp_path / "copy.de").write_bytes((tmp_path / "valid.de").read_bytes())
    copied = {"source": str(tmp_path / "copy.de"), "target": str(tmp_path / "valid.en")}
    told = "10 of the 10 pairs of 'copy' are in the validation set too"
    assert any(told in warning for warning in report(make({"tests": {"copy": copied}})).warnings)
    other = {"builtin": 8}
    for tests in ({"other": other}, {"dev": {"validation": True}}):
        warnings = report(make({"tests": tests})).warnings
        assert not any("in the validation set" in warning for warning in warnings)


CIPHER = {"operator": "cipher"}
LETTERS = len(set(TEXT) - {" "})
"""The key that leaves a text of these words as it is."""


@pytest.mark.parametrize(
    ("corpus", "changes", "message"),
    [
        ({"valid": {"source": "valid.de", "target": "train.en"}}, {}, "10 lines and .*en has 40"),
        ({"valid": {"source": "valid.dee", "target": "valid.en"}}, {}, "did you mean '.*/valid.de"),
        ({}, {"augment": [{**CIPHER, "keys": [1, LETTERS]}]}, "key \\d+ leaves letters unchanged"),
        ({}, {"vocabulary": {"size": 5000}}, "vocabulary.size: 5000 entries, .* allows at most"),
    ],
)
def test_what_cannot_be_trained_is_refused(
    make: Make, tmp_path: Path, corpus: Any, changes: Any, message: str
) -> None:
    given = dict(corpus)
    if files := corpus.get("valid"):
        given["valid"] = {side: str(tmp_path / name) for side, name in files.items()}
    experiment = make(given, **changes)
    with pytest.raises(UserError, match=message):
        preflight.check(expand(experiment).values(), Graph(Store(experiment.storage)))


def test_a_gpu_that_is_not_there_is_refused(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UserError, match="torch sees no GPU"):
        report(make(execution={"executor": "local", "device": "cuda"}))


def test_what_would_never_act_is_reported(make: Make) -> None:
    late = {"name": "coregularised", "warmup_steps": 180}
    training = {"max_tokens": 400, "max_updates": 108, "warmup_updates": 500}
    warnings = report(make(regime=late, training=training)).warnings
    assert any("180" in line and "regime.warmup_steps" in line for line in warnings)
    assert any("training.warmup_updates" in line for line in warnings)


SMALL = {"max_positions": 512, "architecture": "tiny"}


def test_the_vocabulary_says_whether_a_source_is_too_long(make: Make, tmp_path: Path) -> None:
    """Of so little text the preflight learns the vocabulary at once."""
    (tmp_path / "long.de").write_text(f"der\n{'a' * 600}\n")
    (tmp_path / "long.en").write_text("the\na\n")
    tests = {"long": {side: str(tmp_path / f"long.{code}") for side, code in SIDES.items()}}
    vocabulary = {"size": 45, "size_per_key": 15}
    with pytest.raises(UserError, match="long: 1 of 2 sources exceed the model's 512 positions"):
        report(make({"tests": tests}, model=SMALL, vocabulary=vocabulary))
    valid = {"source": tests["long"]["target"], "target": tests["long"]["source"]}
    with pytest.raises(UserError, match="valid: a target of 6.. pieces exceeds"):
        report(make({"valid": valid, "tests": {}}, model=SMALL, vocabulary=vocabulary))


@pytest.mark.parametrize(("noise", "refused"), [("asr", True), ("spelling", False)])
def test_words_that_sound_alike_are_not_of_another_language(
    noise: str, refused: bool, tmp_path: Path
) -> None:
    rows = [f"a dog sees house {index}\tthe cat goes\tneutral\n" for index in range(30)]
    (tmp_path / "en.tsv").write_text("premise\thypothesis\tlabel\n" + "".join(rows))
    english = {"file": str(tmp_path / "en.tsv")}
    french = {**english, "language": "fr", "noise": {noise: 0.2}}
    content = {
        "name": "noisy",
        "task": "nli",
        "storage": str(tmp_path / "store"),
        "corpus": {"language": "en", "train": english, "valid": english, "tests": {"fr": french}},
        "model": {"architecture": "tiny"},
        "execution": {"executor": "local"},
    }
    experiment = parse(content)
    if not refused:
        report(experiment)
        return
    with pytest.raises(UserError, match="'fr'"):
        report(experiment)
