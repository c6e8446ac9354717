"""Test sets with noise in what is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.augment.noise import NoiseForTestSet
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.ingest import corpus_address
from augury.corpora.spec import CorpusSpec
from augury.experiments import make, preflight
from augury.experiments.graph import Graph
from tests.tiny import OF_TASK, PARALLEL, experiment

CLEAN = "test"


def noisy(**noises: Any) -> dict[str, Any]:
    text = {"builtin": 20}
    return {
        **PARALLEL,
        "tests": {
            CLEAN: text,
            **{name: {**text, "noise": noise} for name, noise in noises.items()},
        },
    }


def test_the_source_alone_has_noise(tmp_path: Path) -> None:
    noises = {
        "some": {"spelling": 0.2},
        "more": {"spelling": 0.4, "seed": 1},
        "none": {"spelling": 0},
    }
    run = make.prepare(experiment("nmt", tmp_path, corpus=noisy(**noises)), Store(tmp_path))
    clean, some, more, none = (run.corpus(name) for name in (CLEAN, *noises))
    assert none.column("source") == clean.column("source")
    assert some.column("target") == more.column("target") == clean.column("target")
    assert some.column("id") == [name.replace(CLEAN, "some") for name in clean.column("id")]
    texts = zip(*(corpus.column("source") for corpus in (clean, some, more)), strict=True)
    words = [word for line in texts for word in zip(*(text.split() for text in line), strict=True)]
    changed = [(old != few, old != many) for old, few, many in words]
    assert (
        0.1
        < sum(few for few, _ in changed) / len(changed)
        < 0.3
        < sum(many for _, many in changed) / len(changed)
    )
    assert all(many or not few for few, many in changed)
    assert some.manifest["noise"]["spelling"] == 0.2


def test_a_noisy_test_set_does_not_depend_on_the_blocks_of_its_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for rows in (None, 7):
        monkeypatch.setattr(NoiseForTestSet, "BLOCK_ROWS", rows)
        settings = experiment("nmt", tmp_path / str(rows), corpus=noisy(some={"spelling": 0.4}))
        run = make.prepare(settings, Store(tmp_path / str(rows)))
        texts.append(run.corpus("some").column("source"))
    assert texts[0] == texts[1] != run.corpus(CLEAN).column("source")


def test_other_tasks_have_noisy_tests_too(tmp_path: Path) -> None:
    corpus = OF_TASK["nli"]["corpus"]
    content = {
        **corpus,
        "tests": {"test": {"builtin": 6}, "typos": {"builtin": 6, "noise": {"casing": 1.0}}},
    }
    run = make.prepare(experiment("nli", tmp_path, corpus=content), Store(tmp_path))
    clean, typos = run.corpus("test"), run.corpus("typos")
    assert clean.column("label") == typos.column("label")
    for side in ("premise", "hypothesis"):
        pairs = list(zip(clean.column(side), typos.column(side), strict=True))
        assert all(old != new and old.lower() == new.lower() for old, new in pairs)


def test_a_noisy_test_set_is_another_text() -> None:
    spec = CorpusSpec.model_validate(noisy(typos={"emoji": 0.1}))
    assert corpus_address(spec, "typos") != corpus_address(spec, CLEAN)


def test_impossible_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="valid.noise"):
        experiment(
            "nmt", tmp_path, corpus={**noisy(), "valid": {"builtin": 12, "noise": {"emoji": 0.1}}}
        )
    with pytest.raises(UserError, match="unknown key 'corpus.tests.worse.noise.typos'"):
        experiment("nmt", tmp_path, corpus=noisy(worse={"typos": 0.1}))
    wrong = experiment("nmt", tmp_path, corpus=noisy(worse={"asr": 0.1}))
    with pytest.raises(UserError, match="noise asr does not support 'qaa'"):
        preflight.check([wrong], Graph(Store(tmp_path)))
