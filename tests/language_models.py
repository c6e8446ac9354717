"""Models made from a configuration, whose weights say what they write."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

END, UNKNOWN = "<end>", "<unk>"
CHAT = "{% for message in messages %}user : {{ message.content }} {% endfor %}assistant :"
"""A chat template of words."""


def save_bigrams(
    folder: Path,
    following: Mapping[str, Mapping[str, float]],
    *,
    chat: str | None = None,
    positions: int = 64,
) -> str:
    """Write a causal model of words, and its tokenizer, and return its directory.

    `following` has the probabilities of the words that follow a word, END among them. After words
    that it does not have, and unknown ones, the answer ends.
    """
    words = [END, UNKNOWN, *dict.fromkeys([*following, *_words(following.values())])]
    vocabulary = {word: index for index, word in enumerate(dict.fromkeys(words))}
    size = len(vocabulary) + len(vocabulary) % 2
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(vocabulary),
            hidden_size=size,
            intermediate_size=2,
            num_hidden_layers=1,
            num_attention_heads=1,
            max_position_embeddings=positions,
            eos_token_id=vocabulary[END],
            bos_token_id=None,
            rms_norm_eps=1e-9,
        )
    )
    logits = torch.full((len(vocabulary), len(vocabulary)), -100.0)  # (following, before)
    logits[vocabulary[END]] = 0.0
    for word, chances in following.items():
        logits[:, vocabulary[word]] = -100.0
        for after, chance in chances.items():
            logits[vocabulary[after], vocabulary[word]] = math.log(chance)
    with torch.no_grad():
        layer = model.model.layers[0]
        # The state is the last word alone: a unit vector, which the norm multiplies by √size.
        for weights in (layer.self_attn.o_proj, layer.mlp.down_proj):
            weights.weight.zero_()
        model.model.embed_tokens.weight.copy_(torch.eye(len(vocabulary), size))
        model.lm_head.weight.zero_()
        model.lm_head.weight[:, : len(vocabulary)] = logits / math.sqrt(size)
    model.save_pretrained(folder)
    save_words(folder, vocabulary, chat)
    return str(folder)


def save_words(
    folder: Path, vocabulary: Mapping[str, int], chat: str | None = None, *, ends: bool = False
) -> None:
    """Write a tokenizer of words, which ends texts where that is asked."""
    tokenizer = Tokenizer(WordLevel(dict(vocabulary), unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = Whitespace()
    if ends:
        tokenizer.post_processor = TemplateProcessing(
            single=f"$A {END}", special_tokens=[(END, vocabulary[END])]
        )
    special = {"eos_token": END, "unk_token": UNKNOWN}
    special |= {"pad_token": "<pad>"} if "<pad>" in vocabulary else {}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    fast.chat_template = chat
    fast.save_pretrained(folder)


def always(sentence: str, after: str) -> dict[str, dict[str, float]]:
    """Return the words that follow each other in a sentence of different words, and its end."""
    words = [after, *sentence.split(), END]
    assert len(set(words)) == len(words)
    return {word: {following: 1.0} for word, following in zip(words, words[1:], strict=False)}


def _words(rows: Iterable[Mapping[str, float]]) -> list[str]:
    return [word for row in rows for word in row]


def save_translator(folder: Path, sentence: str) -> str:
    """Write an encoder-decoder that writes one sentence, whatever it reads."""
    words = [*sentence.split(), END]
    names = dict.fromkeys(["<pad>", END, UNKNOWN, *words, "a", "b"])
    vocabulary = {word: index for index, word in enumerate(names)}
    sides = [f"{side}_{name}" for side in ("encoder", "decoder") for name in ("layers", "ffn_dim")]
    model = BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(vocabulary),
            d_model=len(vocabulary),
            **dict.fromkeys([*sides, "encoder_attention_heads", "decoder_attention_heads"], 1),
            max_position_embeddings=32,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=1,
            decoder_start_token_id=1,
            forced_eos_token_id=None,
        )
    )
    decoder = model.model.decoder
    layer = decoder.layers[0]
    with torch.no_grad():
        for outputs in (layer.self_attn.out_proj, layer.encoder_attn.out_proj, layer.fc2):
            outputs.weight.zero_()
            outputs.bias.zero_()
        # Every word has a direction of its own, and the position says which one is next.
        directions = 20 * torch.eye(len(vocabulary))
        model.model.shared.weight.copy_(directions)
        for position, word in enumerate(words, start=decoder.embed_positions.offset):
            decoder.embed_positions.weight[position] = 5 * directions[vocabulary[word]]
    model.save_pretrained(folder)
    save_words(folder, vocabulary, ends=True)
    return str(folder)
