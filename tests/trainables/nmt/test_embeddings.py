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
from augury.decoding.settings import Decoding
from augury.experiments.cost import Size
from augury.experiments.make import prepare
from augury.experiments.trial import run_trial
from augury.training.checkpoint import parameters
from augury.training.trained import WEIGHTS
from tests import tiny
from tests.hypotheses import assert_same, decoder_of, generate, translate
from trainables.nmt import TASK
from trainables.nmt.config import Alone, ModelConfig
from trainables.nmt.embeddings import AloneEmbedding, tabulated
from trainables.nmt.model import build
from trainables.nmt.trained import Trained
from trainables.sequence import head, hidden_states

UNK, PAD, EOS, VOCABULARY = 0, 1, 2, 60
SMALL = {"intermediate_size": 24, "codebooks": 4, "codes": 8}
KINDS: dict[str, dict[str, Any]] = {
    "alone": {"name": "alone", "base_size": 20, **SMALL},
    "projected": {"name": "table", "size": 12},
}


def model(vocabulary: int = VOCABULARY, seed: int = 3, **changes: Any) -> Any:
    config = ModelConfig.model_validate(
        {"architecture": "tiny", "hidden_size": 32, "max_positions": 64, **changes}
    )
    return build(config, vocabulary, pad=PAD, eos=EOS, seed=seed)


def alone(vocabulary: int = 1000, **changes: Any) -> AloneEmbedding:
    built = model(
        vocabulary,
        architecture="transformer_iwslt_de_en",
        hidden_size=512,
        embeddings=Alone(**changes),
    )
    embedding = built.model.encoder.embed_tokens
    assert isinstance(embedding, AloneEmbedding)
    return embedding


def trainable(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def ids(rows: int, length: int, seed: int = 0) -> Tensor:
    return torch.randint(
        3, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(seed)
    )


def test_counts_of_alone_are_the_papers() -> None:
    """Golden: D_O + D_inter (D_O + D_emb) = 4,194,816 trained parameters, with the filters
    4,456,960, whatever V."""
    embedding = alone()
    assert trainable(embedding) == trainable(alone(70)) == 4_194_816
    assert trainable(embedding) + embedding.codebooks.numel() == 4_456_960
    assert trainable(alone(freeze_base=True)) == 4_194_304
    built = model(70, architecture="transformer_iwslt_de_en", hidden_size=512, embeddings=Alone())
    assert trainable(built) == 31_543_296 + 2 * 4_194_816
    shared = {"hidden_size": 512, "embeddings": Alone(), "share_all_embeddings": True}
    assert (
        trainable(model(70, architecture="transformer_iwslt_de_en", **shared))
        == 31_543_296 + 4_194_816
    )


def test_counts_of_smaller_vectors() -> None:
    """CipherDAug, Table 6: twice the table, the projection, and a network as large as with
    vectors of 512."""
    changes: dict[str, Any] = {"architecture": "transformer_iwslt_de_en", "hidden_size": 512}
    built = model(1_000, **changes, embeddings={"size": 256})
    assert trainable(built) == 31_543_296 + 2 * (1_000 * 256 + 256 * 512)
    assert (
        trainable(model(1_000, **changes, embeddings={"size": 512})) == 31_543_296 + 2 * 1_000 * 512
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimated_size_is_that_of_the_embeddings(kind: str, tmp_path: Path) -> None:
    def size(**changes: Any) -> Size:
        section = tiny.OF_TASK["nmt"]["model"]
        vocabulary = {"size": VOCABULARY}
        experiment = tiny.experiment(
            "nmt", tmp_path, vocabulary=vocabulary, model={**section, **changes}
        )
        return TASK.size(experiment, Store(tmp_path))

    difference = size(embeddings=KINDS[kind]).parameters - size().parameters
    built = [model(hidden_size=16, **changes) for changes in ({"embeddings": KINDS[kind]}, {})]
    assert difference == trainable(built[0]) - trainable(built[1])


def test_filters_have_the_papers_distribution() -> None:
    """Golden: codes of deviation 0.353553 give variance 1."""
    embedding = alone()
    assert float(embedding.codebooks.std()) == pytest.approx(0.353553, abs=0.002)
    assert float(embedding.filters(torch.arange(1000)).var()) == pytest.approx(1.0, abs=0.02)


def test_an_embedding_is_the_network_of_the_filtered_base() -> None:
    embedding = model(embeddings=KINDS["alone"]).eval().model.decoder.embed_tokens
    piece = 7
    filtered = (
        sum(embedding.codebooks[book, embedding.codes[piece, book]] for book in range(4))
        * embedding.base
    )
    expected = embedding.outer.weight @ (embedding.inner.weight @ filtered).relu()
    assert torch.allclose(embedding(torch.tensor([piece]))[0], expected, atol=1e-6)
    assert torch.allclose(embedding.weight[piece], expected, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shared", [False, True])
def test_source_target_and_output_are_tied_as_tables_are(kind: str, shared: bool) -> None:
    built = model(embeddings=KINDS[kind], share_all_embeddings=shared).eval()
    source, target = built.model.encoder.embed_tokens, built.model.decoder.embed_tokens
    assert (source is target) == shared
    assert not shared and not torch.equal(source.weight, target.weight) or shared
    pieces = torch.arange(VOCABULARY)
    assert torch.allclose(target(pieces), head(built)[0], atol=1e-6)
    assert not target(torch.tensor([PAD])).any()


def test_the_seed_decides_filters_and_base() -> None:
    first, same, other = (
        dict(parameters(model(embeddings=KINDS["alone"], seed=seed))) for seed in (3, 3, 4)
    )
    assert all(torch.equal(tensor, same[name]) for name, tensor in first.items())
    drawn = [
        name
        for name in first
        if name.endswith(("base", "codebooks", "codes", "inner.weight", "outer.weight"))
    ]
    assert len(drawn) == 10 and not any(torch.equal(first[name], other[name]) for name in drawn)
    sides = [first[f"model.{side}.embed_tokens.codes"] for side in ("encoder", "decoder")]
    assert not torch.equal(*sides)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shared", [False, True])
def test_decoding_computes_them_or_reads_them_from_tables(kind: str, shared: bool) -> None:
    """`generate` decodes the model as it is.

    The one with tables is equal to it, and CTranslate2 loads that.
    """
    built = model(embeddings=KINDS[kind], share_all_embeddings=shared).eval()
    tables = tabulated(built)
    source, target = ids(3, 9), ids(3, 7, seed=1)
    states = [hidden_states(network, source, target) for network in (built, tables)]
    assert torch.allclose(*states, atol=1e-5)
    assert torch.allclose(head(built)[0], head(tables)[0], atol=1e-6)
    sources, decoding = ids(12, 6).tolist(), Decoding(beam=3, max_length=10)
    assert_same(generate(tables, sources, decoding), generate(built, sources, decoding))
    assert_same(
        translate(decoder_of(tables), sources, decoding),
        generate(built, sources, decoding),
    )


@pytest.mark.trains
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_trains_them_and_writes_tables(kind: str, tmp_path: Path) -> None:
    regime = {"name": "adversarial", "epsilon": 1}
    section = {**tiny.OF_TASK["nmt"]["model"], "embeddings": KINDS[kind]}
    training = {"max_tokens": 400, "max_updates": 2, "max_epochs": None, "validate_every": 1}
    experiment = tiny.experiment(
        "nmt", tmp_path, model=section, regime=regime, training={**training, "weights": "averaged"}
    )
    run = prepare(experiment, Store(tmp_path))
    fresh = parameters(TASK.learner(run).module)
    assert run_trial(run, scored=False)
    learned = load_file(run.folder.local() / WEIGHTS)
    for name, tensor in fresh.items():
        fixed = name.endswith((".codes", ".codebooks", "embed_positions.weight", "logits_bias"))
        assert torch.equal(tensor, learned[name]) == fixed, name
    texts = run.corpus("test").column("source")
    assert len(TASK.outputs(run, run.corpus("test"), "test")) == len(texts)
    assert isinstance(Trained(run).model().lm_head, nn.Linear)
