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
import yaml
from joeynmt.config import load_config
from joeynmt.helpers import make_model_dir
from joeynmt.training import train

CONFIG = Path(__file__).with_name("joeynmt.yaml")
SPECIAL = 4  # symbols that are no subwords


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
    pieces = [line.partition("\t")[0] for line in lines[SPECIAL:]]
    (place / "pieces.txt").write_text("".join(f"{piece}\n" for piece in pieces))


def main() -> None:
    *texts, settings_text, directory = sys.argv[1:]
    settings, place = json.loads(settings_text), Path(directory)
    torch.set_num_threads(settings["threads"])
    learn(texts[:2], settings["vocabulary"], place)
    config = yaml.safe_load(CONFIG.read_text())
    config["model_dir"] = str(place / "model")
    for name, text in (("train", texts[0]), ("dev", texts[2])):
        config["data"][name] = text.rpartition(".")[0]
    for name, text in (("src", texts[0]), ("trg", texts[1])):
        config["data"][name] = {
            "lang": text.rpartition(".")[2],
            "level": "bpe",
            "lowercase": False,
            "tokenizer_type": "sentencepiece",
            "tokenizer_cfg": {"model_file": str(place / "joint.model"), "model_type": "bpe"},
            "voc_file": str(place / "pieces.txt"),
        }
    config["training"] |= {
        "learning_rate": settings["rate"],
        "learning_rate_warmup": settings["warmup"],
        "batch_size": settings["max_tokens"],
        "updates": settings["updates"],
        "validation_freq": settings["every"],
        "logging_freq": settings["every"],
    }
    config["testing"]["batch_size"] = 4 * settings["max_tokens"]
    layers, hidden, feedforward, heads = settings["sizes"]
    for side in ("encoder", "decoder"):
        config["model"][side] = {
            "type": "transformer",
            "num_layers": layers,
            "num_heads": heads,
            "embeddings": {"embedding_dim": hidden, "scale": True, "dropout": 0.3},
            "hidden_size": hidden,
            "ff_size": feedforward,
            "dropout": 0.3,
            "layer_norm": "post",
        }
    file = place / "config.yaml"
    file.write_text(yaml.safe_dump(config))
    make_model_dir(place / "model", overwrite=True)
    logging.disable(logging.INFO)
    train(rank=0, world_size=None, cfg=load_config(file), skip_test=True)


if __name__ == "__main__":
    main()
