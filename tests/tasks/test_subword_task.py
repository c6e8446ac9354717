from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments.experiment import parse
from augury.text.tokens import Tokens
from trainables import nli

Checkpoint = Callable[..., Path]


def content(storage: Path, **changes: Any) -> dict[str, Any]:
    return {
        "name": "toy",
        "task": "nli",
        "storage": str(storage),
        "corpus": {
            "language": "qaa",
            "train": {"builtin": 30},
            "valid": {"builtin": 9},
            "tests": {"qaa": {"builtin": 9}, "qab": {"builtin": 9, "language": "qab"}},
        },
        "augment": [{"operator": "eda", "copies": 1}],
        "model": {"architecture": "tiny", "vocabulary_size": 200},
        "training": {"max_passes": 2},
        "execution": {"executor": "local"},
        "tracking": {"enabled": False},
        **changes,
    }


def address(storage: Path, **changes: Any) -> str:
    return nli.address(parse(content(storage, **changes)), Store(storage))  # type: ignore[arg-type]


def test_the_address_is_known_before_anything_is_made(tmp_path: Path) -> None:
    known = address(tmp_path)
    assert not (tmp_path / "corpora").exists()
    prepared = nli.prepare(parse(content(tmp_path)), Store(tmp_path))  # type: ignore[arg-type]
    assert prepared.address == known
    assert [(given.role, given.rows) for given in prepared.inputs] == [
        ("train", 30),
        ("valid", 9),
        ("qaa", 9),
        ("qab", 9),
    ]
    assert prepared.data_factor == 2.0 and set(prepared.artifacts) == {"vocabulary", "eda"}


def test_what_changes_the_model_changes_the_address_and_nothing_else_does(tmp_path: Path) -> None:
    same = address(tmp_path)
    unrelated = {"name": "other", "seeds": [5], "execution": {"threads": 1}, "scoring": {"bootstrap_samples": 9}}
    assert address(tmp_path, **unrelated) == same
    different = [
        address(tmp_path, augment=[]),
        address(tmp_path, augment=[{"operator": "eda", "copies": 2}]),
        address(tmp_path, max_length=64),
        address(tmp_path, regime="adversarial"),
        address(tmp_path, model={"architecture": "tiny", "vocabulary_size": 201}),
        address(tmp_path, model={"architecture": "tiny", "vocabulary_size": 200, "dropout": 0.2}),
        address(tmp_path, training={"max_passes": 3}),
    ]
    assert len({same, *different}) == 8


def test_a_pretrained_model_is_known_by_its_files(checkpoint: Checkpoint, tmp_path: Path) -> None:
    path = checkpoint("bert")
    copy = tmp_path / "copy"
    shutil.copytree(path, copy)
    known = address(tmp_path, model={"name": str(path)})
    assert address(tmp_path, model={"name": str(copy)}) == known
    assert address(tmp_path, model={"name": str(copy), "dropout": 0.0}) != known
    assert address(tmp_path, model={"name": str(checkpoint("distilbert"))}) != known
    assert address(tmp_path, model={"name": "someone/model"}) != address(
        tmp_path, model={"name": "someone/model", "revision": "v2"}
    )
    with pytest.raises(UserError, match="no pretrained model '/nowhere'"):
        nli.prepare(parse(content(tmp_path, model={"name": "/nowhere"})), Store(tmp_path))  # type: ignore[arg-type]


def test_pairs_that_are_cut_are_counted_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path)
    prepared = nli.prepare(parse(content(tmp_path, max_length=15)), store)  # type: ignore[arg-type]
    whole = nli.prepare(parse(content(tmp_path, max_length=128)), store)  # type: ignore[arg-type]
    cut, full = (Tokens(Folder(store.root, each.config["tokens"]["source"])).lengths for each in (prepared, whole))
    assert cut.max() == 15 and (full > 15).any()
    assert (cut == full.clip(max=15)).all()
    assert f"cut to 15 subwords: {(full > 15).sum()} of 30 rows of 'source'" in capsys.readouterr().err


def test_a_test_set_that_was_trained_on_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(
        "premise\thypothesis\tlabel\na dog runs\tan animal runs\tentailment\nit rains\tit is dry\tcontradiction\n"
    )
    corpus = {
        "language": "en",
        "train": {"file": str(file)},
        "valid": {"file": str(file)},
        "tests": {"same": {"file": str(file)}},
    }
    nli.prepare(parse(content(tmp_path, corpus=corpus)), Store(tmp_path))  # type: ignore[arg-type]
    assert "2 of the 2 pairs of 'same' are in the training set too" in capsys.readouterr().err


def test_a_model_that_an_attack_cannot_move_is_refused_before_anything_is_made(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    changes: dict[str, Any] = {"model": {"name": str(checkpoint("t5"))}, "max_length": 32}
    attacked = parse(content(tmp_path, **changes, regime="adversarial"))
    with pytest.raises(UserError, match="regime adversarial moves word embeddings, and '.*t5.* Take regime plain"):
        nli.prepare(attacked, Store(tmp_path))  # type: ignore[arg-type]
    assert not (tmp_path / "corpora").exists()
    assert nli.prepare(parse(content(tmp_path, **changes)), Store(tmp_path)).data_factor == 2  # type: ignore[arg-type]
