"""Exported models translate as the run does, by the code of their own card, and the card says what the run knows."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard

from augury.augment.operator import ReadyModel
from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.evaluation import evaluate
from augury.experiments.experiment import load
from augury.experiments.preparation import address
from augury.experiments.ready_models import ready_model
from augury.experiments.run import Run
from augury.reporting.exporting import export
from trainables.nmt import TASK

MESSY = ["\t Wer sieht\tdas HAUS? ", "__en__ das </s>  Ωmega", "ein kurzer Satz", "e\u0301in \u00a0 İ Satz, oder?"]
CLEAN = ["wer sieht das haus?", "ein kurzer satz"]
CIPHERS: dict[str, Any] = {
    "augment": [{"operator": "cipher", "keys": [1]}],
    "regime": {"name": "coregularised", "warmup_steps": 0},
    "vocabulary": {"size": 200, "size_per_key": 40},
}
COMPUTED: dict[str, Any] = {
    **CIPHERS,
    "vocabulary": {"mode": "separate", "size": 200, "separate_size_per_key": 100},
    "model": {
        **{"architecture": "tiny", "hidden_size": 16, "feedforward_size": 16, "attention_heads": 2},
        "embeddings": {"name": "alone", "intermediate_size": 32},
    },
}
BEAM = {"beam": 4, "max_length": 12, "length_penalty": 0.6}


@pytest.fixture(
    scope="module", params=[{"decoding": BEAM, **CIPHERS}, COMPUTED, {}], ids=["tagged", "computed", "plain"]
)
def scored(request: pytest.FixtureRequest, untrained: Any) -> Run:
    """A run with a tag before its sources, one with computed embeddings and separate pieces, and a plain one."""
    run: Run = untrained(**request.param)
    evaluate(run)
    return run


def test_plain_transformers_translates_as_the_run_does(scored: Run, run_card: Any, tmp_path: Path) -> None:
    export(scored.folder, scored.store, "hf", tmp_path / "hf")
    expected = TASK.translate(scored, MESSY)
    assert run_card(tmp_path / "hf", texts=MESSY) == expected and len(set(expected)) > 1


def test_operators_translate_with_the_run_and_with_its_export(scored: Run, tmp_path: Path) -> None:
    export(scored.folder, scored.store, "hf", tmp_path / "hf")
    models = [ReadyModel(run=scored.folder.uri), ReadyModel(checkpoint=str(tmp_path / "hf"))]
    decoding = scored.experiment.decoding  # type: ignore[attr-defined]
    texts = [*MESSY, "", " ".join(["wer"] * scored.experiment.model.max_positions)]  # type: ignore[attr-defined]
    expected = [*TASK.translate(scored, MESSY), "", None]
    for model in models:
        translate = ready_model(model).translator(scored.store)
        assert translate(texts, "plain", decoding) == expected and translate([], "plain", decoding) == []
    with pytest.raises(UserError, match="has no view 'rot-1'"):
        ready_model(models[1]).translator(scored.store)(texts, "rot-1", decoding)


def test_plain_ctranslate2_translates_as_the_run_does(scored: Run, run_card: Any, tmp_path: Path) -> None:
    export(scored.folder, scored.store, "ctranslate2", tmp_path / "ct2")
    assert run_card(tmp_path / "ct2", texts=CLEAN) == TASK.translate(scored, CLEAN)


def test_the_card_holds_scores_method_and_how_to_repeat_it(scored: Run, tmp_path: Path) -> None:
    output = tmp_path / "new" / "hf"
    export(scored.folder, scored.store, "hf", output)
    card = ModelCard.load(output / "README.md")
    data, scores = card.data, scored.folder.read_json("scores.json")["tests"]
    assert (data.language, data.library_name, data.pipeline_tag) == (["de", "en"], "transformers", "translation")
    assert data.metrics == ["bleu", "chrf"] and "augury" in data.tags
    measured = {(result.dataset_name, result.metric_name): result for result in data.eval_results}
    assert len(measured) == 4
    for test, of_test in scores.items():
        for name, score in zip(("BLEU (lower)", "chrF"), of_test, strict=True):
            assert measured[test, name].metric_value == round(score["value"], 2)
            assert measured[test, name].metric_args["signature"] == score["signature"]
            assert score["signature"].replace("|", r"\|") in card.text
            assert f"[{score['low']:.1f}, {score['high']:.1f}]" in card.text
    assert "Synthetic text made by a grammar" in card.text
    assert ("CipherDAug: Ciphertext based" in card.text) == (scored.experiment.regime.name == "coregularised")
    assert "augury train experiment.yaml" in card.text
    again = load(output / "experiment.yaml", [f"storage={tmp_path}"])
    assert again.seeds == (1,) and address(again, Store(tmp_path)) == scored.address
    assert not {"storage", "tracking"} & set(yaml.safe_load((output / "experiment.yaml").read_text()))


def test_an_export_appears_whole_with_the_modes_of_new_files(scored: Run, tmp_path: Path) -> None:
    output = tmp_path / "hf"
    with pytest.raises(UserError, match="unknown form 'onnx'"):
        export(scored.folder, scored.store, "onnx", output)
    assert list(tmp_path.iterdir()) == []
    export(scored.folder, scored.store, "hf", output)
    (tmp_path / "file").touch()
    mode = stat.S_IMODE((tmp_path / "file").stat().st_mode)
    assert {stat.S_IMODE(file.stat().st_mode) for file in output.iterdir()} == {mode}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "hf"]
    with pytest.raises(UserError, match="exists already"):
        export(scored.folder, scored.store, "hf", output)
