from __future__ import annotations

import torch
from transformers import MarianConfig, MarianMTModel

from augury.decoding.settings import Decoding
from tests.hypotheses import assert_same, decoder_of, generate, translate

PAD, EOS, VOCABULARY = 1, 2, 48


def test_a_model_of_opus_is_decoded_from_its_own_start_and_with_its_bias() -> None:
    """Swish, one embedding matrix, a bias on the logits, and the pad as the decoder's first
    input."""
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=32,
        encoder_layers=2,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=48,
        activation_function="swish",
        scale_embedding=True,
        max_position_embeddings=64,
        pad_token_id=PAD,
        eos_token_id=EOS,
        decoder_start_token_id=PAD,
        forced_eos_token_id=EOS,
        init_std=0.2,
    )
    model = MarianMTModel(config).eval()
    model.final_logits_bias.normal_()
    rows = torch.randint(3, VOCABULARY, (16, 6)).tolist()
    for decoding in (Decoding(beam=1, max_length=9), Decoding(beam=4, max_length=9)):
        hypotheses = translate(decoder_of(model), rows, decoding)
        assert_same(hypotheses, generate(model, rows, decoding))
