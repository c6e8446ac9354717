"""Records by a language model in one command: from the text to the table of scores."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.augment.generation import KIND
from augury.cli import main
from augury.core.store import Store
from augury.corpora.ingest import cached_corpus
from augury.models.pretrained import identity
from tests import tiny
from tests.language_models import END, save_bigrams


def bigrams(sentences: list[str]) -> dict[str, dict[str, float]]:
    """The words that follow each word of sentences, the first ones after `:`, and their shares."""
    pairs = Counter[tuple[str, str]]()
    for sentence in sentences:
        pairs.update(itertools.pairwise([":", *sentence.split(), END]))
    of_word = Counter[str]()
    for (before, _), count in pairs.items():
        of_word[before] += count
    following: dict[str, dict[str, float]] = {}
    for (before, after), count in pairs.items():
        following.setdefault(before, {})[after] = count / of_word[before]
    return following


@pytest.mark.slow
@pytest.mark.trains
def test_an_experiment_with_a_language_model_trains(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The model is one of word pairs of the training text's own target side."""
    plain = tiny.experiment("nmt", tmp_path / "store")
    corpus = cached_corpus(plain.corpus, "train", str(tmp_path / "store"))
    model = save_bigrams(tmp_path / "model", bigrams(corpus.column("target")), positions=512)
    generate: dict[str, Any] = {
        "operator": "generate",
        "model": model,
        "prompt": "translate",
        "shots": 2,
        "copies": 2,
        "max_tokens": 30,
        "filters": {"length_ratio": 4.0, "round_trip": "baseline", "min_chrf": 0},
    }
    content = tiny.content("nmt", tmp_path / "store", augment=[generate], baseline=True)
    file = tmp_path / "my.yaml"
    file.write_text(yaml.safe_dump(content))
    assert main(["config", str(file), "--resolved"]) == 0
    resolved = yaml.safe_load(capsys.readouterr().out.split("# tiny")[1].split("\n", 1)[1])
    assert "Translate the sentence" in resolved["augment"][0]["prompt"]
    assert main(["config", str(file)]) == 0
    capsys.readouterr()
    assert main(["train", str(file), "--json"]) == 0
    _, system = json.loads(capsys.readouterr().out)["systems"]
    (output,) = system["outputs"]
    assert output["made"] + sum(output["lost"].values()) == 120 and output["made"] > 60
    assert set(system["tests"]["test"]) == {"bleu", "chrf"}
    store, cost = Store(tmp_path / "store"), system["cost"]
    generated = [store.folder(KIND, address) for address in store.addresses(KIND)]
    seconds = [folder.manifest()["seconds"] for folder in generated]
    assert len(seconds) == 4 and cost["train_seconds"] > sum(seconds) > 0
    assert cost["trainings"] == 2 and cost["uncounted"] == [identity(model)]
    before = {folder.name for folder in generated}
    assert main(["train", str(file), "--json"]) == 0  # all is in the storage
    assert {f"{KIND}/{address}" for address in store.addresses(KIND)} == before
