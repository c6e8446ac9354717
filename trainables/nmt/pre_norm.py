"""The translation transformer with normalisation before every sublayer, as OpenNMT-py has it."""

from __future__ import annotations

import torch
from transformers import (
    MarianConfig,
    MarianMTModel,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PreTrainedModel,
)
from transformers.initialization import no_init_weights
from transformers.models.pegasus.modeling_pegasus import PegasusDecoder, PegasusEncoder


class PreNormTranslator(MarianMTModel):
    """Marian with the stacks of Pegasus, whose parameters have the same names: normalisation is
    before every sublayer and after the last one."""

    def __init__(self, config: MarianConfig):
        super().__init__(config)
        self.model.encoder, self.model.decoder = PegasusEncoder(config), PegasusDecoder(config)


@torch.no_grad()
def known_elsewhere(model: PreTrainedModel) -> PreTrainedModel:
    """Return an equal model of a class that `transformers` loads by itself; may be `model`."""
    if not isinstance(model, PreNormTranslator):
        return model
    shared = model.config.share_encoder_decoder_embeddings
    settings = {
        key: value
        for key, value in model.config.to_dict().items()
        if key != "model_type" and hasattr(PegasusConfig, key)
    }
    with no_init_weights():
        pegasus = PegasusForConditionalGeneration(
            PegasusConfig(**settings | {"tie_word_embeddings": shared})
        )
    state = model.state_dict()
    # Without tied embeddings, Pegasus has a matrix that it does not read.
    state.setdefault("model.shared.weight", state["model.encoder.embed_tokens.weight"])
    pegasus.load_state_dict({name: tensor.clone() for name, tensor in state.items()})
    pegasus.tie_weights()
    return pegasus.train(model.training)
