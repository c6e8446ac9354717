"""What the evaluation of a run leaves in its folder, with a model that has not learned anything."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from augury.corpora.corpus import Corpus
from augury.evaluation import evaluate
from augury.scoring.metrics import metric
from augury.scoring.scores import read_statistics
from trainables import nmt


def test_evaluation_keeps_the_counts_of_every_sentence(untrained: Any) -> None:
    toy = untrained()
    run, store, prepared = toy.run, toy.store, toy.prepared
    evaluate(nmt, toy.experiment, prepared, run, store)
    found = run.read_json("scores.json")["tests"]
    assert list(found) == ["one", "two"]
    addresses = {given.role: given.address for given in prepared.inputs}
    for test, scores in found.items():
        hypotheses = run.sub("hypotheses").read(f"{test}.txt").decode().split("\n")[:-1]
        sources, references = (Corpus.load(store, addresses[test]).column(side) for side in ("source", "target"))
        messy = [f"\t {source.title()}&#10;" for source in sources]
        assert nmt.translate(run, store, messy) == hypotheses and len(set(hypotheses)) > 1  # cleaned as text is
        kept = read_statistics(run, test)
        assert [score["name"] for score in scores] == list(kept) == ["bleu:lower", "chrf"]
        for score in scores:
            assert "statistics" not in score
            measure = metric(score["name"], "en")
            assert kept[score["name"]].tolist() == measure.statistics(hypotheses, references).tolist()
            assert measure.value(kept[score["name"]].sum(0).tolist()) == score["value"]


def test_a_stored_run_translates_in_a_process_that_loads_neither_ray_nor_torch(untrained: Any) -> None:
    toy = untrained()
    run = toy.run
    evaluate(nmt, toy.experiment, toy.prepared, run, toy.store)
    settings = run.read_json("prepared.json")
    settings["experiment"]["execution"]["executor"] = "ray"
    run.write_json("prepared.json", settings)
    corpus = next(given.address for given in toy.prepared.inputs if given.role == "two")
    sources = Corpus.load(toy.store, corpus).column("source")
    code = "import sys; from augury.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", code, "translate", run.uri]
    lines = "".join(f"{source}\n" for source in sources)
    result = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    *outputs, modules = result.stdout.splitlines()
    assert outputs == run.sub("hypotheses").read("two.txt").decode().splitlines()
    assert not {"ray", "torch", "transformers", "pandas", "mlflow", "scipy", "sacremoses"} & set(modules.split())
