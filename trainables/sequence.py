"""Encoder-decoders of `transformers` up to the projection to the vocabulary, which regimes compute
in chunks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForSeq2SeqLM, PreTrainedConfig, PreTrainedModel

from augury.core.progress import ProgressLine
from augury.decoding.search import batches_by_length
from augury.models import pretrained
from augury.models.settings import Pretrained

STATES_TOKENS = 4096


def source_embeddings(model: PreTrainedModel, source: Tensor) -> Tensor:
    """Return the word embeddings of a source, (B, S, D), scaled as the model does (Marian: √D)."""
    encoder = model.get_encoder()
    embeddings: Tensor = encoder.embed_tokens(source) * getattr(encoder, "embed_scale", 1.0)
    return embeddings


def hidden_states(
    model: PreTrainedModel, source: Tensor, labels: Tensor, perturbation: Tensor | None = None
) -> Tensor:
    """Return the states before the projection to the vocabulary, (B, T, D), given `labels` (B, T).

    `source` (B, S) and `labels` are ids, padded on the right; `perturbation` (B, S, D) is added to
    `source_embeddings`. The first decoder input is the model's own (T5: the pad; Marian as trained
    here: the end of sentence). T5 scales these states by D^-0.5 where embeddings are tied.
    """
    padding, causal = attention_masks(model, source, labels)
    inputs = {"input_ids": source}
    if perturbation is not None:
        inputs = {"inputs_embeds": source_embeddings(model, source) + perturbation}
    memory = model.get_encoder()(**inputs, attention_mask=padding).last_hidden_state
    start = labels.new_full((len(labels), 1), model.config.decoder_start_token_id)
    hidden: Tensor = model.get_decoder()(
        input_ids=torch.cat([start, labels[:, :-1]], 1),
        attention_mask=causal,
        encoder_hidden_states=memory,
        encoder_attention_mask=padding,
        use_cache=False,
    ).last_hidden_state
    if getattr(model.config, "scale_decoder_outputs", False):
        hidden = hidden * model.config.d_model**-0.5
    return hidden


def attention_masks(
    model: PreTrainedModel, source: Tensor, labels: Tensor
) -> tuple[Tensor, Tensor | None]:
    """Return the masks of the source's pads and of later labels, as the model takes them.

    Under `sdpa` they are ready, (B, 1, 1, S) and (1, 1, T, T): of (B, S) `transformers` would read
    on the host whether anything is masked, for which a GPU waits. Others get that, and None.
    """
    real = source != model.config.pad_token_id
    if model.config._attn_implementation != "sdpa":
        return real, None
    length = labels.shape[1]
    earlier = torch.ones(length, length, dtype=torch.bool, device=labels.device).tril()
    return real[:, None, None], earlier[None, None]


def head(model: PreTrainedModel) -> tuple[Tensor, Tensor | None]:
    """Return the projection to the vocabulary: weight (V, D), and bias (V) or None."""
    layer = model.get_output_embeddings()
    added = getattr(model, "final_logits_bias", None)  # BART and its kin
    return layer.weight, layer.bias if added is None else added.squeeze(0)


def load(model: Pretrained, directory: str) -> PreTrainedModel:
    """Return a pretrained encoder-decoder in 32-bit floats on the CPU.

    `directory` holds its tokenizer, with the commit that it is of.
    """
    revision = pretrained.pinned(directory, model.revision)
    load_model = AutoModelForSeq2SeqLM.from_pretrained
    loaded: PreTrainedModel = pretrained.load(load_model, model.name, revision, dtype=torch.float32)
    return loaded


def empty(settings: PreTrainedConfig) -> PreTrainedModel:
    """Return a model in evaluation mode with random weights, to be replaced by those of a run."""
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        return AutoModelForSeq2SeqLM.from_config(settings, dtype=torch.float32).eval()


@torch.inference_mode()
def mean_states(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], before: int
) -> list[npt.NDArray[np.float32]]:
    """Return the mean encoder state of every source, (sources, hidden), for embeddings and layers.

    Sources are ids as the encoder of a `transformers` model reads them. The first `before` and the
    last of each are left out of the mean, of which something must remain.
    """
    assert all(len(source) > before + 1 for source in sources), (
        "a source without pieces has no states"
    )
    encoder, pad = model.get_encoder(), model.config.pad_token_id
    means: list[npt.NDArray[np.float32]] = []
    with ProgressLine("encoder states", len(sources), "sentences") as progress:
        for rows in batches_by_length(sources, STATES_TOKENS):
            ids = [torch.tensor(sources[row], device=model.device) for row in rows]
            batch = pad_sequence(ids, batch_first=True, padding_value=pad)
            lengths = torch.tensor([[len(source)] for source in ids], device=model.device)
            positions = torch.arange(batch.shape[1], device=model.device)
            read = positions < lengths
            layers = encoder(batch, attention_mask=read, output_hidden_states=True).hidden_states
            counted = ((positions >= before) & (positions < lengths - 1)).unsqueeze(2)
            if not means:
                means = [np.zeros((len(sources), layer.shape[2]), np.float32) for layer in layers]
            for mean, layer in zip(means, layers, strict=True):
                mean[rows] = ((layer * counted).sum(1) / counted.sum(1)).cpu().numpy()
            progress.advance(len(rows))
    return means
