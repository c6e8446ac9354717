"""Run folders and corpora as an experiment leaves them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from augury.corpora.corpus import PARALLEL, CorpusWriter
from augury.store import Folder, Store

TEST_ADDRESS = "7e57" * 4


class Results:
    """A storage that fills with runs."""

    def __init__(self, store: Store):
        self.store = store

    def corpus(self, pairs: list[tuple[str, str]], note: str | None = None, address: str = TEST_ADDRESS) -> None:
        rows = [{"id": f"test:{index}", "source": source, "target": target, "source_language": "de",
                 "target_language": "en", "origin": "corpus", "views": [], "lineage": None}
                for index, (source, target) in enumerate(pairs)]  # fmt: skip
        writer = CorpusWriter(self.store.folder("corpora", address))
        writer.add(pa.Table.from_pylist(rows, schema=PARALLEL))
        writer.finish({"note": note})

    def run(
        self,
        name: str,
        address: str,
        seed: int = 1,
        *,
        bleu: float | None = None,
        chrf: float = 50.0,
        half_width: float = 1.0,
        parameters: Mapping[str, Any] | None = None,
        seconds: float = 100.0,
        device: str = "cpu",
        signature: str = "tok:13a",
        hypotheses: list[str] | None = None,
        history: list[tuple[int, dict[str, float]]] | None = None,
        data: float = 1.0,
        test: str = "test",
    ) -> Folder:
        """A run; scored if `bleu` is given."""
        run = self.store.folder("runs", f"{address}/seed-{seed}")
        run.write_json("run.json", {
            "name": name, "experiment": "ciphers", "address": address, "seed": seed, "task": "nmt",
            "inputs": [{"name": "train", "address": "a" * 16, "rows": 2900},
                       {"name": test, "address": TEST_ADDRESS, "rows": 3}],
            "parameters": {"training.precision": "fp32", **(parameters or {})},
            "versions": {"augury": "0.1.0", "torch": "2.13.0"}, "commit": "c0ffee",
        })  # fmt: skip
        if bleu is not None:
            scores = [
                {
                    "name": metric,
                    "value": value,
                    "low": value - half_width,
                    "high": value + half_width,
                    "signature": signature,
                    "n": 2000,
                }
                for metric, value in (("bleu", bleu), ("chrf", chrf))
            ]
            cost = {"parameters": 1_230_000, "data_factor": data, "updates": 400, "target_tokens": 5_400_000,
                    "train_seconds": seconds, "device": device, "device_hours": seconds / 3600}  # fmt: skip
            run.write_json("scores.json", {"tests": {test: scores}, "cost": cost})
        if hypotheses is not None:
            run.sub("hypotheses").write(f"{test}.txt", "".join(f"{line}\n" for line in hypotheses))
        if history is not None:
            lines = [json.dumps({"update": update, "epoch": 0, "time": 1.7e9 + 2 * update, "metrics": metrics}) + "\n"
                     for update, metrics in history]  # fmt: skip
            run.sub("history").write("00000001.jsonl", "".join(lines))
        return run


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(Store(tmp_path / "results"))
