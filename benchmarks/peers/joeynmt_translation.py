"""Train a translation model with JoeyNMT 2.3, whose packages need an environment of their own.

    python joeynmt_translation.py SOURCE TARGET VALID_SOURCE VALID_TARGET SETTINGS DIRECTORY

The texts are `NAME.LANGUAGE`, with a sentence a line; the settings are a JSON object
(`benchmarks/time_to_bleu.py`). JoeyNMT writes a line for every validation, with the BLEU of greedy
translations, to `model/validations.txt` in the directory.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import sentencepiece
import torch
from joeynmt.config import load_config
from joeynmt.helpers import make_model_dir
from joeynmt.training import train

SPECIAL = {"unk": "<unk>", "pad": "<pad>", "bos": "<s>", "eos": "</s>"}


def learn(texts: list[str], size: int, place: Path) -> None:
    """Learn a joint BPE model; write it with the list of its subwords."""
    sentencepiece.SentencePieceTrainer.train(
        input=",".join(texts),
        model_prefix=str(place / "joint"),
        vocab_size=size,
        model_type="bpe",
        character_coverage=1.0,
        unk_id=0,
        pad_id=1,
        bos_id=2,
        eos_id=3,
        minloglevel=2,
    )
    lines = (place / "joint.vocab").read_text().splitlines()
    pieces = [line.partition("\t")[0] for line in lines[len(SPECIAL) :]]
    (place / "pieces.txt").write_text("".join(f"{piece}\n" for piece in pieces))


def main() -> None:
    *texts, settings_text, directory = sys.argv[1:]
    settings, place = json.loads(settings_text), Path(directory)
    torch.set_num_threads(settings["threads"])
    learn(texts[:2], settings["vocabulary"], place)
    layers, hidden, feedforward, heads = settings["sizes"]
    side = {
        "type": "transformer",
        "num_layers": layers,
        "num_heads": heads,
        "embeddings": {"embedding_dim": hidden, "scale": True, "dropout": 0.3},
        "hidden_size": hidden,
        "ff_size": feedforward,
        "dropout": 0.3,
        "layer_norm": "post",
    }
    segmented = {
        "level": "bpe",
        "lowercase": False,
        "tokenizer_type": "sentencepiece",
        "tokenizer_cfg": {"model_file": str(place / "joint.model"), "model_type": "bpe"},
        "voc_file": str(place / "pieces.txt"),
    }
    symbols = {f"{name}_token": token for name, token in SPECIAL.items()}
    symbols |= {f"{name}_id": index for index, name in enumerate(SPECIAL)}
    config = {
        "name": "peer",
        "joeynmt_version": "2.3.0",
        "model_dir": str(place / "model"),
        "use_cuda": False,
        "fp16": False,
        "random_seed": 1,
        "data": {
            "train": texts[0].rpartition(".")[0],
            "dev": texts[2].rpartition(".")[0],
            "dataset_type": "plain",
            "src": {"lang": texts[0].rpartition(".")[2], **segmented},
            "trg": {"lang": texts[1].rpartition(".")[2], **segmented},
            "special_symbols": symbols,
        },
        "training": {
            "loss": "crossentropy",
            "label_smoothing": 0.1,
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "learning_rate": settings["rate"],
            "learning_rate_warmup": settings["warmup"],
            "scheduling": "warmupinversesquareroot",
            "batch_type": "token",
            "batch_size": settings["max_tokens"],
            "normalization": "tokens",
            "epochs": 10_000,
            "updates": settings["updates"],
            "validation_freq": settings["every"],
            "logging_freq": settings["every"],
            "early_stopping_metric": "bleu",
            "patience": 1_000,
            "keep_best_ckpts": 1,
            "print_valid_sents": [],
            "shuffle": True,
        },
        "testing": {
            "beam_size": 1,
            "batch_type": "token",
            "batch_size": 4 * settings["max_tokens"],
            "max_output_length": 60,
            "eval_metrics": ["bleu"],
        },
        "model": {
            "initializer": "xavier_uniform",
            "embed_initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": side,
            "decoder": side,
        },
    }
    file = place / "config.yaml"
    file.write_text(json.dumps(config))  # which is YAML too
    make_model_dir(place / "model", overwrite=True)
    logging.disable(logging.INFO)
    train(rank=0, world_size=None, cfg=load_config(file), skip_test=True)


if __name__ == "__main__":
    main()
