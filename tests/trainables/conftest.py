"""Small checkpoints of several families, as `save_pretrained` writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

WORDS = ["the", "a", "dog", "cat", "bird", "man"]
WORDS += ["runs", "sleeps", "sings", "eats", "fish", "not", "old", "big"]
FAMILIES = {
    "xlm_roberta": ("XLMRoberta", "ForMaskedLM"),
    "bert": ("Bert", "ForMaskedLM"),
    "multilingual_minilm": ("Bert", "ForMaskedLM"),  # whose tokenizer is XLM-R's
    "distilbert": ("DistilBert", "ForMaskedLM"),
    "deberta": ("DebertaV2", "ForMaskedLM"),
    "modernbert": ("ModernBert", "ForMaskedLM"),
    "t5": ("T5", "ForConditionalGeneration"),
    "xlnet": ("XLNet", "LMHeadModel"),
}
"""The name of the classes of `transformers`, and what the one of the language model ends with."""
ENCODER = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
T5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
SIZES: dict[str, dict[str, Any]] = {
    "xlm_roberta": {
        **ENCODER,
        "max_position_embeddings": 66,
        "type_vocab_size": 1,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
    },
    "bert": ENCODER,
    "multilingual_minilm": {**ENCODER, "type_vocab_size": 2},
    "distilbert": {**ENCODER, "hidden_dim": 64},
    "deberta": {
        **ENCODER,
        "type_vocab_size": 0,
        "relative_attention": True,
        "position_buckets": 8,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
    },
    "modernbert": {
        **ENCODER,
        "cls_token_id": 2,
        "sep_token_id": 3,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "embedding_dropout": 0.2,
    },
    "t5": {**T5, "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0},
    "xlnet": {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64, "pad_token_id": 0},
}
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"], "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"
ROBERTA = ["<s>", "<pad>", "</s>"], "<s> $A </s>", "<s> $A </s> </s> $B </s>"
FRAMES = {
    "xlm_roberta": ROBERTA,
    "multilingual_minilm": ROBERTA,
    "t5": (["<pad>", "</s>"], "$A </s>", "$A </s> $B </s>"),
    "xlnet": (["<pad>", "<sep>", "<cls>"], "$A <sep> <cls>:2", "$A <sep> $B:1 <sep>:1 <cls>:2"),
}
"""The special symbols of a family, and how it frames a sentence and a pair."""
NAMES = {"<pad>": "pad_token", "<s>": "cls_token", "<cls>": "cls_token", "<sep>": "sep_token"}
NAMES |= {"[PAD]": "pad_token", "[CLS]": "cls_token", "[SEP]": "sep_token", "</s>": "eos_token"}


def words_tokenizer(family: str) -> PreTrainedTokenizerFast:
    """A tokenizer of whole words that frames pairs as the family does."""
    special, single, pair = FRAMES.get(family, BERT)
    unknown = "[UNK]" if "[UNK]" in special else "<unk>"
    known = list(dict.fromkeys([*special, unknown, *WORDS]))
    words = {word: index for index, word in enumerate(known)}
    tokenizer = Tokenizer(models.WordLevel(words, unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    frame = [(token, index) for index, token in enumerate(special)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=frame
    )
    typed = ["token_type_ids"] if family in ("bert", "deberta", "xlnet") else []
    named = {NAMES[token]: token for token in special if token in NAMES}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token=unknown,
        model_input_names=["input_ids", "attention_mask", *typed],
        padding_side="left" if family == "xlnet" else "right",
        **named,
    )


Checkpoint = Callable[..., Path]


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """Makes a directory with a randomly initialised model of a family.

    With `classes` it is a classifier of these.
    """

    def make(
        family: str,
        classes: tuple[str, ...] = (),
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Path:
        directory = tmp_path_factory.mktemp(family)
        name, language_model = FAMILIES[family]
        tokenizer = words_tokenizer(family)
        settings = {"vocab_size": len(tokenizer), **SIZES[family]}
        if classes:
            settings["id2label"] = dict(enumerate(classes))
            settings["label2id"] = {label: index for index, label in enumerate(classes)}
            language_model = "ForSequenceClassification"
        with torch.random.fork_rng():
            torch.manual_seed(3)
            config = getattr(transformers, f"{name}Config")(**settings)
            model = getattr(transformers, name + language_model)(config)
            # Norms and biases too: equal results are no accident then.
            for parameter in model.parameters():
                torch.nn.init.normal_(parameter, std=0.3)
        model.to(dtype).save_pretrained(directory)
        tokenizer.save_pretrained(directory)
        return directory

    return make
