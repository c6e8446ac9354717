"""Encoder-decoders of `transformers` up to the projection to the vocabulary, which regimes compute
in chunks, and their learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    AutoModelForSeq2SeqLM,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from augury.core.errors import UserError
from augury.core.progress import Stage
from augury.decoding.search import batches_by_length
from augury.experiments.graph import VALID, held_out
from augury.experiments.run import Run
from augury.models import pretrained
from augury.models.settings import Pretrained
from augury.regimes.regime import SOURCE, TARGET, Embedded, Rows, ViewGroup
from augury.text.tokens import Tokens
from augury.training.batching import Lengths, padded
from augury.training.learner import Likelihood, Loaded, likelihood
from trainables.training import RegimeTraining, mismatch, pad_views, to_device

Ids = Sequence[int] | np.ndarray
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
    hidden: Tensor = model.get_decoder()(
        input_ids=decoder_inputs(model, labels),
        attention_mask=causal,
        encoder_hidden_states=memory,
        encoder_attention_mask=padding,
        use_cache=False,
    ).last_hidden_state
    return (
        hidden * model.config.d_model**-0.5
        if getattr(model.config, "scale_decoder_outputs", False)
        else hidden
    )


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


def decoder_inputs(model: PreTrainedModel, labels: Tensor) -> Tensor:
    """Return what the decoder reads to predict `labels`, (B, T): its start and all but the last."""
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):
        inputs: Tensor = model.prepare_decoder_input_ids_from_labels(labels)
        return inputs
    start = labels.new_full((len(labels), 1), model.config.decoder_start_token_id)  # M2M-100
    return torch.cat([start, labels[:, :-1]], 1)


def head(model: PreTrainedModel) -> tuple[Tensor, Tensor | None]:
    """Return the projection to the vocabulary: weight (V, D), and bias (V) or None."""
    layer = model.get_output_embeddings()
    added = getattr(model, "final_logits_bias", None)  # BART and its kin
    return layer.weight, layer.bias if added is None else added.squeeze(0)


def load(
    model: Pretrained,
    directory: str,
    tokenizer: PreTrainedTokenizerBase,
    *,
    perturbable: bool = False,
) -> PreTrainedModel:
    """Return a pretrained encoder-decoder in 32-bit floats on the CPU, once `check` has passed.

    `directory` holds its tokenizer, with the commit that it is of.
    """
    loaded: PreTrainedModel = pretrained.load_model(
        AutoModelForSeq2SeqLM.from_pretrained,
        model.name,
        pretrained.pinned(directory, model.revision),
        allow_pickle=model.allow_pickle,
        dtype=torch.float32,
    )
    check(loaded, tokenizer, model.name, perturbable=perturbable)
    return loaded


def empty(settings: PreTrainedConfig) -> PreTrainedModel:
    """Return a model in evaluation mode with random weights, to be replaced by those of a run."""
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        return AutoModelForSeq2SeqLM.from_config(settings, dtype=torch.float32).eval()


@torch.no_grad()
def check(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    name: str,
    *,
    perturbable: bool = False,
) -> None:
    """Raise UserError unless `hidden_states` and `head` give the model's own logits.

    With `perturbable`, they must do so from word embeddings as well, which adversarial regimes
    perturb. Raises it too where the tokenizer belongs to another model. The model is left in
    evaluation mode.
    """
    known = len(model.get_input_embeddings().weight)
    if tokenizer.pad_token_id != model.config.pad_token_id or len(tokenizer) > known:
        raise UserError(
            f"the tokenizer of '{name}' has {len(tokenizer)} pieces and pad "
            f"{tokenizer.pad_token_id}, its model {known} embeddings and pad "
            f"{model.config.pad_token_id}: they do not belong together"
        )
    model.eval()
    ids = torch.tensor([tokenizer("reorder: a").input_ids])

    def logits(perturbation: Tensor | None = None) -> Tensor:
        return linear(hidden_states(model, ids, ids, perturbation), *head(model))

    def own() -> Tensor:
        return model(input_ids=ids, labels=ids).logits

    if mismatch(logits, own):
        raise UserError(
            f"'{name}' ({model.config.model_type}) does more between its decoder and its logits "
            "than is known here: take a model of the families of T5, BART or Marian"
        )
    if perturbable and (
        reason := mismatch(lambda: logits(torch.zeros_like(source_embeddings(model, ids))), own)
    ):
        raise UserError(
            f"regime adversarial perturbs word embeddings, and '{name}' "
            f"({model.config.model_type}) cannot be given them in place of ids: {reason}. Take "
            "regime plain, or a model of the families of T5, BART or Marian"
        )


@torch.inference_mode()
def mean_states(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], *, before: int = 0, after: int = 0
) -> list[npt.NDArray[np.float32]]:
    """Return the mean encoder state of every source, (sources, hidden), for embeddings and layers.

    Sources are ids as the encoder of a `transformers` model reads them. The first `before` and the
    last `after` of each are left out of the mean, of which something must remain.
    """
    assert all(len(source) > before + after for source in sources), (
        "a source without pieces has no states"
    )
    encoder, pad = model.get_encoder(), model.config.pad_token_id
    means: list[npt.NDArray[np.float32]] = []
    with Stage("encoder states", len(sources), "sentences") as stage:
        for rows in batches_by_length(sources, STATES_TOKENS):
            ids = [torch.tensor(sources[row], device=model.device) for row in rows]
            batch = pad_sequence(ids, batch_first=True, padding_value=pad)
            lengths = torch.tensor([[len(source)] for source in ids], device=model.device)
            positions = torch.arange(batch.shape[1], device=model.device)
            read = positions < lengths
            layers = encoder(batch, attention_mask=read, output_hidden_states=True).hidden_states
            counted = ((positions >= before) & (positions < lengths - after)).unsqueeze(2)
            if not means:
                means = [np.zeros((len(sources), layer.shape[2]), np.float32) for layer in layers]
            for mean, layer in zip(means, layers, strict=True):
                mean[rows] = ((layer * counted).sum(1) / counted.sum(1)).cpu().numpy()
            stage.advance(len(rows))
    return means


class Batch(NamedTuple):
    """`sources` (views, B, S) and `labels` (B, T), padded on the right; `real` (2, rows) has the
    row and the position of every label that is no pad.

    Row b of every view is the same example.
    """

    sources: Tensor
    labels: Tensor
    real: Tensor


class SequenceTraining(RegimeTraining):
    """The learner of an encoder-decoder; rows are target positions, end of sentence included."""

    module: PreTrainedModel

    def __init__(self, run: Run, module: PreTrainedModel):
        super().__init__(run)
        self.module, self.pad = module, int(module.config.pad_token_id)
        self.lengths = Lengths(self.examples.lengths(SOURCE), self.examples.lengths(TARGET))

    def source(self, subwords: np.ndarray, tag: str | None, target: str = TARGET) -> Ids:
        """Return the ids of a source that the encoder reads; `tag` is the tag of its text, `target`
        the side to predict."""
        return subwords

    def label(self, subwords: np.ndarray) -> Ids:
        """Return the ids of a target that the decoder is to predict."""
        return subwords

    def collate(
        self,
        located: Sequence[tuple[ViewGroup, int]],
        views: Sequence[Sequence[np.ndarray]],
        number: int,
    ) -> Loaded:
        sources: list[list[Ids]] = []
        for view in views:
            sources.append([])
            for (group, row), subwords in zip(located, view, strict=True):
                sources[-1].append(self.source(subwords, self.examples.tag(row), group.target))
        targets = self.examples.labels(located, number)
        labels = [self.label(subwords) for subwords in targets]
        batch = self.batch(sources, labels)
        # The decoder reads the labels once under every view of the source.
        tokens = sum(sum(map(len, view)) for view in sources) + len(views) * sum(map(len, labels))
        positions = batch.sources.numel() + len(views) * batch.labels.numel()
        return Loaded(batch, tokens, positions)

    def batch(self, sources: Sequence[Sequence[Ids]], labels: Sequence[Ids]) -> Batch:
        """Return sources, view by view, and labels as one batch."""
        ids = padded(labels, self.pad)
        # Found here: a GPU could not go on before the host knows how many there are.
        real = torch.from_numpy(np.stack(np.nonzero(ids != self.pad)))
        return Batch(pad_views(sources, self.pad), torch.from_numpy(ids), real)

    def embedded(self, batch: Batch, view: int) -> Embedded:
        """Return the source as the encoder reads it, tag and end of sentence included."""
        source = batch.sources[view]
        with torch.no_grad():
            return Embedded(source_embeddings(self.module, source), source != self.pad)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        """Return the target positions of the chosen views without pads, in one concatenated forward
        pass."""
        sources = batch.sources[list(views)].flatten(0, 1)
        labels = batch.labels.repeat(len(views), 1)
        hidden = hidden_states(self.module, sources, labels, perturbation)
        rows, positions = batch.real
        real = rows * batch.labels.shape[1] + positions
        return Rows(
            hidden.reshape(len(views), -1, hidden.shape[-1]).index_select(1, real),
            *self.head(),
            batch.labels.flatten()[real],
        )

    def head(self) -> tuple[Tensor, Tensor | None]:
        """Return the projection to the vocabulary: weight (V, D), and bias (V) or None."""
        return head(self.module)

    def likelihood(self, pairs: HeldOut, device: torch.device) -> Likelihood:
        """Return the likelihood of held-out targets per token, computed by all workers together."""

        def rows(examples: np.ndarray) -> Rows:
            return self.rows(to_device(self.held_out_batch(pairs, examples), device), [0])

        none = np.empty(0, np.int64)
        added = len(self.source(none, pairs.tag)), len(self.label(none))
        lengths = Lengths(pairs.sources.lengths + added[0], pairs.targets.lengths + added[1])
        return likelihood(rows, lengths, self.experiment.training.max_tokens, device)

    def held_out_batch(self, pairs: HeldOut, examples: np.ndarray) -> Batch:
        """Return held-out pairs, by their numbers, as a batch."""
        sources = [self.source(pairs.sources[row], pairs.tag) for row in examples]
        return self.batch([sources], [self.label(pairs.targets[row]) for row in examples])


class HeldOut:
    """The subwords of the plain sources and targets of a validation corpus, and the tag of its
    text."""

    def __init__(self, run: Run, split: str = VALID):
        self.sources, self.targets = (
            Tokens(run.stored_folder(run.tokens[held_out(side, split)]))
            for side in (SOURCE, TARGET)
        )
        self.tag = run.experiment.corpus.tag(split)
