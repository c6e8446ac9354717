"""Operator noise on records of translation and of inference."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from augury.augment import operator, pipeline
from augury.augment.noise import Noise
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import NLI, PARALLEL, Corpus, CorpusWriter, read_shard

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
    return pa.table(
        {
            "id": [f"train-{number:08d}" for number in range(count)],
            "source": [SENTENCES[number % 4] for number in range(count)],
            "target": ["Ça va."] * count,
            "source_language": [language] * count,
            "target_language": ["fr"] * count,
            "origin": ["original"] * count,
            "views": [[]] * count,
            "lineage": [None] * count,
        },
        schema=PARALLEL.schema,
    )


def corpus(store: Store, language: str = "en") -> Corpus:
    writer = CorpusWriter(store.folder("corpora", f"abc-{language}"))
    writer.add(records(8, language))
    return writer.finish({"rejected": {}})


def test_copies_have_noise_of_their_own_and_targets_stay(store: Store) -> None:
    (part,) = pipeline.augment(corpus(store), [Noise(copies=3, spelling=0.5, asr=0.5)], store).parts
    rows = read_shard(part.folder, *part.folder.manifest()["shards"]).to_pylist()
    assert len(rows) == 24 and {row["target"] for row in rows} == {"Ça va."}
    assert [row["id"] for row in rows[:3]] == [f"train-00000000/noise-{copy}" for copy in (1, 2, 3)]
    assert len({row["source"] for row in rows}) > 20


def test_views_are_what_the_records_are(store: Store) -> None:
    base = corpus(store)
    rates = {"copies": 2, "casing": 0.4, "fillers": 0.2}
    (part,) = pipeline.augment(base, [Noise(**rates)], store).parts
    sources = (
        read_shard(part.folder, *part.folder.manifest()["shards"]).column("source").to_pylist()
    )
    views = pipeline.augment(base, [Noise(use="view", **rates)], store).parts
    assert [part.name for part in views] == ["noise-1", "noise-2"]
    for place, part in enumerate(views):
        assert (
            read_shard(part.folder, *part.folder.manifest()["shards"]).column("text").to_pylist()
            == sources[place::2]
        )


def test_nothing_depends_on_the_block(store: Store) -> None:
    noise = Noise(asr=0.5, keyboard=0.5, punctuation=0.5, emoji=0.2)
    blocks = [records(8).slice(start, 3) for start in (0, 3, 6)]
    fitted = noise.fit([noise.fit_block(block) for block in blocks])
    assert fitted == noise.fit([noise.fit_block(records(8))])
    apply = noise.bind(fitted, store)
    assert (
        pa.concat_tables([apply(block).table for block in blocks]).to_pylist()
        == apply(records(8)).table.to_pylist()
    )


def test_words_are_learned_for_confusions_alone(store: Store) -> None:
    assert Noise(spelling=0.1).fit([Noise(spelling=0.1).fit_block(records(8))]) == {
        "confusions": {}
    }
    fitted = Noise(asr=0.1).fit([Noise(asr=0.1).fit_block(records(8))])
    assert ["their", "there"] in fitted["confusions"]["en"].values()


def test_both_sentences_of_a_pair_are_changed(store: Store) -> None:
    columns = {
        "id": ["a"],
        "premise": ["Two dogs."],
        "hypothesis": ["Two dogs."],
        "label": ["neutral"],
    }
    block = pa.table(
        {**columns, "language": ["en"], "origin": ["o"], "views": [[]], "lineage": [None]},
        schema=NLI.schema,
    )
    noise = Noise(spelling=1.0)
    (row,) = noise.bind(noise.fit([]), store)(block).table.to_pylist()
    assert (
        row["premise"] != "Two dogs." != row["hypothesis"] != row["premise"]
        and row["label"] == "neutral"
    )


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
    table = pa.concat_tables([records(200)])
    names = pa.array([f"train-{number:08d}" for number in range(200)])
    noise = Noise(asr=0.1, casing=0.2)
    fitted = noise.fit([noise.fit_block(table)])
    counts = noise.bind(fitted, store)(table.set_column(0, "id", names)).counts
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
