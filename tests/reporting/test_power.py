"""What an experiment can see, before it is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augury.core.store import Store
from augury.corpora.ingest import cached_corpus
from augury.experiments.spec import parse
from augury.reporting.power import TYPICAL, planned_power, power


def test_it_is_that_of_typical_models(tmp_path: Path) -> None:
    for side in ("de", "en"):
        (tmp_path / f"a.{side}").write_text("".join(f"das Haus {row} geht\n" for row in range(150)))
    files = {"source": str(tmp_path / "a.de"), "target": str(tmp_path / "a.en")}
    corpus = {"source_language": "de", "target_language": "en", "train": files, "every": 5}
    described = {"name": "toy", "task": "nmt", "storage": str(tmp_path / "results")}
    experiment: Any = parse({**described, "corpus": {**corpus, "tests": {"news": files}}})
    systems, store = [experiment, experiment], Store(tmp_path / "results")
    rows = cached_corpus(experiment.corpus, "news", store.root).rows
    (line,) = planned_power(systems, store, 3)
    said = power("bleu", TYPICAL["bleu"], 3, rows, 1)
    smallest = TYPICAL["bleu"].smallest_difference(3, rows, 1)
    assert line.startswith(f"news: {said} (") and f"below {smallest:.1f} BLEU" in said
    (one,), (two,) = (planned_power(systems, store, seeds) for seeds in (1, 2))
    assert one == two.replace("news: ", "news: one seed says nothing of others; ")
    assert planned_power([experiment], store, 3) == []
