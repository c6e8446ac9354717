"""What an experiment can see, before it is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augury.corpora.ingest import cached_corpus
from augury.experiments.spec import parse
from augury.reporting.power import TYPICAL, planned_power


def test_it_is_that_of_typical_models(tmp_path: Path, results: Any) -> None:
    for side in ("de", "en"):
        (tmp_path / f"a.{side}").write_text("".join(f"das Haus {row} geht\n" for row in range(150)))
    files = {"source": str(tmp_path / "a.de"), "target": str(tmp_path / "a.en")}
    corpus = {"source_language": "de", "target_language": "en", "train": files, "every": 5}
    described = {"name": "toy", "task": "nmt", "storage": results.store.root}
    experiment: Any = parse({**described, "corpus": {**corpus, "tests": {"news": files}}})
    scoring = experiment.scoring.model_copy(update={"metrics": ("accuracy",)})
    experiment = experiment.model_copy(update={"scoring": scoring})
    systems, store = [experiment, experiment], results.store
    (statement,) = planned_power(systems, store, 3)
    news = cached_corpus(experiment.corpus, "news", results.store.root)
    typical = TYPICAL["accuracy"].smallest_difference(3, news.rows, 1)
    assert statement.power.smallest == typical
    (one,), (two,) = (planned_power(systems, store, seeds) for seeds in (1, 2))
    assert one.power == two.power and planned_power([experiment], store, 3) == []
