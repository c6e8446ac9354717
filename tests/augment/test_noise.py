"""Operator noise, and test sets with noise in what is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from augury.augment import operator, pipeline
from augury.augment.noise import Noise, NoiseForTestSet
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.ingest import corpus_address
from augury.corpora.spec import CorpusSpec
from augury.experiments import make, preflight
from augury.experiments.graph import Graph
from tests.augment import texts
from tests.tiny import OF_TASK, PARALLEL, experiment

SENTENCES = [
    "Their dog wrote to me.",
    "There are two dogs, too.",
    "He knows no dog here.",
    "I hear that you know.",
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def records(count: int, language: str = "en") -> pa.Table:
    sources = [SENTENCES[number % 4] for number in range(count)]
    return texts.records(language=language, source=sources, target=["Ça va."] * count)


def corpus(store: Store, language: str = "en") -> Corpus:
    return texts.corpus(store, records(8, language), f"abc-{language}")


def test_words_are_learned_for_confusions_alone(store: Store) -> None:
    assert Noise(spelling=0.1).fit([Noise(spelling=0.1).fit_block(records(8))]) == {
        "confusions": {}
    }
    fitted = Noise(asr=0.1).fit([Noise(asr=0.1).fit_block(records(8))])
    assert ["their", "there"] in fitted["confusions"]["en"].values()


def test_impossible_settings_are_refused(store: Store) -> None:
    with pytest.raises(UserError, match="changes nothing without a rate"):
        operator.parse({"operator": "noise", "copies": 2})
    with pytest.raises(UserError, match="spelling = "):
        operator.parse({"operator": "noise", "spelling": 1.5})
    with pytest.raises(UserError, match="noise asr does not support 'cs'"):
        pipeline.augment(corpus(store, "cs"), [Noise(asr=0.1)], store)


def test_the_realised_rate_of_confused_words_is_the_rate(store: Store) -> None:
    """Of 800 words; three standard deviations of a share of 0.1 are 0.03. A few words sound like
    another."""
    table = records(200)
    noise = Noise(asr=0.1, casing=0.2)
    fitted = noise.fit([noise.fit_block(table)])
    counts = noise.bind(fitted, store)(table).counts
    rates = noise.realised(counts, fitted)
    assert 0.1 < fitted["coverage"]["en"] < 0.7
    assert rates["asr"].realised == pytest.approx(0.1, abs=0.03) and rates[
        "casing"
    ].realised == pytest.approx(0.2, abs=0.05)


def test_the_health_of_noise_has_its_rates(store: Store) -> None:
    (part,) = pipeline.augment(
        corpus(store), [Noise(copies=3, spelling=0.5, punctuation=0.2)], store
    ).parts
    assert part.health is not None
    assert {kind: rate.asked for kind, rate in part.health.rates.items()} == {
        "spelling": 0.5,
        "punctuation": 0.2,
    }
    assert part.health.rates["spelling"].places == 3 * 2 * (5 + 5 + 5 + 5)


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
    lines = zip(*(corpus.column("source") for corpus in (clean, some, more)), strict=True)
    words = [word for line in lines for word in zip(*(text.split() for text in line), strict=True)]
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
    sources = []
    for rows in (None, 7):
        monkeypatch.setattr(NoiseForTestSet, "BLOCK_ROWS", rows)
        settings = experiment("nmt", tmp_path / str(rows), corpus=noisy(some={"spelling": 0.4}))
        run = make.prepare(settings, Store(tmp_path / str(rows)))
        sources.append(run.corpus("some").column("source"))
    assert sources[0] == sources[1] != run.corpus(CLEAN).column("source")


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


def test_impossible_noise_of_test_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="valid.noise"):
        experiment(
            "nmt", tmp_path, corpus={**noisy(), "valid": {"builtin": 12, "noise": {"emoji": 0.1}}}
        )
    with pytest.raises(UserError, match="unknown key 'corpus.tests.worse.noise.typos'"):
        experiment("nmt", tmp_path, corpus=noisy(worse={"typos": 0.1}))
    wrong = experiment("nmt", tmp_path, corpus=noisy(worse={"asr": 0.1}))
    with pytest.raises(UserError, match="noise asr does not support 'qaa'"):
        preflight.check([wrong], Graph(Store(tmp_path)))
