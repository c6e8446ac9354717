"""Forward and back translation of monolingual text, by trained models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from augury.augment.translation import cleaned_like
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import PARALLEL, read_shard
from augury.corpora.ingest import cached_corpus, ingest
from augury.corpora.spec import CorpusSpec
from augury.decoding.settings import Decoding
from augury.experiments import make
from augury.experiments.graph import Graph
from augury.experiments.spec import Experiment
from augury.experiments.systems import expand
from augury.experiments.trial import train
from tests import tiny

SEARCH = {"beam": 2, "max_length": 12}


def experiment(storage: Path, name: str, language: str, **changes: Any) -> Experiment:
    text = {"language": language, "train": {"builtin": 15, "seed": 2}}
    operator_settings = {"operator": name, "monolingual": text, "decoding": SEARCH, **changes}
    return tiny.experiment(
        "nmt", storage, augment=[operator_settings], baseline=True, training={"max_updates": 3}
    )


@pytest.mark.trains
@pytest.mark.parametrize(
    ("name", "language", "read", "written"),
    [
        ("forward_translation", "qaa", "source", "target"),
        ("back_translation", "qab", "target", "source"),
    ],
)
def test_pairs_are_sentences_and_what_a_model_makes_of_them(
    name: str, language: str, read: str, written: str, tmp_path: Path
) -> None:
    """Forward, the target side is the model's output.

    Back, the source side is. All sentences are used.
    """
    config, store = experiment(tmp_path, name, language), Store(tmp_path)
    address = Graph(store).plan(config).address
    run = make.prepare(config, store)
    assert run.address == address and list(run.records) == [name]
    folder = run.stored_folder(run.records[name])
    manifest = folder.manifest()
    rows = pa.concat_tables([read_shard(folder, shard) for shard in manifest["shards"]])
    assert rows.schema.remove_metadata().equals(PARALLEL.schema)
    text = cached_corpus(config.augment[0].texts()["monolingual"], "train", store.root)
    counts = manifest["counts"]
    assert counts["translated"] == text.rows == 15
    assert len(rows) == 15 - counts.get("empty", 0) - counts.get("too long", 0)
    (models,) = Graph(store).models(config)
    (model,) = models.values()
    outputs = model.translator(store)(text.column("text"), "plain", Decoding(**SEARCH))
    pairs = zip(rows.column(read).to_pylist(), rows.column(written).to_pylist(), strict=True)
    assert list(pairs) == [
        (source, output)
        for source, output in zip(text.column("text"), outputs, strict=True)
        if output
    ]
    assert {
        tuple(row)
        for row in zip(
            *(rows.column(f"{side}_language").to_pylist() for side in ("source", "target")),
            strict=True,
        )
    } == {("qaa", "qab")}
    first = rows.slice(0, 1).to_pylist()[0]
    assert first["lineage"]["parents"][0].startswith("monolingual-")
    assert first["id"] == f"{first['lineage']['parents'][0]}/{name}-1" and first["origin"] == name
    assert text.address in manifest["inputs"]
    assert train(run)


@pytest.mark.trains
def test_translations_are_drawn_where_that_is_asked_for(tmp_path: Path) -> None:
    """The same with the same seed in blocks of another size, others with another seed.

    Addresses say so.
    """
    texts: list[list[str]] = []
    for name, sampling in (("a", {"seed": 1}), ("b", {"seed": 1}), ("c", {"seed": 2})):
        config = experiment(
            tmp_path / name, "back_translation", "qab", sampling={"max_length": 12, **sampling}
        )
        run = make.prepare(config, Store(tmp_path / name))
        folder = run.stored_folder(run.records["back_translation"])
        made_from = run.stored_folder(folder.manifest()["made_from"][0])
        assert made_from.manifest()["seconds"] > 0
        rows = read_shard(folder, "part-00000.parquet")
        texts.append([*rows.column("source").to_pylist(), folder.name])
    assert texts[0] == texts[1] and not {*texts[0]} <= {*texts[2]} and texts[0][-1] != texts[2][-1]


@pytest.mark.trains
@pytest.mark.parametrize("drawn", [{}, {"sampling": {"max_length": 4}}])
def test_a_long_text_is_counted_and_not_paired_with_a_translation_of_its_beginning(
    drawn: dict[str, Any], tmp_path: Path
) -> None:
    """The model has 1,024 positions; the long sentence has at least a piece per word."""
    (tmp_path / "mono.txt").write_text(f"a b c\n{'a b c d e ' * 300}\nd e f\n")
    text = {
        "language": "qab",
        "train": {"lines": str(tmp_path / "mono.txt")},
        "filter": {"max_length": None},
    }
    config = experiment(tmp_path, "back_translation", "qab", monolingual=text, **drawn)
    run = make.prepare(config, Store(tmp_path))
    manifest = run.stored_folder(run.records["back_translation"]).manifest()
    assert manifest["counts"]["too long"] == 1 and run.health[0].lost["too long"] == 1
    rows = read_shard(run.stored_folder(run.records["back_translation"]), "part-00000.parquet")
    assert max(len(target.split()) for target in rows.column("target").to_pylist()) == 3


def test_the_model_of_forward_translation_is_the_baseline(tmp_path: Path) -> None:
    config, store = experiment(tmp_path, "forward_translation", "qaa"), Store(tmp_path)
    (models,) = Graph(store).models(config)
    baseline = Graph(store).plan(expand(config)["baseline"]).address
    assert models["translator"].name == f"runs/{baseline}/seed-1"


@pytest.mark.parametrize(
    ("name", "language", "changes", "message"),
    [
        (
            "forward_translation",
            "qab",
            {},
            "monolingual.language is 'qab'.* in 'qaa', the source language",
        ),
        ("back_translation", "qaa", {}, "in 'qab', the target language"),
        ("back_translation", "qab", {"view": "rot-1"}, "unknown view 'rot-1'"),
        (
            "back_translation",
            "qab",
            {"view": "rot-1", "sampling": {}},
            "drawn from plain text: leave out view rot-1",
        ),
    ],
)
def test_mistakes_are_reported_before_anything_is_trained(
    name: str, language: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message):
        experiment(tmp_path, name, language, **changes)


def test_new_text_is_in_the_case_of_the_text_that_it_joins(tmp_path: Path) -> None:
    (tmp_path / "a.de").write_text("Ein Haus\n")
    (tmp_path / "a.en").write_text("A house\n")
    train = {"source": str(tmp_path / "a.de"), "target": str(tmp_path / "a.en")}
    store = Store(tmp_path / "store")
    for lowercase, expected in ((True, ["zwei häuser"]), (False, ["Zwei Häuser"])):
        settings = {
            "source_language": "de",
            "target_language": "en",
            "train": train,
            "filter": {"lowercase": lowercase},
        }
        corpus = ingest(CorpusSpec.model_validate(settings), "train", store)
        assert cleaned_like(corpus, ["Zwei Häuser "]) == expected
