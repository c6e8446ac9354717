"""Tiny checkpoints of pretrained families, with random weights and a sentencepiece tokenizer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from transformers import GenerationConfig, PreTrainedTokenizerBase

PIECES = 400
SIZES: dict[str, Any] = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 256,
    "init_std": 0.2,
    "dropout": 0.0,
    "encoder_layerdrop": 0.0,
    "decoder_layerdrop": 0.0,
}
SYMBOLS = ("<s>", "<pad>", "</s>", "<unk>")
SEARCH = {"num_beams": 3, "length_penalty": 0.7, "max_length": 20}
"""The search that the checkpoints come with."""


def write(family: str, texts: Sequence[str], directory: Path) -> str:
    """Write the checkpoint of a family whose tokenizer is learned from texts; return its path."""
    directory.mkdir(parents=True)
    SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_prefix=str(directory / "pieces"),
        vocab_size=PIECES,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    spm = directory / "pieces.model"
    processor = SentencePieceProcessor(model_file=str(spm))
    learned = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(len(processor))]
    learned = [(piece, score) for piece, score in learned if piece not in SYMBOLS]
    tokenizer = _tokenizer(family, learned, spm, directory)
    torch.manual_seed(1)
    made = _model(family, tokenizer, len(learned))
    made.generation_config = GenerationConfig(
        **SEARCH,
        decoder_start_token_id=made.config.decoder_start_token_id,
        eos_token_id=made.config.eos_token_id,
        pad_token_id=made.config.pad_token_id,
    )
    saved = directory / "checkpoint"
    made.save_pretrained(saved)
    tokenizer.save_pretrained(saved)
    return str(saved)


def _tokenizer(
    family: str, learned: list[tuple[str, float]], spm: Path, directory: Path
) -> PreTrainedTokenizerBase:
    names, file = [piece for piece, _ in learned], directory / "vocab.json"
    if family == "marian":
        pieces = ["</s>", "<unk>", *names, "<pad>"]
        file.write_text(json.dumps({piece: index for index, piece in enumerate(pieces)}))
        return transformers.MarianTokenizer(
            str(spm), str(spm), str(file), source_lang="de", target_lang="en"
        )
    if family == "t5":
        symbols = [(symbol, 0.0) for symbol in ("<pad>", "</s>", "<unk>")]
        return transformers.T5Tokenizer(vocab=[*symbols, *learned], extra_ids=4)
    scored = [*((symbol, 0.0) for symbol in SYMBOLS), *learned]
    if family == "m2m_100":
        pieces = [piece for piece, _ in scored]
        file.write_text(json.dumps({piece: index for index, piece in enumerate(pieces)}))
        return transformers.M2M100Tokenizer(str(file), str(spm), src_lang="de", tgt_lang="en")
    if family == "mbart50":
        return transformers.MBart50Tokenizer(vocab=scored, src_lang="de_DE", tgt_lang="en_XX")
    if family == "mbart25":
        return transformers.MBartTokenizer(vocab=scored, src_lang="de_DE", tgt_lang="en_XX")
    assert family == "nllb"
    codes = ["deu_Latn", "eng_Latn"]
    vocabulary = {piece: index for index, (piece, _) in enumerate(scored)}
    return transformers.NllbTokenizer(vocabulary, [], extra_special_tokens=codes)


def model(family: str, **special: Any) -> Any:
    """Return a small model of a family; `special` are the numbers of its symbols and embeddings."""
    if family == "marian":
        special |= {"decoder_vocab_size": special["vocab_size"], "forced_eos_token_id": None}
        return transformers.MarianMTModel(
            transformers.MarianConfig(**SIZES, **special, scale_embedding=True)
        )
    if family in ("t5", "mt5"):
        sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}
        sizes |= {"dropout_rate": 0.0, "initializer_factor": 1.0}
        if family == "t5":
            return transformers.T5ForConditionalGeneration(
                transformers.T5Config(**sizes, **special)
            )
        untied = transformers.MT5Config(**sizes, **special, tie_word_embeddings=False)
        return transformers.MT5ForConditionalGeneration(untied)
    if family in ("bart", "pegasus"):
        name = family.capitalize()
        config = getattr(transformers, f"{name}Config")(**SIZES, **special)
        return getattr(transformers, f"{name}ForConditionalGeneration")(config)
    if family in ("mbart50", "mbart25"):
        return transformers.MBartForConditionalGeneration(
            transformers.MBartConfig(**SIZES, **special)
        )
    return transformers.M2M100ForConditionalGeneration(
        transformers.M2M100Config(**SIZES, **special)
    )


def _model(family: str, tokenizer: PreTrainedTokenizerBase, learned: int) -> Any:
    embeddings = len(tokenizer) + 3  # many checkpoints have more embeddings than pieces
    if family == "m2m_100":  # its languages are numbered behind its pieces
        embeddings = len(SYMBOLS) + learned + len(tokenizer.lang_code_to_id) + 8
    pad, eos = tokenizer.pad_token_id, tokenizer.eos_token_id
    return model(
        family,
        vocab_size=embeddings,
        pad_token_id=pad,
        eos_token_id=eos,
        decoder_start_token_id=pad if family in ("marian", "t5") else eos,
    )
