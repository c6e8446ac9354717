"""Records and corpora for operators: what is not given has values that nothing depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from augury.augment import pipeline
from augury.augment.operator import parse
from augury.augment.pipeline import Models, Part
from augury.core.store import Store
from augury.corpora.corpus import KINDS, Corpus, CorpusWriter, read_shard
from augury.corpora.ingest import cached_corpus
from augury.experiments import make
from augury.experiments.spec import Experiment
from augury.experiments.spec import parse as parse_experiment
from tests import tiny


def records(kind: str = "parallel", language: str = "en", **columns: Sequence[Any]) -> pa.Table:
    """Records of a kind of corpus, with their sentences (and labels); ids count from 0."""
    count = len(next(iter(columns.values())))
    schema = KINDS[kind].schema
    values: dict[str, Any] = {
        name: [language] * count for name in schema.names if name.endswith("language")
    }
    values |= {
        "target_language": ["fr"] * count,
        "id": [f"train-{row:08d}" for row in range(count)],
        "label": ["neutral"] * count,
        "origin": ["original"] * count,
        "views": [[]] * count,
        "lineage": [None] * count,
    }
    values |= columns
    return pa.table({name: values[name] for name in schema.names}, schema=schema)


def corpus(store: Store, table: pa.Table, address: str = "abc", kind: str = "parallel") -> Corpus:
    writer = CorpusWriter(store.folder("corpora", address))
    writer.add(table)
    languages = {"source_language": "en", "target_language": "fr"}
    return writer.finish({"kind": kind, "rejected": {}, **languages})


def table_of(part: Part) -> pa.Table:
    """All shards of a part."""
    shards = [read_shard(part.folder, shard) for shard in part.folder.manifest()["shards"]]
    return pa.concat_tables(shards).replace_schema_metadata()


def rows_of(part: Part) -> list[dict[str, Any]]:
    return list(table_of(part).to_pylist())


class Toy:
    """An NLI corpus, and what operators make of it with tiny models that are trained once."""

    def __init__(self, storage: Path, rows: int):
        self.storage, self.store, self.rows = storage, Store(storage), rows
        self.corpus: Corpus = cached_corpus(self.experiment().corpus, "train", self.store.root)

    def experiment(self, *operators: Mapping[str, Any]) -> Experiment:
        views = any(settings.get("use") == "view" for settings in operators)
        return parse_experiment(
            {
                "name": "toy",
                "task": "nli",
                "storage": str(self.storage),
                "augment": operators,
                "model": tiny.ENCODER,
                "corpus": {
                    "language": "qaa",
                    "train": {"builtin": self.rows},
                    "valid": {"builtin": 12},
                },
                "regime": "multi_source" if views else "plain",
                "tracking": {"enabled": False},
                "execution": {"executor": "local", "threads": 1},
            }
        )

    def models(self, *operators: Mapping[str, Any]) -> list[Models]:
        return make.train_models(self.experiment(*operators), self.store)

    def augmented(self, settings: Mapping[str, Any]) -> Part:
        models = self.models(settings)
        done = pipeline.augment(self.corpus, [parse(settings)], self.store, models=models)
        return done.parts[0]
