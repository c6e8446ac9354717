"""Small checkpoints of three families, as `save_pretrained` writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    DistilBertConfig,
    DistilBertForMaskedLM,
    DistilBertForSequenceClassification,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    XLMRobertaForSequenceClassification,
)

WORDS = ["the", "a", "dog", "cat", "bird", "man", "runs", "sleeps", "sings", "eats", "fish", "not", "old", "big"]
FAMILIES = {
    "xlm_roberta": (XLMRobertaConfig, XLMRobertaForMaskedLM, XLMRobertaForSequenceClassification),
    "bert": (BertConfig, BertForMaskedLM, BertForSequenceClassification),
    "distilbert": (DistilBertConfig, DistilBertForMaskedLM, DistilBertForSequenceClassification),
}
SIZES: dict[str, dict[str, Any]] = {
    "xlm_roberta": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
                    "max_position_embeddings": 66, "type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0,
                    "eos_token_id": 2},
    "bert": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
             "max_position_embeddings": 64, "pad_token_id": 0},
    "distilbert": {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 64,
                   "pad_token_id": 0},
}  # fmt: skip


def words_tokenizer(family: str) -> PreTrainedTokenizerFast:
    """A tokenizer of whole words that frames pairs as the family does."""
    if family == "xlm_roberta":
        start, pad, end, unknown, pair = "<s>", "<pad>", "</s>", "<unk>", "<s> $A </s> </s> $B </s>"
        special = [start, pad, end, unknown]
    else:
        pad, unknown, start, end = "[PAD]", "[UNK]", "[CLS]", "[SEP]"
        special, pair = [pad, unknown, start, end], "[CLS] $A [SEP] $B:1 [SEP]:1"
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(special + WORDS)}, unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    frame = [(token, special.index(token)) for token in (start, end)]
    single = f"{start} $A {end}"
    tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=frame)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, cls_token=start, sep_token=end, bos_token=start, eos_token=end, pad_token=pad,
        unk_token=unknown,
        model_input_names=["input_ids", "attention_mask", *(["token_type_ids"] if family == "bert" else [])],
    )  # fmt: skip


Checkpoint = Callable[..., Path]


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """Makes a directory with a randomly initialised model of a family; with `classes` it is a classifier of these."""

    def make(family: str, classes: tuple[str, ...] = ()) -> Path:
        directory = tmp_path_factory.mktemp(family)
        config, language_model, classifier = FAMILIES[family]
        tokenizer = words_tokenizer(family)
        labels = {"id2label": dict(enumerate(classes)), "label2id": {label: i for i, label in enumerate(classes)}}
        with torch.random.fork_rng():
            torch.manual_seed(3)
            settings = config(vocab_size=len(tokenizer), **SIZES[family], **(labels if classes else {}))
            model = (classifier if classes else language_model)(settings)
            for parameter in model.parameters():  # norms and biases too: equal results are no accident then
                torch.nn.init.normal_(parameter, std=0.3)
        model.save_pretrained(directory)
        tokenizer.save_pretrained(directory)
        return directory

    return make
