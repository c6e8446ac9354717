"""A system whose operator makes nothing, or garbage, is not trained."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from augury.augment.health import UnusableOutput
from augury.core.store import Store
from augury.experiments import make
from augury.experiments.graph import Graph
from augury.experiments.spec import parse
from augury.experiments.systems import expand
from augury.sweeping.driver import run_experiment
from tests import tiny

PIECES = ("<pad>", "</s>", "<unk>", "a", "b")


@pytest.fixture(scope="module")
def mute(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A checkpoint whose weights are 0: every piece is equally likely, and a greedy search takes
    the first, the pad."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("mute")
    words = Tokenizer(
        models.WordLevel({piece: number for number, piece in enumerate(PIECES)}, unk_token="<unk>")
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=64, **special).save_pretrained(
        folder
    )
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(PIECES),
            d_model=8,
            d_kv=4,
            d_ff=8,
            num_layers=1,
            num_heads=2,
            decoder_start_token_id=0,
        )
    )
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
    model.save_pretrained(folder)
    return str(folder)


def content(storage: Path, checkpoint: str, **changes: Any) -> dict[str, Any]:
    """Return an experiment of the baseline and of one with 100 back translations by a
    checkpoint."""
    operator = {
        "operator": "back_translation",
        "monolingual": {"language": "qab", "train": {"builtin": 100, "seed": 2}},
        "ready": {"checkpoint": checkpoint},
        "decoding": {"beam": 1, "max_length": 5},
    }
    described = {
        "training": {"max_updates": 2},
        "systems": {"baseline": {}, "+BT": {"augment": [operator]}},
    }
    return tiny.content("nmt", storage, **{**described, "health": {}, **changes})


@pytest.mark.trains
def test_a_hundred_empty_back_translations_are_not_trained_on(mute: str, tmp_path: Path) -> None:
    experiment = parse(content(tmp_path, mute))
    runs, failures, _ = run_experiment(experiment)
    assert list(runs) == ["baseline"]
    (failure,) = failures
    assert re.search(
        r"^\+BT .*back_translation.* 0 of 100 .*100 empty.*"
        r"health\.min_yield is 0\.5.*health\.max_empty",
        failure,
    )
    run = Graph(Store(tmp_path)).plan(expand(experiment)["+BT"]).address
    assert not Store(tmp_path).folder("runs", run).exists()


def test_the_output_is_judged_again_when_it_is_found_in_the_store(
    mute: str, tmp_path: Path
) -> None:
    system = expand(parse(content(tmp_path, mute)))["+BT"]
    for _ in range(2):
        with pytest.raises(UnusableOutput, match="0 of 100"):
            make.prepare(system, Store(tmp_path))


def test_a_limit_can_be_lifted_and_the_measures_stay_in_the_run(mute: str, tmp_path: Path) -> None:
    for health in ({"stop": False}, {"min_yield": None, "max_empty": None}):
        system = expand(parse(content(tmp_path, mute, health=health)))["+BT"]
        (output,) = make.prepare(system, Store(tmp_path)).health
        assert (output.made, output.requested, output.lost, output.empty) == (
            0,
            100,
            {"empty": 100},
            1.0,
        )


def test_limits_are_in_no_address(mute: str, tmp_path: Path) -> None:
    graph = Graph(Store(tmp_path))
    addresses = {
        graph.plan(expand(parse(content(tmp_path, mute, health=health)))["+BT"]).address
        for health in ({}, {"stop": False}, {"min_yield": 0.1})
    }
    assert len(addresses) == 1


def test_a_stage_and_the_models_of_operators_have_the_limits_of_the_experiment(
    tmp_path: Path,
) -> None:
    operator = {
        "operator": "back_translation",
        "monolingual": {"language": "qab", "train": {"builtin": 5, "seed": 2}},
    }
    stages = {"tune": {"augment": [operator]}}
    described = content(
        tmp_path, "none", systems={"tuned": {"stages": stages}}, health={"max_empty": 0.3}
    )
    system = expand(parse(described))["tuned"]
    chain = [*system.chain, *system.model_experiments.values()]
    assert len(chain) == 3 and {stage.health.max_empty for stage in chain} == {0.3}
