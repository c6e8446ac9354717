"""Encoder-decoders before fine-tuning: from nothing or pretrained."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration

from augury.core.errors import UserError
from augury.core.store import Store
from augury.tasks.encoder_decoder import hidden_states
from augury.text.subwords import learned
from trainables.seq2seq.architecture import PretrainedGenerator, TinyT5
from trainables.seq2seq.model import build, empty

TEXT = ["the cat sees the dog", "the dog hears a fox and a hen", "a bee"]
TINY = TinyT5(
    architecture="tiny",
    layers=1,
    hidden_size=16,
    feedforward_size=32,
    attention_heads=2,
    dropout=0.0,
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tokenizer: pad 1, end of sentence 2."""
    folder = Store(tmp_path_factory.mktemp("tokenizer")).folder("vocabularies", "toy")
    learned.learn(TEXT, 60, folder)
    return learned.directory(folder)


def test_decoding_starts_with_the_pad(directory: str) -> None:
    model = build(TINY, directory, seed=1)
    assert model.prepare_decoder_input_ids_from_labels(
        torch.tensor([[9, 10, 2], [11, 2, 1]])
    ).tolist() == [
        [1, 9, 10],
        [1, 11, 2],
    ]


def test_parameters_are_a_function_of_the_seed_alone(directory: str) -> None:
    state = torch.get_rng_state()
    first = build(TINY, directory, seed=1)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(5)
    again, other = build(TINY, directory, seed=1), build(TINY, directory, seed=2)
    pairs = zip(first.parameters(), again.parameters(), strict=True)
    assert all(torch.equal(parameter, same) for parameter, same in pairs)
    assert not torch.equal(first.shared.weight, other.shared.weight)


def test_an_empty_model_takes_the_parameters_of_a_built_one(directory: str, tmp_path: Path) -> None:
    built = build(TINY, directory, seed=1).eval()
    hollow = empty(TINY, directory)
    hollow.load_state_dict(built.state_dict())
    tokens = torch.tensor([[5, 6, 2]])
    assert torch.equal(hidden_states(hollow, tokens, tokens), hidden_states(built, tokens, tokens))


def test_a_pretrained_model_is_taken_as_it_is(directory: str, tmp_path: Path) -> None:
    settings = {
        "d_model": 16,
        "d_kv": 8,
        "d_ff": 32,
        "num_layers": 1,
        "num_heads": 2,
        "decoder_start_token_id": 1,
    }
    model = T5ForConditionalGeneration(
        T5Config(**settings, vocab_size=60, pad_token_id=1, eos_token_id=2)
    )
    model.save_pretrained(tmp_path)
    loaded = build(PretrainedGenerator(name=str(tmp_path)), directory, seed=1)
    assert loaded.training
    assert all(
        torch.equal(parameter, same)
        for parameter, same in zip(model.parameters(), loaded.parameters(), strict=True)
    )


def test_what_does_not_fit_is_refused(directory: str) -> None:
    with pytest.raises(ValueError, match="hidden_size 10 must be a multiple of attention_heads 4"):
        TinyT5(architecture="tiny", hidden_size=10)
    with pytest.raises(UserError, match="no pretrained model"):
        build(PretrainedGenerator(name="/nowhere"), directory, seed=1)
