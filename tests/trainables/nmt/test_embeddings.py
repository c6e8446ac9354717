"""Embeddings that are computed: how many parameters they have, what they compute, and that
training can use them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from augury.core.store import Store
from augury.experiments.make import prepare
from augury.experiments.trial import run_trial
from augury.training.checkpoint import parameters
from augury.training.trained import WEIGHTS
from tests import tiny
from trainables.nmt import TASK
from trainables.nmt.config import ModelSettings
from trainables.nmt.embeddings import tabulated
from trainables.nmt.model import build
from trainables.nmt.trained import Trained
from trainables.sequence import head, hidden_states

PAD, EOS, VOCABULARY = 1, 2, 60
KINDS: dict[str, dict[str, Any]] = {
    "alone": {"name": "alone", "intermediate_size": 24},
    "projected": {"name": "table", "size": 12},
}
IWSLT: dict[str, Any] = {"architecture": "transformer_iwslt_de_en", "hidden_size": 512}


def model(vocabulary: int = VOCABULARY, seed: int = 3, **changes: Any) -> Any:
    config = ModelSettings.model_validate(
        {"architecture": "tiny", "hidden_size": 32, "max_positions": 64, **changes}
    )
    return build(config, vocabulary, pad=PAD, eos=EOS, seed=seed)


def trainable(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def ids(rows: int, length: int, seed: int = 0) -> Tensor:
    return torch.randint(
        3, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(seed)
    )


def test_counts_are_the_papers() -> None:
    """Golden: of ALONE, D_O + D_inter (D_O + D_emb) = 4,194,816 trained parameters, with the
    filters 4,456,960, whatever V; codes of deviation 0.353553 give variance 1.

    CipherDAug, Table 6: twice the table and the projection.
    """
    network, alone = 31_543_296, {"embeddings": {"name": "alone"}}
    built = model(1_000, **IWSLT, **alone)
    embedding = built.model.encoder.embed_tokens
    assert trainable(embedding) == 4_194_816
    assert trainable(embedding) + embedding.codebooks.numel() == 4_456_960
    assert trainable(built) == network + 2 * 4_194_816
    shared = model(70, **IWSLT, **alone, share_all_embeddings=True)
    assert trainable(shared) == network + 4_194_816
    assert float(embedding.codebooks.std()) == pytest.approx(0.353553, abs=0.002)
    assert float(embedding.filters(torch.arange(1000)).var()) == pytest.approx(1.0, abs=0.02)
    for size, parameters_of_one in ((256, 1_000 * 256 + 256 * 512), (512, 1_000 * 512)):
        smaller = model(1_000, **IWSLT, embeddings={"size": size})
        assert trainable(smaller) == network + 2 * parameters_of_one


def test_an_embedding_is_the_network_of_the_filtered_base() -> None:
    embedding = model(embeddings=KINDS["alone"]).eval().model.decoder.embed_tokens
    piece = 7
    filtered = (
        sum(embedding.codebooks[book, embedding.codes[piece, book]] for book in range(8))
        * embedding.base
    )
    expected = embedding.outer.weight @ (embedding.inner.weight @ filtered).relu()
    assert torch.allclose(embedding(torch.tensor([piece]))[0], expected, atol=1e-6)
    assert torch.allclose(embedding.weight[piece], expected, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shared", [False, True])
def test_they_are_tied_and_decoding_reads_them_as_tables(kind: str, shared: bool) -> None:
    built = model(embeddings=KINDS[kind], share_all_embeddings=shared).eval()
    source, target = built.model.encoder.embed_tokens, built.model.decoder.embed_tokens
    assert (source is target) == shared
    assert torch.allclose(target(torch.arange(VOCABULARY)), head(built)[0], atol=1e-6)
    assert not target(torch.tensor([PAD])).any()
    tables = tabulated(built)
    source, target = ids(3, 9), ids(3, 7, seed=1)
    states = [hidden_states(network, source, target) for network in (built, tables)]
    assert torch.allclose(*states, atol=1e-5)


@pytest.mark.trains
def test_a_run_trains_them_and_writes_tables(tmp_path: Path) -> None:
    experiment = tiny.experiment(
        "nmt",
        tmp_path,
        model={**tiny.OF_TASK["nmt"]["model"], "embeddings": KINDS["alone"]},
        regime={"name": "adversarial", "epsilon": 1},
        training={"max_tokens": 400, "max_updates": 2, "max_epochs": None, "validate_every": 1},
    )
    run = prepare(experiment, Store(tmp_path))
    fresh = parameters(TASK.learner(run).module)
    assert run_trial(run, scored=False)
    learned = load_file(run.folder.local() / WEIGHTS)
    for name, tensor in fresh.items():
        fixed = name.endswith((".codes", ".codebooks", "embed_positions.weight", "logits_bias"))
        assert torch.equal(tensor, learned[name]) == fixed, name
    assert isinstance(Trained(run).model().lm_head, nn.Linear)
