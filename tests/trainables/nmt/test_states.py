"""What analyses ask of a translation run: states of the encoder, and translations of ids."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from augury.experiments import trainable
from augury.experiments.run import Run
from trainables.nmt.trained import Trained

TASK = trainable.find("nmt")


@pytest.fixture(scope="module")
def run(untrained: Callable[..., Run]) -> Run:
    return untrained(augment=[{"operator": "cipher", "keys": [1]}], regime="multi_source")


def test_states_are_means_over_pieces_without_tag_and_end(run: Run) -> None:
    sources = TASK.encoded(run, run.corpus("one").column("source"), "rot-1", tagged=False)
    layers = TASK.encoder_states(run, sources)
    trained = Trained(run)
    vocabulary, model = trained.vocabulary, trained.model()
    for row, source in enumerate(sources):
        ids = torch.tensor([[vocabulary.tags["__en__"], *source, vocabulary.eos]])
        with torch.inference_mode():
            expected = model.model.encoder(ids, output_hidden_states=True).hidden_states
        assert len(layers) == len(expected) == 3
        for layer, states in zip(layers, expected, strict=True):
            assert layer[row] == pytest.approx(states[0, 1:-1].mean(0).numpy(), abs=1e-5)
    assert {layer.shape for layer in layers} == {(len(sources), 16)}
    assert not np.allclose(layers[0], layers[1])


def test_ids_are_translated_as_their_texts_are(run: Run) -> None:
    texts = run.corpus("one").column("source")
    sources = TASK.encoded(run, texts, tagged=False)
    assert TASK.translate_ids(run, [*sources, []]) == [*TASK.translate(run, texts), ""]


def test_pieces_spell_what_is_read(run: Run) -> None:
    texts, pieces = run.corpus("one").column("source"), TASK.pieces(run)
    for text, ids in zip(texts, TASK.encoded(run, texts, tagged=False), strict=True):
        assert "".join(pieces[piece] for piece in ids) == f"▁{text.replace(' ', '▁')}"
