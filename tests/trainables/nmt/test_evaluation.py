"""What the evaluation of a run leaves in its folder, with a model that has not learned anything."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from safetensors.torch import save

from augury.corpora.corpus import Corpus
from augury.description import describe
from augury.evaluation import evaluate
from augury.experiment import parse
from augury.scoring.metrics import metric
from augury.scoring.scores import read_statistics
from augury.store import Folder, Store
from augury.text.vocabulary import Vocabulary
from augury.training.checkpoint import parameters
from augury.training.trained import WEIGHTS
from trainables import nmt
from trainables.nmt.model import build


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    storage = tmp_path_factory.mktemp("nmt")
    experiment = parse({
        "name": "toy", "task": "nmt", "storage": str(storage),
        "corpus": {"source_language": "de", "target_language": "en", "train": {"builtin": 40}, "valid": {"builtin": 4},
                   "tests": {"one": {"builtin": 5}, "two": {"builtin": 3}},
                   "filter": {"lowercase": True, "unescape": True}},
        "vocabulary": {"size": 200}, "scoring": {"metrics": ["bleu:lower", "chrf"], "bootstrap_samples": 20},
        "model": {"architecture": "tiny", "hidden_size": 16, "feedforward_size": 16, "attention_heads": 2},
        "decoding": {"beam": 1, "max_length": 12}, "execution": {"executor": "local", "threads": 1},
        "training": {"max_passes": 5}, "tracking": {"enabled": False},
    })  # fmt: skip
    store = Store(storage)
    prepared = nmt.prepare(experiment, store)
    run = store.folder("runs", f"{prepared.address}/seed-1")
    describe(run, "toy", experiment, prepared, 1)
    vocabulary = Vocabulary.load(Folder(store.root, prepared.config["vocabulary"]))
    model = build(experiment.model, len(vocabulary.pieces), pad=vocabulary.pad, eos=vocabulary.eos, seed=1)
    run.write(WEIGHTS, save(parameters(model)))

    outcome = {"parameters": 1, "updates": 1, "passes": 1.0, "onset": 0, "rows": 1, "train_seconds": 1.0, "workers": 1}
    run.write_json("outcome.json", {**outcome, "weights": {"kind": "last", "updates": [1]}, "device": "cpu"})
    evaluate(nmt, experiment, prepared, run, store)
    return SimpleNamespace(run=run, store=store, prepared=prepared)


def test_evaluation_keeps_the_counts_of_every_sentence(evaluated: SimpleNamespace) -> None:
    run, store, prepared = evaluated.run, evaluated.store, evaluated.prepared
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


def test_a_stored_run_translates_in_a_process_that_loads_neither_ray_nor_torch(evaluated: SimpleNamespace) -> None:
    run = evaluated.run
    settings = run.read_json("prepared.json")
    settings["experiment"]["execution"]["executor"] = "ray"
    run.write_json("prepared.json", settings)
    corpus = next(given.address for given in evaluated.prepared.inputs if given.role == "two")
    sources = Corpus.load(evaluated.store, corpus).column("source")
    code = "import sys; from augury.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", code, "translate", run.uri]
    lines = "".join(f"{source}\n" for source in sources)
    result = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    *outputs, modules = result.stdout.splitlines()
    assert outputs == run.sub("hypotheses").read("two.txt").decode().splitlines()
    assert not {"ray", "torch", "transformers", "pandas", "mlflow", "scipy", "sacremoses"} & set(modules.split())
