"""The model's rows against the logits of `transformers`, for several families."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import linear
from transformers import (
    AutoModelForSeq2SeqLM,
    BartConfig,
    BartForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    MT5Config,
    MT5ForConditionalGeneration,
    PreTrainedModel,
)

from augury.core.errors import UserError
from augury.core.store import Store
from augury.text import learned
from trainables.seq2seq.architecture import PretrainedGenerator, TinyT5
from trainables.seq2seq.model import _check, build, empty, head, hidden_states

TEXT = ["the cat sees the dog", "the dog hears a fox and a hen", "a bee"]
TINY = TinyT5(architecture="tiny", layers=1, hidden_size=16, feedforward_size=32, attention_heads=2, dropout=0.0)
BART = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tokenizer: pad 1, end of sentence 2."""
    folder = Store(tmp_path_factory.mktemp("tokenizer")).folder("vocabularies", "toy")
    learned.learn(TEXT, 60, folder)
    return learned.directory(folder)


def families(size: int) -> dict[str, PreTrainedModel]:
    torch.manual_seed(1)
    special: dict[str, Any] = {"vocab_size": size, "pad_token_id": 1, "eos_token_id": 2}
    marian = MarianMTModel(MarianConfig(**BART, **special, decoder_start_token_id=1, forced_eos_token_id=None))
    marian.final_logits_bias.normal_()
    untied = MT5Config(
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=1,
        **special,
        tie_word_embeddings=False,
    )
    return {
        "mt5": MT5ForConditionalGeneration(untied),
        "bart": BartForConditionalGeneration(BartConfig(**BART, **special, bos_token_id=0, decoder_start_token_id=2)),
        "marian": marian,
    }


def agree(model: PreTrainedModel) -> bool:
    """Whether rows and head give the logits, and the loss, that the model itself gives of a padded batch."""
    model.eval()
    source = torch.tensor([[5, 6, 7, 2], [8, 2, 1, 1]])
    labels = torch.tensor([[9, 10, 2], [11, 2, 1]])
    with torch.no_grad():
        ours = linear(hidden_states(model, source, labels), *head(model))
        own = model(
            input_ids=source, attention_mask=source != 1, labels=labels.masked_fill(labels == 1, -100), use_cache=False
        )
    loss = torch.nn.functional.cross_entropy(ours[labels != 1], labels[labels != 1])
    return torch.allclose(ours[labels != 1], own.logits[labels != 1], atol=1e-5) and torch.allclose(loss, own.loss)


def test_rows_are_those_of_t5_which_scales_what_it_projects(directory: str) -> None:
    model = build(TINY, directory, seed=1)
    assert agree(model)
    model.config.scale_decoder_outputs = False
    plain = hidden_states(model, torch.tensor([[5, 2]]), torch.tensor([[6, 2]]))
    model.config.scale_decoder_outputs = True
    assert torch.allclose(hidden_states(model, torch.tensor([[5, 2]]), torch.tensor([[6, 2]])), plain / 4)
    assert head(model)[0] is model.shared.weight and head(model)[1] is None


@pytest.mark.parametrize("family", ["mt5", "bart", "marian"])
def test_rows_are_those_of_other_families(directory: str, family: str, tmp_path: Path) -> None:
    model = families(60)[family]
    assert agree(model)
    model.save_pretrained(tmp_path)
    loaded = build(PretrainedGenerator(name=str(tmp_path)), directory, seed=1)
    assert loaded.training and agree(loaded)
    assert all(torch.equal(one, two) for one, two in zip(model.parameters(), loaded.parameters(), strict=True))


def test_decoding_starts_with_the_pad(directory: str) -> None:
    model = build(TINY, directory, seed=1)
    assert model.prepare_decoder_input_ids_from_labels(torch.tensor([[9, 10, 2], [11, 2, 1]])).tolist() == [
        [1, 9, 10],
        [1, 11, 2],
    ]


def test_rows_do_not_depend_on_padding_or_company(directory: str) -> None:
    model = build(TINY, directory, seed=1).eval()
    source, labels = torch.tensor([[5, 6, 2], [7, 2, 1]]), torch.tensor([[9, 2], [10, 2]])
    together = hidden_states(model, source, labels)
    alone = hidden_states(model, torch.tensor([[7, 2, 1, 1, 1]]), torch.tensor([[10, 2, 1]]))
    assert torch.allclose(together[1], alone[0, :2], atol=1e-5)


def test_parameters_are_a_function_of_the_seed_alone(directory: str) -> None:
    state = torch.get_rng_state()
    first = build(TINY, directory, seed=1)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(5)
    again, other = build(TINY, directory, seed=1), build(TINY, directory, seed=2)
    pairs = zip(first.parameters(), again.parameters(), strict=True)
    assert all(torch.equal(one, two) for one, two in pairs)
    assert not torch.equal(first.shared.weight, other.shared.weight)


def test_an_empty_model_takes_the_parameters_of_a_built_one(directory: str, tmp_path: Path) -> None:
    built = build(TINY, directory, seed=1).eval()
    hollow = empty(TINY, directory)
    hollow.load_state_dict(built.state_dict())
    given = torch.tensor([[5, 6, 2]])
    assert torch.equal(hidden_states(hollow, given, given), hidden_states(built, given, given))


def test_what_does_not_fit_is_refused(directory: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="hidden_size 10 must be a multiple of attention_heads 4"):
        TinyT5(architecture="tiny", hidden_size=10)
    other = families(60)["bart"]
    other.config.pad_token_id = 3
    other.save_pretrained(tmp_path)
    with pytest.raises(UserError, match="pad 1, its model 60 embeddings and pad 3: they do not belong together"):
        build(PretrainedGenerator(name=str(tmp_path)), directory, seed=1)
    families(20)["mt5"].save_pretrained(tmp_path)
    with pytest.raises(UserError, match="its model 20 embeddings"):
        build(PretrainedGenerator(name=str(tmp_path)), directory, seed=1)
    from augury.text import pretrained

    model = AutoModelForSeq2SeqLM.from_config(families(60)["bart"].config)
    model.lm_head.register_forward_hook(lambda module, given, logits: logits * 2)
    with pytest.raises(UserError, match=r"'x' \(bart\) does more between its decoder and its logits"):
        _check(model, pretrained.tokenizer(directory), "x")
    with pytest.raises(UserError, match="no pretrained model"):
        build(PretrainedGenerator(name="/nowhere"), directory, seed=1)
