"""Run by a Python that has COMET: writes a tiny checkpoint with random weights and scores
segments with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import transformers
from comet.models import RegressionMetric  # type: ignore[import-not-found, unused-ignore]


def encoder(directory: Path) -> str:
    """Write a tiny XLM-R with a tokenizer of characters, and return where it lies."""
    import sentencepiece

    text = directory / "text"
    text.write_text("the cat sat on the mat\nim Garten ist ein Hund\nyes, why not\n" * 50)
    prefix = str(directory / "sentencepiece.bpe")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=prefix,
        vocab_size=60,
        model_type="bpe",
        hard_vocab_limit=False,
    )
    place = directory / "xlm-roberta-tiny"
    tokenizer = transformers.XLMRobertaTokenizer(f"{prefix}.model")
    tokenizer.save_pretrained(place)
    torch.manual_seed(1)
    config = transformers.XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
    )
    transformers.XLMRobertaModel(config).save_pretrained(place)
    return str(place)


def main(directory: Path) -> None:
    """Write the checkpoint below `directory`, score the segments on standard input."""
    model = RegressionMetric(
        encoder_model="XLM-RoBERTa",
        pretrained_model=encoder(directory),
        hidden_sizes=[8],
        layer="mix",
        dropout=0.0,
    ).eval()
    checkpoint = directory / "checkpoints" / "model.ckpt"
    checkpoint.parent.mkdir()
    (directory / "hparams.yaml").write_text(
        "class_identifier: regression_metric\n"
        + "".join(f"{k}: {json.dumps(v)}\n" for k, v in model.hparams.items())
    )
    torch.save(
        {
            "state_dict": model.state_dict(),
            "hyper_parameters": dict(model.hparams),
            "pytorch-lightning_version": "2.0",
        },
        checkpoint,
    )
    segments = json.load(sys.stdin)
    with torch.inference_mode():
        inputs = model.prepare_sample(segments, stage="predict")
        scores = model(**inputs).score.tolist()
    print(json.dumps({"checkpoint": str(checkpoint), "scores": scores}))


main(Path(sys.argv[1]))
