"""LoRA: updates alone are trained, outputs start as the model's, and exports contain them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from augury.core.errors import UserError
from augury.experiments.run import describe
from augury.experiments.spec import parse
from augury.models import lora
from augury.reporting.exporting import export
from augury.training.checkpoint import parameters
from augury.training.loop import fit
from augury.training.trained import Outcome
from tests.trainables.nmt.tuned import CIPHERS, Make, content, finished
from trainables.nmt import TASK
from trainables.nmt.config import LoraTuning
from trainables.nmt.trained import Trained
from trainables.nmt.translation import Translation

needs_peft = pytest.mark.skipif(find_spec("peft") is None, reason="peft is not installed")
RANK = 2
LORA = {"model": {"lora": {"rank": RANK}}}
TEXTS = ["der hund sieht die katze", "ein haus"]


def test_without_peft_it_is_said_before_anything_is_trained(
    prepared: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lora, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'augury\[lora\]'"):
        prepared("marian", **LORA)


def test_its_training_has_a_rate_of_its_own(tmp_path: Path) -> None:
    experiment = parse(content(tmp_path, "./tuned", **LORA))
    assert isinstance(experiment.training, LoraTuning)


@needs_peft
@pytest.mark.trains
@pytest.mark.parametrize("family", ["marian", "nllb", "t5"])
def test_updates_alone_are_trained_and_exports_contain_them(
    family: str,
    prepared: Make,
    run_card: Any,
    tmp_path: Path,
) -> None:
    run = prepared(family, **LORA)
    task = Translation(run)
    old = {name: tensor.clone() for name, tensor in parameters(task.module).items()}
    assert TASK.translate(finished(run.with_seed(2)), TEXTS) == TASK.translate(
        finished(prepared(family)), TEXTS
    )
    training = run.experiment.training.model_copy(
        update={"max_updates": 3, "max_epochs": None, "learning_rate": 0.1}
    )
    describe(run, "tuned")
    fit(task, training, run, device=torch.device("cpu"))
    trained = {name for name, p in task.module.named_parameters() if p.requires_grad}
    changed = {
        name for name, tensor in parameters(task.module).items() if (old[name] != tensor).any()
    }
    assert changed and changed <= trained and all("lora_" in name for name in trained)
    linear = [layer.base_layer for layer in task.module.modules() if hasattr(layer, "base_layer")]
    sizes = sum(RANK * (layer.in_features + layer.out_features) for layer in linear)
    assert Outcome.read(run.folder).parameters == sizes
    export(run.folder, run.store, "hf", tmp_path / "hf")
    exported = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "hf")
    assert not any("lora" in name for name in exported.state_dict())
    own = Trained(run).model().state_dict()
    assert all(torch.equal(own[name], tensor) for name, tensor in exported.state_dict().items())
    assert run_card(tmp_path / "hf", texts=TEXTS) == TASK.translate(run, TEXTS)


@needs_peft
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": {"lora": {"targets": ["nothing"]}}}, "ends of the names of linear layers"),
        ({"model": {"lora": {}, "new_pieces": 100}, **CIPHERS}, "set model.new_pieces: 0"),
    ],
)
def test_what_it_cannot_do_is_refused(
    changes: dict[str, Any],
    message: str,
    prepared: Make,
) -> None:
    with pytest.raises(UserError, match=message):
        Translation(prepared("marian", **changes))
