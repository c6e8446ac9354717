"""Rows of encoder-decoders against the logits of `transformers`, for several families."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import linear
from transformers import PreTrainedModel

from tests.trainables.nmt import checkpoints
from trainables.sequence import head, hidden_states, source_embeddings

PAD = 1
FAMILIES = ("t5", "mt5", "mbart50", "marian", "m2m_100", "bart", "pegasus")
SOURCE, LABELS = torch.tensor([[5, 6, 7, 2], [8, 2, 1, 1]]), torch.tensor([[9, 10, 2], [11, 2, 1]])


def family(name: str) -> Any:
    """A small model with random parameters, in evaluation mode."""
    start = 2 if name == "mbart50" else PAD  # mBART begins with what ends its labels
    torch.manual_seed(1)
    made = checkpoints.model(
        name, vocab_size=60, pad_token_id=PAD, eos_token_id=2, decoder_start_token_id=start
    )
    if name == "marian":
        made.final_logits_bias.normal_()
    return made.eval()


def logits(
    model: PreTrainedModel, source: Tensor, labels: Tensor, perturbation: Tensor | None = None
) -> Tensor:
    with torch.no_grad():
        return linear(hidden_states(model, source, labels, perturbation), *head(model))


@pytest.mark.parametrize("name", FAMILIES)
def test_rows_and_head_give_the_logits_of_transformers(name: str) -> None:
    """Also where a perturbation moves a word as far as another word is from it."""
    model, real = family(name), LABELS != PAD
    exchanged = SOURCE.clone()
    exchanged[0, 0] = 12
    perturbation = (source_embeddings(model, exchanged) - source_embeddings(model, SOURCE)).detach()
    labels = LABELS.masked_fill(~real, -100)
    for source, moved in ((SOURCE, None), (exchanged, perturbation)):
        with torch.no_grad():
            own = model(input_ids=source, attention_mask=source != PAD, labels=labels)
        found = logits(model, SOURCE, LABELS, moved)
        assert torch.allclose(found[real], own.logits[real], atol=1e-5)
